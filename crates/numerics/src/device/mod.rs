//! [`Device`]: the operations of which networks are made, on the processor ([`Cpu`]) or a GPU ([`Cuda`]).
//!
//! ```text
//! numbers ──write──▶ Array ──operations──▶ Array ──read──▶ numbers
//! ```
//!
//! An operation only asks for work to be done and returns at once; on a GPU it may fail later. So
//! operations return nothing, and what went wrong since is said by the next [`Device::read`].
//!
//! The processor is the oracle: there every result is the same for any number of threads.

pub(crate) mod cpu;
mod cuda;
pub(crate) mod product;
mod slice;

pub use cpu::Cpu;
pub use cuda::Cuda;
pub use slice::{Array, DeviceMatrix, DeviceMatrixMut, Layout, Slice, SliceMut};

use std::fmt::Debug;

use crate::{Real, Result};

/// The target of a row that is not to be learnt from, such as padding.
pub const NO_TARGET: u32 = u32::MAX;

/// Where arrays live and operations on them are done.
///
/// # Panics
/// All operations panic where shapes don't fit: that is a mistake in a network, not in its input.
pub trait Device: Clone + Debug + Send + Sync + 'static {
    /// The numbers.
    type Real: Real;
    /// Numbers that live there.
    type Array: Array + Debug + Send + Sync;
    /// Numbers of words that live there.
    type Words: Array + Debug + Send + Sync;
    /// Operations that were graph so that they can be repeated; at first none.
    type Graph: Debug + Default + Send + Sync;

    /// So many zeros.
    ///
    /// # Errors
    /// If the device has not so much memory left, or is lost.
    fn zeros(&self, len: usize) -> Result<Self::Array>;

    /// These words.
    ///
    /// # Errors
    /// If the device has not so much memory left, or is lost.
    fn words(&self, words: &[u32]) -> Result<Self::Words>;

    /// Numbers from here to there.
    ///
    /// # Errors
    /// If the device is lost.
    fn write(&self, into: SliceMut<'_, Self::Array>, values: &[Self::Real]) -> Result<()>;

    /// Words from here to there.
    ///
    /// # Errors
    /// If the device is lost.
    fn write_words(&self, into: SliceMut<'_, Self::Words>, words: &[u32]) -> Result<()>;

    /// Numbers from there to here, after all operations asked for before.
    ///
    /// # Errors
    /// If one of those failed, or the device is lost.
    fn read(&self, from: Slice<'_, Self::Array>) -> Result<Vec<Self::Real>>;

    /// Does the work, perhaps by repeating what was graph of it before: the work must ask for the same
    /// operations on the same arrays each time, and neither make, write nor read any.
    fn capture_or_replay(&self, graph: &mut Self::Graph, work: impl FnMut());

    /// `into = value`, each.
    fn fill(&self, into: SliceMut<'_, Self::Array>, value: f64);

    /// `into = from`.
    fn copy(&self, into: SliceMut<'_, Self::Array>, from: Slice<'_, Self::Array>);

    /// `into = from`, row by row.
    ///
    /// # Shapes
    /// One matrix each, as many rows and columns, not transposed.
    fn copy_rows(
        &self,
        into: DeviceMatrixMut<'_, Self::Array>,
        from: DeviceMatrix<'_, Self::Array>,
    );

    /// `into += scale · from`.
    fn add(&self, into: SliceMut<'_, Self::Array>, scale: f64, from: Slice<'_, Self::Array>);

    /// `into = keep · into + scale · left · right`, for each matrix of a batch; where `keep` is 0, what
    /// `into` held does not matter.
    ///
    /// # Shapes
    /// `left` m × k, `right` k × n, `into` m × n, as many of each.
    fn multiply(
        &self,
        into: DeviceMatrixMut<'_, Self::Array>,
        keep_and_scale: [f64; 2],
        left: DeviceMatrix<'_, Self::Array>,
        right: DeviceMatrix<'_, Self::Array>,
    );

    /// The row of each word: `into[i] = table[words[i]]`.
    ///
    /// # Shapes
    /// `words` n, `into` n × dim, `table` rows × dim.
    fn gather_rows(
        &self,
        into: SliceMut<'_, Self::Array>,
        table: Slice<'_, Self::Array>,
        words: Slice<'_, Self::Words>,
    );

    /// The transpose of that: `table[words[i]] += from[i]`, on the processor in the order of the words.
    ///
    /// # Shapes
    /// As in [`Device::gather_rows`].
    fn scatter_add_rows(
        &self,
        table: SliceMut<'_, Self::Array>,
        words: Slice<'_, Self::Words>,
        from: Slice<'_, Self::Array>,
    );

    /// The sum of the rows of a matrix, `into = keep · into + Σ from[i]`.
    ///
    /// # Shapes
    /// `into` n, `from` m × n.
    fn sum_rows(
        &self,
        into: SliceMut<'_, Self::Array>,
        keep: f64,
        from: DeviceMatrix<'_, Self::Array>,
    );

    /// Sets each number to 0 with some probability and multiplies the others, so that the mean stays
    /// (Srivastava et al. 2014). The draw, [seed, step], and the layer's number decide which: the same
    /// call on the gradient is the backward pass.
    fn dropout(
        &self,
        values: SliceMut<'_, Self::Array>,
        probability: f64,
        draw: Slice<'_, Self::Words>,
        layer: u32,
    );

    /// max(0, x) from a column on; the columns before it stay.
    fn relu_tail(&self, values: SliceMut<'_, Self::Array>, columns: usize, first: usize);

    /// The gradient of [`Device::relu_tail`], in place, from what that gave.
    fn relu_tail_backward(
        &self,
        gradient: SliceMut<'_, Self::Array>,
        outputs: Slice<'_, Self::Array>,
        columns: usize,
        first: usize,
    );

    /// The mean over a window around each number of a row between its bounds, `into[i][j] = Σ from[i][j −
    /// reach … j + reach] / (2 · reach + 1)`; all beyond the bounds counts as 0 and becomes 0. This is its own
    /// transpose.
    ///
    /// # Shapes
    /// `bounds` m × 2 as in [`Device::softmax_rows`], `into` and `from` m × n.
    fn smooth_rows(
        &self,
        into: SliceMut<'_, Self::Array>,
        from: Slice<'_, Self::Array>,
        bounds: Slice<'_, Self::Words>,
        reach: usize,
    );

    /// The softmax of some numbers of each row, those from its first bound up to its second, in place; the
    /// others become 0, and all of a row without any.
    ///
    /// # Shapes
    /// `bounds` m × 2, `scores` m × n.
    fn softmax_rows(&self, scores: SliceMut<'_, Self::Array>, bounds: Slice<'_, Self::Words>);

    /// The gradient of [`Device::softmax_rows`], in place, from what that gave.
    ///
    /// # Shapes
    /// `gradient` and `attention` m × n.
    fn softmax_rows_backward(
        &self,
        gradient: SliceMut<'_, Self::Array>,
        attention: Slice<'_, Self::Array>,
        columns: usize,
    );

    /// −ln softmax(scores + bias)\[target\] of each row into `losses`; its gradient, times the
    /// targets' scale, takes the place of the scores. [`NO_TARGET`] gives 0.
    ///
    /// # Shapes
    /// `targets` m, `losses` m, `bias` n, `scores` m × n.
    fn cross_entropy(
        &self,
        scores: DeviceMatrixMut<'_, Self::Array>,
        bias: Slice<'_, Self::Array>,
        targets: Targets<'_, Self::Words>,
        losses: SliceMut<'_, Self::Array>,
    );

    /// ln softmax(scores + bias)\[word\] of each row and each of its words; [`NO_TARGET`] gives 0.
    ///
    /// # Shapes
    /// `words` and `into` m × k, `bias` n, `scores` m × n.
    fn log_probs(
        &self,
        into: SliceMut<'_, Self::Array>,
        scores: DeviceMatrix<'_, Self::Array>,
        bias: Slice<'_, Self::Array>,
        words: Slice<'_, Self::Words>,
    );

    /// An LSTM along its steps, from the states in the trace's first rows.
    fn lstm_forward(&self, lstm: Lstm<'_, Self::Array>, trace: &mut Trace<Self::Array>);

    /// Its gradient, given that of its outputs: the gates of the trace become gradients of what came into
    /// them. No gradient comes from after the last step, none leaves before the first.
    fn lstm_backward(
        &self,
        lstm: Lstm<'_, Self::Array>,
        outputs: Slice<'_, Self::Array>,
        trace: &mut Trace<Self::Array>,
    );

    /// Σ x² into the one number of `into`.
    fn sum_of_squares(&self, into: SliceMut<'_, Self::Array>, from: Slice<'_, Self::Array>);

    /// A step of SGD: `values −= rate · min(1, clip / √square) · gradient`, with `settings` =
    /// [square, rate, clip]: [`Device::sum_of_squares`] of all gradients goes into the first.
    fn descend(
        &self,
        values: SliceMut<'_, Self::Array>,
        gradient: Slice<'_, Self::Array>,
        settings: Slice<'_, Self::Array>,
    );

    /// A step of AdamW (Kingma & Ba 2015; Loshchilov & Hutter 2019) on the clipped gradient, with
    /// `settings` = [square, rate, clip, β₁, β₂, ε, decay, 1 − β₁ᵗ, 1 − β₂ᵗ].
    ///
    /// # Shapes
    /// `moments` is the first moment of each value, then the second of each.
    fn adam(
        &self,
        values: SliceMut<'_, Self::Array>,
        moments: SliceMut<'_, Self::Array>,
        gradient: Slice<'_, Self::Array>,
        settings: Slice<'_, Self::Array>,
    );
}

/// What is to be learnt from the rows of a matrix of scores.
#[derive(Debug)]
pub struct Targets<'a, W> {
    /// The right word of each row, or [`NO_TARGET`].
    pub words: Slice<'a, W>,
    /// What the gradient of each row is multiplied with.
    pub scale: f64,
}

/// What an LSTM's recurrence reads.
#[derive(Debug)]
pub struct Lstm<'a, A> {
    /// Words in a stream.
    pub steps: usize,
    /// Streams that are read side by side.
    pub streams: usize,
    /// Numbers in a state.
    pub units: usize,
    /// State → gates, units × 4 units; the gates in, forget, out and candidate stand side by side.
    pub recurrent: Slice<'a, A>,
    /// Of the gates, 4 units.
    pub bias: Slice<'a, A>,
    /// What the state that enters a step is multiplied with, steps × streams: 0 where a text begins.
    pub keep: Slice<'a, A>,
}

impl<A> Clone for Lstm<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Lstm<'_, A> {}

/// What an LSTM writes: steps × streams rows, step after step.
#[derive(Debug)]
pub struct Trace<A> {
    /// Before: what the inputs give to the gates. After the forward pass: the gates. After the backward
    /// pass: gradients of what came into them. Rows of 4 units.
    pub gates: A,
    /// The cell that enters each step, and one step more.
    pub cells: A,
    /// The state that enters each step, kept or not, and one step more.
    pub hiddens: A,
    /// The state that leaves each step.
    pub outputs: A,
    /// Streams × units; the backward pass works here.
    pub cell_gradient: A,
    /// Streams × units; the backward pass works here.
    pub hidden_gradient: A,
}

impl<A> Trace<A> {
    /// Room for so many steps of so many streams, from states of 0.
    ///
    /// # Errors
    /// Those of [`Device::zeros`].
    pub fn new<D: Device<Array = A>>(
        device: &D,
        steps: usize,
        streams: usize,
        units: usize,
    ) -> Result<Self> {
        let state = streams * units;
        Ok(Self {
            gates: device.zeros(4 * steps * state)?,
            cells: device.zeros((steps + 1) * state)?,
            hiddens: device.zeros((steps + 1) * state)?,
            outputs: device.zeros(steps * state)?,
            cell_gradient: device.zeros(state)?,
            hidden_gradient: device.zeros(state)?,
        })
    }
}
