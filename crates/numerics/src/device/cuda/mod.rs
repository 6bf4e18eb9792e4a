//! [`Cuda`]: every operation on an NVIDIA GPU: products by cuBLAS, the rest by our own kernels, which are
//! compiled when the device is opened, and whole steps as CUDA graphs.
//!
//! The libraries are looked for at run time: a program that was built without them, or runs where there are
//! none, returns an error that says so.

mod attention;
mod gpu;
mod halves;
mod kernels;
mod lstm;
mod operations;
mod product;
mod softmax;
mod transformer;

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{CudaGraph, CudaSlice, DevicePtr, sys};

use super::{Array, Device, Element, Slice, SliceMut, bf16};
use crate::Result;
use gpu::Gpu;

/// An NVIDIA GPU that was opened.
#[derive(Clone)]
pub struct Cuda {
    gpu: Arc<Gpu>,
    products: Products,
}

/// How products of matrices round their factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// To TF32, whose mantissa has 10 bits: on tensor cores, several times as fast.
    Tf32,
    /// Products are computed in f32.
    Full,
}

impl Cuda {
    /// Opens the first GPU.
    ///
    /// # Errors
    /// If there is none, or its driver or its libraries are missing or too old.
    pub fn open() -> Result<Self> {
        Ok(Self { gpu: Arc::new(Gpu::open()?), products: Products::Tf32 })
    }

    /// The same GPU with products in full f32 instead of TF32: slower, and as exact as the CPU.
    #[must_use]
    pub fn with_full_precision(&self) -> Self {
        Self { gpu: self.gpu.clone(), products: Products::Full }
    }

    /// The name of the GPU.
    pub fn name(&self) -> &str {
        self.gpu.name()
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cuda")
            .field("name", &self.name())
            .field("products", &self.products)
            .finish()
    }
}

/// Elements in a GPU's memory.
pub struct CudaArray<T> {
    bytes: CudaSlice<u8>,
    len: usize,
    /// The address of the first element.
    first: u64,
    element: PhantomData<T>,
}

impl<T: Element> CudaArray<T> {
    fn new(bytes: CudaSlice<u8>, len: usize) -> Self {
        let first = bytes.device_ptr(bytes.stream()).0;
        Self { bytes, len, first, element: PhantomData }
    }
}

impl<T> fmt::Debug for CudaArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaArray").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<T: Element> Array for CudaArray<T> {
    type Element = T;

    fn len(&self) -> usize {
        self.len
    }
}

/// A range of elements as one of bytes.
fn bytes_of<T>(start: usize, len: usize) -> Range<usize> {
    start * size_of::<T>()..(start + len) * size_of::<T>()
}

/// Work as a CUDA graph. The first run is not captured: in it cuBLAS chooses its algorithms.
#[derive(Default)]
pub struct Graph {
    was_run: bool,
    captured: Option<Captured>,
}

struct Captured(CudaGraph);

#[expect(unsafe_code, reason = "a graph is used by one thread at a time")]
// SAFETY: CUDA asks that a graph is not used by two threads at once; `Graph` lends it by `&mut` alone.
unsafe impl Send for Captured {}
#[expect(unsafe_code, reason = "a graph is used by one thread at a time")]
// SAFETY: as above; nothing is done with a graph by `&`.
unsafe impl Sync for Captured {}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("is_captured", &self.captured.is_some()).finish()
    }
}

impl Device for Cuda {
    type Real = f32;
    type Half = bf16;
    type Array<T: Element> = CudaArray<T>;
    type Graph = Graph;

    fn zeros<T: Element>(&self, len: usize) -> Result<CudaArray<T>> {
        self.gpu.zeros(len)
    }

    fn write<T: Element>(&self, into: SliceMut<'_, CudaArray<T>>, values: &[T]) -> Result<()> {
        assert_eq!(into.len, values.len(), "equally many elements");
        self.gpu.write(into.array, into.start, values)
    }

    fn read<T: Element>(&self, from: Slice<'_, CudaArray<T>>) -> Result<Vec<T>> {
        self.gpu.read(from.array, from.start, from.len)
    }

    fn copy<T: Element>(&self, into: SliceMut<'_, CudaArray<T>>, from: Slice<'_, CudaArray<T>>) {
        assert_eq!(into.len, from.len, "equally many elements");
        if into.len == 0 {
            return;
        }
        let source = from.array.bytes.slice(bytes_of::<T>(from.start, from.len));
        let mut target = into.array.bytes.slice_mut(bytes_of::<T>(into.start, into.len));
        self.gpu.note(self.gpu.stream.memcpy_dtod(&source, &mut target));
    }

    fn capture_or_replay(&self, graph: &mut Graph, mut work: impl FnMut()) {
        let gpu = &self.gpu;
        if !graph.was_run {
            graph.was_run = true;
            return work();
        }
        if graph.captured.is_none() {
            let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
            gpu.note(gpu.stream.begin_capture(mode));
            work();
            let flags = sys::CUgraphInstantiate_flags(0);
            match gpu.stream.end_capture(flags) {
                Ok(captured) => graph.captured = captured.map(Captured),
                failed => gpu.note(failed),
            }
        }
        if let Some(Captured(captured)) = &graph.captured {
            gpu.note(captured.launch());
        }
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
                assert!(error.remedy().is_some());
            }
            Err(error) => panic!("{error}"),
        }
    }
}
