//! The output layer while a network learns: a softmax over all words, or over a sample of them.

use std::borrow::Cow;

use numerics::device::{Device, Slice, SliceMut, Targets};

use crate::Result;
use crate::parameters::Parameters;
use crate::sampling::{SampledSoftmax, Sampler};
use crate::softmax::{Scores, Softmax};

/// Room for the output layer.
#[derive(Debug)]
pub enum Output<D: Device> {
    /// All words.
    Full(Scores<D::Array>),
    /// A sample that is drawn at each step.
    Sampled(SampledSoftmax<D>),
}

impl<D: Device> Output<D> {
    /// Room for `n` places; over samples, where there is a sampler.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(device: &D, softmax: &Softmax, sampler: Option<&Sampler>, n: usize) -> Result<Self> {
        let (words, dim) = (softmax.table.rows(), softmax.table.columns());
        Ok(match sampler {
            None => Self::Full(Scores::new(device, n, words)?),
            Some(sampler) => Self::Sampled(SampledSoftmax::new(device, sampler.size(n), dim, n)?),
        })
    }

    /// Begins a step: the targets as the layer knows them.
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

    /// As [`Softmax::learn`].
    pub fn learn(
        &mut self,
        softmax: &Softmax,
        parameters: &mut Parameters<D>,
        inputs: (Slice<'_, D::Array>, SliceMut<'_, D::Array>),
        targets: (Targets<'_, D::Words>, SliceMut<'_, D::Array>),
    ) {
        match self {
            Self::Full(room) => softmax.learn(parameters, room, inputs, targets),
            Self::Sampled(room) => room.learn(softmax, parameters, inputs, targets),
        }
    }
}
