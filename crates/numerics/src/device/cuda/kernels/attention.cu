// Attention of each place to those before it in its row and to itself, forward and backward, in products of f32: a
// block has one place of a head.
//
// `bounds`, which may be null, has for each place what it reads besides itself: the places of its row from the first
// bound up to the second, and those from the third on. Without them it reads all before it.
//
// `pairs` has for each place the queries of all heads, then their keys; `values` has a stride of its own; `read`,
// `gradient` have the numbers of all heads, `log_sums` and `deltas` one number for each head.

#define MOST_PLACES 4096

// What a block of a grid [places, rows · heads] works on.
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

__device__ __forceinline__ float inner(const float* x, const float* y, int n) {
    float sum = 0.f;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

extern "C" __global__ void attention(
    float* read, float* log_sums, const float* pairs, const float* values, int stride, const word* bounds,
    int length, int heads, int dim, float scale) {
    __shared__ float weights[MOST_PLACES];
    Head at(heads, dim, length, stride);
    int place = blockIdx.x;
    Seen seen = seen_by(bounds, at.row, place, length);
    Sum sum = {-1e30f, 0.f};
    for (int j = threadIdx.x; j <= place; j += blockDim.x) {
        float along = seen.has(j) ? scale * inner(pairs + at.query(place), pairs + at.key(j), dim) : -1e30f;
        float score = weights[j] = along;
        sum = join(sum, {score, 1.f});
    }
    sum = block_join(sum);
    float log_sum = sum.max + logf(sum.sum);
    for (int j = threadIdx.x; j <= place; j += blockDim.x) weights[j] = expf(weights[j] - log_sum);
    __syncthreads();
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float mean = 0.f;
        for (int j = 0; j <= place; j++) mean += weights[j] * values[at.value(j) + d];
        read[at.result(place) + d] = mean;
    }
    if (threadIdx.x == 0) log_sums[at.sum(place)] = log_sum;
}

// Of queries, and Σ gradient ∘ read of each, which the gradients of keys need; `kept` undoes what dropout has
// divided `read` by (where it dropped a number, the gradient is 0).
extern "C" __global__ void attention_backward_queries(
    float* into, float* deltas, const float* pairs, const float* values, const float* read, const float* log_sums,
    const float* gradient, int stride, const word* bounds, int length, int heads, int dim, float scale,
    float kept) {
    __shared__ float slopes[MOST_PLACES];
    Head at(heads, dim, length, stride);
    int place = blockIdx.x;
    const float* above = gradient + at.result(place);
    float delta = kept * inner(above, read + at.result(place), dim), log_sum = log_sums[at.sum(place)];
    Seen seen = seen_by(bounds, at.row, place, length);
    for (int j = threadIdx.x; j <= place; j += blockDim.x) {
        slopes[j] = 0.f;
        if (!seen.has(j)) continue;
        float weight = expf(scale * inner(pairs + at.query(place), pairs + at.key(j), dim) - log_sum);
        slopes[j] = weight * (inner(above, values + at.value(j), dim) - delta);
    }
    __syncthreads();
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float sum = 0.f;
        for (int j = 0; j <= place; j++) sum += slopes[j] * pairs[at.key(j) + d];
        into[at.query(place) + d] = scale * sum;
    }
    if (threadIdx.x == 0) deltas[at.sum(place)] = delta;
}

// Of keys and values.
extern "C" __global__ void attention_backward_keys(
    float* into, float* into_values, const float* pairs, const float* values, const float* log_sums,
    const float* deltas, const float* gradient, int stride, const word* bounds, int length, int heads, int dim,
    float scale) {
    __shared__ float weights[MOST_PLACES], slopes[MOST_PLACES];
    Head at(heads, dim, length, stride);
    int place = blockIdx.x;
    for (int i = place + threadIdx.x; i < length; i += blockDim.x) {
        weights[i] = slopes[i] = 0.f;
        if (!seen_by(bounds, at.row, i, length).has(place)) continue;
        float score = scale * inner(pairs + at.query(i), pairs + at.key(place), dim);
        float weight = weights[i] = expf(score - log_sums[at.sum(i)]);
        float along = inner(gradient + at.result(i), values + at.value(place), dim);
        slopes[i] = weight * (along - deltas[at.sum(i)]);
    }
    __syncthreads();
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float key = 0.f, value = 0.f;
        for (int i = place; i < length; i++) {
            key += slopes[i] * pairs[at.query(i) + d];
            value += weights[i] * gradient[at.result(i) + d];
        }
        into[at.key(place) + d] = scale * key;
        into_values[at.value(place) + d] = value;
    }
}
