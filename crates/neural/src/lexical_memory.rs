//! The language model with a lexical memory (§3; Sukhbaatar et al. 2015, §5): the words before it → the next word.
//!
//! ```text
//! runs of words ──embeddings──▶ ──dropout──▶ hops ──▶ a state for each target ──dropout──▶ softmax(W u)
//! ```

use numerics::Real;
use numerics::device::{Array, Device, Targets};

use crate::Result;
use crate::hops::{Hopping, Hops};
use crate::network::{Network, Tables, sum};
use crate::optimiser::{Method, Optimiser};
use crate::output::Output;
use crate::parameters::{Initial, Parameters, Plan};
use crate::runs::Runs;
use crate::sampling::Sampler;
use crate::softmax::{ROWS, Scores, Softmax};

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
    /// How parameters begin (Sukhbaatar et al.: normal, with a deviation of 0.05).
    pub initial: Initial,
    /// How they follow their gradient (paper: SGD).
    pub method: Method,
    /// The greatest norm of a gradient (Sukhbaatar et al.: 50).
    pub clip: f64,
    /// The probability that a number of an embedding, or of a state before the softmax, is set to 0 (paper: 0).
    pub dropout: f64,
    /// Decides the first parameters, dropout and samples.
    pub seed: u64,
}

/// The network.
#[derive(Debug)]
pub struct LexicalMemory<D: Device> {
    hops: Hops,
    softmax: Softmax,
    parameters: Parameters<D>,
    config: LexicalConfig,
    sampler: Option<Sampler>,
    optimiser: Optimiser<D>,
    learning: Option<Reading<D>>,
    judging: Option<Judging<D>>,
}

/// Everything that learning from runs needs on the device.
#[derive(Debug)]
struct Reading<D: Device> {
    hopping: Hopping<D>,
    targets: D::Words,
    /// Seed and step, for dropout.
    draw: D::Words,
    /// Of the states, targets × dim.
    gradient: D::Array,
    losses: D::Array,
    output: Output<D>,
    graph: D::Graph,
}

/// Everything that the probabilities of targets need on the device.
#[derive(Debug)]
struct Judging<D: Device> {
    hopping: Hopping<D>,
    targets: D::Words,
    log_probs: D::Array,
    scores: Scores<D::Array>,
    graph: D::Graph,
}

impl<D: Device> LexicalMemory<D> {
    /// A network that has learnt nothing; with a sampler it learns by a softmax over samples.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(device: &D, config: LexicalConfig, sampler: Option<Sampler>) -> Result<Self> {
        let LexicalConfig { words, dim, memories, hops, initial, .. } = config;
        let mut plan = Plan::default();
        let hops = Hops::plan(&mut plan, [words, dim], [memories, hops], initial);
        let softmax = Softmax::without_bias(&mut plan, [words, dim], initial);
        let parameters = plan.build(device, config.seed)?;
        let optimiser = Optimiser::new(config.method, config.clip, &parameters)?;
        let (learning, judging) = (None, None);
        Ok(Self { hops, softmax, parameters, config, sampler, optimiser, learning, judging })
    }

    /// The settings.
    pub fn config(&self) -> &LexicalConfig {
        &self.config
    }

    /// ln p of each target given its memories, run after run; 0 for what is no target.
    ///
    /// # Errors
    /// If the device fails.
    pub fn log_probs(&self, runs: &Runs) -> Result<Vec<f64>> {
        self.judge(&mut self.judging(runs)?, runs)
    }

    fn judge(&self, judging: &mut Judging<D>, runs: &Runs) -> Result<Vec<f64>> {
        let Self { hops, softmax, parameters, .. } = self;
        let Judging { hopping, targets, log_probs, scores, graph } = judging;
        let device = &parameters.device;
        hopping.begin(device, runs)?;
        device.write_words(targets.all_mut(), &runs.targets)?;
        device.capture_or_replay(graph, || {
            hops.embed(parameters, hopping);
            hops.forward(parameters, hopping);
            let words = (targets.all(), log_probs.all_mut());
            softmax.log_probs(parameters, scores, hopping.outputs.all(), words);
        });
        Ok(device.read(log_probs.all())?.into_iter().map(Real::to_f64).collect())
    }

    fn judging(&self, runs: &Runs) -> Result<Judging<D>> {
        let (device, n) = (&self.parameters.device, runs.targets.len());
        Ok(Judging {
            hopping: self.hops.hopping(device, runs, false)?,
            targets: device.words(&runs.targets)?,
            log_probs: device.zeros(n)?,
            scores: Scores::new(device, n.min(ROWS), self.config.words)?,
            graph: D::Graph::default(),
        })
    }

    fn reading(&self, runs: &Runs) -> Result<Reading<D>> {
        let (device, n) = (&self.parameters.device, runs.targets.len());
        Ok(Reading {
            hopping: self.hops.hopping(device, runs, true)?,
            targets: device.words(&runs.targets)?,
            draw: device.words(&[0; 2])?,
            gradient: device.zeros(n * self.config.dim)?,
            losses: device.zeros(n)?,
            output: Output::new(device, &self.softmax, self.sampler.as_ref(), n)?,
            graph: D::Graph::default(),
        })
    }

    /// Tells the device about runs.
    fn begin(&self, reading: &mut Reading<D>, runs: &Runs) -> Result<()> {
        let (device, step) = (&self.parameters.device, self.optimiser.steps());
        reading.hopping.begin(device, runs)?;
        device.write_words(reading.draw.all_mut(), &[self.config.seed as u32, step as u32])?;
        let targets = reading.output.begin(device, self.sampler.as_ref(), &runs.targets, step)?;
        Ok(device.write_words(reading.targets.all_mut(), &targets)?)
    }

    /// Losses and gradients, on the device.
    fn learn(&mut self, reading: &mut Reading<D>) {
        let Reading { hopping, targets, draw, gradient, losses, output, .. } = reading;
        let (device, probability) = (self.parameters.device.clone(), self.config.dropout);
        let dropout = |values: &mut D::Array, layer: u32| {
            if probability > 0.0 {
                device.dropout(values.all_mut(), probability, draw.all(), layer);
            }
        };
        self.hops.embed(&self.parameters, hopping);
        (1..).zip(&mut hopping.embedded).for_each(|(layer, embedded)| dropout(embedded, layer));
        self.hops.forward(&self.parameters, hopping);
        dropout(&mut hopping.outputs, 0);
        // Sukhbaatar et al. sum the loss over a batch.
        let targets = Targets { words: targets.all(), scale: 1.0 };
        let inputs = (hopping.outputs.all(), gradient.all_mut());
        output.learn(&self.softmax, &mut self.parameters, inputs, (targets, losses.all_mut()));
        dropout(gradient, 0);
        self.hops.backward(&mut self.parameters, gradient.all_mut(), hopping);
        (1..).zip(&mut hopping.embedded_gradients).for_each(|(layer, it)| dropout(it, layer));
        self.hops.embed_backward(&mut self.parameters, hopping);
    }
}

impl<D: Device> Network<D> for LexicalMemory<D> {
    type Batch = Runs;

    fn step(&mut self, runs: &Runs, rate: f64) -> Result<f64> {
        let reading = self.learning.take().filter(|reading| reading.hopping.fits(runs));
        let mut reading = match reading {
            Some(reading) => reading,
            None => self.reading(runs)?,
        };
        let device = self.parameters.device.clone();
        self.optimiser.begin(&device, rate)?;
        self.begin(&mut reading, runs)?;
        let mut graph = std::mem::take(&mut reading.graph);
        device.capture_or_replay(&mut graph, || {
            self.learn(&mut reading);
            self.optimiser.step(&mut self.parameters);
        });
        reading.graph = graph;
        let losses = device.read(reading.losses.all())?;
        self.learning = Some(reading);
        Ok(sum(&losses))
    }

    fn loss(&mut self, runs: &Runs) -> Result<f64> {
        let judging = self.judging.take().filter(|judging| judging.hopping.fits(runs));
        let mut judging = match judging {
            Some(judging) => judging,
            None => self.judging(runs)?,
        };
        let log_probs = self.judge(&mut judging, runs)?;
        self.judging = Some(judging);
        Ok(-log_probs.iter().sum::<f64>())
    }

    fn shapes(&self) -> Vec<(&'static str, usize, usize)> {
        self.parameters.shapes()
    }

    fn weights(&self) -> Result<Tables> {
        self.parameters.read()
    }

    fn progress(&self) -> Result<Tables> {
        self.optimiser.read(&self.parameters.device)
    }

    fn set_weights(&mut self, tables: &Tables) -> Result<()> {
        self.parameters.write(tables)
    }

    fn set_progress(&mut self, tables: &Tables) -> Result<()> {
        self.optimiser.write(&self.parameters.device, tables)
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::{Cpu, NO_TARGET};

    use super::*;
    use crate::gradients::worst_gradient_error;

    fn config() -> LexicalConfig {
        LexicalConfig {
            words: 9,
            dim: 4,
            memories: 3,
            hops: 3,
            initial: Initial::Normal(0.7),
            method: Method::Sgd,
            clip: 50.0,
            dropout: 0.0,
            seed: 2,
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
        let device = Cpu::<f64>::default();
        let mut network = LexicalMemory::new(&device, config, sampler).unwrap();
        worst_gradient_error(
            &mut network,
            |network| &mut network.parameters,
            |network| {
                let mut reading = network.reading(runs).unwrap();
                network.begin(&mut reading, runs).unwrap();
                network.learn(&mut reading);
                sum(&device.read(reading.losses.all()).unwrap())
            },
        )
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
    fn by_definition(network: &LexicalMemory<Cpu<f64>>, before: &[u32]) -> Vec<f64> {
        let LexicalConfig { dim, memories, hops, .. } = network.config;
        let Parameters { device, values, .. } = &network.parameters;
        let tables: Vec<Vec<f64>> = (network.parameters.list().iter())
            .map(|parameter| device.read(parameter.of(values)).unwrap())
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
        let network = LexicalMemory::new(&Cpu::<f64>::default(), config(), None).unwrap();
        for length in [1, 4] {
            let found = network.log_probs(&runs(length)).unwrap();
            let targets = runs(length).targets;
            for (run, place) in [4, 2, 9].into_iter().enumerate() {
                for step in 0..length {
                    let (found, target) =
                        (found[run * length + step], targets[run * length + step]);
                    let expected = match target {
                        NO_TARGET => 0.0,
                        word => by_definition(&network, &TEXT[..place + step])[word as usize],
                    };
                    assert!((found - expected).abs() < 1e-12, "run {run}, step {step}");
                }
            }
        }
    }

    /// The bits of what a network knows after steps on some threads; it is stopped and taken up again before
    /// a step.
    fn bits(n_threads: usize, stops_before: usize) -> Vec<u32> {
        let config = LexicalConfig {
            words: 3000,
            dim: 40,
            method: Method::adam(0.01),
            dropout: 0.2,
            ..config()
        };
        let new = || LexicalMemory::new(&Cpu::<f32>::default(), config.clone(), None).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            let mut network = new();
            for step in 0..4 {
                if step == stops_before {
                    let before = std::mem::replace(&mut network, new());
                    network.set_weights(&before.weights().unwrap()).unwrap();
                    network.set_progress(&before.progress().unwrap()).unwrap();
                }
                network.step(&runs(1 + step % 3), 0.01).unwrap();
            }
            let tables = network.weights().unwrap().into_iter().chain(network.progress().unwrap());
            tables.flat_map(|(_, table)| table.values().to_vec()).map(f32::to_bits).collect()
        })
    }

    #[test]
    fn neither_threads_nor_a_stop_change_what_is_learnt() {
        let expected = bits(1, 9);
        assert_eq!(expected, bits(3, 9));
        assert_eq!(expected, bits(2, 2));
    }
}
