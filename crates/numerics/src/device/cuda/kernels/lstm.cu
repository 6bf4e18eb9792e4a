// The steps of an LSTM, alone and with their products on tensor cores.

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
