//! Dense operations of networks on the CPU ([`Cpu`]) or a GPU (`Cuda`, with the feature `cuda`).
//!
//! ```text
//! values ──write──▶ Array<T> ──operations──▶ Array<T> ──read──▶ values
//! ```
//!
//! [`Device`] owns memory and captures graphs; the operations are in traits by purpose: [`Dense`],
//! [`Softmax`], [`Recurrent`], [`Transformer`], [`Optimise`] and [`Halve`]. [`Backend`] is all that the
//! present networks need.
//!
//! An operation only queues work and returns at once; on a GPU it may fail later. So operations return
//! nothing, and the next [`Device::read`] reports the first failure since.
//!
//! The CPU is the oracle: there every result is the same for any number of threads.

mod arguments;
pub(crate) mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod element;
mod operations;
mod optimiser;
pub(crate) mod product;
mod slice;

pub use arguments::{
    Attention, AttentionGradients, AttentionResults, Choices, Groups, Lstm, OptimiserStep, RmsNorm,
    Rotation, Targets, Trace,
};
pub use cpu::Cpu;
#[cfg(feature = "cuda")]
pub use cuda::Cuda;
pub use element::Element;
pub use half::bf16;
pub use operations::{
    Accumulate, Backend, Dense, Halve, NO_TARGET, Optimise, Recurrent, Softmax, Transformer,
};
pub use optimiser::StepSettings;
pub use slice::{Array, DeviceMatrix, DeviceMatrixMut, Layout, Slice, SliceMut};

use std::fmt::Debug;

use crate::{Real, Result};

/// An array of the floating-point numbers in which a device computes.
pub type Reals<D> = <D as Device>::Array<<D as Device>::Real>;

/// An array of the numbers that Transformer blocks store and multiply.
pub type Halves<D> = <D as Device>::Array<<D as Device>::Half>;

/// An array of row numbers, such as the numbers of words.
pub type Indices<D> = <D as Device>::Array<u32>;

/// Memory of a device, and graphs of work on it.
pub trait Device: Clone + Debug + Send + Sync + 'static {
    /// The floating-point type in which the operations compute.
    type Real: Real;
    /// The type in which Transformer blocks store numbers and multiply them, perhaps half as wide: bf16 on a GPU,
    /// whose tensor cores multiply such numbers fastest; on the CPU, the oracle, it is [`Device::Real`].
    type Half: Element;
    /// Elements in the memory of the device.
    type Array<T: Element>: Array<Element = T> + Debug + Send + Sync;
    /// Captured work that can be replayed; empty at first.
    type Graph: Debug + Default + Send + Sync;

    /// Allocates `len` zeros.
    ///
    /// # Errors
    /// If the device has too little memory left, or is lost.
    fn zeros<T: Element>(&self, len: usize) -> Result<Self::Array<T>>;

    /// Allocates an array and copies values into it.
    ///
    /// # Errors
    /// Those of [`Device::zeros`] and [`Device::write`].
    fn upload<T: Element>(&self, values: &[T]) -> Result<Self::Array<T>> {
        let mut array = self.zeros(values.len())?;
        self.write(array.all_mut(), values)?;
        Ok(array)
    }

    /// Copies values to the device.
    ///
    /// # Errors
    /// If the device is lost.
    ///
    /// # Panics
    /// If there are more or fewer values than elements in the slice.
    fn write<T: Element>(&self, into: SliceMut<'_, Self::Array<T>>, values: &[T]) -> Result<()>;

    /// Copies elements from the device, after all operations that were queued before.
    ///
    /// # Errors
    /// If one of those failed, or the device is lost.
    fn read<T: Element>(&self, from: Slice<'_, Self::Array<T>>) -> Result<Vec<T>>;

    /// Queues `into = from`.
    ///
    /// # Panics
    /// If the lengths differ.
    fn copy<T: Element>(&self, into: SliceMut<'_, Self::Array<T>>, from: Slice<'_, Self::Array<T>>);

    /// Does the work, perhaps by replaying what an earlier call captured: the work must queue the same
    /// operations on the same arrays each time, and neither allocate, write nor read any.
    fn capture_or_replay(&self, graph: &mut Self::Graph, work: impl FnMut());
}
