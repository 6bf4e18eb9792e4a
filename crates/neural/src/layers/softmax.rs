//! The output layer: states → a distribution over all words, its loss and its gradients.
//!
//! This is most of the work of a language model: with 512 units and 53,628 words the three products here are
//! nine tenths of a step. So the scores are written once, and their gradient replaces them.

use std::borrow::Cow;

use numerics::device::{self, Accumulate, Array, Dense, Device, Indices, Layout, Reals, Targets};
use numerics::device::{DeviceMatrix, DeviceMatrixMut, Slice, SliceMut};

use super::sampling::{SampledSoftmax, Sampler};
use crate::Result;
use crate::weights::{Initial, Parameter, Plan, Weights};

/// The output layer: a softmax over all words.
#[derive(Clone, Debug)]
pub struct Softmax {
    /// Words × dim: a table of its own, or the embeddings, which are then «tied» (Press & Wolf 2017).
    pub table: Parameter,
    /// One number per word, or nothing.
    pub bias: Option<Parameter>,
}

/// Where scores are computed, some rows at a time.
#[derive(Debug)]
pub struct ScoreBuffers<A> {
    pub(super) layout: Layout,
    pub(super) scores: A,
    /// Zeros, where there is no bias.
    pub(super) no_bias: A,
}

/// What the output layer needs: for a softmax over all words, or over a sample that is drawn at each step.
#[derive(Debug)]
pub enum SoftmaxBuffers<D: Device> {
    /// For a softmax over all words.
    Full(ScoreBuffers<Reals<D>>),
    /// For a softmax over a sample of the words.
    Sampled(SampledSoftmax<D>),
}

/// Rows whose scores are held at a time where nothing is learnt: several threads may answer side by side.
pub const ROWS: usize = 1 << 10;

/// The greatest number of scores that are held: half a gigabyte of `f32`.
const MAX_SCORES: usize = 1 << 27;

/// The first rows of scores.
pub(super) fn rows<A: Array>(scores: &A, layout: Layout) -> DeviceMatrix<'_, A> {
    scores.slice(0..layout.rows * layout.row_stride).laid_out(layout)
}

/// The first rows of scores, to be written.
pub(super) fn rows_mut<A: Array>(scores: &mut A, layout: Layout) -> DeviceMatrixMut<'_, A> {
    scores.slice_mut(0..layout.rows * layout.row_stride).laid_out(layout)
}

impl Softmax {
    /// Adds an output layer to the plan of a network, over a table of its own or a tied one.
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

    /// Adds an output layer without a bias, over a table of its own.
    pub fn without_bias(plan: &mut Plan, shape: [usize; 2], initial: Initial) -> Self {
        Self { table: plan.add("output", shape, initial), bias: None }
    }

    fn bias<'a, A: Array>(&self, values: &'a A, no_bias: &'a A) -> Slice<'a, A> {
        self.bias.as_ref().map_or(no_bias.all(), |bias| bias.of(values))
    }

    /// Allocates buffers for the scores of all words in up to `n` rows; if these are too many, they are
    /// computed in turns.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn scores<D: Device>(&self, device: &D, n: usize) -> Result<ScoreBuffers<Reals<D>>> {
        self.scores_at_most(MAX_SCORES, device, n)
    }

    fn scores_at_most<D: Device>(
        &self,
        max_scores: usize,
        device: &D,
        n: usize,
    ) -> Result<ScoreBuffers<Reals<D>>> {
        /// Rows begin where a GPU reads fastest.
        const ALIGNMENT: usize = 32;
        let words = self.table.rows();
        let row_stride = words.next_multiple_of(ALIGNMENT);
        let most = (max_scores / row_stride.max(1)).max(1);
        let rows = n.div_ceil(n.div_ceil(most).max(1)).max(1);
        let layout = Layout { rows, columns: words, row_stride, batch: 1, batch_stride: 0 };
        let (scores, no_bias) = (device.zeros(rows * row_stride)?, device.zeros(words)?);
        Ok(ScoreBuffers { layout, scores, no_bias })
    }

    /// Allocates what learning at `n` places needs: over samples, if there is a sampler.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn buffers<D: Device>(
        &self,
        device: &D,
        sampler: Option<&Sampler>,
        n: usize,
    ) -> Result<SoftmaxBuffers<D>> {
        Ok(match sampler {
            None => SoftmaxBuffers::Full(self.scores(device, n)?),
            Some(sampler) => {
                let (size, dim) = (sampler.size(n), self.table.columns());
                SoftmaxBuffers::Sampled(SampledSoftmax::new(device, size, dim, n)?)
            }
        })
    }

    /// Losses and gradients: those of the parameters are replaced.
    ///
    /// # Shapes
    /// `inputs` n × dim and their gradient; `targets` and `losses` n.
    #[expect(clippy::too_many_arguments, reason = "weights, gradients and buffers are apart")]
    pub fn learn<D: Dense + device::Softmax>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        buffers: &mut SoftmaxBuffers<D>,
        inputs: (Slice<'_, Reals<D>>, SliceMut<'_, Reals<D>>),
        targets: (Targets<'_, Indices<D>>, SliceMut<'_, Reals<D>>),
    ) {
        match buffers {
            SoftmaxBuffers::Full(buffers) => {
                self.learn_all(weights, gradients, buffers, inputs, targets);
            }
            SoftmaxBuffers::Sampled(buffers) => {
                buffers.learn(self, weights, gradients, inputs, targets);
            }
        }
    }

    /// The same with a softmax over all words.
    #[expect(clippy::too_many_arguments, reason = "weights, gradients and buffers are apart")]
    fn learn_all<D: Dense + device::Softmax>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        buffers: &mut ScoreBuffers<Reals<D>>,
        (inputs, mut gradient): (Slice<'_, Reals<D>>, SliceMut<'_, Reals<D>>),
        (targets, mut losses): (Targets<'_, Indices<D>>, SliceMut<'_, Reals<D>>),
    ) {
        let Weights { device, values, .. } = weights;
        let (table, dim) = (self.table.matrix(values), self.table.columns());
        let ScoreBuffers { layout, scores, no_bias } = buffers;
        let bias = self.bias(values, no_bias);
        for first in (0..losses.len).step_by(layout.rows) {
            let places = first..losses.len.min(first + layout.rows);
            let layout = Layout { rows: places.len(), ..*layout };
            let numbers = places.start * dim..places.end * dim;
            let inputs = inputs.slice(numbers.clone()).rows_of(dim);
            let into = rows_mut(scores, layout);
            device.multiply(into, Accumulate::REPLACE, inputs, table.transposed());
            let targets = Targets { columns: targets.columns.slice(places.clone()), ..targets };
            let losses = losses.slice_mut(places);
            device.cross_entropy(rows_mut(scores, layout), bias, targets, losses);
            let (scores, accumulate) = (rows(scores, layout), Accumulate::add_if(first > 0));
            let into = gradient.slice_mut(numbers).rows_of(dim);
            device.multiply(into, Accumulate::REPLACE, scores, table);
            let into = self.table.matrix_mut(gradients);
            device.multiply(into, accumulate, scores.transposed(), inputs);
            if let Some(bias) = &self.bias {
                device.sum_rows(bias.of_mut(gradients), accumulate.beta, scores);
            }
        }
    }

    /// ln p of some words at each of some places.
    ///
    /// # Shapes
    /// `inputs` n × dim, `words` and `into` n × k.
    pub fn log_probs<D: Dense + device::Softmax>(
        &self,
        weights: &Weights<D>,
        buffers: &mut ScoreBuffers<Reals<D>>,
        inputs: Slice<'_, Reals<D>>,
        (words, mut into): (Slice<'_, Indices<D>>, SliceMut<'_, Reals<D>>),
    ) {
        let Weights { device, values, .. } = weights;
        let dim = self.table.columns();
        let Layout { rows: n, .. } = Layout::of(inputs.len, dim);
        let k = words.len / n.max(1);
        let ScoreBuffers { layout, scores, no_bias } = buffers;
        let bias = self.bias(values, no_bias);
        for first in (0..n).step_by(layout.rows) {
            let places = first..n.min(first + layout.rows);
            let layout = Layout { rows: places.len(), ..*layout };
            let inputs = inputs.slice(places.start * dim..places.end * dim).rows_of(dim);
            let table = self.table.matrix(values).transposed();
            device.multiply(rows_mut(scores, layout), Accumulate::REPLACE, inputs, table);
            let chosen = places.start * k..places.end * k;
            let (into, words) = (into.slice_mut(chosen.clone()), words.slice(chosen));
            device.log_probs(into, rows(scores, layout), bias, words);
        }
    }
}

impl<D: Device> SoftmaxBuffers<D> {
    /// Begins a step: draws its sample, if there is one, and returns the targets as the layer knows them.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn begin<'a>(
        &mut self,
        device: &D,
        sampler: Option<&Sampler>,
        targets: &'a [u32],
        step: u64,
    ) -> Result<Cow<'a, [u32]>> {
        let (Self::Sampled(softmax), Some(sampler)) = (self, sampler) else {
            return Ok(Cow::Borrowed(targets));
        };
        let sample = sampler.sample(targets, step);
        softmax.begin(device, &sample)?;
        Ok(Cow::Owned(sample.targets))
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::{Cpu, NO_TARGET};

    use super::*;
    use crate::gradients::worst_gradient_error;

    const WORDS: usize = 40;
    const DIM: usize = 3;

    /// Losses, the gradients of the inputs and of the parameters, and ln p of two words at each of five
    /// places, with buffers for some scores.
    fn learnt(max_scores: usize) -> Vec<Vec<f64>> {
        let device = Cpu::<f64>::default();
        let mut plan = Plan::default();
        let softmax = Softmax::plan(&mut plan, [WORDS, DIM], Initial::Normal(0.5), None);
        let weights = Weights::initial(&device, &plan, 1).unwrap();
        let mut gradients = device.zeros(plan.len()).unwrap();
        let values: Vec<f64> = (0..5 * DIM).map(|n| (n as f64).sin()).collect();
        let inputs = device.upload(&values).unwrap();
        let words = device.upload(&[7, 0, 39, 7, 12]).unwrap();
        let [mut gradient, mut losses, mut log_probs] =
            [5 * DIM, 5, 10].map(|n| device.zeros(n).unwrap());
        let mut buffers = softmax.scores_at_most(max_scores, &device, 5).unwrap();
        let targets = (Targets { columns: words.all(), scale: 0.5 }, losses.all_mut());
        let learnt = (inputs.all(), gradient.all_mut());
        softmax.learn_all(&weights, &mut gradients, &mut buffers, learnt, targets);
        let pairs = device.upload(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).unwrap();
        let into = (pairs.all(), log_probs.all_mut());
        softmax.log_probs(&weights, &mut buffers, inputs.all(), into);
        [&losses, &gradient, &gradients, &log_probs]
            .map(|array| device.read(array.all()).unwrap())
            .to_vec()
    }

    /// The inputs are a parameter, so that their gradient is checked too.
    #[test]
    fn gradients_are_those_of_central_differences() {
        let (device, mut plan) = (Cpu::<f64>::default(), Plan::default());
        let softmax = Softmax::plan(&mut plan, [WORDS, DIM], Initial::Normal(0.5), None);
        let inputs = plan.add("inputs", [5, DIM], Initial::Normal(1.0));
        let mut weights = Weights::initial(&device, &plan, 1).unwrap();
        let words = device.upload(&[7, 0, 39, NO_TARGET, 12]).unwrap();
        let worst = worst_gradient_error(&mut weights, |weights, gradients| {
            let [mut read, mut gradient, mut losses] =
                [5 * DIM, 5 * DIM, 5].map(|n| device.zeros(n).unwrap());
            device.copy(read.all_mut(), inputs.of(&weights.values));
            let mut buffers = softmax.buffers(&device, None, 5).unwrap();
            let targets = (Targets { columns: words.all(), scale: 1.0 }, losses.all_mut());
            let learnt = (read.all(), gradient.all_mut());
            softmax.learn(weights, gradients, &mut buffers, learnt, targets);
            device.copy(inputs.of_mut(gradients), gradient.all());
            device.read(losses.all()).unwrap().iter().sum()
        });
        assert!(worst < 1e-6, "{worst}");
    }

    /// Rows of 40 scores are 64 apart: five places in turns of two, two and one.
    #[test]
    fn in_turns_it_learns_and_evaluates_the_same() {
        let (whole, in_turns) = (learnt(5 * 64), learnt(2 * 64));
        for (whole, in_turns) in whole.iter().zip(&in_turns) {
            assert_eq!(whole.len(), in_turns.len());
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
            assert!(whole.iter().zip(in_turns).all(close), "{whole:?} {in_turns:?}");
        }
    }
}
