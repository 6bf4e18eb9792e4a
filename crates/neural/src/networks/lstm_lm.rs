//! The LSTM language model (§4.4; Zaremba et al. 2014): words of running text → the next word of each.
//!
//! ```text
//! words ──embedding──▶ ──dropout──▶ LSTM (state carried from window to window) ──dropout──▶ softmax
//!                            sentences before ──convolutional attention──▶ +
//! ```
//!
//! With attention over the sentences before, it is the contextual LSTM. What the attention reads joins the
//! state on its way to the softmax alone, never the recurrence: text that is only read needs no context.

use numerics::Real;
use numerics::device::{Array, Backend, Device, Indices, Reals, Slice, Targets};

use crate::Result;
use crate::layers::{
    Attention, AttentionBuffers, ConvolutionalAttention, Embedding, LstmBuffers, LstmLayer, Order,
    Sampler, Softmax, SoftmaxBuffers, States,
};
use crate::network::{Mode, Network, StepContext};
use crate::text::Contexts;
use crate::weights::{Initial, Plan, Weights};

/// The settings of an LSTM language model.
#[derive(Clone, Debug, PartialEq)]
pub struct LstmConfig {
    /// Words in the vocabulary.
    pub words: usize,
    /// Numbers in a state and in an embedding (paper: 512).
    pub units: usize,
    /// How a contextual LSTM attends to its context; nothing for a plain one.
    pub attention: Option<Attention>,
    /// Whether the output layer's table is that of the embeddings (paper: no); for a contextual LSTM only
    /// possible if what it reads is added to the state.
    pub is_tied: bool,
    /// The distribution of the initial parameters.
    pub initial: Initial,
    /// The probability that a number of an embedding or of an output is set to 0 (paper: 0).
    pub dropout: f64,
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

/// An LSTM language model: its layers and where their parameters are.
#[derive(Clone, Debug)]
pub struct LstmLm {
    plan: Plan,
    pub(super) embedding: Embedding,
    pub(super) lstm: LstmLayer,
    pub(super) attention: Option<ConvolutionalAttention>,
    pub(super) softmax: Softmax,
    config: LstmConfig,
    sampler: Option<Sampler>,
}

/// What a window needs on the device, and the states between windows.
#[derive(Debug)]
pub struct WindowBuffers<D: Device> {
    words: Indices<D>,
    targets: Indices<D>,
    keep: Reals<D>,
    dropout_key: Indices<D>,
    /// The probability of dropout: 0 where nothing is learnt.
    dropout: f64,
    /// Embeddings after dropout.
    inputs: Reals<D>,
    /// What goes to the softmax, after dropout.
    outputs: Reals<D>,
    /// Of the states, then of the embeddings.
    gradient: Reals<D>,
    losses: Reals<D>,
    lstm: LstmBuffers<Reals<D>>,
    states: States<Reals<D>>,
    attention: Option<AttentionBuffers<D>>,
    softmax: SoftmaxBuffers<D>,
}

/// The order of the words of several streams: they are read in parallel.
const ORDER: Order = Order::StepByStep;

impl LstmLm {
    /// Plans a network; with a sampler it learns by a softmax over samples.
    pub fn new(config: LstmConfig, sampler: Option<Sampler>) -> Self {
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
        Self { plan, embedding, lstm, attention, softmax, config, sampler }
    }

    /// The settings that it was planned with.
    pub fn config(&self) -> &LstmConfig {
        &self.config
    }

    /// The layer that attends to contexts, and those of a window.
    ///
    /// # Panics
    /// If there is such a layer and the window has no contexts.
    fn attending<'a>(
        &'a self,
        window: &'a Window,
    ) -> Option<(&'a ConvolutionalAttention, &'a Contexts)> {
        let attention = self.attention.as_ref()?;
        Some((attention, window.contexts.as_ref().expect("a contextual network gets contexts")))
    }
}

impl Network for LstmLm {
    type Batch = Window;
    type Buffers<D: Backend> = WindowBuffers<D>;

    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn buffers<D: Backend>(
        &self,
        device: &D,
        window: &Window,
        mode: Mode,
    ) -> Result<WindowBuffers<D>> {
        let (n, streams, units) = (window.words.len(), window.streams, self.lstm.units());
        let is_learning = mode == Mode::Train;
        let attention = self
            .attending(window)
            .map(|(layer, contexts)| layer.buffers(device, contexts, ORDER, is_learning))
            .transpose()?;
        let sampler = self.sampler.as_ref().filter(|_| is_learning);
        let when_learning = |len: usize| if is_learning { len } else { 0 };
        Ok(WindowBuffers {
            words: device.zeros(n)?,
            targets: device.zeros(n)?,
            keep: device.zeros(n)?,
            dropout_key: device.zeros(2)?,
            dropout: if is_learning { self.config.dropout } else { 0.0 },
            inputs: device.zeros(n * units)?,
            outputs: device.zeros(when_learning(n * self.softmax.table.columns()))?,
            gradient: device.zeros(when_learning(n * units))?,
            losses: device.zeros(n)?,
            lstm: self.lstm.buffers(device, n / streams.max(1), streams)?,
            states: self.lstm.states(device, streams)?,
            attention,
            softmax: self.softmax.buffers(device, sampler, n)?,
        })
    }

    fn states<D: Backend>(buffers: WindowBuffers<D>) -> Option<States<Reals<D>>> {
        Some(buffers.states)
    }

    fn resume<D: Backend>(buffers: &mut WindowBuffers<D>, states: States<Reals<D>>) {
        if states.hidden.len() == buffers.states.hidden.len() {
            buffers.states = states;
        }
    }

    fn fits<D: Backend>(&self, buffers: &WindowBuffers<D>, window: &Window) -> bool {
        let contexts = buffers.attention.as_ref().zip(self.attending(window));
        buffers.words.len() == window.words.len()
            && buffers.states.hidden.len() == window.streams * self.lstm.units()
            && contexts.is_none_or(|(attention, (_, contexts))| attention.fits(contexts, ORDER))
    }

    fn upload<D: Backend>(
        &self,
        device: &D,
        window: &Window,
        step: StepContext,
        buffers: &mut WindowBuffers<D>,
    ) -> Result<()> {
        let keep = |&is_start: &bool| if is_start { D::Real::ZERO } else { D::Real::ONE };
        let keep: Vec<D::Real> = window.is_start.iter().map(keep).collect();
        device.write(buffers.words.all_mut(), &window.words)?;
        device.write(buffers.keep.all_mut(), &keep)?;
        device.write(buffers.dropout_key.all_mut(), &step.dropout_key)?;
        if let (Some(attention), Some((_, contexts))) =
            (&mut buffers.attention, self.attending(window))
        {
            attention.upload(device, contexts)?;
        }
        let (sampler, number) = (self.sampler.as_ref(), step.number);
        let targets = buffers.softmax.begin(device, sampler, &window.targets, number)?;
        Ok(device.write(buffers.targets.all_mut(), &targets)?)
    }

    /// Words → what goes to the softmax but for dropout; the states move on.
    fn forward<D: Backend>(&self, weights: &Weights<D>, buffers: &mut WindowBuffers<D>) {
        let device = &weights.device;
        let WindowBuffers { words, keep, dropout_key, dropout, inputs, lstm, states, .. } = buffers;
        self.embedding.forward(weights, words.all(), inputs.all_mut());
        if *dropout > 0.0 {
            device.dropout(inputs.all_mut(), *dropout, dropout_key.all(), 0);
        }
        self.lstm.begin(device, lstm, states);
        self.lstm.forward(weights, (inputs.all(), keep.all()), lstm);
        self.lstm.end(device, lstm, states);
        if let (Some(layer), Some(attention)) = (&self.attention, &mut buffers.attention) {
            layer.forward(weights, lstm.trace.outputs.all(), attention);
        }
    }

    fn backward<D: Backend>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        buffers: &mut WindowBuffers<D>,
    ) {
        let device = &weights.device;
        let WindowBuffers { words, targets, keep, dropout_key, inputs, outputs, .. } = buffers;
        let WindowBuffers { gradient, losses, lstm, attention, softmax, .. } = buffers;
        let (dropout, streams) = (buffers.dropout, lstm.streams);
        let (mut out, above) = match attention {
            None => (lstm.trace.outputs.all(), &mut *gradient),
            Some(AttentionBuffers { joined, .. }) => (joined.value.all(), &mut joined.gradient),
        };
        if dropout > 0.0 {
            device.copy(outputs.all_mut(), out);
            device.dropout(outputs.all_mut(), dropout, dropout_key.all(), 1);
            out = outputs.all();
        }
        // Chosen: the loss is summed over the steps and averaged over the streams.
        let targets = Targets { columns: targets.all(), scale: 1.0 / streams as f64 };
        let (inputs_of_softmax, targets) = ((out, above.all_mut()), (targets, losses.all_mut()));
        self.softmax.learn(weights, gradients, softmax, inputs_of_softmax, targets);
        if dropout > 0.0 {
            device.dropout(above.all_mut(), dropout, dropout_key.all(), 1);
        }
        if let (Some(layer), Some(attention)) = (&self.attention, attention) {
            let states = (lstm.trace.outputs.all(), gradient.all_mut());
            layer.backward(weights, gradients, states, attention);
        }
        let read = (inputs.all(), keep.all());
        self.lstm.backward(weights, gradients, read, gradient.all(), lstm);
        self.lstm.backward_inputs(weights, lstm, gradient.all_mut());
        if dropout > 0.0 {
            device.dropout(gradient.all_mut(), dropout, dropout_key.all(), 0);
        }
        if !self.config.is_tied {
            device.fill(self.embedding.table.of_mut(gradients), 0.0);
        }
        self.embedding.backward(device, gradients, words.all(), gradient.all());
    }

    fn evaluate<D: Backend>(&self, weights: &Weights<D>, buffers: &mut WindowBuffers<D>) {
        let WindowBuffers { targets, losses, lstm, attention, softmax, .. } = buffers;
        let SoftmaxBuffers::Full(scores) = softmax else { unreachable!("no samples are learnt") };
        let states = lstm.trace.outputs.all();
        let outputs = attention.as_ref().map_or(states, |attention| attention.joined.value.all());
        self.softmax.log_probs(weights, scores, outputs, (targets.all(), losses.all_mut()));
    }

    fn losses<'a, D: Backend>(&self, buffers: &'a WindowBuffers<D>) -> Slice<'a, Reals<D>> {
        buffers.losses.all()
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::{Cpu, NO_TARGET};
    use numerics::testing::cpu_lost_after;

    use super::*;
    use crate::gradients::worst_gradient_error;
    use crate::{Merge, Method, Tables, Trainer, Training, TrainingConfig};

    const SGD: TrainingConfig = TrainingConfig { method: Method::Sgd, clip: 5.0, seed: 3 };

    fn config() -> LstmConfig {
        LstmConfig {
            words: 11,
            units: 5,
            attention: None,
            is_tied: false,
            initial: Initial::Uniform(0.5),
            dropout: 0.0,
        }
    }

    /// Four steps of three streams, in one of which a text begins in the middle, and a target is missing;
    /// each word may look at some of the five words of its stream's context.
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
        let (device, window, network) =
            (Cpu::<f64>::default(), window(), LstmLm::new(config, sampler));
        let states: Vec<f64> = (0..15).map(|n| f64::from(n % 7) / 4.0 - 0.7).collect();
        let mut weights = Weights::initial(&device, network.plan(), 3).unwrap();
        let step = StepContext { number: 0, dropout_key: [17, 4] };
        worst_gradient_error(&mut weights, |weights, gradients| {
            let mut buffers = network.buffers(&device, &window, Mode::Train).unwrap();
            device.write(buffers.states.hidden.all_mut(), &states).unwrap();
            device.write(buffers.states.cell.all_mut(), &states).unwrap();
            network.upload(&device, &window, step, &mut buffers).unwrap();
            network.forward(weights, &mut buffers);
            network.backward(weights, gradients, &mut buffers);
            let losses = device.read(network.losses(&buffers)).unwrap();
            losses.iter().sum::<f64>() / window.streams as f64
        })
    }

    #[test]
    fn gradients_are_those_of_central_differences() {
        assert!(gradient_error(config(), None) < 1e-6);
    }

    /// A text in one window, or in two of which the second continues the first.
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
        let network =
            || Training::new(&Cpu::<f64>::default(), LstmLm::new(config(), None), SGD).unwrap();
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
        let attention = |merge| Some(Attention { window: 3, merge });
        let sum = LstmConfig { attention: attention(Merge::Sum), ..config() };
        assert!(gradient_error(sum.clone(), None) < 1e-6);
        let tied = LstmConfig { is_tied: true, dropout: 0.3, ..sum };
        assert!(gradient_error(tied, None) < 1e-6);
        let attention = attention(Merge::Concat);
        let concatenated = LstmConfig { attention, dropout: 0.3, ..config() };
        assert!(gradient_error(concatenated, None) < 1e-6);
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

    fn trained(config: LstmConfig, sampler: Option<Sampler>, (method, rate): (Method, f64)) -> f64 {
        let (network, training) = (LstmLm::new(config, sampler), TrainingConfig { method, ..SGD });
        let mut network = Training::new(&Cpu::<f32>::default(), network, training).unwrap();
        let windows = windows(60);
        for window in &windows {
            network.step(window, rate).unwrap();
        }
        network.loss(&windows[0]).unwrap() / 20.0
    }

    #[test]
    fn what_follows_by_rule_is_learnt_by_each_method() {
        let config = LstmConfig { units: 16, ..config() };
        let sgd = (Method::Sgd, 0.5);
        assert!(trained(config.clone(), None, sgd) < 0.1);
        assert!(trained(LstmConfig { is_tied: true, ..config.clone() }, None, sgd) < 0.1);
        assert!(trained(config.clone(), None, (Method::adam(0.01), 0.02)) < 0.1);
        let sampler = Sampler::new(&[1; 60], 20, 1);
        assert!(trained(LstmConfig { words: 60, ..config }, Some(sampler), sgd) < 0.2);
    }

    fn bytes(tables: Tables) -> Vec<(String, Vec<u32>)> {
        let bits =
            |table: &numerics::Table<f32>| table.values().iter().map(|v| v.to_bits()).collect();
        tables.iter().map(|(name, table)| (name.clone(), bits(table))).collect()
    }

    #[test]
    fn training_resumes_after_a_stop_as_if_there_had_been_none() {
        let network = LstmLm::new(LstmConfig { dropout: 0.2, ..config() }, None);
        let adam = TrainingConfig { method: Method::adam(0.0), ..SGD };
        let new = || Training::new(&Cpu::<f32>::default(), network.clone(), adam).unwrap();
        let (mut whole, mut before, mut after) = (new(), new(), new());
        let epoch = windows(3);
        let windows = [&epoch[..], &epoch].concat();
        for window in &windows {
            whole.step(window, 0.01).unwrap();
            // An evaluation in between changes nothing.
            whole.loss(&windows[0]).unwrap();
        }
        for window in &windows[..3] {
            before.step(window, 0.01).unwrap();
        }
        after.restore(&before.checkpoint().unwrap()).unwrap();
        for window in &windows[3..] {
            after.step(window, 0.01).unwrap();
        }
        assert_eq!(bytes(whole.checkpoint().unwrap()), bytes(after.checkpoint().unwrap()));
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bytes() {
        let weights = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| {
                let config = LstmConfig { words: 3000, units: 40, ..config() };
                let network = LstmLm::new(config, None);
                let mut network = Training::new(&Cpu::<f32>::default(), network, SGD).unwrap();
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
        let (device, network) = (cpu_lost_after::<f32>(50), LstmLm::new(config(), None));
        let mut network = Training::new(&device, network, SGD).unwrap();
        let error = windows(20).iter().find_map(|window| network.step(window, 0.5).err()).unwrap();
        assert_eq!(error.to_string(), "CPU: lost: a fault on purpose");
        assert_eq!(error.remedy(), Some(base::Remedy::ResumeOnCpu));
    }

    /// Dropout depends on the step and on all bits of the seed.
    #[test]
    fn dropout_has_a_key_per_step_and_seed() {
        let key = |seed: u64, n_steps: usize| {
            let config = TrainingConfig { seed, ..SGD };
            let network = LstmLm::new(self::config(), None);
            let mut training = Training::new(&Cpu::<f32>::default(), network, config).unwrap();
            windows(n_steps).iter().for_each(|window| _ = training.step(window, 0.1).unwrap());
            training.context().dropout_key
        };
        let first = key(3, 0);
        assert_eq!(first, key(3, 0));
        assert!([key(3, 1), key(4, 0), key(3 | 1 << 40, 0)].iter().all(|other| *other != first));
    }
}
