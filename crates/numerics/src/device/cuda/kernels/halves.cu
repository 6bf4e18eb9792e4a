// Numbers in bf16, the upper half of a float: how they are read and written, and operations on them alone.

// Where there are no tensor cores for bf16, kernels that need them are there and not called.
#define HAS_BF16 (__CUDA_ARCH__ >= 800)

__device__ __forceinline__ float widened(bf16 x) { return __uint_as_float((word)x << 16); }

// To the nearest, ties to even.
__device__ __forceinline__ bf16 narrowed(float x) {
    bf16 y = 0;
#if HAS_BF16
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
#endif
    return y;
}

// Two numbers, the first in the lower half.
__device__ __forceinline__ word pack(float x, float y) {
    word both = 0;
#if HAS_BF16
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(y), "f"(x));
#endif
    return both;
}

// One number, or two or four that are read and written at once.
template <int V> struct Numbers { float x[V]; };

template <int V> __device__ __forceinline__ Numbers<V> load(const float* from) {
    if constexpr (V == 4) {
        float4 of = *(const float4*)from;
        return {of.x, of.y, of.z, of.w};
    } else if constexpr (V == 2) {
        float2 of = *(const float2*)from;
        return {of.x, of.y};
    } else {
        return {*from};
    }
}

template <int V> __device__ __forceinline__ Numbers<V> load(const bf16* from) {
    if constexpr (V == 4) {
        uint2 of = *(const uint2*)from;
        return {__uint_as_float(of.x << 16), __uint_as_float(of.x & 0xffff0000u),
                __uint_as_float(of.y << 16), __uint_as_float(of.y & 0xffff0000u)};
    } else if constexpr (V == 2) {
        word of = *(const word*)from;
        return {__uint_as_float(of << 16), __uint_as_float(of & 0xffff0000u)};
    } else {
        return {widened(*from)};
    }
}

template <int V> __device__ __forceinline__ void save(float* into, const Numbers<V>& of) {
    if constexpr (V == 4) *(float4*)into = make_float4(of.x[0], of.x[1], of.x[2], of.x[3]);
    else if constexpr (V == 2) *(float2*)into = make_float2(of.x[0], of.x[1]);
    else *into = of.x[0];
}

template <int V> __device__ __forceinline__ void save(bf16* into, const Numbers<V>& of) {
    if constexpr (V == 4) *(uint2*)into = make_uint2(pack(of.x[0], of.x[1]), pack(of.x[2], of.x[3]));
    else if constexpr (V == 2) *(word*)into = pack(of.x[0], of.x[1]);
    else *into = narrowed(of.x[0]);
}

extern "C" __global__ void narrow(bf16* into, const float* from, size n) {
    size quads = ((size)into | (size)from) % 16 ? 0 : n / 4;
    EACH(i, quads) save(into + 4 * i, load<4>(from + 4 * i));
    EACH(i, n - 4 * quads) into[4 * quads + i] = narrowed(from[4 * quads + i]);
}

extern "C" __global__ void widen(float* into, const bf16* from, size n) { EACH(i, n) into[i] = widened(from[i]); }

extern "C" __global__ void dropout_of_halves(
    bf16* values, word threshold, float factor, const word* key, word layer, size n) {
    word mask = mixed(mixed(key[0] ^ layer * 0x9e3779b9u) ^ key[1]);
    size quads = (size)values % 8 ? 0 : n / 4;
    EACH(i, quads) {
        Numbers<4> of = load<4>(values + 4 * i);
#pragma unroll
        for (int v = 0; v < 4; v++) of.x[v] = mixed((word)(4 * i + v) ^ mask) >= threshold ? of.x[v] * factor : 0.f;
        save(values + 4 * i, of);
    }
    EACH(j, n - 4 * quads) {
        size i = 4 * quads + j;
        values[i] = narrowed(mixed((word)i ^ mask) >= threshold ? widened(values[i]) * factor : 0.f);
    }
}

// The gradient of a row, times a number of its own if there are such numbers.
extern "C" __global__ void cross_entropy_in_halves(
    bf16* gradient, const float* scores, const word* targets, const float* factors, float* losses, int columns,
    int into_stride, int row_stride, int quads, float scale) {
    const float* row = scores + (size)blockIdx.x * row_stride;
    bf16* into = gradient + (size)blockIdx.x * into_stride;
    word target = targets[blockIdx.x];
    if (target == NO_TARGET) {
        if (threadIdx.x == 0) losses[blockIdx.x] = 0.f;
        for (int i = threadIdx.x; i < columns; i += blockDim.x) into[i] = 0;
        return;
    }
    Sum s = row_sum(row, nullptr, columns, quads);
    if (threadIdx.x == 0) losses[blockIdx.x] = s.max + __logf(s.sum) - row[target];
    if (factors) scale *= factors[blockIdx.x];
    float share = scale / s.sum;
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        Numbers<4> of = load<4>(row + 4 * i);
#pragma unroll
        for (int v = 0; v < 4; v++) of.x[v] = __expf(of.x[v] - s.max) * share - (4 * i + v == target ? scale : 0.f);
        save(into + 4 * i, of);
    }
    for (int i = 4 * quads + threadIdx.x; i < columns; i += blockDim.x)
        into[i] = narrowed(__expf(row[i] - s.max) * share - (i == target ? scale : 0.f));
}
