//! The arguments of operations that have several: what they read, what they write, and how.

use super::{DeviceMatrix, DeviceMatrixMut, Layout, Slice, SliceMut};
use crate::Result;

/// What is learnt from the rows of a matrix of scores.
#[derive(Debug)]
pub struct Targets<'a, I> {
    /// The right column of each row, or [`super::NO_TARGET`].
    pub columns: Slice<'a, I>,
    /// What the gradient of each row is multiplied by.
    pub scale: f64,
}

/// Which rows belong to each row of a table.
#[derive(Debug)]
pub struct Groups<'a, I> {
    /// Where the rows of each begin in `order`, and where those of the last end: one more than the table has.
    pub starts: Slice<'a, I>,
    /// All rows, group after group.
    pub order: Slice<'a, I>,
}

/// Texts of which one is to be chosen, by the ln p of their pieces.
#[derive(Debug)]
pub struct Choices<'a, I> {
    /// Of each question the number of the right text, or [`super::NO_TARGET`] where there is no question; then for
    /// each text its first place and the one after its last, equal where there is no text. Questions × (1 + 2 ·
    /// texts).
    pub questions: Slice<'a, I>,
    /// How many texts a question has at most.
    pub texts: usize,
    /// What a sum of ln p is multiplied by.
    pub scale: f64,
    /// What the loss of a question is multiplied by.
    pub share: f64,
}

impl<I> Choices<'_, I> {
    /// The checked number of questions.
    pub(super) fn check(&self, losses: usize) -> usize {
        let each = 1 + 2 * self.texts;
        let n = self.questions.len / each;
        assert_eq!((n * each, losses), (self.questions.len, n), "a loss for each question");
        n
    }
}

/// What is normalised, and how.
#[derive(Debug)]
pub struct RmsNorm<'a, A> {
    /// The rows that are normalised.
    pub from: Slice<'a, A>,
    /// What each column is multiplied by.
    pub scale: Slice<'a, A>,
}

impl RmsNorm<'_, ()> {
    /// ε, as Llama and Qwen3 have it.
    pub const EPSILON: f64 = 1e-6;
}

impl<A> RmsNorm<'_, A> {
    /// The checked number of rows.
    pub(super) fn check(&self, into: usize) -> usize {
        let (len, columns) = (self.from.len, self.scale.len);
        assert!(columns > 0 && len.is_multiple_of(columns), "rows of {columns} numbers");
        assert_eq!(into, len, "equally many numbers");
        len / columns
    }
}

/// Queries and keys, and how they are normalised and turned.
#[derive(Debug)]
pub struct Rotation<'a, A, H> {
    /// Of each place the queries of all heads, their keys, and their values, which are not read.
    pub from: Slice<'a, H>,
    /// What each number of a normalised query is multiplied by, then of a key; without them nothing is normalised.
    pub scales: Option<Slice<'a, A>>,
    /// For each position the cosines of its angles, then their sines: positions × dim. Place i has position i
    /// modulo the number of positions.
    pub angles: Slice<'a, A>,
    /// Heads, equally wide.
    pub heads: usize,
    /// Numbers in a query, a key or a value.
    pub dim: usize,
}

impl<A, H> Clone for Rotation<'_, A, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, H> Copy for Rotation<'_, A, H> {}

impl<A, H> Rotation<'_, A, H> {
    /// The checked number of places.
    pub(super) fn check(&self, turned: usize) -> usize {
        let Self { dim, heads, .. } = *self;
        assert!(dim > 0 && heads > 0 && dim.is_multiple_of(2), "pairs of numbers");
        let places = self.from.len / (3 * heads * dim);
        assert_eq!((3 * places * heads * dim, 2 * places * heads * dim), (self.from.len, turned));
        assert!(self.scales.is_none_or(|scales| scales.len == 2 * dim), "scales");
        assert!(self.angles.len >= dim && self.angles.len.is_multiple_of(dim), "angles");
        places
    }
}

/// What attention reads: rows of equally many places.
#[derive(Debug)]
pub struct Attention<'a, A, I> {
    /// Of each place the queries of all heads, then their keys.
    pub queries_and_keys: Slice<'a, A>,
    /// Of each place the values of all heads.
    pub values: DeviceMatrix<'a, A>,
    /// Places in a row.
    pub length: usize,
    /// Heads, equally wide.
    pub heads: usize,
    /// Of each place three places of its row, `first ≤ trunk ≤ start ≤` itself: it reads those from `first` up to
    /// `trunk`, and those from `start` up to and with itself. So several texts that begin alike lie behind what they
    /// share. Without them, each place reads all before it and itself.
    pub bounds: Option<Slice<'a, I>>,
}

impl<A, I> Clone for Attention<'_, A, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, I> Copy for Attention<'_, A, I> {}

impl<A, I> Attention<'_, A, I> {
    /// The checked number of rows, and of numbers in a head.
    pub(super) fn check(&self, read: usize, log_sums: usize) -> [usize; 2] {
        let Self { queries_and_keys, values, length, heads, bounds } = self;
        let Layout { rows: places, columns: width, .. } = values.layout;
        assert!(*length > 0 && *heads > 0, "places and heads");
        assert_eq!((places % length, width % heads), (0, 0), "whole rows, and equal heads");
        let found = (queries_and_keys.len, read, log_sums);
        let expected = (2 * places * width, places * width, places * heads);
        assert_eq!(found, expected, "shapes");
        assert!(bounds.is_none_or(|bounds| bounds.len == 3 * places), "three bounds a place");
        [places / length, width / heads]
    }
}

/// Where the gradients of attention go.
#[derive(Debug)]
pub struct AttentionGradients<'a, A, H> {
    /// As in [`Attention::queries_and_keys`].
    pub queries_and_keys: SliceMut<'a, H>,
    /// As in [`Attention::values`], with the same layout.
    pub values: DeviceMatrixMut<'a, H>,
    /// Scratch space, places × heads.
    pub deltas: SliceMut<'a, A>,
}

/// What attention gave, and its gradient.
#[derive(Debug)]
pub struct AttentionResults<'a, A, H> {
    /// What was read, places × heads · dim, perhaps after dropout.
    pub read: Slice<'a, H>,
    /// The share that dropout kept; by it the others were divided.
    pub kept: f64,
    /// The logarithms of the sums, places × heads.
    pub log_sums: Slice<'a, A>,
    /// The gradient of what was read.
    pub gradient: Slice<'a, H>,
}

impl<A, H> Clone for AttentionResults<'_, A, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, H> Copy for AttentionResults<'_, A, H> {}

/// What a step of an optimiser changes, and by what.
#[derive(Debug)]
pub struct OptimiserStep<'a, A> {
    /// The parameters that are changed.
    pub values: SliceMut<'a, A>,
    /// The gradient of each.
    pub gradient: Slice<'a, A>,
    /// The encoding of [`super::StepSettings`].
    pub settings: Slice<'a, A>,
}

/// What an LSTM's recurrence reads.
#[derive(Debug)]
pub struct Lstm<'a, A> {
    /// Words per stream.
    pub steps: usize,
    /// Streams that are read side by side.
    pub streams: usize,
    /// Numbers in a state.
    pub units: usize,
    /// State → gates, units × 4 units: input, forget, output and candidate.
    pub recurrent: Slice<'a, A>,
    /// Of the gates, 4 units.
    pub bias: Slice<'a, A>,
    /// What the state that enters a step is multiplied by, steps × streams: 0 where a text begins.
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
    /// pass: gradients of the gates' inputs. Rows of 4 units.
    pub gates: A,
    /// The cell that enters each step, and one step more.
    pub cells: A,
    /// The state that enters each step, kept or not, and one step more.
    pub hiddens: A,
    /// The state that leaves each step.
    pub outputs: A,
    /// Streams × units; scratch space of the backward pass.
    pub cell_gradient: A,
    /// Streams × units; scratch space of the backward pass.
    pub hidden_gradient: A,
}

impl<A> Trace<A> {
    /// Allocates a trace of some steps of some streams, from states of 0.
    ///
    /// # Errors
    /// Those of the allocation, [`super::Device::zeros`].
    pub fn new(
        zeros: impl Fn(usize) -> Result<A>,
        steps: usize,
        streams: usize,
        units: usize,
    ) -> Result<Self> {
        let state = streams * units;
        Ok(Self {
            gates: zeros(4 * steps * state)?,
            cells: zeros((steps + 1) * state)?,
            hiddens: zeros((steps + 1) * state)?,
            outputs: zeros(steps * state)?,
            cell_gradient: zeros(state)?,
            hidden_gradient: zeros(state)?,
        })
    }
}
