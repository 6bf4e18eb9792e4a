//! [`Training`]: a network that learns, on a device: steps, losses and checkpoints, the same for all
//! networks.

use base::seeds::{self, Use};
use numerics::Real;
use numerics::device::{Backend, Reals};
use rand::Rng;

use crate::network::{Mode, Network, StepContext};
use crate::optimiser::{Method, Optimiser};
use crate::weights::{Tables, Weights};
use crate::{Answering, Result};

/// How a network is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingConfig {
    /// How parameters follow their gradient (paper: SGD).
    pub method: Method,
    /// The greatest norm of a gradient (paper: 5).
    pub clip: f64,
    /// Decides the first weights and what dropout leaves out.
    pub seed: u64,
}

/// A network that learns from batches, on some device.
pub trait Trainer {
    /// What it learns from at a time.
    type Batch;

    /// Learns from a batch: forward, backward, the norm clipped, one step of the optimiser. Returns the sum
    /// of −ln p over the targets before the step; with a sampled softmax, over the sample.
    ///
    /// # Errors
    /// If the device fails.
    fn step(&mut self, batch: &Self::Batch, rate: f64) -> Result<f64>;

    /// ln p of each target, with the full softmax, and 0 where there is no target; nothing is learnt.
    ///
    /// # Errors
    /// If the device fails.
    fn log_probs(&mut self, batch: &Self::Batch) -> Result<Vec<f64>>;

    /// The sum of −ln p over the targets; nothing is learnt.
    ///
    /// # Errors
    /// If the device fails.
    fn loss(&mut self, batch: &Self::Batch) -> Result<f64> {
        Ok(-self.log_probs(batch)?.iter().sum::<f64>())
    }

    /// Replaces the weights; what the optimiser remembers stays.
    ///
    /// # Errors
    /// If one is missing or has another shape, or the device is lost.
    fn begin_with(&mut self, weights: &Tables) -> Result<()>;

    /// What was learnt.
    ///
    /// # Errors
    /// If the device is lost.
    fn weights(&self) -> Result<Tables>;

    /// The weights and whatever else is needed to resume after an epoch as if training had never stopped.
    ///
    /// # Errors
    /// If the device is lost.
    fn checkpoint(&self) -> Result<Tables>;

    /// Resumes from a checkpoint.
    ///
    /// # Errors
    /// If something is missing or has another shape, or the device is lost.
    fn restore(&mut self, tables: &Tables) -> Result<()>;
}

/// A network with everything that learning needs.
#[derive(Debug)]
pub struct Training<D: Backend, N: Network> {
    pub(crate) network: N,
    pub(crate) weights: Weights<D>,
    pub(crate) gradients: Reals<D>,
    optimiser: Optimiser<D>,
    dropout_keys: seeds::Streams,
    train: Option<Captured<D, N>>,
    evaluate: Option<Captured<D, N>>,
}

/// Buffers, and the work on them as a graph.
#[derive(Debug)]
struct Captured<D: Backend, N: Network> {
    buffers: N::Buffers<D>,
    graph: D::Graph,
}

impl<D: Backend, N: Network> Training<D, N> {
    /// A network that has learnt nothing.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(device: &D, network: N, config: TrainingConfig) -> Result<Self> {
        let weights = Weights::initial(device, network.plan(), config.seed)?;
        let gradients = device.zeros(network.plan().len())?;
        let optimiser = Optimiser::new(config.method, config.clip, &weights)?;
        let dropout_keys = seeds::Streams::new(config.seed, Use::Dropout);
        Ok(Self {
            network,
            weights,
            gradients,
            optimiser,
            dropout_keys,
            train: None,
            evaluate: None,
        })
    }

    /// The network with what it has learnt, for answering.
    pub fn into_answering(self) -> Answering<D, N> {
        Answering::new(self.network, self.weights)
    }

    /// Buffers that have the shape of a batch: those that were used before, or new ones.
    fn captured(
        &self,
        batch: &N::Batch,
        mode: Mode,
        previous: Option<Captured<D, N>>,
    ) -> Result<Captured<D, N>> {
        match previous {
            Some(captured) if self.network.fits(&captured.buffers, batch) => Ok(captured),
            previous => {
                // The old buffers are freed before there are new ones.
                let states = previous.and_then(|captured| N::states(captured.buffers));
                let mut buffers = self.network.buffers(&self.weights.device, batch, mode)?;
                if let Some(states) = states {
                    N::resume(&mut buffers, states);
                }
                Ok(Captured { buffers, graph: D::Graph::default() })
            }
        }
    }

    pub(crate) fn context(&self) -> StepContext {
        let number = self.optimiser.steps();
        let key = self.dropout_keys.get(number).next_u64();
        StepContext { number, dropout_key: [key as u32, (key >> 32) as u32] }
    }

    fn sum_of_losses(&self, buffers: &N::Buffers<D>) -> Result<f64> {
        let losses = self.weights.device.read(self.network.losses(buffers))?;
        Ok(losses.iter().map(|loss| loss.to_f64()).sum())
    }
}

impl<D: Backend, N: Network> Trainer for Training<D, N> {
    type Batch = N::Batch;

    fn step(&mut self, batch: &N::Batch, rate: f64) -> Result<f64> {
        let previous = self.train.take();
        let Captured { mut buffers, mut graph } = self.captured(batch, Mode::Train, previous)?;
        let device = self.weights.device.clone();
        self.optimiser.begin(&device, rate)?;
        self.network.upload(&device, batch, self.context(), &mut buffers)?;
        device.capture_or_replay(&mut graph, || {
            self.network.forward(&self.weights, &mut buffers);
            self.network.backward(&self.weights, &mut self.gradients, &mut buffers);
            self.optimiser.step(&mut self.weights, &self.gradients);
        });
        let loss = self.sum_of_losses(&buffers)?;
        self.train = Some(Captured { buffers, graph });
        Ok(loss)
    }

    fn log_probs(&mut self, batch: &N::Batch) -> Result<Vec<f64>> {
        let previous = self.evaluate.take();
        let Captured { mut buffers, mut graph } = self.captured(batch, Mode::Evaluate, previous)?;
        let Self { network, weights, .. } = &*self;
        network.upload(&weights.device, batch, self.context(), &mut buffers)?;
        weights.device.capture_or_replay(&mut graph, || {
            network.forward(weights, &mut buffers);
            network.evaluate(weights, &mut buffers);
        });
        let log_probs = self.weights.device.read(self.network.losses(&buffers))?;
        self.evaluate = Some(Captured { buffers, graph });
        Ok(log_probs.into_iter().map(Real::to_f64).collect())
    }

    fn begin_with(&mut self, weights: &Tables) -> Result<()> {
        self.weights.write(weights)
    }

    fn weights(&self) -> Result<Tables> {
        self.weights.read()
    }

    fn checkpoint(&self) -> Result<Tables> {
        let mut tables = self.weights.read()?;
        tables.extend(self.optimiser.read(&self.weights.device)?);
        Ok(tables)
    }

    fn restore(&mut self, tables: &Tables) -> Result<()> {
        // All texts begin again with an epoch.
        self.train = None;
        self.weights.write(tables)?;
        self.optimiser.write(&self.weights.device, tables)
    }
}
