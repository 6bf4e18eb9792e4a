//! Products of matrices by cuBLAS.

use cudarc::cublas::{result as blas, sys};

use super::gpu::blas_message;
use super::{Cuda, CudaArray, Products, bytes_of};
use crate::device::slice::shape_of_product;
use crate::device::{Accumulate, DeviceMatrix, DeviceMatrixMut, Layout};

/// From one row to the next; cuBLAS wants that even where there is one row.
fn row_stride(layout: Layout) -> i32 {
    layout.row_stride.max(layout.columns).max(1) as i32
}

fn operation(matrix: &DeviceMatrix<'_, CudaArray<f32>>) -> sys::cublasOperation_t {
    if matrix.is_transposed {
        sys::cublasOperation_t::CUBLAS_OP_T
    } else {
        sys::cublasOperation_t::CUBLAS_OP_N
    }
}

fn address(matrix: &DeviceMatrix<'_, CudaArray<f32>>) -> u64 {
    matrix.slice.array.first + bytes_of::<f32>(0, matrix.slice.start).end as u64
}

pub fn multiply(
    cuda: &Cuda,
    into: DeviceMatrixMut<'_, CudaArray<f32>>,
    Accumulate { alpha, beta }: Accumulate,
    left: DeviceMatrix<'_, CudaArray<f32>>,
    right: DeviceMatrix<'_, CudaArray<f32>>,
) {
    let [m, k, n, batch] = shape_of_product(&into, &left, &right);
    if m * n * batch == 0 {
        return;
    }
    let (gpu, alpha, beta) = (&cuda.gpu, alpha as f32, beta as f32);
    let compute = match cuda.products {
        Products::Tf32 => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
        Products::Full => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
    };
    let number = sys::cudaDataType_t::CUDA_R_32F;
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
            address(&right) as *const _,
            number,
            row_stride(right.layout),
            right.layout.batch_stride as i64,
            address(&left) as *const _,
            number,
            row_stride(left.layout),
            left.layout.batch_stride as i64,
            (&raw const beta).cast(),
            (into.slice.array.first + bytes_of::<f32>(0, into.slice.start).end as u64) as *mut _,
            number,
            row_stride(into.layout),
            into.layout.batch_stride as i64,
            batch as i32,
            compute,
            sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
        )
    };
    if let Err(error) = result {
        gpu.fail(blas_message(&error));
    }
}
