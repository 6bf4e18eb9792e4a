//! Convolutional attention over the context (§4.4; Rush, Chopra & Weston 2015, §3.2): a state for each word
//! that is to be predicted, and the words before its sentence → what the context adds to the state.
//!
//! ```text
//! context words ──F──▶ x̃ ─────────────┬──────────────────┐
//! states h ──P──▶ queries ──x̃ᵀ P h──▶ softmax ──smooth──▶ enc ──join──▶ h with enc
//! ```
//!
//! Consecutive words share nearly all of their contexts. So a context holds all words that any word of a
//! window of text may look at, embedded once, and each word has bounds within it: the scores of a
//! context are one product, exact for each word.

use numerics::device::{self, Accumulate, Array, Dense, Device, DeviceMatrix, DeviceMatrixMut};
use numerics::device::{Indices, Layout, Reals, Slice, SliceMut};
use serde::Deserialize;

use super::{Embedding, WithGradient, with_gradient};
use crate::Result;
use crate::text::Contexts;
use crate::weights::{Initial, Parameter, Plan, Weights};

/// How a contextual LSTM attends to its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    /// How many words of the context are read together, an odd number (paper: 5).
    pub window: usize,
    /// How what was read joins the state, which the paper does not say.
    pub merge: Merge,
}

/// How what was read joins a state.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Merge {
    /// It is added after a linear map.
    Sum,
    /// It is appended to the state.
    #[serde(rename = "concatenation")]
    Concat,
}

/// Attention over windows of a context: where its parameters are.
#[derive(Clone, Debug)]
pub struct ConvolutionalAttention {
    /// F, words × dim.
    embedding: Embedding,
    /// P, states → queries, dim × dim.
    matching: Parameter,
    /// What was read → what is added to the state, dim × dim; without it, what was read is appended to the
    /// state.
    joining: Option<Parameter>,
    /// Words to the left and right of one that are read with it: a window of 2 · reach + 1.
    reach: usize,
}

/// What the states of some words and their contexts need.
#[derive(Debug)]
pub struct AttentionBuffers<D: Device> {
    shape: Shape,
    words: Indices<D>,
    bounds: Indices<D>,
    /// x̃, (contexts · length) × dim.
    embedded: WithGradient<Reals<D>>,
    /// P h, n × dim.
    queries: WithGradient<Reals<D>>,
    /// p, n × length.
    attention: Reals<D>,
    /// p smoothed, n × length.
    smoothed: Reals<D>,
    /// Gradients of both in turn, n × length.
    scores: Reals<D>,
    /// enc, n × dim.
    read: WithGradient<Reals<D>>,
    /// States and what was read, n × [`ConvolutionalAttention::joined_dim`].
    pub joined: WithGradient<Reals<D>>,
}

/// The order of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first place of each context, then the second of each: streams, step after step.
    StepByStep,
    /// All places of the first context, then all of the second.
    ContextByContext,
}

/// The number of contexts, their words, and the places that look at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    contexts: usize,
    length: usize,
    places: usize,
    order: Order,
}

impl Shape {
    fn of(contexts: &Contexts, order: Order) -> Self {
        let places = contexts.bounds.len() / 2 / contexts.n.max(1);
        Self { contexts: contexts.n, length: contexts.length(), places, order }
    }

    /// The rows of each context's places.
    fn places<A: Array>(self, array: &A, columns: usize) -> DeviceMatrix<'_, A> {
        array.all().laid_out(self.layout(columns))
    }

    /// The rows of each context's places, to be written.
    fn places_mut<A: Array>(self, array: &mut A, columns: usize) -> DeviceMatrixMut<'_, A> {
        array.all_mut().laid_out(self.layout(columns))
    }

    fn layout(self, columns: usize) -> Layout {
        let Self { contexts: batch, places: rows, .. } = self;
        match self.order {
            Order::ContextByContext => Layout::batch(batch, rows, columns),
            Order::StepByStep => {
                Layout { rows, columns, row_stride: batch * columns, batch, batch_stride: columns }
            }
        }
    }

    /// The rows of each context's words.
    fn words(self, columns: usize) -> Layout {
        Layout::batch(self.contexts, self.length, columns)
    }
}

impl ConvolutionalAttention {
    /// Adds a layer to the plan of a network.
    pub fn plan(
        plan: &mut Plan,
        [words, dim]: [usize; 2],
        attention: Attention,
        initial: Initial,
    ) -> Self {
        Self {
            embedding: Embedding::plan(plan, "context.embedding", [words, dim], initial),
            matching: plan.add("context.matching", [dim, dim], initial),
            joining: match attention.merge {
                Merge::Sum => Some(plan.add("context.joining", [dim, dim], initial)),
                Merge::Concat => None,
            },
            reach: attention.window / 2,
        }
    }

    fn dim(&self) -> usize {
        self.matching.rows()
    }

    /// Numbers in a state with what was read.
    pub fn joined_dim(&self) -> usize {
        if self.joining.is_some() { self.dim() } else { 2 * self.dim() }
    }

    /// The states, or what was read, where both are in one row: n × dim.
    fn halves(&self, n: usize) -> Layout {
        let (columns, row_stride) = (self.dim(), self.joined_dim());
        Layout { rows: n, columns, row_stride, batch: 1, batch_stride: 0 }
    }

    /// Allocates buffers for contexts and the places that look at them; without those of [`Self::backward`]
    /// if nothing is learnt.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn buffers<D: Device>(
        &self,
        device: &D,
        contexts: &Contexts,
        order: Order,
        is_learning: bool,
    ) -> Result<AttentionBuffers<D>> {
        let shape = Shape::of(contexts, order);
        let (n, dim) = (shape.contexts * shape.places, self.dim());
        let pair = |len: usize| with_gradient(device, len, is_learning);
        Ok(AttentionBuffers {
            words: device.upload(&contexts.words)?,
            bounds: device.upload(&contexts.bounds)?,
            embedded: pair(contexts.words.len() * dim)?,
            queries: pair(n * dim)?,
            attention: device.zeros(n * shape.length)?,
            smoothed: device.zeros(n * shape.length)?,
            scores: device.zeros(if is_learning { n * shape.length } else { 0 })?,
            read: pair(n * dim)?,
            joined: pair(n * self.joined_dim())?,
            shape,
        })
    }

    /// States → states with what was read of the context, in `buffers.joined`.
    ///
    /// # Shapes
    /// `states` n × dim.
    pub fn forward<D: Dense + device::Softmax>(
        &self,
        weights: &Weights<D>,
        states: Slice<'_, Reals<D>>,
        buffers: &mut AttentionBuffers<D>,
    ) {
        let Weights { device, values, .. } = weights;
        let (dim, shape) = (self.dim(), buffers.shape);
        let AttentionBuffers { words, bounds, attention, smoothed, .. } = buffers;
        let (embedded, queries) = (&mut buffers.embedded.value, &mut buffers.queries.value);
        let (read, joined) = (&mut buffers.read.value, &mut buffers.joined.value);
        // x̃ = F x
        self.embedding.forward(weights, words.all(), embedded.all_mut());
        let embedded = embedded.all().laid_out(shape.words(dim));
        let into = queries.all_mut().rows_of(dim);
        device.multiply(into, REPLACE, states.rows_of(dim), self.matching.matrix(values));
        // p ∝ exp(x̃ᵀ P h)
        let queries = shape.places(queries, dim);
        let scores = shape.places_mut(attention, shape.length);
        device.multiply(scores, REPLACE, queries, embedded.transposed());
        device.softmax_rows(attention.all_mut(), bounds.all());
        // enc = x̄ᵀ p. Differs: the sum of a window over 2Q + 1, its length, where Rush et al. write 1/Q. The
        // mean over windows is its own transpose, so x̄ᵀ p = x̃ᵀ p̄: to smooth the attention of each place is
        // cheaper than to smooth the embeddings, and it stays within the bounds of each.
        device.smooth_rows(smoothed.all_mut(), attention.all(), bounds.all(), self.reach);
        let smoothed = shape.places(smoothed, shape.length);
        device.multiply(shape.places_mut(read, dim), REPLACE, smoothed, embedded);
        let read = read.all().rows_of(dim);
        if let Some(joining) = &self.joining {
            device.copy(joined.all_mut(), states);
            device.multiply(joined.all_mut().rows_of(dim), ADD, read, joining.matrix(values));
        } else {
            let (halves, len) = (self.halves(shape.contexts * shape.places), joined.len());
            device.copy_rows(joined.all_mut().laid_out(halves), states.rows_of(dim));
            device.copy_rows(joined.slice_mut(dim..len).laid_out(halves), read);
        }
    }

    /// The gradients of the parameters, which are replaced, and that of the states.
    ///
    /// With e = enc, S the smoothing, s = x̃ᵀ P h: ∂(S p) = x̃ ∂e, ∂p = S ∂(S p), ∂s = p ∘ (∂p − pᵀ ∂p),
    /// ∂x̃ = (S p) ∂eᵀ + ∂s (P h)ᵀ, ∂(P h) = x̃ᵀ ∂s.
    ///
    /// # Shapes
    /// `gradient` n × dim: that of the states, from that of `buffers.joined`.
    pub fn backward<D: Dense + device::Softmax>(
        &self,
        weights: &Weights<D>,
        gradients: &mut Reals<D>,
        (states, mut gradient): (Slice<'_, Reals<D>>, SliceMut<'_, Reals<D>>),
        buffers: &mut AttentionBuffers<D>,
    ) {
        let Weights { device, values, .. } = weights;
        let (dim, shape) = (self.dim(), buffers.shape);
        let AttentionBuffers { bounds, attention, smoothed, scores, .. } = buffers;
        let WithGradient { value: embedded, gradient: embedded_gradient } = &mut buffers.embedded;
        let WithGradient { value: queries, gradient: queries_gradient } = &mut buffers.queries;
        let WithGradient { value: read, gradient: read_gradient } = &mut buffers.read;

        let (above, into) = (buffers.joined.gradient.all(), read_gradient.all_mut().rows_of(dim));
        if let Some(joining) = &self.joining {
            device.copy(gradient.reborrow(), above);
            let (above, read) = (above.rows_of(dim), read.all().rows_of(dim));
            device.multiply(into, REPLACE, above, joining.matrix(values).transposed());
            device.multiply(joining.matrix_mut(gradients), REPLACE, read.transposed(), above);
        } else {
            let halves = self.halves(shape.contexts * shape.places);
            device.copy_rows(gradient.reborrow().rows_of(dim), above.laid_out(halves));
            device.copy_rows(into, above.slice(dim..above.len).laid_out(halves));
        }

        // enc = x̃ᵀ p̄
        let read_gradient = shape.places(read_gradient, dim);
        let into = embedded_gradient.all_mut().laid_out(shape.words(dim));
        let attention_of = shape.places(smoothed, shape.length).transposed();
        device.multiply(into, REPLACE, attention_of, read_gradient);
        let embedded = embedded.all().laid_out(shape.words(dim));
        let into = shape.places_mut(smoothed, shape.length);
        device.multiply(into, REPLACE, read_gradient, embedded.transposed());
        device.smooth_rows(scores.all_mut(), smoothed.all(), bounds.all(), self.reach);
        device.softmax_rows_backward(scores.all_mut(), attention.all(), shape.length);

        // x̃ᵀ P h
        let scores = shape.places(scores, shape.length);
        let into = embedded_gradient.all_mut().laid_out(shape.words(dim));
        device.multiply(into, ADD, scores.transposed(), shape.places(queries, dim));
        device.multiply(shape.places_mut(queries_gradient, dim), REPLACE, scores, embedded);
        let below = queries_gradient.all().rows_of(dim);
        let into = self.matching.matrix_mut(gradients);
        device.multiply(into, REPLACE, states.rows_of(dim).transposed(), below);
        let matching = self.matching.matrix(values).transposed();
        device.multiply(gradient.rows_of(dim), ADD, below, matching);

        device.fill(self.embedding.table.of_mut(gradients), 0.0);
        let (words, gradient) = (buffers.words.all(), buffers.embedded.gradient.all());
        self.embedding.backward(device, gradients, words, gradient);
    }
}

const REPLACE: Accumulate = Accumulate::REPLACE;
const ADD: Accumulate = Accumulate::ADD;

impl<D: Device> AttentionBuffers<D> {
    /// Whether they have the shape of these contexts.
    pub fn fits(&self, contexts: &Contexts, order: Order) -> bool {
        self.shape == Shape::of(contexts, order)
    }

    /// Copies contexts to the device.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn upload(&mut self, device: &D, contexts: &Contexts) -> Result<()> {
        device.write(self.words.all_mut(), &contexts.words)?;
        Ok(device.write(self.bounds.all_mut(), &contexts.bounds)?)
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::Cpu;

    use super::*;
    use crate::gradients::{some_numbers, weighted_sum, worst_gradient_error};

    const DIM: usize = 3;

    /// Two contexts of four words, three places each; one place has no context.
    fn contexts() -> Contexts {
        let bounds = vec![0, 3, 1, 4, 0, 0, 0, 4, 2, 3, 0, 2];
        Contexts { n: 2, words: vec![1, 2, 1, 4, 0, 3, 3, 2], bounds }
    }

    struct Trial {
        layer: ConvolutionalAttention,
        /// The states are a parameter, so that their gradient is checked too.
        states: Parameter,
        weights: Weights<Cpu<f64>>,
        buffers: AttentionBuffers<Cpu<f64>>,
    }

    fn trial(order: Order, merge: Merge) -> Trial {
        let (device, mut plan) = (Cpu::default(), Plan::default());
        let initial = Initial::Uniform(1.0);
        let attention = Attention { window: 3, merge };
        let layer = ConvolutionalAttention::plan(&mut plan, [5, DIM], attention, initial);
        let states = plan.add("states", [6, DIM], initial);
        let weights = Weights::initial(&device, &plan, 5).unwrap();
        let buffers = layer.buffers(&device, &contexts(), order, true).unwrap();
        Trial { layer, states, weights, buffers }
    }

    impl Trial {
        fn read(&self, parameter: &Parameter) -> Vec<f64> {
            self.weights.device.read(parameter.of(&self.weights.values)).unwrap()
        }

        fn forward(&mut self) -> Vec<f64> {
            let states = self.states.of(&self.weights.values);
            self.layer.forward(&self.weights, states, &mut self.buffers);
            self.weights.device.read(self.buffers.joined.value.all()).unwrap()
        }
    }

    /// L = Σ gᵢ yᵢ with some numbers g.
    #[test]
    fn gradients_are_those_of_central_differences() {
        for (order, merge) in [
            (Order::StepByStep, Merge::Sum),
            (Order::ContextByContext, Merge::Sum),
            (Order::StepByStep, Merge::Concat),
        ] {
            let Trial { layer, states, mut weights, mut buffers } = trial(order, merge);
            let device = weights.device.clone();
            let worst = worst_gradient_error(&mut weights, |weights, gradients| {
                layer.forward(weights, states.of(&weights.values), &mut buffers);
                let joined = device.read(buffers.joined.value.all()).unwrap();
                let above = some_numbers(joined.len());
                device.write(buffers.joined.gradient.all_mut(), &above).unwrap();
                let [mut gradient, mut read] = [(); 2].map(|()| device.zeros(6 * DIM).unwrap());
                device.copy(read.all_mut(), states.of(&weights.values));
                let below = (read.all(), gradient.all_mut());
                layer.backward(weights, gradients, below, &mut buffers);
                device.copy(states.of_mut(gradients), gradient.all());
                weighted_sum(&joined, &above)
            });
            assert!(worst < 1e-6, "{order:?}, {merge:?}: {worst}");
        }
    }

    /// Word by word, as in Rush et al.: x̄ over windows of the words that count, then p, then enc.
    fn by_definition(trial: &Trial, state: &[f64], context: &[u32]) -> Vec<f64> {
        let table = trial.read(&trial.layer.embedding.table);
        let matching = trial.read(&trial.layer.matching);
        let joining = trial.read(trial.layer.joining.as_ref().unwrap());
        let embedded: Vec<&[f64]> =
            context.iter().map(|&word| &table[word as usize * DIM..][..DIM]).collect();
        let weight = |x: &[f64]| {
            let mut score = 0.0;
            for (i, h) in state.iter().enumerate() {
                for (j, x) in x.iter().enumerate() {
                    score += h * matching[i * DIM + j] * x;
                }
            }
            score.exp()
        };
        let weights: Vec<f64> = embedded.iter().map(|x| weight(x)).collect();
        let sum: f64 = weights.iter().sum();
        let mut joined = state.to_vec();
        for (place, weight) in weights.iter().enumerate() {
            let window = &embedded[place.saturating_sub(1)..embedded.len().min(place + 2)];
            for x in window {
                for (i, x) in x.iter().enumerate() {
                    for (j, joined) in joined.iter_mut().enumerate() {
                        *joined += weight / sum * x / 3.0 * joining[i * DIM + j];
                    }
                }
            }
        }
        joined
    }

    #[test]
    fn what_is_read_can_be_appended_to_the_state() {
        let mut trial = trial(Order::StepByStep, Merge::Concat);
        let joined = trial.forward();
        let states = trial.read(&trial.states);
        let read = trial.weights.device.read(trial.buffers.read.value.all()).unwrap();
        for (place, joined) in joined.chunks(2 * DIM).enumerate() {
            assert_eq!(joined[..DIM], states[place * DIM..][..DIM]);
            assert_eq!(joined[DIM..], read[place * DIM..][..DIM]);
        }
    }

    #[test]
    fn each_place_sees_its_own_context_alone() {
        for order in [Order::StepByStep, Order::ContextByContext] {
            let mut trial = trial(order, Merge::Sum);
            let joined = trial.forward();
            let (states, contexts) = (trial.read(&trial.states), contexts());
            for place in 0..6 {
                let context = match order {
                    Order::StepByStep => place % 2,
                    Order::ContextByContext => place / 3,
                };
                let [first, end] = [0, 1].map(|i| contexts.bounds[2 * place + i] as usize);
                let seen = &contexts.words[context * 4..][first..end];
                let expected = by_definition(&trial, &states[place * DIM..][..DIM], seen);
                for (expected, joined) in expected.iter().zip(&joined[place * DIM..]) {
                    assert!((expected - joined).abs() < 1e-12, "{order:?}, place {place}");
                }
            }
        }
    }
}
