// What attention in tiles is made of: rows of numbers in shared memory, and products of them on tensor cores.

// Places of a block; each of its four warps has 16 of them.
#define TILE 64
#define WARP_PLACES 16
#define ATTENTION_THREADS 128

#define LOG2_E 1.44269504f
#define LN_2 0.69314718f

__device__ __forceinline__ float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
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

__device__ __forceinline__ word shared_address(const void* at) { return (word)__cvta_generic_to_shared(at); }

// Four matrices of 8 × 8 numbers; lanes 8m to 8m + 7 have the addresses of the rows of matrix m.
__device__ __forceinline__ void load_matrices(word (&b)[4], const bf16* row) {
#if HAS_BF16
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(shared_address(row)));
#endif
}

__device__ __forceinline__ void load_transposed(word (&b)[4], const bf16* row) {
#if HAS_BF16
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(shared_address(row)));
#endif
}

// Copies 16 bytes to shared memory while other work goes on, or zeros.
__device__ __forceinline__ void copy_ahead(bf16* into, const bf16* from, bool is_there) {
#if HAS_BF16
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(shared_address(into)), "l"(from), "r"(is_there ? 16 : 0) : "memory");
#endif
}

// Ends a group of copies.
__device__ __forceinline__ void end_group() {
#if HAS_BF16
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all groups but the last few.
template <int LAST> __device__ __forceinline__ void wait_for_groups() {
#if HAS_BF16
    asm volatile("cp.async.wait_group %0;" :: "n"(LAST) : "memory");
#endif
}

struct Lane {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
};

// Rows of numbers in shared memory. 8 numbers of padding keep threads apart.
template <int D, int N> struct Rows {
    __align__(16) bf16 rows[N][D + 8];

    // Rows that are not there are 0.
    __device__ __forceinline__ void fetch(const bf16* from, size stride, int n_rows, int dim, bool by_eights) {
        if (by_eights) {
#pragma unroll
            for (int i = 0; i < N * D / 8 / ATTENTION_THREADS; i++) {
                int eight = i * ATTENTION_THREADS + threadIdx.x, row = eight / (D / 8), column = eight % (D / 8) * 8;
                bool is_there = row < n_rows && column < dim;
                copy_ahead(&rows[row][column], is_there ? from + row * stride + column : from, is_there);
            }
        } else {
            for (int i = threadIdx.x; i < N * D; i += ATTENTION_THREADS) {
                int row = i / D, column = i % D;
                rows[row][column] = row < n_rows && column < dim ? from[row * stride + column] : (bf16)0;
            }
        }
    }

    // c += a · rowsᵀ
    __device__ __forceinline__ void multiply_transposed(float (&c)[N / 8][4], const word (&a)[D / 16][4], Lane at) const {
#pragma unroll
        for (int k = 0; k < D / 16; k += 2)
#pragma unroll
            for (int i = 0; i < N / 8; i++) {
                word b[4];
                load_matrices(b, &rows[8 * i + at.lane % 8][16 * k + at.lane / 8 * 8]);
                multiply_add(c[i], a[k], b[0], b[1]);
                multiply_add(c[i], a[k + 1], b[2], b[3]);
            }
    }

    // c += a · rows, where `a` is laid out as a product.
    __device__ __forceinline__ void multiply(float (&c)[D / 8][4], const float (&a)[N / 8][4], Lane at) const {
#pragma unroll
        for (int k = 0; k < N / 16; k++) {
            const float(&x)[4] = a[2 * k], (&y)[4] = a[2 * k + 1];
            word left[4] = {pack(x[0], x[1]), pack(x[2], x[3]), pack(y[0], y[1]), pack(y[2], y[3])};
#pragma unroll
            for (int i = 0; i < D / 8; i += 2) {
                word b[4];
                load_transposed(b, &rows[16 * k + at.lane % 16][8 * i + at.lane / 16 * 8]);
                multiply_add(c[i], left, b[0], b[1]);
                multiply_add(c[i + 1], left, b[2], b[3]);
            }
        }
    }
};

// The 16 rows of a warp as a left factor; rows that are not there are 0.
template <int D>
__device__ __forceinline__ void load_left(
    word (&a)[D / 16][4], const bf16* from, size stride, int n_rows, int dim, Lane at) {
#pragma unroll
    for (int k = 0; k < D / 16; k++)
#pragma unroll
        for (int part = 0; part < 4; part++) {
            int row = at.g + part % 2 * 8, column = 16 * k + 2 * at.t + part / 2 * 8;
            bool is_there = row < n_rows && column < dim;
            a[k][part] = is_there ? *(const word*)(from + row * stride + column) : 0u;
        }
}

// The 16 rows of a warp, times a number for each half.
template <int D>
__device__ __forceinline__ void store_rows(
    bf16* into, size stride, const float (&c)[D / 8][4], const float (&scale)[2], int n_rows, int dim, Lane at) {
#pragma unroll
    for (int i = 0; i < D / 8; i++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int row = at.g + 8 * half, column = 8 * i + 2 * at.t;
            if (row < n_rows && column < dim)
                *(word*)(into + row * stride + column) =
                    pack(scale[half] * c[i][2 * half], scale[half] * c[i][2 * half + 1]);
        }
}

// Over the four threads that share a row.
__device__ __forceinline__ float quad_sum(float x) {
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

__device__ __forceinline__ float quad_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
