//! A Transformer that continues text: pieces of words → the next piece of each. Its layout, names and formulas
//! are those of Qwen3 (Yang et al. 2025), with one embedding for input and output, so that other programs load
//! what was learnt as it is; or those of Llama, which others have trained.
//!
//! ```text
//! pieces ──embedding──▶ stream ──dropout──▶ blocks { attention, feed-forward } ──norm──▶ softmax (tied)
//! ```

use numerics::device::{Array, Backend, Device, Halves, Indices, Reals, Slice, SliceMut, Targets};

use crate::Result;
use crate::layers::{
    AttentionNorms, BlockShape, Embedding, FeedForward, FeedForwardBuffers, Mixed, Norm,
    Occurrences, Places, ScoreBuffers, Scratch, SelfAttention, SelfAttentionBuffers, Softmax,
};
use crate::network::{Mode, Network, StepContext};
use crate::weights::{Initial, Plan, Weights};

/// The settings of a decoder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecoderConfig {
    /// Pieces in the vocabulary.
    pub n_pieces: usize,
    /// The number of blocks.
    pub layers: usize,
    /// Their shape; `head_dim` is even.
    pub block: BlockShape,
    /// Whether queries and keys are normalised, as those of Qwen3 are.
    pub has_head_norms: bool,
    /// Whether the output has the weights of the embedding.
    pub is_tied: bool,
    /// The base of rotary positions; usually 10,000.
    pub rotary_base: f64,
    /// The probability that a number is set to 0 in an embedding, in what heads read, and in the hidden
    /// numbers of a feed-forward layer.
    pub dropout: f64,
}

/// Some rows of running text, all of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// How many rows there are.
    pub rows: usize,
    /// Rows × length.
    pub pieces: Vec<u32>,
    /// The piece after each, or [`numerics::device::NO_TARGET`].
    pub targets: Vec<u32>,
}

impl Batch {
    fn shape(&self) -> [usize; 2] {
        [self.rows, self.pieces.len() / self.rows.max(1)]
    }
}

/// A decoder: its layers and where their parameters are.
#[derive(Clone, Debug)]
pub struct Decoder {
    plan: Plan,
    embedding: Embedding,
    blocks: Vec<Block>,
    norm: Norm,
    softmax: Softmax,
    config: DecoderConfig,
}

#[derive(Clone, Debug)]
struct Block {
    attention: SelfAttention,
    feed_forward: FeedForward,
}

/// What a batch needs on the device.
#[derive(Debug)]
pub struct DecoderBuffers<D: Device> {
    pub(super) pieces: Indices<D>,
    pub(super) targets: Indices<D>,
    losses: Reals<D>,
    pub(super) places: Places<D>,
    /// All weights, rounded; those of norms are not read.
    halves: Halves<D>,
    /// What blocks add to.
    stream: Reals<D>,
    /// Of each block; where nothing is learnt all use the same ones.
    blocks: Vec<BlockBuffers<D>>,
    outputs: Halves<D>,
    scores: ScoreBuffers<Reals<D>>,
    learning: Option<Learning<D>>,
}

#[derive(Debug)]
struct BlockBuffers<D: Device> {
    attention: SelfAttentionBuffers<D>,
    feed_forward: FeedForwardBuffers<D>,
}

/// Where pieces occur, gradients of the stream, of the outputs and of scores, and scratch space.
#[derive(Debug)]
struct Learning<D: Device> {
    occurrences: Occurrences<D>,
    stream: Reals<D>,
    outputs: Halves<D>,
    scores: Halves<D>,
    scratch: Scratch<D>,
}

impl Decoder {
    /// Plans the parameters of a network of this shape.
    pub fn new(config: DecoderConfig) -> Self {
        let DecoderConfig { n_pieces, layers, block: shape, .. } = config;
        let mut plan = Plan::default();
        let (name, initial) = ("model.embed_tokens.weight", Initial::Normal(0.02));
        let embedding = Embedding::plan(&mut plan, name, [n_pieces, shape.width], initial);
        let table = match config.is_tied {
            true => embedding.table.clone(),
            false => plan.add("lm_head.weight", [n_pieces, shape.width], initial),
        };
        let softmax = Softmax { table, bias: None };
        let names: Vec<String> = (0..layers).map(|n| format!("model.layers.{n}")).collect();
        let mut norms_of = |layer: &String| {
            let attention = AttentionNorms::plan(&mut plan, layer, shape, config.has_head_norms);
            let name = format!("{layer}.post_attention_layernorm.weight");
            (attention, Norm::plan(&mut plan, name, shape.width))
        };
        let norms: Vec<(AttentionNorms, Norm)> = names.iter().map(&mut norms_of).collect();
        let norm = Norm::plan(&mut plan, "model.norm.weight".to_owned(), shape.width);
        plan.begin_hidden();
        let block = |(layer, (attention, feed_forward)): (&String, (AttentionNorms, Norm))| Block {
            attention: SelfAttention::plan(&mut plan, layer, attention, shape),
            feed_forward: FeedForward::plan(&mut plan, layer, feed_forward, shape),
        };
        let blocks = names.iter().zip(norms).map(block).collect();
        Self { plan, embedding, blocks, norm, softmax, config }
    }

    /// The settings that it was planned with.
    pub fn config(&self) -> &DecoderConfig {
        &self.config
    }
}

fn mixed<'a, D: Device>(weights: &'a Weights<D>, halves: &'a Halves<D>) -> Mixed<'a, D> {
    Mixed { device: &weights.device, values: &weights.values, halves }
}

/// The numbers of dropout's masks: of the embedding, then two of each block.
fn masks(block: usize) -> [u32; 2] {
    [1, 2].map(|half| 2 * block as u32 + half)
}

impl Network for Decoder {
    type Batch = Batch;
    type Buffers<D: Backend> = DecoderBuffers<D>;

    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn buffers<D: Backend>(
        &self,
        device: &D,
        batch: &Batch,
        mode: Mode,
    ) -> Result<DecoderBuffers<D>> {
        let (n, shape, is_learning) = (batch.pieces.len(), self.config.block, mode == Mode::Train);
        let DecoderConfig { rotary_base, dropout, .. } = self.config;
        let dropout = if is_learning { dropout } else { 0.0 };
        let rotary = (shape.head_dim, rotary_base);
        let distinct = if is_learning { self.blocks.len() } else { 1 };
        let blocks = self.blocks.iter().take(distinct).map(|block| {
            Ok(BlockBuffers {
                attention: block.attention.buffers(device, n, is_learning)?,
                feed_forward: block.feed_forward.buffers(device, n, is_learning)?,
            })
        });
        let scores = self.softmax.scores(device, n)?;
        let learning = || -> Result<Learning<D>> {
            Ok(Learning {
                occurrences: Occurrences::new(device, self.config.n_pieces, n)?,
                stream: device.zeros(n * shape.width)?,
                outputs: device.zeros(n * shape.width)?,
                scores: scores.gradients(device)?,
                scratch: Scratch::new(device, n, shape)?,
            })
        };
        let learning = is_learning.then(learning).transpose()?;
        Ok(DecoderBuffers {
            pieces: device.zeros(n)?,
            targets: device.zeros(n)?,
            losses: device.zeros(n)?,
            places: Places::new(device, batch.shape(), rotary, dropout)?,
            halves: device.zeros(self.plan.len())?,
            stream: device.zeros(n * shape.width)?,
            blocks: blocks.collect::<Result<_>>()?,
            outputs: device.zeros(n * shape.width)?,
            scores,
            learning,
        })
    }

    fn fits<D: Backend>(&self, buffers: &DecoderBuffers<D>, batch: &Batch) -> bool {
        [buffers.places.rows, buffers.places.length] == batch.shape()
    }

    fn upload<D: Backend>(
        &self,
        device: &D,
        batch: &Batch,
        step: StepContext,
        buffers: &mut DecoderBuffers<D>,
    ) -> Result<()> {
        device.write(buffers.pieces.all_mut(), &batch.pieces)?;
        device.write(buffers.targets.all_mut(), &batch.targets)?;
        if let Some(learning) = &mut buffers.learning {
            learning.occurrences.write(device, &batch.pieces)?;
        }
        Ok(device.write(buffers.places.dropout_key.all_mut(), &step.dropout_key)?)
    }

    fn forward<D: Backend>(&self, weights: &Weights<D>, buffers: &mut DecoderBuffers<D>) {
        let DecoderBuffers { pieces, places, halves, stream, blocks, outputs, .. } = buffers;
        weights.device.narrow(halves.all_mut(), weights.values.all());
        self.embedding.forward(weights, pieces.all(), stream.all_mut());
        places.drop(&weights.device, stream, 0);
        let weights = mixed(weights, halves);
        let n_distinct = blocks.len();
        for (number, block) in self.blocks.iter().enumerate() {
            let BlockBuffers { attention, feed_forward } = &mut blocks[number % n_distinct];
            let [first, second] = masks(number);
            block.attention.forward(weights, stream, attention, (places, first));
            block.feed_forward.forward(weights, stream, feed_forward, (places, second));
        }
        self.norm.forward(weights, outputs.all_mut(), None, stream.all());
    }

    fn backward<D: Backend>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        buffers: &mut DecoderBuffers<D>,
    ) {
        // Chosen: the mean over all places, whether they have a target or not.
        let scale = 1.0 / buffers.places.n() as f64;
        self.backward_of(weights, gradients, buffers, (scale, None));
    }

    fn evaluate<D: Backend>(&self, weights: &Weights<D>, buffers: &mut DecoderBuffers<D>) {
        let DecoderBuffers { targets, losses, halves, outputs, scores, .. } = buffers;
        let chosen = (targets.all(), losses.all_mut());
        self.softmax.log_probs_in_halves(mixed(weights, halves), scores, outputs.all(), chosen);
    }

    fn losses<'a, D: Backend>(&self, buffers: &'a DecoderBuffers<D>) -> Slice<'a, Reals<D>> {
        buffers.losses.all()
    }
}

impl Decoder {
    /// After the forward pass: ln p of each target.
    pub(super) fn log_probs<D: Backend>(
        &self,
        weights: &Weights<D>,
        DecoderBuffers { targets, halves, outputs, scores, .. }: &mut DecoderBuffers<D>,
        into: SliceMut<'_, Reals<D>>,
    ) {
        let chosen = (targets.all(), into);
        self.softmax.log_probs_in_halves(mixed(weights, halves), scores, outputs.all(), chosen);
    }

    /// The gradients of a sum of −ln p, each multiplied by a number and perhaps by one of its own.
    pub(super) fn backward_of<D: Backend>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        buffers: &mut DecoderBuffers<D>,
        (scale, factors): (f64, Option<Slice<'_, Reals<D>>>),
    ) {
        let DecoderBuffers { targets, losses, places, halves, .. } = buffers;
        let DecoderBuffers { stream, blocks, outputs, scores, learning, .. } = buffers;
        let Some(learning) = learning else { unreachable!("buffers for learning") };
        let Learning { occurrences, scratch, .. } = learning;
        let Learning { stream: gradient, outputs: of_outputs, scores: of_scores, .. } = learning;
        let weights = mixed(weights, halves);
        let targets = (Targets { columns: targets.all(), scale }, losses.all_mut());
        let inputs = (outputs.all(), of_outputs.all_mut());
        let scores = (scores, of_scores);
        self.softmax.learn_in_halves(weights, gradients, scores, inputs, targets, factors);
        weights.device.fill(gradient.all_mut(), 0.0);
        let read = (stream.all(), of_outputs.all());
        let into = (gradient.all_mut(), scratch.above.all_mut());
        self.norm.backward(weights, gradients, into, read);
        for (number, block) in self.blocks.iter().enumerate().rev() {
            let BlockBuffers { attention, feed_forward } = &blocks[number];
            let [first, second] = masks(number);
            let with = (weights, &mut *gradients);
            block.feed_forward.backward(with, gradient, feed_forward, (places, scratch, second));
            let with = (weights, &mut *gradients);
            block.attention.backward(with, gradient, attention, (places, scratch, first));
        }
        let device = weights.device;
        places.drop(device, gradient, 0);
        // Where it is tied, the output has replaced it.
        if !self.config.is_tied {
            device.fill(self.embedding.table.of_mut(gradients), 0.0);
        }
        self.embedding.backward_in_order(device, gradients, occurrences, gradient.all());
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::{Cpu, NO_TARGET};
    use numerics::testing::cpu_with_memory;

    use super::*;
    use crate::gradients::{some_numbers, worst_gradient_error};
    use crate::{Method, Tables, Trainer, Training, TrainingConfig};

    const BLOCK: BlockShape = BlockShape { width: 6, heads: 2, head_dim: 4, feed_forward: 5 };

    fn config() -> DecoderConfig {
        DecoderConfig {
            n_pieces: 11,
            layers: 2,
            block: BLOCK,
            has_head_norms: true,
            is_tied: true,
            rotary_base: 100.0,
            dropout: 0.0,
        }
    }

    fn muon() -> TrainingConfig {
        let method = Method::Muon { decay: 0.1, adam_rate: 0.75 };
        TrainingConfig { method, clip: 1.0, seed: 3 }
    }

    /// Three rows of four pieces; a target is missing.
    fn batch() -> Batch {
        Batch {
            rows: 3,
            pieces: vec![1, 4, 10, 2, 4, 0, 3, 9, 1, 4, 4, 7],
            targets: vec![4, 10, 2, 5, 0, NO_TARGET, 9, 4, 4, 4, 7, 8],
        }
    }

    /// Weights of which none is 0 or 1, as those of the outputs and of the norms are at first.
    fn weights(network: &Decoder) -> Weights<Cpu<f64>> {
        let device = Cpu::<f64>::default();
        let mut weights = Weights::initial(&device, network.plan(), 3).unwrap();
        for parameter in network.plan().parameters() {
            let mut values = device.read(parameter.of(&weights.values)).unwrap();
            let added = some_numbers(values.len() + 1);
            values.iter_mut().zip(&added[1..]).for_each(|(value, added)| *value += 0.4 * added);
            device.write(parameter.of_mut(&mut weights.values), &values).unwrap();
        }
        weights
    }

    fn gradient_error(config: DecoderConfig) -> f64 {
        let (device, batch, network) = (Cpu::<f64>::default(), batch(), Decoder::new(config));
        let step = StepContext { number: 0, dropout_key: [17, 4] };
        worst_gradient_error(&mut weights(&network), |weights, gradients| {
            let mut buffers = network.buffers(&device, &batch, Mode::Train).unwrap();
            network.upload(&device, &batch, step, &mut buffers).unwrap();
            network.forward(weights, &mut buffers);
            network.backward(weights, gradients, &mut buffers);
            let losses = device.read(network.losses(&buffers)).unwrap();
            losses.iter().sum::<f64>() / 12.0
        })
    }

    #[test]
    fn gradients_are_those_of_central_differences() {
        let llama = DecoderConfig { has_head_norms: false, is_tied: false, ..config() };
        let dropout = DecoderConfig { dropout: 0.3, ..config() };
        let errors = [config(), llama, dropout].map(gradient_error);
        assert!(errors.iter().all(|&error| error < 1e-6), "{errors:?}");
    }

    fn losses(network: &Decoder, batch: &Batch, mode: Mode) -> Vec<f64> {
        let (device, weights) = (Cpu::<f64>::default(), weights(network));
        let mut buffers = network.buffers(&device, batch, mode).unwrap();
        network.upload(&device, batch, StepContext::default(), &mut buffers).unwrap();
        network.forward(&weights, &mut buffers);
        match mode {
            Mode::Evaluate => network.evaluate(&weights, &mut buffers),
            Mode::Train => {
                let mut gradients = device.zeros(network.plan().len()).unwrap();
                network.backward(&weights, &mut gradients, &mut buffers);
            }
        }
        device.read(network.losses(&buffers)).unwrap()
    }

    /// Learning has buffers for each block, evaluating the same ones for all.
    #[test]
    fn what_is_evaluated_is_what_is_learnt() {
        let network = Decoder::new(config());
        let [learnt, evaluated] =
            [Mode::Train, Mode::Evaluate].map(|mode| losses(&network, &batch(), mode));
        for (loss, log_prob) in learnt.iter().zip(&evaluated) {
            assert!((loss + log_prob).abs() < 1e-12, "{loss} {log_prob}");
        }
    }

    #[test]
    fn no_piece_sees_those_after_it_or_another_row() {
        let (network, whole) = (Decoder::new(config()), batch());
        let mut changed = whole.clone();
        changed.pieces[6] = 8;
        let [before, after] =
            [&whole, &changed].map(|batch| losses(&network, batch, Mode::Evaluate));
        let differ: Vec<usize> = (0..12).filter(|&i| before[i] != after[i]).collect();
        assert_eq!(differ, [6, 7]);
    }

    #[test]
    fn the_parameters_have_the_names_and_shapes_of_qwen3() {
        let network = Decoder::new(DecoderConfig { layers: 1, ..config() });
        let expected = expect_test::expect![[r#"
            model.embed_tokens.weight 11 × 6
            model.layers.0.input_layernorm.weight 1 × 6
            model.layers.0.self_attn.q_norm.weight 1 × 4
            model.layers.0.self_attn.k_norm.weight 1 × 4
            model.layers.0.post_attention_layernorm.weight 1 × 6
            model.norm.weight 1 × 6
            model.layers.0.self_attn.q_proj.weight 8 × 6
            model.layers.0.self_attn.k_proj.weight 8 × 6
            model.layers.0.self_attn.v_proj.weight 8 × 6
            model.layers.0.self_attn.o_proj.weight 6 × 8
            model.layers.0.mlp.gate_proj.weight 5 × 6
            model.layers.0.mlp.up_proj.weight 5 × 6
            model.layers.0.mlp.down_proj.weight 6 × 5
        "#]];
        let line = |(name, rows, columns)| format!("{name} {rows} × {columns}\n");
        expected.assert_eq(&network.plan().shapes().into_iter().map(line).collect::<String>());
    }

    /// A text in which a piece and the one before it say which follows.
    fn batches(n: usize) -> Vec<Batch> {
        let batch = |first: usize| {
            let piece = |row: usize, place: usize| ((place * place + row) % 11) as u32;
            let places = (0..6).flat_map(|row| (0..8).map(move |place| (first + row, place)));
            Batch {
                rows: 6,
                pieces: places.clone().map(|(row, place)| piece(row, place)).collect(),
                targets: places.map(|(row, place)| piece(row, place + 1)).collect(),
            }
        };
        (0..n).map(batch).collect()
    }

    fn training(config: DecoderConfig, training: TrainingConfig) -> Training<Cpu<f32>, Decoder> {
        Training::new(&Cpu::default(), Decoder::new(config), training).unwrap()
    }

    #[test]
    fn what_follows_by_rule_is_learnt_by_each_method() {
        let block = BlockShape { width: 16, heads: 2, head_dim: 8, feed_forward: 32 };
        let config = DecoderConfig { block, ..config() };
        let adam = TrainingConfig { method: Method::adam(0.01), ..muon() };
        for (method, rate) in [(muon(), 0.03), (adam, 0.01)] {
            let mut training = training(config, method);
            for batch in batches(150) {
                training.step(&batch, rate).unwrap();
            }
            let loss = training.loss(&batches(1)[0]).unwrap() / 48.0;
            // The first place of a row cannot be known, half of the others by what came before.
            assert!(loss < 0.5, "{method:?}: {loss}");
        }
    }

    fn bytes(tables: Tables) -> Vec<(String, Vec<u32>)> {
        let bits =
            |table: &numerics::Table<f32>| table.values().iter().map(|v| v.to_bits()).collect();
        tables.iter().map(|(name, table)| (name.clone(), bits(table))).collect()
    }

    #[test]
    fn training_resumes_after_a_stop_as_if_there_had_been_none() {
        let new = || training(DecoderConfig { dropout: 0.2, ..config() }, muon());
        let (mut whole, mut before, mut after) = (new(), new(), new());
        let batches = batches(6);
        for batch in &batches {
            whole.step(batch, 0.01).unwrap();
            // An evaluation in between changes nothing.
            whole.loss(&batches[0]).unwrap();
        }
        for batch in &batches[..3] {
            before.step(batch, 0.01).unwrap();
        }
        after.restore(&before.checkpoint().unwrap()).unwrap();
        for batch in &batches[3..] {
            after.step(batch, 0.01).unwrap();
        }
        assert_eq!(bytes(whole.checkpoint().unwrap()), bytes(after.checkpoint().unwrap()));
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bytes() {
        let checkpoint = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| {
                let block = BlockShape { width: 60, heads: 2, head_dim: 32, feed_forward: 90 };
                let mut training =
                    training(DecoderConfig { n_pieces: 3000, block, ..config() }, muon());
                for batch in batches(3) {
                    training.step(&batch, 0.01).unwrap();
                }
                bytes(training.checkpoint().unwrap())
            })
        };
        assert_eq!(checkpoint(1), checkpoint(3));
    }

    #[test]
    fn too_little_memory_is_an_error_that_says_how_much_is_needed() {
        let device = cpu_with_memory::<f32>(500_000);
        let mut training = Training::new(&device, Decoder::new(config()), muon()).unwrap();
        let n = 1 << 17;
        let batch = Batch { rows: n / 128, pieces: vec![1; n], targets: vec![2; n] };
        let error = training.step(&batch, 0.1).unwrap_err();
        assert!(error.to_string().starts_with("CPU: out of memory: "), "{error}");
        assert_eq!(error.remedy(), Some(base::Remedy::UseLessMemory { is_gpu: false }));
        training.step(&batches(1)[0], 0.1).unwrap();
    }
}
