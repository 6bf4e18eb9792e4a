// Attention on tensor cores: a block has a tile of 64 places, whose scores never leave it (Dao 2023), with factors
// rounded to bf16. Where there are no such tensor cores, these kernels are there and not called.
#define HAS_BF16 (__CUDA_ARCH__ >= 800)

// Places of a block; each of its four warps has 16 of them.
#define TILE 64
#define WARP_PLACES 16
#define THREADS 128

// Two numbers as bf16, the first in the lower half.
__device__ __forceinline__ word pack(float x, float y) {
    word both = 0;
#if HAS_BF16
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(y), "f"(x));
#endif
    return both;
}

// c += a · b for 16 × 16 and 16 × 8 numbers. A thread with g = lane / 4 and t = lane % 4 has the numbers 2t and 2t + 1
// of rows g and g + 8 of c.
__device__ __forceinline__ void multiply_add(float (&c)[4], const word (&a)[4], word b0, word b1) {
#if HAS_BF16
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

struct Lane {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
};

// Rows of numbers on their way to shared memory; rows that are not there are 0. All are asked for before any is used.
template <int D, int N> struct Fetched {
    static constexpr int COUNT = N * D / 4 / THREADS;
    float4 quads[COUNT];

    __device__ Fetched(const float* from, size stride, int n_rows, int dim) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            int quad = i * THREADS + threadIdx.x, row = quad / (D / 4), column = quad % (D / 4) * 4;
            bool is_there = row < n_rows && column < dim;
            quads[i] = is_there ? *(const float4*)(from + row * stride + column) : float4{0.f, 0.f, 0.f, 0.f};
        }
    }
};

// Rows of numbers in shared memory. 8 numbers of padding keep threads apart.
template <int D, int N> struct Rows {
    bf16 rows[N][D + 8];

    __device__ void store(const Fetched<D, N>& from) {
#pragma unroll
        for (int i = 0; i < Fetched<D, N>::COUNT; i++) {
            int quad = i * THREADS + threadIdx.x, row = quad / (D / 4), column = quad % (D / 4) * 4;
            float4 x = from.quads[i];
            *(uint2*)&rows[row][column] = {pack(x.x, x.y), pack(x.z, x.w)};
        }
    }

    // c += a · rowsᵀ
    __device__ void multiply_transposed(float (&c)[N / 8][4], const word (&a)[D / 16][4], Lane at) const {
#pragma unroll
        for (int i = 0; i < N / 8; i++)
#pragma unroll
            for (int k = 0; k < D / 16; k++) {
                const bf16* b = &rows[8 * i + at.g][16 * k + 2 * at.t];
                multiply_add(c[i], a[k], *(const word*)b, *(const word*)(b + 8));
            }
    }

    // c += a · rows, where a is what products have left in c's layout
    __device__ void multiply(float (&c)[D / 8][4], const float (&a)[N / 8][4], Lane at) const {
#pragma unroll
        for (int k = 0; k < N / 16; k++) {
            const float(&x)[4] = a[2 * k], (&y)[4] = a[2 * k + 1];
            word left[4] = {pack(x[0], x[1]), pack(x[2], x[3]), pack(y[0], y[1]), pack(y[2], y[3])};
#pragma unroll
            for (int i = 0; i < D / 8; i += 2) {
                const bf16* b = &rows[16 * k + at.lane % 16][8 * i + at.lane / 16 * 8];
                word at_b = (word)__cvta_generic_to_shared(b), r[4] = {};
#if HAS_BF16
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                             : "r"(at_b));
#endif
                multiply_add(c[i], left, r[0], r[1]);
                multiply_add(c[i + 1], left, r[2], r[3]);
            }
        }
    }
};

// The 16 rows of a warp as a left factor; rows that are not there are 0.
template <int D>
__device__ void load_left(word (&a)[D / 16][4], const float* from, size stride, int n_rows, int dim, Lane at) {
#pragma unroll
    for (int k = 0; k < D / 16; k++)
#pragma unroll
        for (int part = 0; part < 4; part++) {
            int row = at.g + part % 2 * 8, column = 16 * k + 2 * at.t + part / 2 * 8;
            bool is_there = row < n_rows && column < dim;
            float2 x = is_there ? *(const float2*)(from + row * stride + column) : float2{0.f, 0.f};
            a[k][part] = pack(x.x, x.y);
        }
}

// The 16 rows of a warp, times a number for each half.
template <int D>
__device__ void store(
    float* into, size stride, const float (&c)[D / 8][4], const float (&scale)[2], int n_rows, int dim, Lane at) {
#pragma unroll
    for (int i = 0; i < D / 8; i++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int row = at.g + 8 * half, column = 8 * i + 2 * at.t;
            if (row < n_rows && column < dim)
                *(float2*)(into + row * stride + column) =
                    make_float2(scale[half] * c[i][2 * half], scale[half] * c[i][2 * half + 1]);
        }
}

// Over the four threads that share a row.
__device__ __forceinline__ float row_sum(float x) {
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

__device__ __forceinline__ float row_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

template <int D, int N, bool BOUNDED>
__device__ void attend(
    float* read, float* log_sums, const float* pairs, const float* values, const word* bounds, int length, float scale,
    Head at) {
    __shared__ Rows<D, N> keys, of_values;
    Lane lane;
    // The longest first: they look at most.
    int tile = gridDim.x - 1 - blockIdx.x, first = tile * TILE + lane.warp * WARP_PLACES;
    word queries[D / 16][4];
    load_left<D>(queries, pairs + at.query(first), 2 * at.width, length - first, at.dim, lane);
    float result[D / 8][4] = {}, most[2] = {-1e30f, -1e30f}, sum[2] = {};
    Seen seen[2];
    for (int half = 0; half < 2; half++)
        seen[half] = seen_by(BOUNDED ? bounds : nullptr, at.row, first + lane.g + 8 * half, length);
    for (int start = 0; start < min((tile + 1) * TILE, length); start += N) {
        if (BOUNDED && !__syncthreads_or(seen[0].meets(start, start + N) || seen[1].meets(start, start + N))) continue;
        Fetched<D, N> first_half(pairs + at.key(start), 2 * at.width, length - start, at.dim);
        Fetched<D, N> second_half(values + at.value(start), at.stride, length - start, at.dim);
        __syncthreads();
        keys.store(first_half);
        of_values.store(second_half);
        __syncthreads();
        float scores[N / 8][4] = {};
        keys.multiply_transposed(scores, queries, lane);
        float now[2] = {most[0], most[1]};
        for (int i = 0; i < N / 8; i++)
            for (int e = 0; e < 4; e++) {
                int place = first + lane.g + e / 2 * 8, other = start + 8 * i + 2 * lane.t + e % 2;
                bool is_seen = BOUNDED ? seen[e / 2].has(other) : other <= place;
                scores[i][e] = is_seen ? scale * scores[i][e] : -1e30f;
                now[e / 2] = fmaxf(now[e / 2], scores[i][e]);
            }
        for (int half = 0; half < 2; half++) {
            now[half] = row_max(now[half]);
            float kept = __expf(most[half] - now[half]);
            most[half] = now[half];
            sum[half] *= kept;
            for (int i = 0; i < D / 8; i++) result[i][2 * half] *= kept, result[i][2 * half + 1] *= kept;
        }
        for (int i = 0; i < N / 8; i++)
            for (int e = 0; e < 4; e++) sum[e / 2] += scores[i][e] = __expf(scores[i][e] - now[e / 2]);
        of_values.multiply(result, scores, lane);
    }
    float share[2];
    for (int half = 0; half < 2; half++) {
        int place = first + lane.g + 8 * half;
        sum[half] = row_sum(sum[half]);
        share[half] = 1.f / sum[half];
        if (lane.t == 0 && place < length) log_sums[at.sum(place)] = most[half] + __logf(sum[half]);
    }
    store<D>(read + at.result(first), at.width, result, share, length - first, at.dim, lane);
}

template <int D, int N, bool BOUNDED>
__device__ void attend_backward_queries(
    float* into, float* deltas, const float* pairs, const float* values, const float* read, const float* log_sums,
    const float* gradient, const word* bounds, int length, float scale, float kept, Head at) {
    __shared__ Rows<D, N> keys, of_values;
    Lane lane;
    int tile = gridDim.x - 1 - blockIdx.x, first = tile * TILE + lane.warp * WARP_PLACES;
    word queries[D / 16][4], above[D / 16][4];
    load_left<D>(queries, pairs + at.query(first), 2 * at.width, length - first, at.dim, lane);
    load_left<D>(above, gradient + at.result(first), at.width, length - first, at.dim, lane);
    float delta[2], log_sum[2], factor[2] = {scale, scale};
    for (int half = 0; half < 2; half++) {
        int place = first + lane.g + 8 * half;
        size start = at.result(place);
        delta[half] = log_sum[half] = 0.f;
        if (place < length) {
            for (int d = lane.t; d < at.dim; d += 4) delta[half] += gradient[start + d] * read[start + d];
            log_sum[half] = log_sums[at.sum(place)];
        }
        delta[half] = kept * row_sum(delta[half]);
        if (lane.t == 0 && place < length) deltas[at.sum(place)] = delta[half];
    }
    float result[D / 8][4] = {};
    Seen seen[2];
    for (int half = 0; half < 2; half++)
        seen[half] = seen_by(BOUNDED ? bounds : nullptr, at.row, first + lane.g + 8 * half, length);
    for (int start = 0; start < min((tile + 1) * TILE, length); start += N) {
        if (BOUNDED && !__syncthreads_or(seen[0].meets(start, start + N) || seen[1].meets(start, start + N))) continue;
        Fetched<D, N> first_half(pairs + at.key(start), 2 * at.width, length - start, at.dim);
        Fetched<D, N> second_half(values + at.value(start), at.stride, length - start, at.dim);
        __syncthreads();
        keys.store(first_half);
        of_values.store(second_half);
        __syncthreads();
        float scores[N / 8][4] = {}, slopes[N / 8][4] = {};
        keys.multiply_transposed(scores, queries, lane);
        of_values.multiply_transposed(slopes, above, lane);
        for (int i = 0; i < N / 8; i++)
            for (int e = 0; e < 4; e++) {
                int place = first + lane.g + e / 2 * 8, other = start + 8 * i + 2 * lane.t + e % 2;
                bool is_seen = BOUNDED ? seen[e / 2].has(other) : other <= place;
                float weight = is_seen ? __expf(scale * scores[i][e] - log_sum[e / 2]) : 0.f;
                slopes[i][e] = weight * (slopes[i][e] - delta[e / 2]);
            }
        keys.multiply(result, slopes, lane);
    }
    store<D>(into + at.query(first), 2 * at.width, result, factor, length - first, at.dim, lane);
}

template <int D, int N, bool BOUNDED>
__device__ void attend_backward_keys(
    float* into, float* into_values, const float* pairs, const float* values, const float* log_sums,
    const float* deltas, const float* gradient, const word* bounds, int length, float scale, Head at) {
    __shared__ Rows<D, N> queries, above;
    __shared__ float of_sums[N], of_deltas[N];
    __shared__ Seen of_queries[N];
    Lane lane;
    int tile = blockIdx.x, first = tile * TILE + lane.warp * WARP_PLACES;
    word keys[D / 16][4], of_values[D / 16][4];
    load_left<D>(keys, pairs + at.key(first), 2 * at.width, length - first, at.dim, lane);
    load_left<D>(of_values, values + at.value(first), at.stride, length - first, at.dim, lane);
    float key[D / 8][4] = {}, value[D / 8][4] = {}, factor[2] = {scale, scale}, one[2] = {1.f, 1.f};
    for (int start = tile * TILE; start < length; start += N) {
        if (BOUNDED) {
            Seen seen = seen_by(bounds, at.row, start + threadIdx.x, threadIdx.x < N ? length : 0);
            if (!__syncthreads_or(seen.meets(tile * TILE, (tile + 1) * TILE))) continue;
            if (threadIdx.x < N) of_queries[threadIdx.x] = seen;
        }
        Fetched<D, N> first_half(pairs + at.query(start), 2 * at.width, length - start, at.dim);
        Fetched<D, N> second_half(gradient + at.result(start), at.width, length - start, at.dim);
        __syncthreads();
        queries.store(first_half);
        above.store(second_half);
        if (threadIdx.x < N && start + threadIdx.x < length) {
            of_sums[threadIdx.x] = log_sums[at.sum(start + threadIdx.x)];
            of_deltas[threadIdx.x] = deltas[at.sum(start + threadIdx.x)];
        }
        __syncthreads();
        float weights[N / 8][4] = {}, slopes[N / 8][4] = {};
        queries.multiply_transposed(weights, keys, lane);
        for (int i = 0; i < N / 8; i++)
            for (int e = 0; e < 4; e++) {
                int other = first + lane.g + e / 2 * 8, from = 8 * i + 2 * lane.t + e % 2, place = start + from;
                bool is_seen = BOUNDED ? of_queries[from].has(other) : other <= place && place < length;
                weights[i][e] = is_seen ? __expf(scale * weights[i][e] - of_sums[from]) : 0.f;
            }
        above.multiply(value, weights, lane);
        above.multiply_transposed(slopes, of_values, lane);
        for (int i = 0; i < N / 8; i++)
            for (int e = 0; e < 4; e++) {
                // Where there is no place the weight is 0, whatever stands in `of_deltas`.
                float weight = weights[i][e];
                slopes[i][e] = weight > 0.f ? weight * (slopes[i][e] - of_deltas[8 * i + 2 * lane.t + e % 2]) : 0.f;
            }
        queries.multiply(key, slopes, lane);
    }
    store<D>(into + at.key(first), 2 * at.width, key, factor, length - first, at.dim, lane);
    store<D>(into_values + at.value(first), at.stride, value, one, length - first, at.dim, lane);
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_64(
    float* read, float* log_sums, const float* pairs, const float* values, int stride, const word* bounds,
    int length, int heads, int dim, float scale) {
    attend<64, 64, false>(
        read, log_sums, pairs, values, bounds, length, scale, Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_128(
    float* read, float* log_sums, const float* pairs, const float* values, int stride, const word* bounds,
    int length, int heads, int dim, float scale) {
    attend<128, 32, false>(
        read, log_sums, pairs, values, bounds, length, scale, Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_64_bounded(
    float* read, float* log_sums, const float* pairs, const float* values, int stride, const word* bounds,
    int length, int heads, int dim, float scale) {
    attend<64, 64, true>(
        read, log_sums, pairs, values, bounds, length, scale, Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_128_bounded(
    float* read, float* log_sums, const float* pairs, const float* values, int stride, const word* bounds,
    int length, int heads, int dim, float scale) {
    attend<128, 32, true>(
        read, log_sums, pairs, values, bounds, length, scale, Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_backward_queries_64(
    float* into, float* deltas, const float* pairs, const float* values, const float* read, const float* log_sums,
    const float* gradient, int stride, const word* bounds, int length, int heads, int dim, float scale,
    float kept) {
    attend_backward_queries<64, 32, false>(
        into, deltas, pairs, values, read, log_sums, gradient, bounds, length, scale, kept,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_backward_queries_128(
    float* into, float* deltas, const float* pairs, const float* values, const float* read, const float* log_sums,
    const float* gradient, int stride, const word* bounds, int length, int heads, int dim, float scale,
    float kept) {
    attend_backward_queries<128, 32, false>(
        into, deltas, pairs, values, read, log_sums, gradient, bounds, length, scale, kept,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_backward_queries_64_bounded(
    float* into, float* deltas, const float* pairs, const float* values, const float* read, const float* log_sums,
    const float* gradient, int stride, const word* bounds, int length, int heads, int dim, float scale,
    float kept) {
    attend_backward_queries<64, 32, true>(
        into, deltas, pairs, values, read, log_sums, gradient, bounds, length, scale, kept,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_backward_queries_128_bounded(
    float* into, float* deltas, const float* pairs, const float* values, const float* read, const float* log_sums,
    const float* gradient, int stride, const word* bounds, int length, int heads, int dim, float scale,
    float kept) {
    attend_backward_queries<128, 32, true>(
        into, deltas, pairs, values, read, log_sums, gradient, bounds, length, scale, kept,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_backward_keys_64(
    float* into, float* into_values, const float* pairs, const float* values, const float* log_sums,
    const float* deltas, const float* gradient, int stride, const word* bounds, int length, int heads, int dim,
    float scale) {
    attend_backward_keys<64, 32, false>(
        into, into_values, pairs, values, log_sums, deltas, gradient, bounds, length, scale,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_backward_keys_128(
    float* into, float* into_values, const float* pairs, const float* values, const float* log_sums,
    const float* deltas, const float* gradient, int stride, const word* bounds, int length, int heads, int dim,
    float scale) {
    attend_backward_keys<128, 32, false>(
        into, into_values, pairs, values, log_sums, deltas, gradient, bounds, length, scale,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_backward_keys_64_bounded(
    float* into, float* into_values, const float* pairs, const float* values, const float* log_sums,
    const float* deltas, const float* gradient, int stride, const word* bounds, int length, int heads, int dim,
    float scale) {
    attend_backward_keys<64, 32, true>(
        into, into_values, pairs, values, log_sums, deltas, gradient, bounds, length, scale,
        Head(heads, dim, length, stride));
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_backward_keys_128_bounded(
    float* into, float* into_values, const float* pairs, const float* values, const float* log_sums,
    const float* deltas, const float* gradient, int stride, const word* bounds, int length, int heads, int dim,
    float scale) {
    attend_backward_keys<128, 32, true>(
        into, into_values, pairs, values, log_sums, deltas, gradient, bounds, length, scale,
        Head(heads, dim, length, stride));
}
