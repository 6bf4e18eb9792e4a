// What a Transformer needs besides attention: norms, rotations, gates.

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
