//! A language network as a [`Learner`] (§4.4): running text in mini-batches → steps; its validation is the
//! mean loss on the running text of the validation books, the logarithm of the perplexity.

use neural::{Tables, Trainer};
use numerics::Table;

use crate::learning::epochs::{Learner, MiniBatch, Schedule, Validation};
use crate::networks::settings::NetworkConfig;
use crate::{EpochRecord, Result};

/// Running text in pieces that are learnt from.
pub(crate) trait Pieces {
    /// What a network takes at a time.
    type Batch;

    /// The number of pieces.
    fn len(&self) -> usize;

    /// Whether a network remembers something from one to the next, so that they keep their order.
    fn is_running(&self) -> bool;

    /// The number of words to predict in some pieces.
    fn n_targets(&self, pieces: &[u32]) -> usize;

    /// A batch of some pieces.
    fn batch(&self, pieces: &[u32]) -> Self::Batch;
}

/// A network that learns.
pub(crate) struct NetworkLearner<'a, P: Pieces> {
    trainer: Box<dyn Trainer<Batch = P::Batch>>,
    train: P,
    valid: P,
    config: &'a NetworkConfig,
    /// How many pieces are taken at a time.
    batch: usize,
    /// The checkpoint that was last copied from the device.
    tables: Tables,
}

impl<'a, P: Pieces> NetworkLearner<'a, P> {
    /// A network with text to learn from and to validate on.
    pub fn new(
        trainer: Box<dyn Trainer<Batch = P::Batch>>,
        [train, valid]: [P; 2],
        config: &'a NetworkConfig,
        batch: usize,
    ) -> Result<Self> {
        let tables = trainer.checkpoint()?;
        Ok(Self { trainer, train, valid, config, batch, tables })
    }

    /// The weights, without the state of the optimiser.
    pub fn weights(&self) -> Result<Tables> {
        Ok(self.trainer.weights()?)
    }
}

impl<P: Pieces> Learner for NetworkLearner<'_, P> {
    fn n_questions(&self) -> usize {
        self.train.len()
    }

    fn is_shuffled(&self) -> bool {
        !self.train.is_running()
    }

    fn n_targets(&self, pieces: &[u32]) -> usize {
        self.train.n_targets(pieces)
    }

    fn unit(&self) -> &'static str {
        "words"
    }

    fn learning_rate(&self, _: &Schedule, past: &[EpochRecord], share: f64) -> f64 {
        self.config.rate(past, share)
    }

    fn step(&mut self, batch: &MiniBatch<'_>) -> Result<f64> {
        Ok(self.trainer.step(&self.train.batch(batch.questions), batch.learning_rate)?)
    }

    fn validate(&mut self) -> Result<Validation> {
        let pieces: Vec<u32> = (0..self.valid.len() as u32).collect();
        if pieces.is_empty() {
            return Ok(Validation::default());
        }
        let mut sum = 0.0;
        for pieces in pieces.chunks(self.batch) {
            sum += self.trainer.loss(&self.valid.batch(pieces))?;
        }
        let loss = sum / self.valid.n_targets(&pieces) as f64;
        Ok(Validation { loss: Some(loss), accuracy: None })
    }

    fn tables(&mut self) -> Vec<(&str, &mut Table<f32>)> {
        self.tables.iter_mut().map(|(name, table)| (name.as_str(), table)).collect()
    }

    fn download(&mut self) -> Result<()> {
        self.tables = self.trainer.checkpoint()?;
        Ok(())
    }

    fn upload(&mut self) -> Result<()> {
        Ok(self.trainer.restore(&self.tables)?)
    }
}
