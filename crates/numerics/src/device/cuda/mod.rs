//! [`Cuda`]: every operation on an NVIDIA GPU: products by cuBLAS in TF32, the rest by kernels of ours, which
//! are compiled when the device is opened, and whole steps as CUDA graphs.
//!
//! The libraries are looked for at run time: a program that was built without them, or runs where there are
//! none, says so in an error.

mod gpu;
mod launch;
mod lstm;
mod operations;
mod product;

use std::fmt;
use std::sync::Arc;

use cudarc::driver::{CudaGraph, CudaSlice, DevicePtr, DeviceRepr};

use super::{Array, Slice, SliceMut};
use crate::Result;
use gpu::Gpu;

/// An NVIDIA GPU.
#[derive(Clone)]
pub struct Cuda(Arc<Gpu>);

impl Cuda {
    /// The first GPU.
    ///
    /// # Errors
    /// If there is none, or its driver or its libraries are missing or too old.
    pub fn open() -> Result<Self> {
        Ok(Self(Arc::new(Gpu::open()?)))
    }

    /// What the GPU is called.
    pub fn name(&self) -> &str {
        self.0.name()
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cuda").field(&self.name()).finish()
    }
}

/// Numbers or words in a GPU's memory.
#[derive(Debug)]
pub struct CudaArray<T> {
    slice: CudaSlice<T>,
    len: usize,
    /// The address of the first.
    first: u64,
}

type Numbers = CudaArray<f32>;
type Words = CudaArray<u32>;

impl<T: DeviceRepr> CudaArray<T> {
    fn new(slice: CudaSlice<T>, len: usize) -> Self {
        let first = slice.device_ptr(slice.stream()).0;
        Self { first, len, slice }
    }
}

impl<T> Array for CudaArray<T> {
    fn len(&self) -> usize {
        self.len
    }
}

impl<T> Slice<'_, CudaArray<T>> {
    /// The address of its first number.
    fn address(&self) -> u64 {
        self.array.first + (self.start * size_of::<T>()) as u64
    }
}

impl<T> SliceMut<'_, CudaArray<T>> {
    /// The address of its first number.
    fn address(&self) -> u64 {
        self.array.first + (self.start * size_of::<T>()) as u64
    }
}

/// Work as a CUDA graph. The first run is not graph: in it cuBLAS makes its choices.
#[derive(Default)]
pub struct Graph {
    was_run: bool,
    captured: Option<Captured>,
}

struct Captured(CudaGraph);

#[expect(unsafe_code, reason = "a graph is used by one thread at a time")]
// SAFETY: CUDA asks that a graph is not used by two threads at once; `Graph` gives it out by `&mut` alone.
unsafe impl Send for Captured {}
#[expect(unsafe_code, reason = "a graph is used by one thread at a time")]
// SAFETY: as above; nothing is done with a graph by `&`.
unsafe impl Sync for Captured {}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("is_captured", &self.captured.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn a_machine_without_a_gpu_says_so_and_one_with_a_gpu_gives_its_name() {
        match Cuda::open() {
            Ok(cuda) => assert!(!cuda.name().is_empty()),
            Err(error @ Error::NoDevice { .. }) => {
                assert!(error.to_string().starts_with("no GPU can be used: "), "{error}");
                assert!(error.hint().is_some());
            }
            Err(error) => panic!("{error}"),
        }
    }
}
