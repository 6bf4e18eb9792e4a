//! [`Network`]: what training asks of every network.

use numerics::device::Device;
use numerics::{Real, Table};

use crate::Result;

/// Tables by their names, for checkpoints and weights.
pub type Tables = Vec<(String, Table<f32>)>;

/// A language model that learns from batches.
pub trait Network<D: Device> {
    /// What it learns from at a time.
    type Batch;

    /// Learns from a batch: forward, backward, the norm clipped, one step of the optimiser. Returns the sum
    /// of −ln p over the targets, before the step; with a sampled softmax, over the sample.
    ///
    /// # Errors
    /// If the device fails.
    fn step(&mut self, batch: &Self::Batch, rate: f64) -> Result<f64>;

    /// The sum of −ln p over the targets, with the full softmax; nothing is learnt.
    ///
    /// # Errors
    /// If the device fails.
    fn loss(&mut self, batch: &Self::Batch) -> Result<f64>;

    /// What there is to learn: names, rows and columns of the tables.
    fn shapes(&self) -> Vec<(&'static str, usize, usize)>;

    /// What was learnt.
    ///
    /// # Errors
    /// If the device is lost.
    fn weights(&self) -> Result<Tables>;

    /// What else is needed to go on training after an epoch as if it had never stopped.
    ///
    /// # Errors
    /// If the device is lost.
    fn progress(&self) -> Result<Tables>;

    /// Takes weights that [`Network::weights`] gave.
    ///
    /// # Errors
    /// If one is missing or has another shape, or the device is lost.
    fn set_weights(&mut self, tables: &Tables) -> Result<()>;

    /// Goes on from what [`Network::progress`] gave.
    ///
    /// # Errors
    /// If something is missing or has another shape, or the device is lost.
    fn set_progress(&mut self, tables: &Tables) -> Result<()>;
}

/// The sum of losses that a device computed.
pub(crate) fn sum<R: Real>(losses: &[R]) -> f64 {
    losses.iter().map(|loss| loss.to_f64()).sum()
}
