//! The language model with a lexical memory (§3; Sukhbaatar et al. 2015, §5): the words before it → the next
//! word.
//!
//! ```text
//! runs of words ──embeddings──▶ ──dropout──▶ hops ──▶ a state per target ──dropout──▶ softmax(W u)
//! ```

use numerics::Real;
use numerics::device::{Array, Backend, Device, Indices, Reals, Slice, Targets};

use crate::Result;
use crate::layers::{HopBuffers, Hops, ROWS, Sampler, Softmax, SoftmaxBuffers};
use crate::network::{Mode, Network, StepContext};
use crate::text::Runs;
use crate::weights::{Initial, Plan, Weights};

/// The settings of a lexical memory.
#[derive(Clone, Debug, PartialEq)]
pub struct LexicalConfig {
    /// Words in the vocabulary.
    pub words: usize,
    /// p, numbers in an embedding and in a state (paper: 200).
    pub dim: usize,
    /// n, how many words before a word are its memories (paper: 200).
    pub memories: usize,
    /// K (paper: 7).
    pub hops: usize,
    /// The distribution of the initial parameters (Sukhbaatar et al.: normal, with a deviation of 0.05).
    pub initial: Initial,
    /// The probability that a number of an embedding, or of a state before the softmax, is set to 0 (paper:
    /// 0).
    pub dropout: f64,
}

/// A language model with a lexical memory: its layers and where their parameters are.
#[derive(Clone, Debug)]
pub struct LexicalMemory {
    plan: Plan,
    hops: Hops,
    softmax: Softmax,
    config: LexicalConfig,
    sampler: Option<Sampler>,
}

/// What runs need on the device.
#[derive(Debug)]
pub struct RunBuffers<D: Device> {
    hops: HopBuffers<D>,
    targets: Indices<D>,
    dropout_key: Indices<D>,
    /// The probability of dropout: 0 where nothing is learnt.
    dropout: f64,
    /// Of the states, targets × dim.
    gradient: Reals<D>,
    losses: Reals<D>,
    softmax: SoftmaxBuffers<D>,
}

impl LexicalMemory {
    /// Plans a network; with a sampler it learns by a softmax over samples.
    pub fn new(config: LexicalConfig, sampler: Option<Sampler>) -> Self {
        let LexicalConfig { words, dim, memories, hops, initial, .. } = config;
        let mut plan = Plan::default();
        let hops = Hops::plan(&mut plan, [words, dim], [memories, hops], initial);
        let softmax = Softmax::without_bias(&mut plan, [words, dim], initial);
        Self { plan, hops, softmax, config, sampler }
    }

    /// The settings that it was planned with.
    pub fn config(&self) -> &LexicalConfig {
        &self.config
    }

    /// ln p of each target given its memories, run after run; 0 where there is no target.
    ///
    /// # Errors
    /// If the device fails.
    pub fn log_probs<D: Backend>(&self, weights: &Weights<D>, runs: &Runs) -> Result<Vec<f64>> {
        let device = &weights.device;
        let mut buffers = self.buffers(device, runs, Mode::Evaluate)?;
        self.upload(device, runs, StepContext::default(), &mut buffers)?;
        self.forward(weights, &mut buffers);
        self.evaluate(weights, &mut buffers);
        Ok(device.read(self.losses(&buffers))?.into_iter().map(Real::to_f64).collect())
    }
}

/// Sets some numbers to 0, where there is dropout.
fn drop_out<D: Backend>(
    device: &D,
    values: &mut Reals<D>,
    (probability, key): (f64, &Indices<D>),
    layer: u32,
) {
    if probability > 0.0 {
        device.dropout(values.all_mut(), probability, key.all(), layer);
    }
}

impl Network for LexicalMemory {
    type Batch = Runs;
    type Buffers<D: Backend> = RunBuffers<D>;

    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn buffers<D: Backend>(&self, device: &D, runs: &Runs, mode: Mode) -> Result<RunBuffers<D>> {
        let (n, is_learning) = (runs.targets.len(), mode == Mode::Train);
        let softmax = if is_learning {
            self.softmax.buffers(device, self.sampler.as_ref(), n)?
        } else {
            SoftmaxBuffers::Full(self.softmax.scores(device, n.min(ROWS))?)
        };
        Ok(RunBuffers {
            hops: self.hops.buffers(device, runs, is_learning)?,
            targets: device.upload(&runs.targets)?,
            dropout_key: device.zeros(2)?,
            dropout: if is_learning { self.config.dropout } else { 0.0 },
            gradient: device.zeros(if is_learning { n * self.config.dim } else { 0 })?,
            losses: device.zeros(n)?,
            softmax,
        })
    }

    fn fits<D: Backend>(&self, buffers: &RunBuffers<D>, runs: &Runs) -> bool {
        buffers.hops.fits(runs)
    }

    fn upload<D: Backend>(
        &self,
        device: &D,
        runs: &Runs,
        step: StepContext,
        buffers: &mut RunBuffers<D>,
    ) -> Result<()> {
        buffers.hops.upload(device, runs)?;
        device.write(buffers.dropout_key.all_mut(), &step.dropout_key)?;
        let (sampler, number) = (self.sampler.as_ref(), step.number);
        let targets = buffers.softmax.begin(device, sampler, &runs.targets, number)?;
        Ok(device.write(buffers.targets.all_mut(), &targets)?)
    }

    fn forward<D: Backend>(&self, weights: &Weights<D>, buffers: &mut RunBuffers<D>) {
        let RunBuffers { hops, dropout_key, dropout, .. } = buffers;
        let (device, dropout) = (&weights.device, (*dropout, &*dropout_key));
        self.hops.embed(weights, hops);
        drop_out(device, &mut hops.looked_at.value, dropout, 1);
        drop_out(device, &mut hops.read.value, dropout, 2);
        self.hops.forward(weights, hops);
        drop_out(device, &mut hops.outputs, dropout, 0);
    }

    fn backward<D: Backend>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        buffers: &mut RunBuffers<D>,
    ) {
        let RunBuffers { hops, targets, dropout_key, dropout, .. } = buffers;
        let RunBuffers { gradient, losses, softmax, .. } = buffers;
        let (device, dropout) = (&weights.device, (*dropout, &*dropout_key));
        // Sukhbaatar et al. sum the loss over a batch.
        let targets = (Targets { columns: targets.all(), scale: 1.0 }, losses.all_mut());
        let inputs = (hops.outputs.all(), gradient.all_mut());
        self.softmax.learn(weights, gradients, softmax, inputs, targets);
        drop_out(device, gradient, dropout, 0);
        self.hops.backward(weights, gradients, gradient.all_mut(), hops);
        drop_out(device, &mut hops.looked_at.gradient, dropout, 1);
        drop_out(device, &mut hops.read.gradient, dropout, 2);
        self.hops.embed_backward(device, gradients, hops);
    }

    fn evaluate<D: Backend>(&self, weights: &Weights<D>, buffers: &mut RunBuffers<D>) {
        let RunBuffers { hops, targets, losses, softmax, .. } = buffers;
        let SoftmaxBuffers::Full(scores) = softmax else { unreachable!("no samples are learnt") };
        let words = (targets.all(), losses.all_mut());
        self.softmax.log_probs(weights, scores, hops.outputs.all(), words);
    }

    fn losses<'a, D: Backend>(&self, buffers: &'a RunBuffers<D>) -> Slice<'a, Reals<D>> {
        buffers.losses.all()
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::{Cpu, NO_TARGET};

    use super::*;
    use crate::gradients::worst_gradient_error;
    use crate::{Method, Trainer, Training, TrainingConfig};

    fn config() -> LexicalConfig {
        LexicalConfig {
            words: 9,
            dim: 4,
            memories: 3,
            hops: 3,
            initial: Initial::Normal(0.7),
            dropout: 0.0,
        }
    }

    const TEXT: [u32; 14] = [3, 1, 4, 1, 5, 8, 2, 6, 5, 3, 5, 8, 7, 0];

    /// Words of the text by their places, in runs of a length; the last one is shorter, another has fewer
    /// words before it than it could remember.
    fn runs(length: usize) -> Runs {
        let before = |place: usize| &TEXT[..place];
        let targets = |place: usize, n: usize| &TEXT[place..place + n];
        let (shorter, two) = (length.div_ceil(2), 2.min(length));
        Runs::new(
            3,
            length,
            &[
                (before(4), targets(4, length)),
                (before(2), targets(2, two)),
                (before(9), targets(9, shorter)),
            ],
        )
    }

    fn gradient_error(config: LexicalConfig, sampler: Option<Sampler>, runs: &Runs) -> f64 {
        let (device, network) = (Cpu::<f64>::default(), LexicalMemory::new(config, sampler));
        let mut weights = Weights::initial(&device, network.plan(), 2).unwrap();
        let step = StepContext { number: 0, dropout_key: [2, 0] };
        worst_gradient_error(&mut weights, |weights, gradients| {
            let mut buffers = network.buffers(&device, runs, Mode::Train).unwrap();
            network.upload(&device, runs, step, &mut buffers).unwrap();
            network.forward(weights, &mut buffers);
            network.backward(weights, gradients, &mut buffers);
            device.read(network.losses(&buffers)).unwrap().iter().sum()
        })
    }

    #[test]
    fn gradients_are_those_of_central_differences() {
        for length in [1, 2, 4] {
            let error = gradient_error(config(), None, &runs(length));
            assert!(error < 1e-6, "runs of {length}: {error}");
        }
    }

    #[test]
    fn so_are_they_with_dropout_and_a_softmax_over_a_sample() {
        let dropout = LexicalConfig { dropout: 0.3, ..config() };
        assert!(gradient_error(dropout, None, &runs(4)) < 1e-6);
        let sampler = Sampler::new(&[1; 30], 12, 5);
        let config = LexicalConfig { words: 30, ..config() };
        assert!(gradient_error(config, Some(sampler), &runs(4)) < 1e-6);
    }

    /// The state of one word by the formulas, memory by memory.
    fn by_definition(weights: &Weights<Cpu<f64>>, before: &[u32]) -> Vec<f64> {
        let LexicalConfig { dim, memories, hops, .. } = config();
        let tables: Vec<Vec<f64>> = (weights.plan().parameters())
            .map(|parameter| weights.device.read(parameter.of(&weights.values)).unwrap())
            .collect();
        let [a, b, time_a, time_b, h, w] = tables.as_slice() else { panic!("six tables") };
        let row = |table: &[f64], row: usize| table[row * dim..][..dim].to_vec();
        let add = |x: Vec<f64>, y: Vec<f64>| -> Vec<f64> {
            x.iter().zip(y).map(|(x, y)| x + y).collect()
        };
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let n = before.len().min(memories);
        let before = &before[before.len() - n..];
        let memory = |table: &[f64], time: &[f64], i: usize| {
            add(row(table, before[i] as usize), row(time, memories - n + i))
        };
        let mut state = vec![0.1; dim];
        for _ in 0..hops {
            let weights: Vec<f64> =
                (0..n).map(|i| dot(&memory(a, time_a, i), &state).exp()).collect();
            let sum: f64 = weights.iter().sum();
            let mut next: Vec<f64> =
                (0..dim).map(|j| (0..dim).map(|i| state[i] * h[i * dim + j]).sum()).collect();
            for (i, weight) in weights.iter().enumerate() {
                let read = memory(b, time_b, i).iter().map(|m| m * weight / sum).collect();
                next = add(next, read);
            }
            next[dim / 2..].iter_mut().for_each(|x| *x = x.max(0.0));
            state = next;
        }
        let scores: Vec<f64> = w.chunks(dim).map(|row| dot(row, &state)).collect();
        let sum: f64 = scores.iter().map(|score| score.exp()).sum();
        scores.iter().map(|score| score - sum.ln()).collect()
    }

    #[test]
    fn each_word_of_a_run_is_as_probable_as_by_itself() {
        let network = LexicalMemory::new(config(), None);
        let weights = Weights::initial(&Cpu::<f64>::default(), network.plan(), 2).unwrap();
        for length in [1, 4] {
            let found = network.log_probs(&weights, &runs(length)).unwrap();
            let targets = runs(length).targets;
            for (run, place) in [4, 2, 9].into_iter().enumerate() {
                for step in 0..length {
                    let (found, target) =
                        (found[run * length + step], targets[run * length + step]);
                    let expected = match target {
                        NO_TARGET => 0.0,
                        word => by_definition(&weights, &TEXT[..place + step])[word as usize],
                    };
                    assert!((found - expected).abs() < 1e-12, "run {run}, step {step}");
                }
            }
        }
    }

    /// The bits of what a network knows after steps on some threads; it is stopped and restored before a
    /// step.
    fn bits(n_threads: usize, stops_before: usize) -> Vec<u32> {
        let config = LexicalConfig { words: 3000, dim: 40, dropout: 0.2, ..config() };
        let network = LexicalMemory::new(config, None);
        let adam = TrainingConfig { method: Method::adam(0.01), clip: 50.0, seed: 2 };
        let new = || Training::new(&Cpu::<f32>::default(), network.clone(), adam).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            let mut network = new();
            for step in 0..4 {
                if step == stops_before {
                    let before = std::mem::replace(&mut network, new());
                    network.restore(&before.checkpoint().unwrap()).unwrap();
                }
                network.step(&runs(1 + step % 3), 0.01).unwrap();
            }
            let tables = network.checkpoint().unwrap();
            tables
                .into_iter()
                .flat_map(|(_, table)| table.values().to_vec())
                .map(f32::to_bits)
                .collect()
        })
    }

    #[test]
    fn neither_threads_nor_a_stop_change_what_is_learnt() {
        let expected = bits(1, 9);
        assert_eq!(expected, bits(3, 9));
        assert_eq!(expected, bits(2, 2));
    }
}
