// What a Transformer needs besides attention: norms, rotations, gates.

#define EACH_WARP(i, n) \
    for (size i = (blockIdx.x * (size)blockDim.x + threadIdx.x) / 32; i < (n); i += (size)gridDim.x * blockDim.x / 32)

// A warp has a row, `V` numbers of it at a time for each lane.
template <int V>
__device__ __forceinline__ void norm_rows(
    bf16* into, float* copy, const float* from, const float* scale, int columns, float epsilon, size n) {
    int first = V * (threadIdx.x % 32);
    EACH_WARP(i, n) {
        const float* x = from + i * columns;
        float sum = 0.f;
        for (int j = first; j < columns; j += 32 * V) {
            Numbers<V> of = load<V>(x + j);
#pragma unroll
            for (int v = 0; v < V; v++) sum += of.x[v] * of.x[v];
        }
        float inverse = rsqrtf(warp_sum(sum) / columns + epsilon);
        for (int j = first; j < columns; j += 32 * V) {
            Numbers<V> of = load<V>(x + j), times = load<V>(scale + j);
            if (copy) save(copy + i * columns + j, of);
#pragma unroll
            for (int v = 0; v < V; v++) of.x[v] *= inverse * times.x[v];
            save(into + i * columns + j, of);
        }
    }
}

extern "C" __global__ void rms_norm(
    bf16* into, float* copy, const float* from, const float* scale, int columns, float epsilon, size n) {
    norm_rows<1>(into, copy, from, scale, columns, epsilon, n);
}

extern "C" __global__ void rms_norm_by_fours(
    bf16* into, float* copy, const float* from, const float* scale, int columns, float epsilon, size n) {
    norm_rows<4>(into, copy, from, scale, columns, epsilon, n);
}

#define NORM_WARPS 4
#define NORM_COLUMNS 2048

// The sums of a block's warps, so that the order is fixed.
__device__ __forceinline__ void sum_of_warps(float* partial, float (*sums)[NORM_COLUMNS], int columns) {
    __syncthreads();
    for (int j = threadIdx.x; j < columns; j += blockDim.x) {
        float sum = 0.f;
        for (int w = 0; w < NORM_WARPS; w++) sum += sums[w][j];
        partial[(size)blockIdx.x * columns + j] = sum;
    }
}

// The gradient of the scale is summed for each block.
template <int V>
__device__ __forceinline__ void norm_rows_backward(
    float* into, bf16* rounded, float* partial, const float* from, const float* scale, const bf16* gradient,
    int columns, float epsilon, size n) {
    __shared__ __align__(16) float sums[NORM_WARPS][NORM_COLUMNS];
    int first = V * (threadIdx.x % 32), warp = threadIdx.x / 32;
    for (int j = threadIdx.x % 32; j < columns; j += 32) sums[warp][j] = 0.f;
    __syncwarp();
    EACH_WARP(i, n) {
        const float* x = from + i * columns;
        const bf16* g = gradient + i * columns;
        float* y = into + i * columns;
        float square = 0.f, along = 0.f;
        for (int j = first; j < columns; j += 32 * V) {
            Numbers<V> of = load<V>(x + j), above = load<V>(g + j), times = load<V>(scale + j);
#pragma unroll
            for (int v = 0; v < V; v++) {
                square += of.x[v] * of.x[v];
                along += above.x[v] * times.x[v] * of.x[v];
            }
        }
        float inverse = rsqrtf(warp_sum(square) / columns + epsilon);
        float mean = warp_sum(along) * inverse / columns;
        for (int j = first; j < columns; j += 32 * V) {
            Numbers<V> of = load<V>(x + j), above = load<V>(g + j), times = load<V>(scale + j), old = load<V>(y + j);
            Numbers<V> sum = load<V>(&sums[warp][j]);
#pragma unroll
            for (int v = 0; v < V; v++) {
                float unit = of.x[v] * inverse;
                sum.x[v] += above.x[v] * unit;
                old.x[v] += (above.x[v] * times.x[v] - unit * mean) * inverse;
            }
            save(&sums[warp][j], sum);
            save(y + j, old);
            save(rounded + i * columns + j, old);
        }
    }
    sum_of_warps(partial, sums, columns);
}

extern "C" __global__ void __launch_bounds__(32 * NORM_WARPS) rms_norm_backward(
    float* into, bf16* rounded, float* partial, const float* from, const float* scale, const bf16* gradient,
    int columns, float epsilon, size n) {
    norm_rows_backward<1>(into, rounded, partial, from, scale, gradient, columns, epsilon, n);
}

extern "C" __global__ void __launch_bounds__(32 * NORM_WARPS) rms_norm_backward_by_fours(
    float* into, bf16* rounded, float* partial, const float* from, const float* scale, const bf16* gradient,
    int columns, float epsilon, size n) {
    norm_rows_backward<4>(into, rounded, partial, from, scale, gradient, columns, epsilon, n);
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

// A warp has a place, all queries and then all keys of it; a lane turns `V` pairs of numbers at a time. `scales`, which
// may be null, has those of queries, then those of keys.
template <int V>
__device__ __forceinline__ void turn(
    bf16* into, const bf16* from, const float* scales, const float* angles, int heads, int dim, int positions,
    float epsilon, int places) {
    int first = V * (threadIdx.x % 32), half = dim / 2;
    EACH_WARP(place, places) {
        const float* angle = angles + (int)place % positions * dim;
#pragma unroll 4
        for (int part = 0; part < 2 * heads; part++) {
            const bf16* x = from + (place * 3 * heads + part) * dim;
            bf16* y = into + (place * 2 * heads + part) * dim;
            const float* scale = scales + (part < heads ? 0 : dim);
            float inverse = 1.f;
            if (scales) {
                float sum = 0.f;
                for (int j = first; j < half; j += 32 * V) {
                    Numbers<V> a = load<V>(x + j), b = load<V>(x + half + j);
#pragma unroll
                    for (int v = 0; v < V; v++) sum += a.x[v] * a.x[v] + b.x[v] * b.x[v];
                }
                inverse = rsqrtf(warp_sum(sum) / dim + epsilon);
            }
            for (int j = first; j < half; j += 32 * V) {
                Numbers<V> a = load<V>(x + j), b = load<V>(x + half + j);
                Numbers<V> cosine = load<V>(angle + j), sine = load<V>(angle + half + j), c, d;
#pragma unroll
                for (int v = 0; v < V; v++) {
                    if (scales) a.x[v] *= inverse * scale[j + v], b.x[v] *= inverse * scale[half + j + v];
                    c.x[v] = a.x[v] * cosine.x[v] - b.x[v] * sine.x[v];
                    d.x[v] = b.x[v] * cosine.x[v] + a.x[v] * sine.x[v];
                }
                save(y + j, c);
                save(y + half + j, d);
            }
        }
    }
}

extern "C" __global__ void rotate(
    bf16* into, const bf16* from, const float* scales, const float* angles, int heads, int dim, int positions,
    float epsilon, int places) {
    turn<1>(into, from, scales, angles, heads, dim, positions, epsilon, places);
}

extern "C" __global__ void rotate_by_twos(
    bf16* into, const bf16* from, const float* scales, const float* angles, int heads, int dim, int positions,
    float epsilon, int places) {
    turn<2>(into, from, scales, angles, heads, dim, positions, epsilon, places);
}

template <int V>
__device__ __forceinline__ void turn_back(
    bf16* into, float* partial, const bf16* from, const float* scales, const float* angles, const bf16* gradient,
    int heads, int dim, int positions, float epsilon, int places) {
    __shared__ __align__(16) float sums[NORM_WARPS][NORM_COLUMNS];
    int first = V * (threadIdx.x % 32), warp = threadIdx.x / 32, half = dim / 2;
    for (int j = threadIdx.x % 32; j < 2 * dim; j += 32) sums[warp][j] = 0.f;
    __syncwarp();
    EACH_WARP(place, places) {
        const float* angle = angles + (int)place % positions * dim;
#pragma unroll 2
        for (int part = 0; part < 2 * heads; part++) {
            size start = (place * 3 * heads + part) * dim;
            const bf16 *x = from + start, *g = gradient + (place * 2 * heads + part) * dim;
            int of_keys = part < heads ? 0 : dim;
            const float* scale = scales + of_keys;
            float* sum = sums[warp] + of_keys;
            float inverse = 1.f, mean = 0.f;
            if (scales) {
                float square = 0.f, along = 0.f;
                for (int j = first; j < half; j += 32 * V) {
                    Numbers<V> a = load<V>(x + j), b = load<V>(x + half + j), c = load<V>(g + j);
                    Numbers<V> d = load<V>(g + half + j), cosine = load<V>(angle + j), sine = load<V>(angle + half + j);
#pragma unroll
                    for (int v = 0; v < V; v++) {
                        square += a.x[v] * a.x[v] + b.x[v] * b.x[v];
                        along += (c.x[v] * cosine.x[v] + d.x[v] * sine.x[v]) * scale[j + v] * a.x[v];
                        along += (d.x[v] * cosine.x[v] - c.x[v] * sine.x[v]) * scale[half + j + v] * b.x[v];
                    }
                }
                inverse = rsqrtf(warp_sum(square) / dim + epsilon);
                mean = warp_sum(along) * inverse / dim;
            }
            for (int j = first; j < half; j += 32 * V) {
                Numbers<V> a = load<V>(x + j), b = load<V>(x + half + j), c = load<V>(g + j);
                Numbers<V> d = load<V>(g + half + j), cosine = load<V>(angle + j), sine = load<V>(angle + half + j);
                Numbers<V> of_first = load<V>(sum + j), of_second = load<V>(sum + half + j);
#pragma unroll
                for (int v = 0; v < V; v++) {
                    float e = c.x[v] * cosine.x[v] + d.x[v] * sine.x[v], f = d.x[v] * cosine.x[v] - c.x[v] * sine.x[v];
                    if (scales) {
                        a.x[v] *= inverse, b.x[v] *= inverse;
                        of_first.x[v] += e * a.x[v], of_second.x[v] += f * b.x[v];
                        e = (e * scale[j + v] - a.x[v] * mean) * inverse;
                        f = (f * scale[half + j + v] - b.x[v] * mean) * inverse;
                    }
                    c.x[v] = e, d.x[v] = f;
                }
                save(sum + j, of_first);
                save(sum + half + j, of_second);
                save(into + start + j, c);
                save(into + start + half + j, d);
            }
        }
    }
    sum_of_warps(partial, sums, 2 * dim);
}

extern "C" __global__ void __launch_bounds__(32 * NORM_WARPS) rotate_backward(
    bf16* into, float* partial, const bf16* from, const float* scales, const float* angles, const bf16* gradient,
    int heads, int dim, int positions, float epsilon, int places) {
    turn_back<1>(into, partial, from, scales, angles, gradient, heads, dim, positions, epsilon, places);
}

extern "C" __global__ void __launch_bounds__(32 * NORM_WARPS) rotate_backward_by_twos(
    bf16* into, float* partial, const bf16* from, const float* scales, const float* angles, const bf16* gradient,
    int heads, int dim, int positions, float epsilon, int places) {
    turn_back<2>(into, partial, from, scales, angles, gradient, heads, dim, positions, epsilon, places);
}

template <int V>
__device__ __forceinline__ void gate_rows(bf16* into, const bf16* from, int columns, int rows) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const bf16* gates = from + 2 * (size)row * columns;
        for (int i = V * threadIdx.x; i < columns; i += V * blockDim.x) {
            Numbers<V> gate = load<V>(gates + i), up = load<V>(gates + columns + i);
#pragma unroll
            for (int v = 0; v < V; v++) up.x[v] *= gate.x[v] * sigmoid(gate.x[v]);
            save(into + (size)row * columns + i, up);
        }
    }
}

template <int V>
__device__ __forceinline__ void gate_rows_backward(
    bf16* into, const bf16* from, const bf16* gradient, int columns, int rows) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const bf16* gates = from + 2 * (size)row * columns;
        bf16* y = into + 2 * (size)row * columns;
        for (int i = V * threadIdx.x; i < columns; i += V * blockDim.x) {
            Numbers<V> gate = load<V>(gates + i), up = load<V>(gates + columns + i);
            Numbers<V> above = load<V>(gradient + (size)row * columns + i);
#pragma unroll
            for (int v = 0; v < V; v++) {
                float x = gate.x[v], open = sigmoid(x), g = above.x[v];
                gate.x[v] = g * up.x[v] * open * (1.f + x * (1.f - open));
                up.x[v] = g * x * open;
            }
            save(y + i, gate);
            save(y + columns + i, up);
        }
    }
}

extern "C" __global__ void swiglu(bf16* into, const bf16* from, int columns, int rows) {
    gate_rows<1>(into, from, columns, rows);
}

extern "C" __global__ void swiglu_by_fours(bf16* into, const bf16* from, int columns, int rows) {
    gate_rows<4>(into, from, columns, rows);
}

extern "C" __global__ void swiglu_backward(
    bf16* into, const bf16* from, const bf16* gradient, int columns, int rows) {
    gate_rows_backward<1>(into, from, gradient, columns, rows);
}

extern "C" __global__ void swiglu_backward_by_fours(
    bf16* into, const bf16* from, const bf16* gradient, int columns, int rows) {
    gate_rows_backward<4>(into, from, gradient, columns, rows);
}
