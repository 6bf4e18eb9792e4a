// The norm of a gradient, and the steps of SGD, Muon's momentum and AdamW.

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

// The first of two steps: a grid [blocks, rows] sums the squares of each row, a share for each block.
extern "C" __global__ void squares_of_rows(float* partial, const float* values, int columns) {
    values += (size)blockIdx.y * columns;
    float sum = 0.f;
    EACH(i, columns) sum += values[i] * values[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

extern "C" __global__ void unit_rows(float* values, const float* partial, int columns) {
    values += (size)blockIdx.y * columns;
    float sum = 0.f;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += partial[blockIdx.y * gridDim.x + i];
    float share = 1.f / fmaxf(sqrtf(block_sum(sum)), 1.17549435e-38f);
    EACH(i, columns) values[i] *= share;
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
