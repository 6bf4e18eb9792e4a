//! The output layer: states → a distribution over all words, its loss and its gradients.
//!
//! This is most of the work of a language model: with 512 units and 53,628 words the three products here
//! are nine tenths of a step. So the scores are written once, and their gradient takes their place.

use numerics::device::{Array, Device, Layout, Matrix, MatrixMut, Part, PartMut, Targets};

use crate::Result;
use crate::parameters::{Initial, Parameter, Parameters, Plan};

/// A full softmax.
#[derive(Clone, Debug)]
pub struct Softmax {
    /// Words × dim: of its own, or the embeddings, which are then «tied» (Press & Wolf 2017).
    pub table: Parameter,
    /// One number a word, or nothing.
    pub bias: Option<Parameter>,
}

/// Where scores are computed, so many rows at a time.
#[derive(Debug)]
pub struct Scores<A> {
    layout: Layout,
    scores: A,
    /// Zeros, where there is no bias.
    no_bias: A,
}

/// Places whose scores are held at a time where nothing is learnt: several threads may answer side by side.
pub const ROWS: usize = 1 << 10;

/// How many scores are held at most: half a gigabyte of `f32`.
const MAX_SCORES: usize = 1 << 27;

impl<A: Array> Scores<A> {
    /// Room for the scores of so many words at up to `n` places; where these are too many, they are
    /// computed in turns.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new<D: Device<Array = A>>(device: &D, n: usize, words: usize) -> Result<Self> {
        /// Rows begin where a GPU reads fastest.
        const ALIGNMENT: usize = 32;
        let row_stride = words.next_multiple_of(ALIGNMENT);
        let most = (MAX_SCORES / row_stride.max(1)).max(1);
        let rows = n.div_ceil(n.div_ceil(most).max(1));
        let layout = Layout { rows, columns: words, row_stride, batch: 1, batch_stride: 0 };
        let (scores, no_bias) = (device.zeros(rows * row_stride)?, device.zeros(words)?);
        Ok(Self { layout, scores, no_bias })
    }
}

/// The first rows of scores.
fn rows<A: Array>(scores: &A, layout: Layout) -> Matrix<'_, A> {
    scores.part(0..layout.rows * layout.row_stride).laid_out(layout)
}

/// The first rows of scores, to be written.
fn rows_mut<A: Array>(scores: &mut A, layout: Layout) -> MatrixMut<'_, A> {
    scores.part_mut(0..layout.rows * layout.row_stride).laid_out(layout)
}

impl Softmax {
    /// One more output layer, over a table of its own or a tied one.
    pub fn plan(
        plan: &mut Plan,
        [words, dim]: [usize; 2],
        initial: Initial,
        tied: Option<&Parameter>,
    ) -> Self {
        let own = |plan: &mut Plan| plan.add("output", [words, dim], initial);
        let table = tied.cloned().unwrap_or_else(|| own(plan));
        Self { table, bias: Some(plan.add("output.bias", [1, words], initial)) }
    }

    /// One more output layer, over a table of its own and nothing else.
    pub fn without_bias(plan: &mut Plan, shape: [usize; 2], initial: Initial) -> Self {
        Self { table: plan.add("output", shape, initial), bias: None }
    }

    fn bias<'a, A: Array>(&self, values: &'a A, no_bias: &'a A) -> Part<'a, A> {
        self.bias.as_ref().map_or(no_bias.all(), |bias| bias.of(values))
    }

    /// Losses and gradients: those of the parameters are set, not added to.
    ///
    /// # Shapes
    /// `inputs` n × dim and their gradient; `targets` and `losses` n.
    pub fn learn<D: Device>(
        &self,
        parameters: &mut Parameters<D>,
        room: &mut Scores<D::Array>,
        inputs: (Part<'_, D::Array>, PartMut<'_, D::Array>),
        targets: (Targets<'_, D::Words>, PartMut<'_, D::Array>),
    ) {
        let Parameters { device, values, gradients, .. } = parameters;
        let (table, dim) = (self.table.matrix(values), self.table.columns());
        let ((inputs, mut gradient), (targets, mut losses)) = (inputs, targets);
        let Scores { layout, scores, no_bias } = room;
        let bias = self.bias(values, no_bias);
        for first in (0..losses.len).step_by(layout.rows) {
            let places = first..losses.len.min(first + layout.rows);
            let layout = Layout { rows: places.len(), ..*layout };
            let numbers = places.start * dim..places.end * dim;
            let inputs = inputs.part(numbers.clone()).rows_of(dim);
            device.multiply(rows_mut(scores, layout), [0.0, 1.0], inputs, table.transposed());
            let targets = Targets { words: targets.words.part(places.clone()), ..targets };
            device.cross_entropy(rows_mut(scores, layout), bias, targets, losses.part_mut(places));
            let (scores, keep) = (rows(scores, layout), f64::from(u8::from(first > 0)));
            let into = gradient.part_mut(numbers).rows_of(dim);
            device.multiply(into, [0.0, 1.0], scores, table);
            let into = self.table.matrix_mut(gradients);
            device.multiply(into, [keep, 1.0], scores.transposed(), inputs);
            if let Some(bias) = &self.bias {
                device.sum_rows(bias.of_mut(gradients), keep, scores);
            }
        }
    }

    /// ln p of some words at each of some places.
    ///
    /// # Shapes
    /// `inputs` n × dim, `words` and `into` n × k.
    pub fn log_probs<D: Device>(
        &self,
        parameters: &Parameters<D>,
        room: &mut Scores<D::Array>,
        inputs: Part<'_, D::Array>,
        (words, mut into): (Part<'_, D::Words>, PartMut<'_, D::Array>),
    ) {
        let Parameters { device, values, .. } = parameters;
        let dim = self.table.columns();
        let Layout { rows: n, .. } = Layout::of(inputs.len, dim);
        let k = words.len / n.max(1);
        let Scores { layout, scores, no_bias } = room;
        let bias = self.bias(values, no_bias);
        for first in (0..n).step_by(layout.rows) {
            let places = first..n.min(first + layout.rows);
            let layout = Layout { rows: places.len(), ..*layout };
            let inputs = inputs.part(places.start * dim..places.end * dim).rows_of(dim);
            let table = self.table.matrix(values).transposed();
            device.multiply(rows_mut(scores, layout), [0.0, 1.0], inputs, table);
            let chosen = places.start * k..places.end * k;
            let (into, words) = (into.part_mut(chosen.clone()), words.part(chosen));
            device.log_probs(into, rows(scores, layout), bias, words);
        }
    }
}
