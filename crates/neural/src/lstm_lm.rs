//! The LSTM language model (§4.4; Zaremba et al. 2014): words of running text → the next word of each.
//!
//! ```text
//! words ──embedding──▶ ──dropout──▶ LSTM (state carried from window to window) ──dropout──▶ softmax
//!                            sentences before ──convolutional attention──▶ +
//! ```
//!
//! With attention over the sentences before, it is the contextual LSTM. What the attention reads joins the state on
//! its way to the softmax alone, never the recurrence: text that is only read needs no context.

use numerics::Real;
use numerics::device::{Array, Device, Slice, Targets};

use crate::Result;
use crate::contexts::Contexts;
use crate::convolutional_attention::{Attention, ConvolutionalAttention, Looking, Order};
use crate::embedding::Embedding;
use crate::lstm::{LstmLayer, Pass, States};
use crate::network::{Network, Tables, sum};
use crate::optimiser::{Method, Optimiser};
use crate::output::Output;
use crate::parameters::{Initial, Parameters, Plan};
use crate::sampling::Sampler;
use crate::softmax::Softmax;

/// The settings of an LSTM language model.
#[derive(Clone, Debug, PartialEq)]
pub struct LstmConfig {
    /// Words in the vocabulary.
    pub words: usize,
    /// Numbers in a state and in an embedding (paper: 512).
    pub units: usize,
    /// How a contextual LSTM looks at its context; nothing for a plain one.
    pub attention: Option<Attention>,
    /// The output layer's table is the embeddings' (paper: not); a contextual LSTM's can only be if what it reads
    /// is added to the state.
    pub is_tied: bool,
    /// How parameters begin.
    pub initial: Initial,
    /// How they follow their gradient (paper: SGD).
    pub method: Method,
    /// The greatest norm of a gradient (paper: 5).
    pub clip: f64,
    /// The probability that a number of an embedding or of an output is set to 0 (paper: 0).
    pub dropout: f64,
    /// Decides the first parameters, dropout and samples.
    pub seed: u64,
}

/// Some words of several streams of running text, step after step: the words of all streams at the first
/// step, then those at the second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// How many streams there are.
    pub streams: usize,
    /// Steps × streams.
    pub words: Vec<u32>,
    /// The word after each, or [`numerics::device::NO_TARGET`].
    pub targets: Vec<u32>,
    /// Whether a text begins with a word: the state is 0 before it.
    pub is_start: Vec<bool>,
    /// For each stream what a contextual LSTM may look at, with bounds for each word.
    pub contexts: Option<Contexts>,
}

/// The network.
#[derive(Debug)]
pub struct LstmLm<D: Device> {
    pub(crate) embedding: Embedding,
    pub(crate) lstm: LstmLayer,
    pub(crate) attention: Option<ConvolutionalAttention>,
    pub(crate) softmax: Softmax,
    pub(crate) parameters: Parameters<D>,
    config: LstmConfig,
    sampler: Option<Sampler>,
    optimiser: Optimiser<D>,
    learning: Option<Reading<D>>,
    judging: Option<Reading<D>>,
}

/// Everything a window needs on the device, and the states between windows.
#[derive(Debug)]
struct Reading<D: Device> {
    words: D::Words,
    targets: D::Words,
    keep: D::Array,
    /// Seed and step, for dropout.
    draw: D::Words,
    /// Embeddings after dropout.
    inputs: D::Array,
    /// What goes to the softmax, after dropout.
    outputs: D::Array,
    /// Of the states, then of the embeddings.
    gradient: D::Array,
    losses: D::Array,
    pass: Pass<D::Array>,
    states: States<D::Array>,
    looking: Option<Looking<D>>,
    output: Output<D>,
    graph: D::Graph,
}

/// What goes to the softmax but for dropout: the states, with what the context adds to them.
fn joined<'a, D: Device>(
    pass: &'a Pass<D::Array>,
    looking: Option<&'a Looking<D>>,
) -> Slice<'a, D::Array> {
    looking.map_or(pass.trace.outputs.all(), |looking| looking.joined[0].all())
}

impl<D: Device> LstmLm<D> {
    /// A network that has learnt nothing; with a sampler it learns by a softmax over samples.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(device: &D, config: LstmConfig, sampler: Option<Sampler>) -> Result<Self> {
        let LstmConfig { words, units, initial, .. } = config;
        let mut plan = Plan::default();
        let embedding = Embedding::plan(&mut plan, "embedding", [words, units], initial);
        let lstm = LstmLayer::plan(&mut plan, units, units, initial);
        let attention = config.attention.map(|attention| {
            ConvolutionalAttention::plan(&mut plan, [words, units], attention, initial)
        });
        let dim = attention.as_ref().map_or(units, ConvolutionalAttention::joined_dim);
        let tied = config.is_tied.then_some(&embedding.table);
        let softmax = Softmax::plan(&mut plan, [words, dim], initial, tied);
        let parameters = plan.build(device, config.seed)?;
        let optimiser = Optimiser::new(config.method, config.clip, &parameters)?;
        Ok(Self {
            embedding,
            lstm,
            attention,
            softmax,
            parameters,
            config,
            sampler,
            optimiser,
            learning: None,
            judging: None,
        })
    }

    /// The settings.
    pub fn config(&self) -> &LstmConfig {
        &self.config
    }

    /// The layer that looks at contexts, and those of a window.
    ///
    /// # Panics
    /// If there is such a layer and the window has none.
    fn attending<'a>(
        &'a self,
        window: &'a Window,
    ) -> Option<(&'a ConvolutionalAttention, &'a Contexts)> {
        let attention = self.attention.as_ref()?;
        Some((attention, window.contexts.as_ref().expect("a contextual network gets contexts")))
    }

    /// Room for windows of a shape; states that are there already stay.
    fn reading(
        &self,
        window: &Window,
        before: Option<Reading<D>>,
        sampler: Option<&Sampler>,
    ) -> Result<Reading<D>> {
        let (n, streams, units) = (window.words.len(), window.streams, self.lstm.units());
        let attending = self.attending(window);
        let is_same_shape = |reading: &Reading<D>| {
            let looks = reading.looking.as_ref().zip(attending);
            reading.words.len() == n
                && reading.states.hidden.len() == streams * units
                && looks.is_none_or(|(looking, (_, contexts))| looking.fits(contexts, ORDER))
        };
        let states = match before {
            Some(reading) if is_same_shape(&reading) => return Ok(reading),
            before => before.map(|reading| reading.states),
        };
        let device = &self.parameters.device;
        let states = match states.filter(|states| states.hidden.len() == streams * units) {
            Some(states) => states,
            None => States::fresh(device, streams, units)?,
        };
        let looking = attending
            .map(|(attention, contexts)| attention.looking(device, contexts, ORDER))
            .transpose()?;
        Ok(Reading {
            words: device.words(&vec![0; n])?,
            targets: device.words(&vec![0; n])?,
            keep: device.zeros(n)?,
            draw: device.words(&[0; 2])?,
            inputs: device.zeros(n * units)?,
            outputs: device.zeros(n * self.softmax.table.columns())?,
            gradient: device.zeros(n * units)?,
            losses: device.zeros(n)?,
            pass: self.lstm.pass(device, n / streams.max(1), streams)?,
            states,
            looking,
            output: Output::new(device, &self.softmax, sampler, n)?,
            graph: D::Graph::default(),
        })
    }

    /// Tells the device about a window.
    fn begin(&self, reading: &mut Reading<D>, window: &Window) -> Result<()> {
        let device = &self.parameters.device;
        let keep = |&is_start: &bool| if is_start { D::Real::ZERO } else { D::Real::ONE };
        let keep: Vec<D::Real> = window.is_start.iter().map(keep).collect();
        device.write_words(reading.words.all_mut(), &window.words)?;
        device.write(reading.keep.all_mut(), &keep)?;
        let step = self.optimiser.steps();
        device.write_words(reading.draw.all_mut(), &[self.config.seed as u32, step as u32])?;
        if let (Some(looking), Some((_, contexts))) = (&mut reading.looking, self.attending(window))
        {
            looking.begin(device, contexts)?;
        }
        let targets = reading.output.begin(device, self.sampler.as_ref(), &window.targets, step)?;
        Ok(device.write_words(reading.targets.all_mut(), &targets)?)
    }

    /// Words → what goes to the softmax; the states move on.
    fn forward(&self, reading: &mut Reading<D>, dropout: f64) {
        let Reading { words, keep, draw, inputs, pass, states, looking, .. } = reading;
        self.embedding.forward(&self.parameters, words.all(), inputs.all_mut());
        if dropout > 0.0 {
            self.parameters.device.dropout(inputs.all_mut(), dropout, draw.all(), 0);
        }
        self.lstm.begin(&self.parameters.device, pass, states);
        self.lstm.forward(&self.parameters, (inputs.all(), keep.all()), pass);
        self.lstm.end(&self.parameters.device, pass, states);
        if let (Some(attention), Some(looking)) = (&self.attention, looking) {
            attention.forward(&self.parameters, pass.trace.outputs.all(), looking);
        }
    }

    /// The whole of a step, on the device.
    fn learn(&mut self, reading: &mut Reading<D>, streams: usize) {
        let dropout = self.config.dropout;
        self.forward(reading, dropout);
        let Reading { words, targets, keep, draw, inputs, outputs, gradient, losses, .. } = reading;
        let (pass, looking, output) =
            (&mut reading.pass, &mut reading.looking, &mut reading.output);
        let device = self.parameters.device.clone();
        let parameters = &mut self.parameters;
        let (mut out, above) = match looking {
            None => (pass.trace.outputs.all(), &mut *gradient),
            Some(Looking { joined: [joined, above], .. }) => (joined.all(), above),
        };
        if dropout > 0.0 {
            device.copy(outputs.all_mut(), out);
            device.dropout(outputs.all_mut(), dropout, draw.all(), 1);
            out = outputs.all();
        }
        // Chosen: the loss is summed over the steps and averaged over the streams.
        let targets = Targets { words: targets.all(), scale: 1.0 / streams as f64 };
        let inputs_of_softmax = (out, above.all_mut());
        output.learn(&self.softmax, parameters, inputs_of_softmax, (targets, losses.all_mut()));
        if dropout > 0.0 {
            device.dropout(above.all_mut(), dropout, draw.all(), 1);
        }
        if let (Some(attention), Some(looking)) = (&self.attention, looking) {
            let states = pass.trace.outputs.all();
            attention.backward(parameters, states, gradient.all_mut(), looking);
        }
        let read = (inputs.all(), keep.all());
        self.lstm.backward(parameters, read, gradient.all(), pass);
        self.lstm.backward_inputs(parameters, pass, gradient.all_mut());
        if dropout > 0.0 {
            device.dropout(gradient.all_mut(), dropout, draw.all(), 0);
        }
        if !self.config.is_tied {
            device.fill(self.embedding.table.of_mut(&mut parameters.gradients), 0.0);
        }
        self.embedding.backward(parameters, words.all(), gradient.all());
    }
}

impl<D: Device> Network<D> for LstmLm<D> {
    type Batch = Window;

    fn step(&mut self, window: &Window, rate: f64) -> Result<f64> {
        let before = self.learning.take();
        let mut reading = self.reading(window, before, self.sampler.as_ref())?;
        let device = self.parameters.device.clone();
        self.optimiser.begin(&device, rate)?;
        self.begin(&mut reading, window)?;
        let mut graph = std::mem::take(&mut reading.graph);
        device.capture_or_replay(&mut graph, || {
            self.learn(&mut reading, window.streams);
            self.optimiser.step(&mut self.parameters);
        });
        reading.graph = graph;
        let losses = device.read(reading.losses.all())?;
        self.learning = Some(reading);
        Ok(sum(&losses))
    }

    fn loss(&mut self, window: &Window) -> Result<f64> {
        let before = self.judging.take();
        let mut reading = self.reading(window, before, None)?;
        self.begin(&mut reading, window)?;
        let device = self.parameters.device.clone();
        let mut graph = std::mem::take(&mut reading.graph);
        device.capture_or_replay(&mut graph, || {
            self.forward(&mut reading, 0.0);
            let Reading { targets, losses, pass, looking, output, .. } = &mut reading;
            let Output::Full(room) = output else { unreachable!("no sampler was given") };
            let outputs = joined(pass, looking.as_ref());
            let words = (targets.all(), losses.all_mut());
            self.softmax.log_probs(&self.parameters, room, outputs, words);
        });
        reading.graph = graph;
        let log_probs = device.read(reading.losses.all())?;
        self.judging = Some(reading);
        Ok(-sum(&log_probs))
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
        // All texts begin anew with an epoch.
        self.learning = None;
        self.optimiser.write(&self.parameters.device, tables)
    }
}

/// Streams are read side by side.
const ORDER: Order = Order::StepByStep;

#[cfg(test)]
mod tests {
    use numerics::device::{Cpu, NO_TARGET};

    use super::*;
    use crate::Joining;
    use crate::gradients::worst_gradient_error;

    fn config() -> LstmConfig {
        LstmConfig {
            words: 11,
            units: 5,
            attention: None,
            is_tied: false,
            initial: Initial::Uniform(0.5),
            method: Method::Sgd,
            clip: 5.0,
            dropout: 0.0,
            seed: 3,
        }
    }

    /// Four steps of three streams, in one of which a text begins in the middle, and a target is missing; each
    /// word may look at some of the five words of its stream's context.
    fn window() -> Window {
        let bounds = (0..12).flat_map(|place| [place % 3, 3 + place % 3]).collect();
        let contexts = Contexts { n: 3, words: (0..15).map(|n| n * 4 % 11).collect(), bounds };
        Window {
            streams: 3,
            words: vec![1, 4, 10, 2, 4, 0, 3, 9, 1, 4, 4, 7],
            targets: vec![2, 4, 0, 3, 9, NO_TARGET, 4, 4, 7, 5, 6, 8],
            is_start: (0..12).map(|place| place == 7).collect(),
            contexts: Some(contexts),
        }
    }

    fn gradient_error(config: LstmConfig, sampler: Option<Sampler>) -> f64 {
        let (device, window) = (Cpu::<f64>::default(), window());
        let mut network = LstmLm::new(&device, config, sampler).unwrap();
        let states: Vec<f64> = (0..15).map(|n| f64::from(n % 7) / 4.0 - 0.7).collect();
        worst_gradient_error(
            &mut network,
            |network| &mut network.parameters,
            |network| {
                let mut reading = network.reading(&window, None, network.sampler.as_ref()).unwrap();
                device.write(reading.states.hidden.all_mut(), &states).unwrap();
                device.write(reading.states.cell.all_mut(), &states).unwrap();
                network.begin(&mut reading, &window).unwrap();
                network.learn(&mut reading, window.streams);
                sum(&device.read(reading.losses.all()).unwrap()) / window.streams as f64
            },
        )
    }

    #[test]
    fn gradients_are_those_of_central_differences() {
        assert!(gradient_error(config(), None) < 1e-6);
    }

    /// A text in one window, or in two of which the second goes on where the first ended.
    #[test]
    fn what_was_read_is_remembered_in_the_next_window() {
        let whole = Window { contexts: None, ..window() };
        let half = |rows: std::ops::Range<usize>| Window {
            streams: whole.streams,
            words: whole.words[rows.clone()].to_vec(),
            targets: whole.targets[rows.clone()].to_vec(),
            is_start: whole.is_start[rows].to_vec(),
            contexts: None,
        };
        let network = || LstmLm::new(&Cpu::<f64>::default(), config(), None).unwrap();
        let (mut judges, mut learns) = (network(), network());
        let expected = network().loss(&whole).unwrap();
        let windows = [half(0..6), half(6..12)];
        let judged: f64 = windows.iter().map(|window| judges.loss(window).unwrap()).sum();
        let learnt: f64 = windows.iter().map(|window| learns.step(window, 0.0).unwrap()).sum();
        for found in [judged, learnt] {
            assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}");
        }
    }

    #[test]
    fn so_are_they_with_tied_embeddings_and_dropout() {
        assert!(gradient_error(LstmConfig { is_tied: true, ..config() }, None) < 1e-6);
        assert!(gradient_error(LstmConfig { dropout: 0.3, ..config() }, None) < 1e-6);
    }

    #[test]
    fn so_are_they_with_attention_over_contexts() {
        let attention = |joining| Some(Attention { window: 3, joining });
        let sum = LstmConfig { attention: attention(Joining::Sum), ..config() };
        assert!(gradient_error(sum.clone(), None) < 1e-6);
        let tied = LstmConfig { is_tied: true, dropout: 0.3, ..sum };
        assert!(gradient_error(tied, None) < 1e-6);
        let attention = attention(Joining::Concatenation);
        let beside = LstmConfig { attention, dropout: 0.3, ..config() };
        assert!(gradient_error(beside, None) < 1e-6);
    }

    #[test]
    fn so_are_they_with_a_softmax_over_a_sample() {
        let config = LstmConfig { words: 60, ..config() };
        let counts: Vec<u64> = (1..=60).collect();
        let sampler = Sampler::new(&counts, 20, 5);
        assert!(gradient_error(config.clone(), Some(sampler.clone())) < 1e-6);
        assert!(gradient_error(LstmConfig { is_tied: true, ..config }, Some(sampler)) < 1e-6);
    }

    /// A text in which each word says which one follows, in windows of five steps of four streams.
    fn windows(n: usize) -> Vec<Window> {
        let word = |place: usize, stream: usize| ((place * 3 + stream * 5) % 11) as u32;
        let window = |first: usize| {
            let places = (first * 5..first * 5 + 5).flat_map(|t| (0..4).map(move |b| (t, b)));
            Window {
                streams: 4,
                words: places.clone().map(|(t, b)| word(t, b)).collect(),
                targets: places.clone().map(|(t, b)| word(t + 1, b)).collect(),
                is_start: places.map(|(t, _)| t == 0).collect(),
                contexts: None,
            }
        };
        (0..n).map(window).collect()
    }

    fn trained(config: LstmConfig, sampler: Option<Sampler>, rate: f64) -> f64 {
        let mut network = LstmLm::new(&Cpu::<f32>::default(), config, sampler).unwrap();
        let windows = windows(60);
        for window in &windows {
            network.step(window, rate).unwrap();
        }
        network.loss(&windows[0]).unwrap() / 20.0
    }

    #[test]
    fn what_follows_by_rule_is_learnt_by_each_method() {
        let config = LstmConfig { units: 16, ..config() };
        assert!(trained(config.clone(), None, 0.5) < 0.1);
        assert!(trained(LstmConfig { is_tied: true, ..config.clone() }, None, 0.5) < 0.1);
        let adam = LstmConfig { method: Method::adam(0.01), ..config.clone() };
        assert!(trained(adam, None, 0.02) < 0.1);
        let sampler = Sampler::new(&[1; 60], 20, 1);
        assert!(trained(LstmConfig { words: 60, ..config }, Some(sampler), 0.5) < 0.2);
    }

    fn bytes(tables: Tables) -> Vec<(String, Vec<u32>)> {
        let bits =
            |table: &numerics::Table<f32>| table.values().iter().map(|v| v.to_bits()).collect();
        tables.iter().map(|(name, table)| (name.clone(), bits(table))).collect()
    }

    #[test]
    fn training_goes_on_after_a_stop_as_if_there_had_been_none() {
        let config = LstmConfig { method: Method::adam(0.0), dropout: 0.2, ..config() };
        let new = || LstmLm::new(&Cpu::<f32>::default(), config.clone(), None).unwrap();
        let (mut whole, mut before, mut after) = (new(), new(), new());
        let epoch = windows(3);
        let windows = [&epoch[..], &epoch].concat();
        for window in &windows {
            whole.step(window, 0.01).unwrap();
            // What is judged in between changes nothing.
            whole.loss(&windows[0]).unwrap();
        }
        for window in &windows[..3] {
            before.step(window, 0.01).unwrap();
        }
        after.set_weights(&before.weights().unwrap()).unwrap();
        after.set_progress(&before.progress().unwrap()).unwrap();
        for window in &windows[3..] {
            after.step(window, 0.01).unwrap();
        }
        assert_eq!(bytes(whole.weights().unwrap()), bytes(after.weights().unwrap()));
        assert_eq!(bytes(whole.progress().unwrap()), bytes(after.progress().unwrap()));
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bytes() {
        let weights = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| {
                let config = LstmConfig { words: 3000, units: 40, ..config() };
                let mut network = LstmLm::new(&Cpu::<f32>::default(), config, None).unwrap();
                for window in windows(3) {
                    network.step(&window, 0.5).unwrap();
                }
                bytes(network.weights().unwrap())
            })
        };
        assert_eq!(weights(1), weights(3));
    }

    #[test]
    fn a_lost_device_is_an_error_of_the_step() {
        let mut network =
            LstmLm::new(&numerics::testing::cpu_lost_after::<f32>(50), config(), None).unwrap();
        let error = windows(20).iter().find_map(|window| network.step(window, 0.5).err()).unwrap();
        assert_eq!(error.to_string(), "CPU: lost: a fault on purpose");
        assert!(error.hint().unwrap().contains("checkpoint"));
    }
}
