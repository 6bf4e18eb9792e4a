//! Products of matrices by cuBLAS.

use cudarc::cublas::{result as blas, sys};

use super::gpu::blas_message;
use super::{Cuda, CudaArray, Products, bytes_of};
use crate::device::slice::shape_of_product;
use crate::device::{Accumulate, DeviceMatrix, DeviceMatrixMut, Element, Layout, bf16};

/// What cuBLAS calls a type.
pub trait Number: Element {
    const TYPE: sys::cudaDataType_t;

    /// How products of two such numbers are computed.
    fn compute(products: Products) -> sys::cublasComputeType_t;
}

impl Number for f32 {
    const TYPE: sys::cudaDataType_t = sys::cudaDataType_t::CUDA_R_32F;

    fn compute(products: Products) -> sys::cublasComputeType_t {
        match products {
            Products::Tf32 => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
            Products::Full => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
        }
    }
}

impl Number for bf16 {
    const TYPE: sys::cudaDataType_t = sys::cudaDataType_t::CUDA_R_16BF;

    fn compute(_: Products) -> sys::cublasComputeType_t {
        sys::cublasComputeType_t::CUBLAS_COMPUTE_32F
    }
}

/// From one row to the next; cuBLAS wants that even where there is one row.
fn row_stride(layout: Layout) -> i32 {
    layout.row_stride.max(layout.columns).max(1) as i32
}

fn operation<T>(matrix: &DeviceMatrix<'_, CudaArray<T>>) -> sys::cublasOperation_t {
    if matrix.is_transposed {
        sys::cublasOperation_t::CUBLAS_OP_T
    } else {
        sys::cublasOperation_t::CUBLAS_OP_N
    }
}

fn address<T: Element>(array: &CudaArray<T>, start: usize) -> u64 {
    array.first + bytes_of::<T>(0, start).end as u64
}

pub fn multiply<I: Number, F: Number>(
    cuda: &Cuda,
    into: DeviceMatrixMut<'_, CudaArray<I>>,
    Accumulate { alpha, beta }: Accumulate,
    left: DeviceMatrix<'_, CudaArray<F>>,
    right: DeviceMatrix<'_, CudaArray<F>>,
) {
    let [m, k, n, batch] = shape_of_product(&into, &left, &right);
    if m * n * batch == 0 {
        return;
    }
    let (gpu, alpha, beta) = (&cuda.gpu, alpha as f32, beta as f32);
    gpu.note(gpu.context.bind_to_thread());
    #[expect(unsafe_code, reason = "cuBLAS has no safe interface")]
    // SAFETY: the shapes were checked against the arrays. cuBLAS stores columns, we store rows, so it
    // computes intoᵀ = rightᵀ · leftᵀ.
    let result = unsafe {
        blas::gemm_strided_batched_ex(
            gpu.blas.0,
            operation(&right),
            operation(&left),
            n as i32,
            m as i32,
            k as i32,
            (&raw const alpha).cast(),
            address(right.slice.array, right.slice.start) as *const _,
            F::TYPE,
            row_stride(right.layout),
            right.layout.batch_stride as i64,
            address(left.slice.array, left.slice.start) as *const _,
            F::TYPE,
            row_stride(left.layout),
            left.layout.batch_stride as i64,
            (&raw const beta).cast(),
            address(into.slice.array, into.slice.start) as *mut _,
            I::TYPE,
            row_stride(into.layout),
            into.layout.batch_stride as i64,
            batch as i32,
            F::compute(cuda.products),
            sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
        )
    };
    if let Err(error) = result {
        gpu.fail(blas_message(&error));
    }
}
