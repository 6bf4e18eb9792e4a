//! The output layer: states → a distribution over all words, its loss and its gradients.
//!
//! This is most of the work of a language model: with 512 units and 53,628 words the three products here
//! are nine tenths of a step. So the scores are written once, and their gradient takes their place.

use numerics::device::{Array, Device, Layout, Part, PartMut, Targets};

use crate::Result;
use crate::parameters::{Initial, Parameter, Parameters, Plan};

/// A full softmax.
#[derive(Clone, Debug)]
pub struct Softmax {
    /// Words × dim: of its own, or the embeddings, which are then «tied» (Press & Wolf 2017).
    pub table: Parameter,
    /// One number a word.
    pub bias: Parameter,
}

/// Where scores are computed, so many rows at a time.
#[derive(Debug)]
pub struct Scores<A> {
    rows: usize,
    scores: A,
}

/// How many scores are held at most: half a gigabyte of `f32`.
const MAX_SCORES: usize = 1 << 27;

impl<A: Array> Scores<A> {
    /// Room for the scores of so many words at up to `n` places; where these are too many, they are
    /// computed in turns.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new<D: Device<Array = A>>(device: &D, n: usize, words: usize) -> Result<Self> {
        let most = (MAX_SCORES / words.max(1)).max(1);
        let rows = n.div_ceil(n.div_ceil(most).max(1));
        Ok(Self { rows, scores: device.zeros(rows * words)? })
    }
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
        Self { table, bias: plan.add("output.bias", [1, words], initial) }
    }

    /// Losses and gradients: those of the parameters are set, not added to.
    ///
    /// # Shapes
    /// `inputs` n × dim, of which the gradient takes the place; `targets` and `losses` n.
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
        for first in (0..losses.len).step_by(room.rows) {
            let rows = first..losses.len.min(first + room.rows);
            let numbers = rows.start * dim..rows.end * dim;
            let inputs = inputs.part(numbers.clone()).rows_of(dim);
            let mut scores = room.scores.part_mut(0..rows.len() * self.table.rows());
            let words = targets.words.part(rows.clone());
            device.multiply(
                scores.reborrow().rows_of(self.table.rows()),
                [0.0, 1.0],
                inputs,
                table.transposed(),
            );
            device.cross_entropy(
                scores.reborrow(),
                self.bias.of(values),
                Targets { words, ..targets },
                losses.part_mut(rows),
            );
            let scores = scores.read();
            let keep = f64::from(u8::from(first > 0));
            let down = scores.rows_of(self.table.rows());
            let into = gradient.part_mut(numbers).rows_of(dim);
            device.multiply(into, [0.0, 1.0], down, table);
            let into = self.table.matrix_mut(gradients);
            device.multiply(into, [keep, 1.0], down.transposed(), inputs);
            device.sum_rows(self.bias.of_mut(gradients), keep, scores);
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
        for first in (0..n).step_by(room.rows) {
            let rows = first..n.min(first + room.rows);
            let inputs = inputs.part(rows.start * dim..rows.end * dim).rows_of(dim);
            let mut scores = room.scores.part_mut(0..rows.len() * self.table.rows());
            let table = self.table.matrix(values).transposed();
            let into_scores = scores.reborrow().rows_of(self.table.rows());
            device.multiply(into_scores, [0.0, 1.0], inputs, table);
            let chosen = rows.start * k..rows.end * k;
            device.log_probs(
                into.part_mut(chosen.clone()),
                scores.read(),
                self.bias.of(values),
                words.part(chosen),
            );
        }
    }
}
