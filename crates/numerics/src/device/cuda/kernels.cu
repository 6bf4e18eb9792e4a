// The operations that are not products of matrices, for an NVIDIA GPU; compiled at run time.
//
// Numbers are f32. `n` counts numbers, a row has `columns` of them; kernels named after an operation have its
// arguments, and `kernels.rs` has the same parameters. The processor's code says what each computes; this file says how a GPU does it.

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

// ln Σ exp of a row by a block; the first `4 * quads` numbers are read four at a time.
__device__ Sum row_sum(const float* row, const float* bias, int columns, int quads) {
    Sum s = {-1e30f, 0.f};
    for (int i = threadIdx.x; i < quads; i += blockDim.x)
        take(s, plus(((const float4*)row)[i], ((const float4*)bias)[i]));
    for (int i = 4 * quads + threadIdx.x; i < columns; i += blockDim.x)
        s = join(s, {row[i] + bias[i], 1.f});
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

extern "C" __global__ void mask_rows(float* states, const float* keep, int units, int n) {
    EACH(i, n) states[i] *= keep[i / units];
}

// One step of all streams; `keep_after` is that of the next step, or null.
extern "C" __global__ void lstm_forward(
    float* gates, const float* bias, const float* keep, const float* keep_after,
    const float* before, float* cells, float* hiddens, float* outputs, int units, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    int stream = t / units, j = t % units;
    float* z = gates + (size)stream * 4 * units + j;
    float i = sigmoid(z[0] + bias[j]), f = sigmoid(z[units] + bias[units + j]);
    float o = sigmoid(z[2 * units] + bias[2 * units + j]), g = squash(z[3 * units] + bias[3 * units + j]);
    float cell = f * (keep[stream] * before[t]) + i * g, h = o * squash(cell);
    cells[t] = cell;
    outputs[t] = h;
    hiddens[t] = keep_after ? keep_after[stream] * h : h;
    z[0] = i; z[units] = f; z[2 * units] = o; z[3 * units] = g;
}

// One step of all streams; at the last step `keep_after` is null and nothing comes from after it.
extern "C" __global__ void lstm_backward(
    float* gates, const float* keep, const float* keep_after, const float* before, const float* cells,
    const float* output, const float* hidden, float* cell_gradient, int units, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    int stream = t / units, j = t % units;
    float* z = gates + (size)stream * 4 * units + j;
    float i = z[0], f = z[units], o = z[2 * units], g = z[3 * units], squashed = squash(cells[t]);
    float dh = output[t] + (keep_after ? keep_after[stream] * hidden[t] : 0.f);
    float dc = (keep_after ? cell_gradient[t] : 0.f) + dh * o * (1.f - squashed * squashed);
    z[0] = dc * g * i * (1.f - i);
    z[units] = dc * (keep[stream] * before[t]) * f * (1.f - f);
    z[2 * units] = dh * squashed * o * (1.f - o);
    z[3 * units] = dc * i * (1.f - g * g);
    cell_gradient[t] = dc * f * keep[stream];
}

// Products by tensor cores: 16 × 8 numbers from 16 × 8 and 8 × 8, rounded to TF32. The order of a sum does not
// matter, so a thread may take four neighbours of a row at once, two for each of two products. GPUs before compute
// capability 8.0 have none: the kernels that use them are not called there.

__device__ __forceinline__ unsigned rounded(float x) {
    unsigned bits = 0;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#endif
    return bits;
}

__device__ __forceinline__ void multiply_add(
    float (&sum)[4], float a0, float a1, float a2, float a3, float b0, float b1) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(rounded(a0)), "r"(rounded(a1)), "r"(rounded(a2)), "r"(rounded(a3)), "r"(rounded(b0)), "r"(rounded(b1)));
#endif
}

// Two products: rows `low` and `high` of the left factor, a column of the right one, sixteen numbers of each.
__device__ __forceinline__ void multiply_add(float (&sum)[4], float4 low, float4 high, float4 column) {
    multiply_add(sum, low.x, high.x, low.y, high.y, column.x, column.y);
    multiply_add(sum, low.z, high.z, low.w, high.w, column.z, column.w);
}

__device__ __forceinline__ float4 quad(const float* from, bool is_there) {
    return is_there ? *(const float4*)from : make_float4(0.f, 0.f, 0.f, 0.f);
}

#define WARPS 8

// As lstm_forward, with the product of states and weights: a block has 32 streams and the four gates of 8 units.
// Each of its warps takes a part of the sum over the state; `units` is a multiple of 16.
extern "C" __global__ void __launch_bounds__(32 * WARPS) lstm_forward_product(
    float* gates, const float* recurrent, const float* bias, const float* keep, const float* keep_after,
    const float* before, float* cells, const float* hidden, float* hiddens, float* outputs, int units, int streams) {
    __shared__ float parts[WARPS][32][33];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    int unit = blockIdx.x * 8, stream = blockIdx.y * 32;
    float sums[2][4][4] = {};
    #pragma unroll 4
    for (int k = 16 * warp + 4 * t; k < units; k += 16 * WARPS) {
        float4 rows[4];
        for (int i = 0; i < 4; i++) {
            int row = stream + g + 8 * i;
            rows[i] = quad(hidden + (size)row * units + k, row < streams);
        }
        for (int gate = 0; gate < 4; gate++) {
            const float* w = recurrent + (size)k * 4 * units + gate * units + unit + g;
            float4 column = make_float4(w[0], w[4 * units], w[8 * units], w[12 * units]);
            multiply_add(sums[0][gate], rows[0], rows[1], column);
            multiply_add(sums[1][gate], rows[2], rows[3], column);
        }
    }
    for (int half = 0; half < 2; half++)
        for (int gate = 0; gate < 4; gate++)
            for (int i = 0; i < 4; i++)
                parts[warp][16 * half + g + 8 * (i / 2)][8 * gate + 2 * t + i % 2] = sums[half][gate][i];
    __syncthreads();
    int row = threadIdx.x / 8, j = threadIdx.x % 8;
    stream += row;
    unit += j;
    if (stream >= streams) return;
    float* z = gates + (size)stream * 4 * units + unit;
    float x[4];
    for (int gate = 0; gate < 4; gate++) {
        x[gate] = z[gate * units] + bias[gate * units + unit];
        for (int w = 0; w < WARPS; w++) x[gate] += parts[w][row][8 * gate + j];
    }
    float i = sigmoid(x[0]), f = sigmoid(x[1]), o = sigmoid(x[2]), c = squash(x[3]);
    size at = (size)stream * units + unit;
    float cell = f * (keep[stream] * before[at]) + i * c, h = o * squash(cell);
    cells[at] = cell;
    outputs[at] = h;
    hiddens[at] = keep_after ? keep_after[stream] * h : h;
    z[0] = i; z[units] = f; z[2 * units] = o; z[3 * units] = c;
}

// As lstm_backward, with the product of the gates' gradients after it and the weights: a block has 16 streams and
// 16 units. At the last step `keep_after` is null.
extern "C" __global__ void __launch_bounds__(32 * WARPS) lstm_backward_product(
    float* gates, const float* recurrent, const float* keep, const float* keep_after,
    const float* before, const float* cells, const float* output, float* cell_gradient, int units, int streams) {
    __shared__ float parts[WARPS][16][17];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    int unit = blockIdx.x * 16, stream = blockIdx.y * 16, columns = 4 * units;
    if (keep_after) {
        const float* after = gates + (size)streams * columns;
        float sums[2][4] = {};
        #pragma unroll 4
        for (int k = 16 * warp + 4 * t; k < columns; k += 16 * WARPS) {
            float4 low = quad(after + (size)(stream + g) * columns + k, stream + g < streams);
            float4 high = quad(after + (size)(stream + g + 8) * columns + k, stream + g + 8 < streams);
            for (int i = 0; i < 2; i++)
                multiply_add(sums[i], low, high, quad(recurrent + (size)(unit + g + 8 * i) * columns + k, true));
        }
        for (int half = 0; half < 2; half++)
            for (int i = 0; i < 4; i++) parts[warp][g + 8 * (i / 2)][8 * half + 2 * t + i % 2] = sums[half][i];
        __syncthreads();
    }
    int row = threadIdx.x / 16, j = threadIdx.x % 16;
    stream += row;
    unit += j;
    if (stream >= streams) return;
    size at = (size)stream * units + unit;
    float dh = 0.f;
    if (keep_after) {
        for (int w = 0; w < WARPS; w++) dh += parts[w][row][j];
        dh *= keep_after[stream];
    }
    dh += output[at];
    float* z = gates + (size)stream * columns + unit;
    float i = z[0], f = z[units], o = z[2 * units], c = z[3 * units], squashed = squash(cells[at]);
    float dc = (keep_after ? cell_gradient[at] : 0.f) + dh * o * (1.f - squashed * squashed);
    z[0] = dc * c * i * (1.f - i);
    z[units] = dc * (keep[stream] * before[at]) * f * (1.f - f);
    z[2 * units] = dh * squashed * o * (1.f - o);
    z[3 * units] = dc * i * (1.f - c * c);
    cell_gradient[at] = dc * f * keep[stream];
}

// Where a part of a row begins, in matrices that lie side by side.
__device__ __forceinline__ size place(size part, int batch, int stride, int batch_stride) {
    return part / batch * stride + part % batch * batch_stride;
}

#define EACH_WARP(i, n) \
    for (size i = (blockIdx.x * (size)blockDim.x + threadIdx.x) / 32; i < (n); i += (size)gridDim.x * blockDim.x / 32)

// A warp has a row, or a part of one.
extern "C" __global__ void rms_norm(
    float* into, const float* from, const float* scale, int columns, int batch, int stride, int batch_stride,
    int other, int other_batch, float epsilon, size n) {
    int lane = threadIdx.x % 32;
    EACH_WARP(i, n) {
        const float* x = from + place(i, batch, other, other_batch);
        float* y = into + place(i, batch, stride, batch_stride);
        float sum = 0.f;
        for (int j = lane; j < columns; j += 32) sum += x[j] * x[j];
        float inverse = rsqrtf(warp_sum(sum) / columns + epsilon);
        for (int j = lane; j < columns; j += 32) y[j] = x[j] * inverse * scale[j];
    }
}

#define NORM_WARPS 4
#define NORM_COLUMNS 2048

// A warp has a row; the gradient of the scale is summed for each block, so that the order is fixed.
extern "C" __global__ void __launch_bounds__(32 * NORM_WARPS) rms_norm_backward(
    float* into, float* partial, const float* from, const float* scale, const float* gradient, float beta,
    int columns, int batch, int stride, int batch_stride, int other, int other_batch, int above, int above_batch,
    float epsilon, size n) {
    __shared__ float sums[NORM_WARPS][NORM_COLUMNS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int j = lane; j < columns; j += 32) sums[warp][j] = 0.f;
    EACH_WARP(i, n) {
        const float* x = from + place(i, batch, other, other_batch);
        const float* g = gradient + place(i, batch, above, above_batch);
        float* y = into + place(i, batch, stride, batch_stride);
        float square = 0.f, along = 0.f;
        for (int j = lane; j < columns; j += 32) {
            square += x[j] * x[j];
            along += g[j] * scale[j] * x[j];
        }
        float inverse = rsqrtf(warp_sum(square) / columns + epsilon);
        float mean = warp_sum(along) * inverse / columns;
        for (int j = lane; j < columns; j += 32) {
            float unit = x[j] * inverse, added = (g[j] * scale[j] - unit * mean) * inverse;
            sums[warp][j] += g[j] * unit;
            y[j] = beta == 0.f ? added : beta * y[j] + added;
        }
    }
    __syncthreads();
    for (int j = threadIdx.x; j < columns; j += blockDim.x) {
        float sum = 0.f;
        for (int w = 0; w < NORM_WARPS; w++) sum += sums[w][j];
        partial[(size)blockIdx.x * columns + j] = sum;
    }
}

// A block has 32 columns.
extern "C" __global__ void sum_partial_rows(float* into, const float* partial, int columns, int rows) {
    __shared__ float sums[32][33];
    int x = threadIdx.x % 32, y = threadIdx.x / 32, column = blockIdx.x * 32 + x;
    float sum = 0.f;
    if (column < columns)
        for (int row = y; row < rows; row += 32) sum += partial[(size)row * columns + column];
    sums[y][x] = sum;
    __syncthreads();
    sum = warp_sum(sums[x][y]);
    column = blockIdx.x * 32 + y;
    if (x == 0 && column < columns) into[column] = sum;
}

// A block has a row at a time; a thread turns two numbers by one angle.
extern "C" __global__ void rotate(
    float* values, const float* angles, int columns, int dim, int positions, float sign, int rows) {
    int half = dim / 2;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* angle = angles + (size)(row % positions) * dim;
        for (int i = threadIdx.x; i < columns / 2; i += blockDim.x) {
            int j = i % half;
            float* at = values + (size)row * columns + i / half * dim + j;
            float x = at[0], y = at[half], cosine = angle[j], sine = sign * angle[half + j];
            at[0] = x * cosine - y * sine;
            at[half] = y * cosine + x * sine;
        }
    }
}

extern "C" __global__ void swiglu(float* into, const float* from, int columns, int rows) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* gates = from + 2 * (size)row * columns;
        for (int i = threadIdx.x; i < columns; i += blockDim.x)
            into[(size)row * columns + i] = gates[i] * sigmoid(gates[i]) * gates[columns + i];
    }
}

extern "C" __global__ void swiglu_backward(
    float* into, const float* from, const float* gradient, int columns, int rows) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* gates = from + 2 * (size)row * columns;
        float* y = into + 2 * (size)row * columns;
        for (int i = threadIdx.x; i < columns; i += blockDim.x) {
            float gate = gates[i], open = sigmoid(gate), g = gradient[(size)row * columns + i];
            y[i] = g * gates[columns + i] * open * (1.f + gate * (1.f - open));
            y[columns + i] = g * gate * open;
        }
    }
}

// The first of two steps: a partial sum for each block, so that the order is fixed.
extern "C" __global__ void sum_of_squares(float* partial, const float* from, size n) {
    float sum = 0.f;
    size quads = n / 4;
    EACH(i, quads) {
        float4 x = ((const float4*)from)[i];
        sum += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4) { float x = from[4 * quads + threadIdx.x]; sum += x * x; }
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void sum_partial(float* into, const float* partial, int n) {
    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += partial[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *into = sum;
}

// What the gradient is multiplied by so that its norm is at most `clip`.
__device__ __forceinline__ float shrink(const Settings& settings) {
    float norm = sqrtf(settings.square);
    return norm > settings.clip ? settings.clip / norm : 1.f;
}

extern "C" __global__ void sgd_step(float* values, const float* gradient, const float* settings, size n) {
    const Settings& s = *(const Settings*)settings;
    float rate = s.rate * shrink(s), kept = 1.f - s.rate * s.decay;
    // A matrix may begin anywhere among the parameters.
    size quads = ((size)values | (size)gradient) % 16 ? 0 : n / 4;
    EACH(i, quads) {
        float4 x = ((float4*)values)[i], g = ((const float4*)gradient)[i];
        ((float4*)values)[i] = make_float4(
            kept * x.x - rate * g.x, kept * x.y - rate * g.y, kept * x.z - rate * g.z, kept * x.w - rate * g.w);
    }
    EACH(i, n - 4 * quads) {
        float& value = values[4 * quads + i];
        value = kept * value - rate * gradient[4 * quads + i];
    }
}

extern "C" __global__ void momentum(
    float* values, float* momentum, const float* gradient, const float* settings, size n) {
    float beta = ((const Settings*)settings)->beta_1;
    EACH(i, n) {
        float g = (1.f - beta) * gradient[i];
        float mean = momentum[i] = beta * momentum[i] + g;
        values[i] = beta * mean + g;
    }
}

extern "C" __global__ void unit_rows(float* values, int columns) {
    values += (size)blockIdx.x * columns;
    float sum = 0.f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += values[i] * values[i];
    float share = 1.f / fmaxf(sqrtf(block_sum(sum)), 1.17549435e-38f);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) values[i] *= share;
}

extern "C" __global__ void adam_step(
    float* values, float* moments, const float* gradient, const float* settings, size n) {
    const Settings s = *(const Settings*)settings;
    float factor = shrink(s);
    EACH(i, n) {
        float g = gradient[i] * factor;
        float m = moments[i] = s.beta_1 * moments[i] + (1.f - s.beta_1) * g;
        float v = moments[n + i] = s.beta_2 * moments[n + i] + (1.f - s.beta_2) * g * g;
        values[i] -= s.rate * (m / s.unbias_1 / (sqrtf(v / s.unbias_2) + s.epsilon) + s.decay * values[i]);
    }
}

// Rounded to the nearest, ties to even; NaN stays NaN.
extern "C" __global__ void to_bf16(bf16* into, const float* from, size n) {
    EACH(i, n) {
        word bits = __float_as_uint(from[i]);
        bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
        into[i] = is_nan ? (bits >> 16) | 0x40u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    }
}

extern "C" __global__ void from_bf16(float* into, const bf16* from, size n) {
    EACH(i, n) into[i] = __uint_as_float((word)from[i] << 16);
}
