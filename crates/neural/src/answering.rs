//! [`Answering`]: a network and its weights, and nothing else, that scores the candidates of texts with a
//! blank.

use numerics::Real as _;
use numerics::device::Backend;

use crate::Result;
use crate::network::{Mode, Network, StepContext};
use crate::text::Cloze;
use crate::weights::{Tables, Weights};

/// A network that computes how probable the completions of a text are.
pub trait ClozeNetwork: Network {
    /// For each text and candidate: ln of the probability of the candidate and of all tokens after it, given
    /// those before.
    ///
    /// # Errors
    /// If the device fails.
    fn score<D: Backend>(&self, weights: &Weights<D>, texts: &[Cloze]) -> Result<Vec<Vec<f64>>>;
}

/// A trained network on some device.
pub trait ClozeScorer: Send + Sync {
    /// For each text and candidate: ln of the probability of the candidate and of all tokens after it, given
    /// those before.
    ///
    /// # Errors
    /// If the device fails.
    fn score(&self, texts: &[Cloze]) -> Result<Vec<Vec<f64>>>;
}

/// A network and its weights.
#[derive(Debug)]
pub struct Answering<D: Backend, N> {
    network: N,
    weights: Weights<D>,
}

impl<D: Backend, N: Network> Answering<D, N> {
    /// A network that answers with some weights.
    pub fn new(network: N, weights: Weights<D>) -> Self {
        Self { network, weights }
    }

    /// A network that answers with weights from tables.
    ///
    /// # Errors
    /// If one is missing or has another shape, or the device has too little memory.
    pub fn from_tables(device: &D, network: N, tables: &Tables) -> Result<Self> {
        let weights = Weights::from_tables(device, network.plan(), tables)?;
        Ok(Self { network, weights })
    }

    /// The layers, without their parameters.
    pub fn network(&self) -> &N {
        &self.network
    }

    /// The parameters that it answers with.
    pub fn weights(&self) -> &Weights<D> {
        &self.weights
    }

    /// ln p of each target of a batch, and 0 where there is no target. The buffers are made for the first batch and for
    /// one of another shape.
    ///
    /// # Errors
    /// If the device fails; the buffers are freed.
    pub fn log_probs(
        &self,
        batch: &N::Batch,
        buffers: &mut Option<N::Buffers<D>>,
    ) -> Result<Vec<f64>> {
        let Self { network, weights } = self;
        let device = &weights.device;
        let fitting = buffers.take().filter(|buffers| network.fits(buffers, batch));
        let mut taken = match fitting {
            Some(buffers) => buffers,
            None => network.buffers(device, batch, Mode::Evaluate)?,
        };
        network.upload(device, batch, StepContext::default(), &mut taken)?;
        network.forward(weights, &mut taken);
        network.evaluate(weights, &mut taken);
        let log_probs = device.read(network.losses(&taken))?;
        *buffers = Some(taken);
        Ok(log_probs.into_iter().map(|log_prob| log_prob.to_f64()).collect())
    }
}

impl<D: Backend, N: ClozeNetwork> ClozeScorer for Answering<D, N> {
    fn score(&self, texts: &[Cloze]) -> Result<Vec<Vec<f64>>> {
        self.network.score(&self.weights, texts)
    }
}
