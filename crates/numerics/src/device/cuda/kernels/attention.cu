// Attention of each place to those before it in its row and to itself, forward and backward, on tensor cores: a block
// has a tile of 64 places, whose scores never leave it (Dao 2023). Factors are bf16, sums are f32.
//
// `bounds`, which may be null, has for each place what it reads besides itself: the places of its row from the first
// bound up to the second, and those from the third on. Without them it reads all before it.
//
// `pairs` has for each place the queries of all heads, then their keys; `values` has a stride of its own; `read`,
// `gradient` have the numbers of all heads, `log_sums` and `deltas` one number for each head.

// What a block of a grid [tiles, rows · heads] works on.
struct Head {
    size row;        // the first place of its row
    int head, width; // its number, and the numbers of all heads
    int dim, heads, stride;

    __device__ Head(int heads, int dim, int length, int stride)
        : row((size)(blockIdx.y / heads) * length), head(blockIdx.y % heads), width(heads * dim), dim(dim),
          heads(heads), stride(stride) {}
    __device__ size query(size place) const { return (row + place) * 2 * width + head * dim; }
    __device__ size key(size place) const { return query(place) + width; }
    __device__ size value(size place) const { return (row + place) * stride + head * dim; }
    __device__ size result(size place) const { return (row + place) * width + head * dim; }
    __device__ size sum(size place) const { return (row + place) * heads + head; }
};

// What a place reads.
struct Seen {
    int first, trunk, start, place;

    __device__ bool has(int other) const {
        return (other >= first && other < trunk) || (other >= start && other <= place);
    }
    // Whether it reads any of the places from one up to another.
    __device__ bool meets(int from, int to) const {
        return max(first, from) < min(trunk, to) || max(start, from) < min(place + 1, to);
    }
};

// A place that is not there reads nothing.
__device__ __forceinline__ Seen seen_by(const word* bounds, size row, int place, int length) {
    if (place >= length) return {0, 0, 1, 0};
    if (!bounds) return {0, 0, 0, place};
    const word* of = bounds + (row + place) * 3;
    return {(int)of[0], (int)of[1], (int)of[2], place};
}

// Whether rows can be copied 8 numbers at a time.
__device__ __forceinline__ bool by_eights(const void* x, const void* y, Head at) {
    return (((size)x | (size)y) % 16 | at.dim % 8 | at.stride % 8) == 0;
}

template <int D, int N, bool BOUNDED>
__device__ __forceinline__ void attend(
    bf16* read, float* log_sums, const bf16* pairs, const bf16* values, const word* bounds, int length, float scale,
    Head at) {
    __shared__ Rows<D, N> keys, of_values;
    Lane lane;
    bool quick = by_eights(pairs, values, at);
    // The longest first: they look at most.
    int tile = gridDim.x - 1 - blockIdx.x, first = tile * TILE + lane.warp * WARP_PLACES;
    int end = min((tile + 1) * TILE, length);
    word queries[D / 16][4];
    load_left<D>(queries, pairs + at.query(first), 2 * at.width, length - first, at.dim, lane);
    float result[D / 8][4] = {}, most[2] = {-1e30f, -1e30f}, sum[2] = {}, scale_2 = scale * LOG2_E;
    Seen seen[2];
    for (int half = 0; half < 2; half++)
        seen[half] = seen_by(BOUNDED ? bounds : nullptr, at.row, first + lane.g + 8 * half, length);
    // The next tile of keys, from one on, that any place of the block reads.
    auto next = [&](int start) {
        while (BOUNDED && start < end
               && !__syncthreads_or(seen[0].meets(start, start + N) || seen[1].meets(start, start + N)))
            start += N;
        return start;
    };
    int start = next(0);
    if (start < end) keys.fetch(pairs + at.key(start), 2 * at.width, length - start, at.dim, quick);
    end_group();
    while (start < end) {
        of_values.fetch(values + at.value(start), at.stride, length - start, at.dim, quick);
        end_group();
        wait_for_groups<1>();
        __syncthreads();
        float scores[N / 8][4] = {};
        keys.multiply_transposed(scores, queries, lane);
        int after = next(start + N);
        __syncthreads();
        if (after < end) keys.fetch(pairs + at.key(after), 2 * at.width, length - after, at.dim, quick);
        end_group();
        bool is_whole = !BOUNDED && start + N <= first + 1;
        float now[2] = {most[0], most[1]};
#pragma unroll
        for (int i = 0; i < N / 8; i++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int place = first + lane.g + e / 2 * 8, other = start + 8 * i + 2 * lane.t + e % 2;
                bool is_seen = BOUNDED ? seen[e / 2].has(other) : is_whole || other <= place;
                scores[i][e] = is_seen ? scale_2 * scores[i][e] : -1e30f;
                now[e / 2] = fmaxf(now[e / 2], scores[i][e]);
            }
#pragma unroll
        for (int half = 0; half < 2; half++) {
            now[half] = quad_max(now[half]);
            float kept = exp2_fast(most[half] - now[half]);
            most[half] = now[half];
            sum[half] *= kept;
#pragma unroll
            for (int i = 0; i < D / 8; i++) result[i][2 * half] *= kept, result[i][2 * half + 1] *= kept;
        }
#pragma unroll
        for (int i = 0; i < N / 8; i++)
#pragma unroll
            for (int e = 0; e < 4; e++) sum[e / 2] += scores[i][e] = exp2_fast(scores[i][e] - now[e / 2]);
        wait_for_groups<1>();
        __syncthreads();
        of_values.multiply(result, scores, lane);
        __syncthreads();
        start = after;
    }
    wait_for_groups<0>();
    float share[2];
    for (int half = 0; half < 2; half++) {
        int place = first + lane.g + 8 * half;
        sum[half] = quad_sum(sum[half]);
        share[half] = 1.f / sum[half];
        if (lane.t == 0 && place < length) log_sums[at.sum(place)] = most[half] * LN_2 + __logf(sum[half]);
    }
    store_rows<D>(read + at.result(first), at.width, result, share, length - first, at.dim, lane);
}

// Of queries, and Σ gradient ∘ read of each, which the gradients of keys need; `kept` undoes what dropout has
// divided `read` by (where it dropped a number, the gradient is 0).
template <int D, int N, bool BOUNDED>
__device__ __forceinline__ void attend_backward_queries(
    bf16* into, float* deltas, const bf16* pairs, const bf16* values, const bf16* read, const float* log_sums,
    const bf16* gradient, const word* bounds, int length, float scale, float kept, Head at) {
    __shared__ Rows<D, N> keys[2], of_values[2];
    Lane lane;
    bool quick = by_eights(pairs, values, at);
    int tile = gridDim.x - 1 - blockIdx.x, first = tile * TILE + lane.warp * WARP_PLACES;
    int end = min((tile + 1) * TILE, length);
    word queries[D / 16][4], above[D / 16][4];
    load_left<D>(queries, pairs + at.query(first), 2 * at.width, length - first, at.dim, lane);
    load_left<D>(above, gradient + at.result(first), at.width, length - first, at.dim, lane);
    float delta[2] = {}, log_sum[2], factor[2] = {scale, scale}, scale_2 = scale * LOG2_E;
    word results[D / 16][4];
    load_left<D>(results, read + at.result(first), at.width, length - first, at.dim, lane);
#pragma unroll
    for (int k = 0; k < D / 16; k++)
#pragma unroll
        for (int part = 0; part < 4; part++) {
            word x = above[k][part], y = results[k][part];
            delta[part % 2] += __uint_as_float(x << 16) * __uint_as_float(y << 16);
            delta[part % 2] += __uint_as_float(x & 0xffff0000u) * __uint_as_float(y & 0xffff0000u);
        }
    for (int half = 0; half < 2; half++) {
        int place = first + lane.g + 8 * half;
        log_sum[half] = place < length ? log_sums[at.sum(place)] * LOG2_E : 0.f;
        delta[half] = kept * quad_sum(delta[half]);
        if (lane.t == 0 && place < length) deltas[at.sum(place)] = delta[half];
    }
    float result[D / 8][4] = {};
    Seen seen[2];
    for (int half = 0; half < 2; half++)
        seen[half] = seen_by(BOUNDED ? bounds : nullptr, at.row, first + lane.g + 8 * half, length);
    auto next = [&](int start) {
        while (BOUNDED && start < end
               && !__syncthreads_or(seen[0].meets(start, start + N) || seen[1].meets(start, start + N)))
            start += N;
        return start;
    };
    auto fetch = [&](int start, int into) {
        if (start < end) {
            keys[into].fetch(pairs + at.key(start), 2 * at.width, length - start, at.dim, quick);
            of_values[into].fetch(values + at.value(start), at.stride, length - start, at.dim, quick);
        }
        end_group();
    };
    int start = next(0), now = 0;
    fetch(start, now);
    while (start < end) {
        int after = next(start + N);
        fetch(after, 1 - now);
        wait_for_groups<1>();
        __syncthreads();
        float scores[N / 8][4] = {}, slopes[N / 8][4] = {};
        keys[now].multiply_transposed(scores, queries, lane);
        of_values[now].multiply_transposed(slopes, above, lane);
        bool is_whole = !BOUNDED && start + N <= first + 1;
#pragma unroll
        for (int i = 0; i < N / 8; i++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int place = first + lane.g + e / 2 * 8, other = start + 8 * i + 2 * lane.t + e % 2;
                bool is_seen = BOUNDED ? seen[e / 2].has(other) : is_whole || other <= place;
                float weight = is_seen ? exp2_fast(scale_2 * scores[i][e] - log_sum[e / 2]) : 0.f;
                slopes[i][e] = weight * (slopes[i][e] - delta[e / 2]);
            }
        keys[now].multiply(result, slopes, lane);
        __syncthreads();
        start = after, now = 1 - now;
    }
    wait_for_groups<0>();
    store_rows<D>(into + at.query(first), 2 * at.width, result, factor, length - first, at.dim, lane);
}

// Of keys and values.
template <int D, int N, bool BOUNDED>
__device__ __forceinline__ void attend_backward_keys(
    bf16* into, bf16* into_values, const bf16* pairs, const bf16* values, const float* log_sums,
    const float* deltas, const bf16* gradient, const word* bounds, int length, float scale, Head at) {
    __shared__ Rows<D, N> queries[2], above[2];
    __shared__ float of_sums[2][N], of_deltas[2][N];
    __shared__ Seen of_queries[2][BOUNDED ? N : 1];
    Lane lane;
    bool quick = by_eights(pairs, gradient, at);
    int tile = blockIdx.x, first = tile * TILE + lane.warp * WARP_PLACES;
    word keys[D / 16][4], of_values[D / 16][4];
    load_left<D>(keys, pairs + at.key(first), 2 * at.width, length - first, at.dim, lane);
    load_left<D>(of_values, values + at.value(first), at.stride, length - first, at.dim, lane);
    float key[D / 8][4] = {}, value[D / 8][4] = {}, factor[2] = {scale, scale}, one[2] = {1.f, 1.f};
    float scale_2 = scale * LOG2_E;
    auto next = [&](int start) {
        while (BOUNDED && start < length) {
            Seen seen = seen_by(bounds, at.row, start + threadIdx.x, threadIdx.x < N ? length : 0);
            if (__syncthreads_or(seen.meets(tile * TILE, (tile + 1) * TILE))) break;
            start += N;
        }
        return start;
    };
    auto fetch = [&](int start, int into) {
        if (start < length) {
            queries[into].fetch(pairs + at.query(start), 2 * at.width, length - start, at.dim, quick);
            above[into].fetch(gradient + at.result(start), at.width, length - start, at.dim, quick);
            int place = start + threadIdx.x;
            if (threadIdx.x < N) {
                if (BOUNDED) of_queries[into][threadIdx.x] = seen_by(bounds, at.row, place, length);
                // Where there is no place the weight is 0, whatever stands there.
                of_sums[into][threadIdx.x] = place < length ? log_sums[at.sum(place)] * LOG2_E : 0.f;
                of_deltas[into][threadIdx.x] = place < length ? deltas[at.sum(place)] : 0.f;
            }
        }
        end_group();
    };
    int start = next(tile * TILE), now = 0;
    fetch(start, now);
    while (start < length) {
        int after = next(start + N);
        fetch(after, 1 - now);
        wait_for_groups<1>();
        __syncthreads();
        float weights[N / 8][4] = {}, slopes[N / 8][4] = {};
        queries[now].multiply_transposed(weights, keys, lane);
        bool is_whole = !BOUNDED && start >= first + WARP_PLACES && start + N <= length;
#pragma unroll
        for (int i = 0; i < N / 8; i++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int other = first + lane.g + e / 2 * 8, from = 8 * i + 2 * lane.t + e % 2, place = start + from;
                bool is_seen =
                    BOUNDED ? of_queries[now][from].has(other) : is_whole || (other <= place && place < length);
                weights[i][e] = is_seen ? exp2_fast(scale_2 * weights[i][e] - of_sums[now][from]) : 0.f;
            }
        above[now].multiply(value, weights, lane);
        above[now].multiply_transposed(slopes, of_values, lane);
#pragma unroll
        for (int i = 0; i < N / 8; i++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                slopes[i][e] = weights[i][e] * (slopes[i][e] - of_deltas[now][8 * i + 2 * lane.t + e % 2]);
        queries[now].multiply(key, slopes, lane);
        __syncthreads();
        start = after, now = 1 - now;
    }
    wait_for_groups<0>();
    store_rows<D>(into + at.key(first), 2 * at.width, key, factor, length - first, at.dim, lane);
    store_rows<D>(into_values + at.value(first), at.stride, value, one, length - first, at.dim, lane);
}

extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS) attention_64(
    bf16* read, float* log_sums, const bf16* pairs, const bf16* values, int stride, const word* bounds,
    int length, int heads, int dim, float scale) {
    attend<64, 64, false>(
        read, log_sums, pairs, values, bounds, length, scale, Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS) attention_128(
    bf16* read, float* log_sums, const bf16* pairs, const bf16* values, int stride, const word* bounds,
    int length, int heads, int dim, float scale) {
    attend<128, 64, false>(
        read, log_sums, pairs, values, bounds, length, scale, Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS) attention_64_bounded(
    bf16* read, float* log_sums, const bf16* pairs, const bf16* values, int stride, const word* bounds,
    int length, int heads, int dim, float scale) {
    attend<64, 64, true>(
        read, log_sums, pairs, values, bounds, length, scale, Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS) attention_128_bounded(
    bf16* read, float* log_sums, const bf16* pairs, const bf16* values, int stride, const word* bounds,
    int length, int heads, int dim, float scale) {
    attend<128, 64, true>(
        read, log_sums, pairs, values, bounds, length, scale, Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS) attention_backward_queries_64(
    bf16* into, float* deltas, const bf16* pairs, const bf16* values, const bf16* read, const float* log_sums,
    const bf16* gradient, int stride, const word* bounds, int length, int heads, int dim, float scale,
    float kept) {
    attend_backward_queries<64, 64, false>(
        into, deltas, pairs, values, read, log_sums, gradient, bounds, length, scale, kept,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS) attention_backward_queries_128(
    bf16* into, float* deltas, const bf16* pairs, const bf16* values, const bf16* read, const float* log_sums,
    const bf16* gradient, int stride, const word* bounds, int length, int heads, int dim, float scale,
    float kept) {
    attend_backward_queries<128, 32, false>(
        into, deltas, pairs, values, read, log_sums, gradient, bounds, length, scale, kept,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS) attention_backward_queries_64_bounded(
    bf16* into, float* deltas, const bf16* pairs, const bf16* values, const bf16* read, const float* log_sums,
    const bf16* gradient, int stride, const word* bounds, int length, int heads, int dim, float scale,
    float kept) {
    attend_backward_queries<64, 64, true>(
        into, deltas, pairs, values, read, log_sums, gradient, bounds, length, scale, kept,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS) attention_backward_queries_128_bounded(
    bf16* into, float* deltas, const bf16* pairs, const bf16* values, const bf16* read, const float* log_sums,
    const bf16* gradient, int stride, const word* bounds, int length, int heads, int dim, float scale,
    float kept) {
    attend_backward_queries<128, 32, true>(
        into, deltas, pairs, values, read, log_sums, gradient, bounds, length, scale, kept,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS) attention_backward_keys_64(
    bf16* into, bf16* into_values, const bf16* pairs, const bf16* values, const float* log_sums,
    const float* deltas, const bf16* gradient, int stride, const word* bounds, int length, int heads, int dim,
    float scale) {
    attend_backward_keys<64, 32, false>(
        into, into_values, pairs, values, log_sums, deltas, gradient, bounds, length, scale,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS) attention_backward_keys_128(
    bf16* into, bf16* into_values, const bf16* pairs, const bf16* values, const float* log_sums,
    const float* deltas, const bf16* gradient, int stride, const word* bounds, int length, int heads, int dim,
    float scale) {
    attend_backward_keys<128, 32, false>(
        into, into_values, pairs, values, log_sums, deltas, gradient, bounds, length, scale,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS) attention_backward_keys_64_bounded(
    bf16* into, bf16* into_values, const bf16* pairs, const bf16* values, const float* log_sums,
    const float* deltas, const bf16* gradient, int stride, const word* bounds, int length, int heads, int dim,
    float scale) {
    attend_backward_keys<64, 32, true>(
        into, into_values, pairs, values, log_sums, deltas, gradient, bounds, length, scale,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS) attention_backward_keys_128_bounded(
    bf16* into, bf16* into_values, const bf16* pairs, const bf16* values, const float* log_sums,
    const float* deltas, const bf16* gradient, int stride, const word* bounds, int length, int heads, int dim,
    float scale) {
    attend_backward_keys<128, 32, true>(
        into, into_values, pairs, values, log_sums, deltas, gradient, bounds, length, scale,
        Head(heads, dim, length, stride));
}
