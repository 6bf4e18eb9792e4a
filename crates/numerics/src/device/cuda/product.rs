//! Products of matrices by cuBLAS, rounded to TF32.

use cudarc::cublas::{result as blas, sys};

use super::Numbers;
use super::gpu::{Gpu, said_by_blas};
use crate::device::slice::shape_of_product;
use crate::device::{DeviceMatrix, DeviceMatrixMut, Layout};

/// From one row to the next; cuBLAS wants that even where there is one row.
fn row_stride(layout: Layout) -> i32 {
    layout.row_stride.max(layout.columns).max(1) as i32
}

fn operation(matrix: &DeviceMatrix<'_, Numbers>) -> sys::cublasOperation_t {
    match matrix.is_transposed {
        true => sys::cublasOperation_t::CUBLAS_OP_T,
        false => sys::cublasOperation_t::CUBLAS_OP_N,
    }
}

pub fn multiply(
    gpu: &Gpu,
    into: DeviceMatrixMut<'_, Numbers>,
    keep_and_scale: [f64; 2],
    left: DeviceMatrix<'_, Numbers>,
    right: DeviceMatrix<'_, Numbers>,
) {
    let [m, k, n, batch] = shape_of_product(&into, &left, &right);
    if m * n * batch == 0 {
        return;
    }
    let [keep, scale] = keep_and_scale.map(|value| value as f32);
    let number = sys::cudaDataType_t::CUDA_R_32F;
    gpu.note(gpu.context.bind_to_thread());
    #[expect(unsafe_code, reason = "cuBLAS has no safe door")]
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
            (&raw const scale).cast(),
            right.slice.address() as *const _,
            number,
            row_stride(right.layout),
            right.layout.batch_stride as i64,
            left.slice.address() as *const _,
            number,
            row_stride(left.layout),
            left.layout.batch_stride as i64,
            (&raw const keep).cast(),
            into.slice.address() as *mut _,
            number,
            row_stride(into.layout),
            into.layout.batch_stride as i64,
            batch as i32,
            sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
            sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
        )
    };
    if let Err(error) = result {
        gpu.fail(said_by_blas(&error));
    }
}
