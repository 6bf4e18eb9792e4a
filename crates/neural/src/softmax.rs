//! The output layer: states → a distribution over all words, its loss and its gradients.
//!
//! This is most of the work of a language model: with 512 units and 53,628 words the three products here
//! are nine tenths of a step. So the scores are written once, and their gradient takes their place.

use numerics::device::{
    Array, Device, DeviceMatrix, DeviceMatrixMut, Layout, Slice, SliceMut, Targets,
};

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
        Self::at_most(MAX_SCORES, device, n, words)
    }

    fn at_most<D: Device<Array = A>>(
        max_scores: usize,
        device: &D,
        n: usize,
        words: usize,
    ) -> Result<Self> {
        /// Rows begin where a GPU reads fastest.
        const ALIGNMENT: usize = 32;
        let row_stride = words.next_multiple_of(ALIGNMENT);
        let most = (max_scores / row_stride.max(1)).max(1);
        let rows = n.div_ceil(n.div_ceil(most).max(1)).max(1);
        let layout = Layout { rows, columns: words, row_stride, batch: 1, batch_stride: 0 };
        let (scores, no_bias) = (device.zeros(rows * row_stride)?, device.zeros(words)?);
        Ok(Self { layout, scores, no_bias })
    }
}

/// The first rows of scores.
fn rows<A: Array>(scores: &A, layout: Layout) -> DeviceMatrix<'_, A> {
    scores.slice(0..layout.rows * layout.row_stride).laid_out(layout)
}

/// The first rows of scores, to be written.
fn rows_mut<A: Array>(scores: &mut A, layout: Layout) -> DeviceMatrixMut<'_, A> {
    scores.slice_mut(0..layout.rows * layout.row_stride).laid_out(layout)
}

impl Softmax {
    /// One more output layer, over a table of its own or a tied one.
    ///
    /// # Panics
    /// If the tied table has another shape.
    pub fn plan(
        plan: &mut Plan,
        shape: [usize; 2],
        initial: Initial,
        tied: Option<&Parameter>,
    ) -> Self {
        let table = tied.cloned().unwrap_or_else(|| plan.add("output", shape, initial));
        assert_eq!([table.rows(), table.columns()], shape, "the tied table's shape");
        Self { table, bias: Some(plan.add("output.bias", [1, shape[0]], initial)) }
    }

    /// One more output layer, over a table of its own and nothing else.
    pub fn without_bias(plan: &mut Plan, shape: [usize; 2], initial: Initial) -> Self {
        Self { table: plan.add("output", shape, initial), bias: None }
    }

    fn bias<'a, A: Array>(&self, values: &'a A, no_bias: &'a A) -> Slice<'a, A> {
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
        inputs: (Slice<'_, D::Array>, SliceMut<'_, D::Array>),
        targets: (Targets<'_, D::Words>, SliceMut<'_, D::Array>),
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
            let inputs = inputs.slice(numbers.clone()).rows_of(dim);
            device.multiply(rows_mut(scores, layout), [0.0, 1.0], inputs, table.transposed());
            let targets = Targets { words: targets.words.slice(places.clone()), ..targets };
            device.cross_entropy(rows_mut(scores, layout), bias, targets, losses.slice_mut(places));
            let (scores, keep) = (rows(scores, layout), f64::from(u8::from(first > 0)));
            let into = gradient.slice_mut(numbers).rows_of(dim);
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
        inputs: Slice<'_, D::Array>,
        (words, mut into): (Slice<'_, D::Words>, SliceMut<'_, D::Array>),
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
            let inputs = inputs.slice(places.start * dim..places.end * dim).rows_of(dim);
            let table = self.table.matrix(values).transposed();
            device.multiply(rows_mut(scores, layout), [0.0, 1.0], inputs, table);
            let chosen = places.start * k..places.end * k;
            let (into, words) = (into.slice_mut(chosen.clone()), words.slice(chosen));
            device.log_probs(into, rows(scores, layout), bias, words);
        }
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::{Cpu, NO_TARGET};

    use super::*;
    use crate::gradients::worst_gradient_error;

    const WORDS: usize = 40;
    const DIM: usize = 3;

    /// Losses, the gradients of the inputs and of the parameters, and ln p of two words at each of five places,
    /// with room for some scores.
    fn learnt(max_scores: usize) -> Vec<Vec<f64>> {
        let device = Cpu::<f64>::default();
        let mut plan = Plan::default();
        let softmax = Softmax::plan(&mut plan, [WORDS, DIM], Initial::Normal(0.5), None);
        let mut parameters = plan.build(&device, 1).unwrap();
        let mut inputs = device.zeros(5 * DIM).unwrap();
        let values: Vec<f64> = (0..5 * DIM).map(|n| (n as f64).sin()).collect();
        device.write(inputs.all_mut(), &values).unwrap();
        let words = device.words(&[7, 0, 39, 7, 12]).unwrap();
        let [mut gradient, mut losses, mut log_probs] =
            [5 * DIM, 5, 10].map(|n| device.zeros(n).unwrap());
        let mut room = Scores::at_most(max_scores, &device, 5, WORDS).unwrap();
        let targets = (Targets { words: words.all(), scale: 0.5 }, losses.all_mut());
        softmax.learn(&mut parameters, &mut room, (inputs.all(), gradient.all_mut()), targets);
        let pairs = device.words(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).unwrap();
        let into = (pairs.all(), log_probs.all_mut());
        softmax.log_probs(&parameters, &mut room, inputs.all(), into);
        [&losses, &gradient, &parameters.gradients, &log_probs]
            .map(|array| device.read(array.all()).unwrap())
            .to_vec()
    }

    /// The inputs are a parameter, so that their gradient is checked too.
    #[test]
    fn gradients_are_those_of_central_differences() {
        let (device, mut plan) = (Cpu::<f64>::default(), Plan::default());
        let softmax = Softmax::plan(&mut plan, [WORDS, DIM], Initial::Normal(0.5), None);
        let inputs = plan.add("inputs", [5, DIM], Initial::Normal(1.0));
        let mut parameters = plan.build(&device, 1).unwrap();
        let words = device.words(&[7, 0, 39, NO_TARGET, 12]).unwrap();
        let loss = |parameters: &mut Parameters<Cpu<f64>>| {
            let [mut read, mut gradient, mut losses] =
                [5 * DIM, 5 * DIM, 5].map(|n| device.zeros(n).unwrap());
            device.copy(read.all_mut(), inputs.of(&parameters.values));
            let mut room = Scores::new(&device, 5, WORDS).unwrap();
            let targets = (Targets { words: words.all(), scale: 1.0 }, losses.all_mut());
            softmax.learn(parameters, &mut room, (read.all(), gradient.all_mut()), targets);
            device.copy(inputs.of_mut(&mut parameters.gradients), gradient.all());
            device.read(losses.all()).unwrap().iter().sum()
        };
        let worst = worst_gradient_error(&mut parameters, |parameters| parameters, loss);
        assert!(worst < 1e-6, "{worst}");
    }

    /// Rows of 40 scores stand 64 apart: five places in turns of two, two and one.
    #[test]
    fn in_turns_it_learns_and_judges_the_same() {
        let (whole, in_turns) = (learnt(5 * 64), learnt(2 * 64));
        for (whole, in_turns) in whole.iter().zip(&in_turns) {
            assert_eq!(whole.len(), in_turns.len());
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
            assert!(whole.iter().zip(in_turns).all(close), "{whole:?} {in_turns:?}");
        }
    }
}
