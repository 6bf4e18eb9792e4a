//! A softmax over a sample of the words, for training on a CPU alone.
//!
//! A sample is the distinct targets of a batch and words drawn from the unigram distribution until there
//! are as many as asked for. The targets are (nearly) draws from that distribution too, so a word is in the
//! sample with probability about 1 − (1 − p)ⁿ, n the number of draws; its score is lessened by the logarithm
//! of that, as the estimate of the full sum over all words asks for (Jean et al. 2015; Bengio & Senécal
//! 2008). Evaluation always takes the full softmax.

use base::seeds::{self, Use};
use numerics::Real;
use numerics::device::{self, Accumulate, Array, Dense, Device, Indices, NO_TARGET, Reals};
use numerics::device::{Slice, SliceMut, Targets};
use rand::Rng;

use super::softmax::Softmax;
use crate::Result;
use crate::weights::Weights;

/// Draws words by their frequency.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// Sums of the probabilities of all words up to each.
    cumulative: Vec<f64>,
    size: usize,
    /// Random numbers per step.
    streams: seeds::Streams,
}

/// A sample and the places of a batch's targets in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The words, each once, in ascending order.
    pub words: Vec<u32>,
    /// For each target its place among the words, or [`NO_TARGET`].
    pub targets: Vec<u32>,
    /// −ln of the probability that a word is in the sample, for each.
    pub corrections: Vec<f64>,
}

impl Sampler {
    /// Creates a sampler of `size` words, given how often each occurs; each counts at least once, or it
    /// could not be drawn.
    pub fn new(counts: &[u64], size: usize, seed: u64) -> Self {
        let counts = counts.iter().map(|&count| count.max(1) as f64);
        let total: f64 = counts.clone().sum();
        let mut sum = 0.0;
        let add = |count: f64| {
            sum += count / total;
            sum
        };
        let cumulative: Vec<f64> = counts.map(add).collect();
        let streams = seeds::Streams::new(seed, Use::SampledSoftmax);
        Self { size: size.min(cumulative.len()), cumulative, streams }
    }

    /// The size of the sample of a batch with `n_targets` targets.
    ///
    /// Chosen: from half of the words on it has all of them; otherwise draws would have to continue until
    /// the rarest have come.
    pub fn size(&self, n_targets: usize) -> usize {
        let (size, all) = (self.size.max(n_targets), self.cumulative.len());
        if size > all / 2 { all } else { size }
    }

    fn probability(&self, word: usize) -> f64 {
        self.cumulative[word] - if word == 0 { 0.0 } else { self.cumulative[word - 1] }
    }

    /// The sample of a step.
    pub fn sample(&self, targets: &[u32], step: u64) -> Sample {
        let n_words = self.cumulative.len();
        let size = self.size(targets.len());
        if size == n_words {
            let words = (0..n_words as u32).collect();
            return Sample { words, targets: targets.to_vec(), corrections: vec![0.0; n_words] };
        }
        let mut rng = self.streams.get(step);
        let mut is_in = vec![false; self.cumulative.len()];
        let (mut n_in, mut n_draws) = (0, 0);
        let mut take = |word: usize| {
            n_draws += 1;
            n_in += usize::from(!std::mem::replace(&mut is_in[word], true));
            n_in
        };
        let real = targets.iter().filter(|&&target| target != NO_TARGET);
        let n_targets = real.map(|&target| take(target as usize)).last().unwrap_or(0);
        let total = self.cumulative.last().copied().unwrap_or(0.0);
        let mut draw = || {
            let drawn = total * (f64::from(rng.next_u32()) + 0.5) / 4_294_967_296.0;
            take(self.cumulative.partition_point(|&sum| sum < drawn))
        };
        while n_targets < size && draw() < size {}
        self.describe(&is_in, targets, n_draws)
    }

    fn describe(&self, is_in: &[bool], targets: &[u32], n_draws: i32) -> Sample {
        let words: Vec<u32> =
            (0..is_in.len() as u32).filter(|&word| is_in[word as usize]).collect();
        let place = |&target: &u32| match target {
            NO_TARGET => NO_TARGET,
            word => words.partition_point(|&other| other < word) as u32,
        };
        let correction = |&word: &u32| {
            let absent = (1.0 - self.probability(word as usize)).powi(n_draws);
            -(1.0 - absent).max(f64::MIN_POSITIVE).ln()
        };
        Sample {
            targets: targets.iter().map(place).collect(),
            corrections: words.iter().map(correction).collect(),
            words,
        }
    }
}

/// What a softmax over a sample needs on a device.
#[derive(Debug)]
pub struct SampledSoftmax<D: Device> {
    words: Indices<D>,
    /// Sample × dim: rows of the table, then their gradients.
    rows: Reals<D>,
    bias: Reals<D>,
    corrections: Reals<D>,
    /// Places × sample.
    scores: Reals<D>,
}

impl<D: Device> SampledSoftmax<D> {
    /// Allocates buffers for samples of `size` words at `n` places.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(device: &D, size: usize, dim: usize, n: usize) -> Result<Self> {
        Ok(Self {
            words: device.zeros(size)?,
            rows: device.zeros(size * dim)?,
            bias: device.zeros(size)?,
            corrections: device.zeros(size)?,
            scores: device.zeros(n * size)?,
        })
    }

    /// Copies the sample of a step to the device.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn begin(&mut self, device: &D, sample: &Sample) -> Result<()> {
        let corrections: Vec<D::Real> =
            sample.corrections.iter().map(|&value| D::Real::from_f64(value)).collect();
        device.write(self.words.all_mut(), &sample.words)?;
        Ok(device.write(self.corrections.all_mut(), &corrections)?)
    }

    /// As [`Softmax::learn`], with targets that are places in the sample.
    #[expect(clippy::too_many_arguments, reason = "weights, gradients and buffers are apart")]
    pub(super) fn learn(
        &mut self,
        softmax: &Softmax,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        (inputs, gradient): (Slice<'_, Reals<D>>, SliceMut<'_, Reals<D>>),
        (targets, losses): (Targets<'_, Indices<D>>, SliceMut<'_, Reals<D>>),
    ) where
        D: Dense + device::Softmax,
    {
        let Weights { device, values, .. } = weights;
        let (dim, size) = (softmax.table.columns(), self.words.len());
        device.gather_rows(self.rows.all_mut(), softmax.table.of(values), self.words.all());
        device.copy(self.bias.all_mut(), self.corrections.all());
        if let Some(bias) = &softmax.bias {
            device.gather_rows(self.bias.all_mut(), bias.of(values), self.words.all());
            device.add(self.bias.all_mut(), 1.0, self.corrections.all());
        }
        let (inputs, rows) = (inputs.rows_of(dim), self.rows.all().rows_of(dim));
        let scores = self.scores.all_mut().rows_of(size);
        device.multiply(scores, Accumulate::REPLACE, inputs, rows.transposed());
        let scores = self.scores.all_mut().rows_of(size);
        device.cross_entropy(scores, self.bias.all(), targets, losses);
        let scores = self.scores.all().rows_of(size);
        device.multiply(gradient.rows_of(dim), Accumulate::REPLACE, scores, rows);
        let into = self.rows.all_mut().rows_of(dim);
        device.multiply(into, Accumulate::REPLACE, scores.transposed(), inputs);
        device.fill(softmax.table.of_mut(gradients), 0.0);
        device.scatter_add_rows(softmax.table.of_mut(gradients), self.words.all(), self.rows.all());
        if let Some(bias) = &softmax.bias {
            device.sum_rows(self.bias.all_mut(), 0.0, scores);
            device.fill(bias.of_mut(gradients), 0.0);
            device.scatter_add_rows(bias.of_mut(gradients), self.words.all(), self.bias.all());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_sample_has_all_targets_each_word_once_and_as_many_as_asked_for(
            targets in prop::collection::vec(prop_oneof![Just(NO_TARGET), 0u32..50], 0..30),
            size in 0usize..60, step in 0u64..100,
        ) {
            let counts: Vec<u64> = (0..50).collect();
            let sampler = Sampler::new(&counts, size, 1);
            let sample = sampler.sample(&targets, step);
            prop_assert_eq!(sample.words.len(), sampler.size(targets.len()));
            prop_assert!(sample.words.is_sorted_by(|a, b| a < b));
            for (target, place) in targets.iter().zip(&sample.targets) {
                let found = sample.words.get(*place as usize).unwrap_or(&NO_TARGET);
                prop_assert_eq!(found, target);
            }
            prop_assert!(sample.corrections.iter().all(|value| value.is_finite() && *value >= 0.0));
            prop_assert_eq!(sampler.sample(&targets, step), sample);
        }
    }

    /// The sum over a sample, corrected, is in the mean that over all words: 1 for each.
    #[test]
    fn corrections_make_up_for_the_words_that_were_not_drawn() {
        let counts: Vec<u64> = (1..=400).map(|rank| 10_000 / rank).collect();
        let sampler = Sampler::new(&counts, 80, 1);
        let sums = (0..500).map(|step| {
            sampler.sample(&[], step).corrections.iter().map(|value| value.exp()).sum::<f64>()
        });
        let mean = sums.sum::<f64>() / 500.0;
        assert!((mean / 400.0 - 1.0).abs() < 0.05, "{mean} of 400 words");
    }
}
