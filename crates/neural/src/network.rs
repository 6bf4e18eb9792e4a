//! [`Network`]: what training and answering ask of every network.

use std::fmt::Debug;

use numerics::device::{Backend, Reals, Slice};

use crate::Result;
use crate::layers::States;
use crate::weights::{Plan, Weights};

/// What buffers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Learning: losses with dropout, perhaps over a sample of the words, and gradients.
    Train,
    /// The log-probabilities of the targets under the full softmax.
    Evaluate,
}

/// The step that a batch belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepContext {
    /// The number of the step, which decides the sample of a sampled softmax.
    pub number: u64,
    /// What decides which numbers dropout sets to 0.
    pub dropout_key: [u32; 2],
}

/// Layers put together: their places in the weights and how they compute. The numbers are in [`Weights`].
pub trait Network: Clone + Debug + Send + Sync + 'static {
    /// What it learns from at a time.
    type Batch;
    /// What a batch of one shape needs on the device, and what is remembered from one batch to the next.
    type Buffers<D: Backend>: Debug + Send + Sync;

    /// The parameters it has.
    fn plan(&self) -> &Plan;

    /// Allocates buffers for batches of the shape of this one.
    ///
    /// # Errors
    /// If the device has too little memory.
    fn buffers<D: Backend>(
        &self,
        device: &D,
        batch: &Self::Batch,
        mode: Mode,
    ) -> Result<Self::Buffers<D>>;

    /// What a recurrent network remembers after a batch; the buffers are freed.
    fn states<D: Backend>(_: Self::Buffers<D>) -> Option<States<Reals<D>>> {
        None
    }

    /// Resumes from states, if they are those of as many streams as the buffers have.
    fn resume<D: Backend>(_: &mut Self::Buffers<D>, _: States<Reals<D>>) {}

    /// Whether buffers have the shape of a batch.
    fn fits<D: Backend>(&self, buffers: &Self::Buffers<D>, batch: &Self::Batch) -> bool;

    /// Copies a batch to the device.
    ///
    /// # Errors
    /// If the device is lost.
    fn upload<D: Backend>(
        &self,
        device: &D,
        batch: &Self::Batch,
        step: StepContext,
        buffers: &mut Self::Buffers<D>,
    ) -> Result<()>;

    /// The batch → what goes to the softmax.
    fn forward<D: Backend>(&self, weights: &Weights<D>, buffers: &mut Self::Buffers<D>);

    /// After [`Network::forward`]: −ln p of each target, and the gradients of all parameters, which are
    /// replaced.
    fn backward<D: Backend>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        buffers: &mut Self::Buffers<D>,
    );

    /// After [`Network::forward`]: ln p of each target, with the full softmax; for [`Mode::Evaluate`].
    fn evaluate<D: Backend>(&self, weights: &Weights<D>, buffers: &mut Self::Buffers<D>);

    /// −ln p of each target after [`Network::backward`], ln p after [`Network::evaluate`]; 0 where there is
    /// no target.
    fn losses<'a, D: Backend>(&self, buffers: &'a Self::Buffers<D>) -> Slice<'a, Reals<D>>;
}
