// The operations that are not products of matrices, for an NVIDIA GPU: sums, elementwise operations, softmaxes. The
// files of this folder are compiled as one, at run time.
//
// Numbers are f32. `n` counts numbers, a row has `columns` of them; kernels named after an operation have its
// arguments, and `kernels.rs` has the same parameters. The processor's code says what each computes; these files say
// how a GPU does it.

typedef unsigned int word;
typedef long long size;
typedef unsigned short bf16;  // the upper half of a float

// `struct Settings`, with the fields of `StepSettings` in their order, is put before this text.

#define EACH(i, n) \
    for (size i = blockIdx.x * (size)blockDim.x + threadIdx.x; i < (n); i += (size)gridDim.x * blockDim.x)
#define NO_TARGET 0xffffffffu

__device__ __forceinline__ float sigmoid(float x) { return 1.f / (1.f + __expf(-x)); }

// tanh by one exponential: accurate to 1e-7, and twice as fast as tanhf.
__device__ __forceinline__ float squash(float x) { return 2.f * sigmoid(2.f * x) - 1.f; }

__device__ __forceinline__ float warp_sum(float x) {
    for (int o = 16; o; o >>= 1) x += __shfl_xor_sync(~0u, x, o);
    return x;
}

// The sum over a block, for all its threads; a block has at most 32 warps.
__device__ float block_sum(float x) {
    __shared__ float sums[32];
    x = warp_sum(x);
    if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = x;
    __syncthreads();
    float sum = (threadIdx.x & 31) < (blockDim.x >> 5) ? sums[threadIdx.x & 31] : 0.f;
    sum = warp_sum(sum);
    __syncthreads();
    return sum;
}

// A running sum of exponentials: sum · e^max.
struct Sum { float max, sum; };

__device__ __forceinline__ Sum join(Sum a, Sum b) {
    float max = fmaxf(a.max, b.max);
    return {max, a.sum * __expf(a.max - max) + b.sum * __expf(b.max - max)};
}

__device__ Sum block_join(Sum s) {
    __shared__ Sum sums[32];
    for (int o = 16; o; o >>= 1)
        s = join(s, {__shfl_xor_sync(~0u, s.max, o), __shfl_xor_sync(~0u, s.sum, o)});
    if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = s;
    __syncthreads();
    s = (threadIdx.x & 31) < (blockDim.x >> 5) ? sums[threadIdx.x & 31] : Sum{-1e30f, 0.f};
    for (int o = 16; o; o >>= 1)
        s = join(s, {__shfl_xor_sync(~0u, s.max, o), __shfl_xor_sync(~0u, s.sum, o)});
    __syncthreads();
    return s;
}

// Four numbers at a time: an exponential only where the maximum grows.
__device__ __forceinline__ void take(Sum& s, float4 x) {
    float max = fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w));
    if (max > s.max) { s.sum *= __expf(s.max - max); s.max = max; }
    s.sum += __expf(x.x - s.max) + __expf(x.y - s.max) + __expf(x.z - s.max) + __expf(x.w - s.max);
}

__device__ __forceinline__ float4 plus(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// ln Σ exp of a row by a block, with a bias or without; the first `4 * quads` numbers are read four at a time.
__device__ Sum row_sum(const float* row, const float* bias, int columns, int quads) {
    Sum s = {-1e30f, 0.f};
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 x = ((const float4*)row)[i];
        take(s, bias ? plus(x, ((const float4*)bias)[i]) : x);
    }
    for (int i = 4 * quads + threadIdx.x; i < columns; i += blockDim.x)
        s = join(s, {bias ? row[i] + bias[i] : row[i], 1.f});
    return block_join(s);
}

extern "C" __global__ void fill(float* into, float value, size n) { EACH(i, n) into[i] = value; }

extern "C" __global__ void copy_rows(float* into, const float* from, int columns, int stride, int other, size n) {
    EACH(i, n) into[i / columns * stride + i % columns] = from[i / columns * other + i % columns];
}

extern "C" __global__ void add(float* into, float scale, const float* from, size n) {
    EACH(i, n) into[i] += scale * from[i];
}

extern "C" __global__ void gather_rows(float* into, const float* table, const word* rows, int dim, size n) {
    EACH(i, n) into[i] = table[(size)rows[i / dim] * dim + i % dim];
}

extern "C" __global__ void scatter_add_rows(float* table, const word* rows, const float* from, int dim, size n) {
    EACH(i, n) atomicAdd(table + (size)rows[i / dim] * dim + i % dim, from[i]);
}

// A block has a row of the table; rows are asked for several at a time and added in order.
extern "C" __global__ void add_groups_of_rows(
    float* table, const word* starts, const word* order, const float* from, int dim) {
    word first = starts[blockIdx.x], end = starts[blockIdx.x + 1];
    if (first == end) return;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) {
        float sum = table[(size)blockIdx.x * dim + i];
#pragma unroll 8
        for (word j = first; j < end; j++) sum += from[(size)order[j] * dim + i];
        table[(size)blockIdx.x * dim + i] = sum;
    }
}

extern "C" __global__ void scale(float* values, float beta, size n) {
    EACH(i, n) values[i] = beta == 0.f ? 0.f : beta * values[i];
}

// A thread sums a column over `height` rows.
extern "C" __global__ void sum_rows(
    float* into, const float* from, int columns, int row_stride, int rows, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * height;
    if (column >= columns) return;
    float sum = 0.f;
    for (int row = first; row < min(rows, first + height); row++) sum += from[(size)row * row_stride + column];
    atomicAdd(into + column, sum);
}

__device__ __forceinline__ word mixed(word bits) {
    bits = (bits ^ (bits >> 16)) * 0x7feb352du;
    bits = (bits ^ (bits >> 15)) * 0x846ca68bu;
    return bits ^ (bits >> 16);
}

extern "C" __global__ void dropout(float* values, word threshold, float factor, const word* key, word layer, size n) {
    word mask = mixed(mixed(key[0] ^ layer * 0x9e3779b9u) ^ key[1]);
    EACH(i, n) values[i] = mixed((word)i ^ mask) >= threshold ? values[i] * factor : 0.f;
}

extern "C" __global__ void relu_tail(float* values, int columns, int first, size n) {
    EACH(i, n) if (i % columns >= first) values[i] = fmaxf(values[i], 0.f);
}

extern "C" __global__ void relu_tail_backward(float* gradient, const float* outputs, int columns, int first, size n) {
    EACH(i, n) if (i % columns >= first && outputs[i] <= 0.f) gradient[i] = 0.f;
}

extern "C" __global__ void smooth_rows(
    float* into, const float* from, const word* bounds, int columns, int reach, size n) {
    float share = 1.f / (2 * reach + 1);
    EACH(i, n) {
        size row = i / columns;
        int column = i % columns, first = bounds[2 * row], end = bounds[2 * row + 1];
        float sum = 0.f;
        if (column >= first && column < end)
            for (int near = max(first, column - reach); near < min(end, column + reach + 1); near++)
                sum += from[i + near - column];
        into[i] = sum * share;
    }
}

extern "C" __global__ void softmax_rows(float* scores, const word* bounds, int columns) {
    float* row = scores + (size)blockIdx.x * columns;
    int first = bounds[2 * blockIdx.x], end = bounds[2 * blockIdx.x + 1];
    Sum s = {-1e30f, 0.f};
    for (int i = first + threadIdx.x; i < end; i += blockDim.x) s = join(s, {row[i], 1.f});
    s = block_join(s);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        row[i] = i >= first && i < end ? __expf(row[i] - s.max) / s.sum : 0.f;
}

extern "C" __global__ void softmax_rows_backward(float* gradient, const float* attention, int columns) {
    float* row = gradient + (size)blockIdx.x * columns;
    attention += (size)blockIdx.x * columns;
    float mean = 0.f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) mean += attention[i] * row[i];
    mean = block_sum(mean);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) row[i] = attention[i] * (row[i] - mean);
}

extern "C" __global__ void cross_entropy(
    float* scores, const float* bias, const word* targets, float* losses, int columns, int row_stride,
    int quads, float scale) {
    float* row = scores + (size)blockIdx.x * row_stride;
    word target = targets[blockIdx.x];
    if (target == NO_TARGET) {
        if (threadIdx.x == 0) losses[blockIdx.x] = 0.f;
        for (int i = threadIdx.x; i < columns; i += blockDim.x) row[i] = 0.f;
        return;
    }
    Sum s = row_sum(row, bias, columns, quads);
    if (threadIdx.x == 0) losses[blockIdx.x] = s.max + __logf(s.sum) - (row[target] + bias[target]);
    __syncthreads();
    float share = scale / s.sum;
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 x = plus(((float4*)row)[i], ((const float4*)bias)[i]);
        x.x = __expf(x.x - s.max) * share; x.y = __expf(x.y - s.max) * share;
        x.z = __expf(x.z - s.max) * share; x.w = __expf(x.w - s.max) * share;
        if (i == target / 4) (&x.x)[target & 3] -= scale;
        ((float4*)row)[i] = x;
    }
    for (int i = 4 * quads + threadIdx.x; i < columns; i += blockDim.x)
        row[i] = __expf(row[i] + bias[i] - s.max) * share - (i == target ? scale : 0.f);
}

extern "C" __global__ void log_probs(
    float* into, const float* scores, const float* bias, const word* chosen, int columns, int row_stride,
    int quads, int k) {
    const float* row = scores + (size)blockIdx.x * row_stride;
    Sum s = row_sum(row, bias, columns, quads);
    float log = s.max + __logf(s.sum);
    for (int i = threadIdx.x; i < k; i += blockDim.x) {
        word w = chosen[(size)blockIdx.x * k + i];
        into[(size)blockIdx.x * k + i] = w == NO_TARGET ? 0.f : row[w] + bias[w] - log;
    }
}

// A warp has a question, and a lane the sum of a text: at most 32.
extern "C" __global__ void choose(
    float* weights, float* losses, const float* log_probs, const word* questions, int texts, float scale,
    float share) {
    const word* of = questions + (size)blockIdx.x * (1 + 2 * texts);
    word answer = of[0];
    if (answer == NO_TARGET) {
        if (threadIdx.x == 0) losses[blockIdx.x] = 0.f;
        return;
    }
    float score = -1e30f;
    for (int text = 0; text < texts; text++) {
        word first = of[1 + 2 * text], end = of[2 + 2 * text];
        float sum = 0.f;
        for (word i = first + threadIdx.x; i < end; i += 32) sum += log_probs[i];
        sum = warp_sum(sum);
        if (threadIdx.x == text && first < end) score = scale * sum;
    }
    float most = score;
    for (int o = 16; o; o >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
    float power = expf(score - most), sum = warp_sum(power);
    if (threadIdx.x == answer) losses[blockIdx.x] = logf(sum) + most - score;
    float weight = share * scale * ((threadIdx.x == answer ? 1.f : 0.f) - power / sum);
    for (int text = 0; text < texts; text++) {
        float of_text = __shfl_sync(~0u, weight, text);
        for (word i = of[1 + 2 * text] + threadIdx.x; i < of[2 + 2 * text]; i += 32) weights[i] = of_text;
    }
}

extern "C" __global__ void mask_rows(float* states, const float* keep, int units, int n) {
    EACH(i, n) states[i] *= keep[i / units];
}
