//! Convolutional attention over the context (§4.4; Rush, Chopra & Weston 2015, §3.2): a state for each word that is
//! to be predicted, and the words before its sentence → what the context adds to the state.
//!
//! ```text
//! context words ──F──▶ x̃ ─────────────┬──────────────────┐
//! states h ──P──▶ queries ──x̃ᵀ P h──▶ softmax ──smooth──▶ enc ──join──▶ h with enc
//! ```
//!
//! Consecutive words share nearly all of their contexts. So a context holds all words that any word of a
//! window of text may look at, embedded once, and each word has bounds within it: the scores of a
//! context are one product, exact for each word.

use numerics::device::{Array, Device, DeviceMatrix, DeviceMatrixMut, Layout, Slice, SliceMut};

use crate::contexts::Contexts;
use crate::parameters::{Initial, Parameter, Parameters, Plan};
use crate::{Embedding, Result};

/// The layer's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    /// How many words of the context are read together, an odd number (paper: 5).
    pub window: usize,
    /// How what was read joins the state; the paper does not say.
    pub joining: Joining,
}

/// How what was read joins a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joining {
    /// It is added after a linear map.
    Sum,
    /// It stands beside the state.
    Concatenation,
}

/// The layer's parameters.
#[derive(Clone, Debug)]
pub struct ConvolutionalAttention {
    /// F, words × dim.
    embedding: Embedding,
    /// P, states → queries, dim × dim.
    matching: Parameter,
    /// What was read → what is added to the state, dim × dim; without it, it stands beside the state.
    joining: Option<Parameter>,
    /// Words to the left and right of one that are read with it: a window of 2 · reach + 1.
    reach: usize,
}

/// Room for the states of some words and their contexts.
#[derive(Debug)]
pub struct Looking<D: Device> {
    shape: Shape,
    words: D::Words,
    bounds: D::Words,
    /// x̃, (contexts · length) × dim, and its gradient.
    embedded: [D::Array; 2],
    /// P h, n × dim, and its gradient.
    queries: [D::Array; 2],
    /// p, n × length.
    attention: D::Array,
    /// p smoothed, n × length.
    smoothed: D::Array,
    /// Gradients of both in turn, n × length.
    scores: D::Array,
    /// enc, n × dim, and its gradient.
    read: [D::Array; 2],
    /// States and what was read, n × [`ConvolutionalAttention::joined_dim`], and their gradient.
    pub joined: [D::Array; 2],
}

/// In which order places stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first place of each context, then the second of each: streams, step after step.
    StepByStep,
    /// All places of the first context, then all of the second.
    ContextByContext,
}

/// How many contexts of how many words, each looked at from as many places.
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
    /// One more layer of a network.
    pub fn plan(
        plan: &mut Plan,
        [words, dim]: [usize; 2],
        attention: Attention,
        initial: Initial,
    ) -> Self {
        Self {
            embedding: Embedding::plan(plan, "context.embedding", [words, dim], initial),
            matching: plan.add("context.matching", [dim, dim], initial),
            joining: match attention.joining {
                Joining::Sum => Some(plan.add("context.joining", [dim, dim], initial)),
                Joining::Concatenation => None,
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

    /// The halves of states with what was read beside them, n × dim.
    fn halves(&self, n: usize) -> Layout {
        let (columns, row_stride) = (self.dim(), self.joined_dim());
        Layout { rows: n, columns, row_stride, batch: 1, batch_stride: 0 }
    }

    /// Room for contexts and the places that look at them.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn looking<D: Device>(
        &self,
        device: &D,
        contexts: &Contexts,
        order: Order,
    ) -> Result<Looking<D>> {
        let shape = Shape::of(contexts, order);
        let (n, dim) = (shape.contexts * shape.places, self.dim());
        let pair =
            |len: usize| -> Result<[D::Array; 2]> { Ok([device.zeros(len)?, device.zeros(len)?]) };
        Ok(Looking {
            words: device.words(&contexts.words)?,
            bounds: device.words(&contexts.bounds)?,
            embedded: pair(contexts.words.len() * dim)?,
            queries: pair(n * dim)?,
            attention: device.zeros(n * shape.length)?,
            smoothed: device.zeros(n * shape.length)?,
            scores: device.zeros(n * shape.length)?,
            read: pair(n * dim)?,
            joined: pair(n * self.joined_dim())?,
            shape,
        })
    }

    /// States → states with what was read of the context, in `looking.joined`.
    ///
    /// # Shapes
    /// `states` n × dim.
    pub fn forward<D: Device>(
        &self,
        parameters: &Parameters<D>,
        states: Slice<'_, D::Array>,
        looking: &mut Looking<D>,
    ) {
        let Parameters { device, values, .. } = parameters;
        let (dim, shape) = (self.dim(), looking.shape);
        let Looking { words, bounds, attention, smoothed, .. } = looking;
        let [embedded, _] = &mut looking.embedded;
        let [queries, _] = &mut looking.queries;
        let [read, _] = &mut looking.read;
        // x̃ = F x
        self.embedding.forward(parameters, words.all(), embedded.all_mut());
        let embedded = embedded.all().laid_out(shape.words(dim));
        let matching = self.matching.matrix(values);
        device.multiply(queries.all_mut().rows_of(dim), SET, states.rows_of(dim), matching);
        // p ∝ exp(x̃ᵀ P h)
        let queries = shape.places(queries, dim);
        let scores = shape.places_mut(attention, shape.length);
        device.multiply(scores, SET, queries, embedded.transposed());
        device.softmax_rows(attention.all_mut(), bounds.all());
        // enc = x̄ᵀ p. Differs: the sum of a window over 2Q + 1, its length, where Rush et al. write 1/Q. The
        // mean over windows is its own transpose, so x̄ᵀ p = x̃ᵀ p̄: to smooth the attention of each place is
        // cheaper than to smooth the embeddings, and it stays within the bounds of each.
        device.smooth_rows(smoothed.all_mut(), attention.all(), bounds.all(), self.reach);
        let smoothed = shape.places(smoothed, shape.length);
        device.multiply(shape.places_mut(read, dim), SET, smoothed, embedded);
        let ([joined, _], read) = (&mut looking.joined, read.all().rows_of(dim));
        if let Some(joining) = &self.joining {
            device.copy(joined.all_mut(), states);
            device.multiply(joined.all_mut().rows_of(dim), ADD, read, joining.matrix(values));
        } else {
            let (halves, len) = (self.halves(shape.contexts * shape.places), joined.len());
            device.copy_rows(joined.all_mut().laid_out(halves), states.rows_of(dim));
            device.copy_rows(joined.slice_mut(dim..len).laid_out(halves), read);
        }
    }

    /// The gradients of the parameters, which are set, not added to, and that of the states.
    ///
    /// With e = enc, S the smoothing, s = x̃ᵀ P h: ∂(S p) = x̃ ∂e, ∂p = S ∂(S p), ∂s = p ∘ (∂p − pᵀ ∂p),
    /// ∂x̃ = (S p) ∂eᵀ + ∂s (P h)ᵀ, ∂(P h) = x̃ᵀ ∂s.
    ///
    /// # Shapes
    /// `gradient` n × dim: that of the states, from that of what they were joined to in `looking.joined`.
    pub fn backward<D: Device>(
        &self,
        parameters: &mut Parameters<D>,
        states: Slice<'_, D::Array>,
        mut gradient: SliceMut<'_, D::Array>,
        looking: &mut Looking<D>,
    ) {
        let Parameters { device, values, gradients, .. } = parameters;
        let (dim, shape) = (self.dim(), looking.shape);
        let Looking { bounds, attention, smoothed, scores, .. } = looking;
        let [embedded, embedded_gradient] = &mut looking.embedded;
        let [queries, queries_gradient] = &mut looking.queries;
        let [read, read_gradient] = &mut looking.read;

        let (above, of_read) = (looking.joined[1].all(), read_gradient.all_mut().rows_of(dim));
        if let Some(joining) = &self.joining {
            device.copy(gradient.reborrow(), above);
            let (above, read) = (above.rows_of(dim), read.all().rows_of(dim));
            device.multiply(of_read, SET, above, joining.matrix(values).transposed());
            device.multiply(joining.matrix_mut(gradients), SET, read.transposed(), above);
        } else {
            let halves = self.halves(shape.contexts * shape.places);
            device.copy_rows(gradient.reborrow().rows_of(dim), above.laid_out(halves));
            device.copy_rows(of_read, above.slice(dim..above.len).laid_out(halves));
        }

        // enc = x̃ᵀ p̄
        let read_gradient = shape.places(read_gradient, dim);
        let into = embedded_gradient.all_mut().laid_out(shape.words(dim));
        let attention_of = shape.places(smoothed, shape.length).transposed();
        device.multiply(into, SET, attention_of, read_gradient);
        let embedded = embedded.all().laid_out(shape.words(dim));
        let into = shape.places_mut(smoothed, shape.length);
        device.multiply(into, SET, read_gradient, embedded.transposed());
        device.smooth_rows(scores.all_mut(), smoothed.all(), bounds.all(), self.reach);
        device.softmax_rows_backward(scores.all_mut(), attention.all(), shape.length);

        // x̃ᵀ P h
        let scores = shape.places(scores, shape.length);
        let into = embedded_gradient.all_mut().laid_out(shape.words(dim));
        device.multiply(into, ADD, scores.transposed(), shape.places(queries, dim));
        device.multiply(shape.places_mut(queries_gradient, dim), SET, scores, embedded);
        let below = queries_gradient.all().rows_of(dim);
        let into = self.matching.matrix_mut(gradients);
        device.multiply(into, SET, states.rows_of(dim).transposed(), below);
        let matching = self.matching.matrix(values).transposed();
        device.multiply(gradient.rows_of(dim), ADD, below, matching);

        device.fill(self.embedding.table.of_mut(gradients), 0.0);
        let embedded_gradient = looking.embedded[1].all();
        self.embedding.backward(parameters, looking.words.all(), embedded_gradient);
    }
}

impl<D: Device> Looking<D> {
    /// Whether it has room for these contexts.
    pub fn fits(&self, contexts: &Contexts, order: Order) -> bool {
        self.shape == Shape::of(contexts, order)
    }

    /// Tells the device about contexts.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn begin(&mut self, device: &D, contexts: &Contexts) -> Result<()> {
        device.write_words(self.words.all_mut(), &contexts.words)?;
        Ok(device.write_words(self.bounds.all_mut(), &contexts.bounds)?)
    }
}

/// A product takes the place of what was there.
const SET: [f64; 2] = [0.0, 1.0];
/// A product is added to what was there.
const ADD: [f64; 2] = [1.0, 1.0];

#[cfg(test)]
mod tests {
    use numerics::device::Cpu;

    use super::*;
    use crate::gradients::{some_numbers, weighed, worst_gradient_error};

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
        parameters: Parameters<Cpu<f64>>,
        looking: Looking<Cpu<f64>>,
    }

    fn trial(order: Order, joining: Joining) -> Trial {
        let (device, mut plan) = (Cpu::default(), Plan::default());
        let initial = Initial::Uniform(1.0);
        let attention = Attention { window: 3, joining };
        let layer = ConvolutionalAttention::plan(&mut plan, [5, DIM], attention, initial);
        let states = plan.add("states", [6, DIM], initial);
        let parameters = plan.build(&device, 5).unwrap();
        let looking = layer.looking(&device, &contexts(), order).unwrap();
        Trial { layer, states, parameters, looking }
    }

    impl Trial {
        fn forward(&mut self) -> Vec<f64> {
            let states = self.states.of(&self.parameters.values);
            self.layer.forward(&self.parameters, states, &mut self.looking);
            self.parameters.device.read(self.looking.joined[0].all()).unwrap()
        }

        /// L = Σ gᵢ yᵢ with some numbers g, and all gradients.
        fn loss(&mut self) -> f64 {
            let device = self.parameters.device.clone();
            let joined = self.forward();
            let above = some_numbers(joined.len());
            device.write(self.looking.joined[1].all_mut(), &above).unwrap();
            let [mut gradient, mut states] = [(); 2].map(|()| device.zeros(6 * DIM).unwrap());
            device.copy(states.all_mut(), self.states.of(&self.parameters.values));
            let (parameters, looking) = (&mut self.parameters, &mut self.looking);
            self.layer.backward(parameters, states.all(), gradient.all_mut(), looking);
            device.copy(self.states.of_mut(&mut self.parameters.gradients), gradient.all());
            weighed(&joined, &above)
        }
    }

    #[test]
    fn gradients_are_those_of_central_differences() {
        for (order, joining) in [
            (Order::StepByStep, Joining::Sum),
            (Order::ContextByContext, Joining::Sum),
            (Order::StepByStep, Joining::Concatenation),
        ] {
            let mut trial = trial(order, joining);
            let worst =
                worst_gradient_error(&mut trial, |trial| &mut trial.parameters, Trial::loss);
            assert!(worst < 1e-6, "{order:?}, {joining:?}: {worst}");
        }
    }

    /// Word by word, as in Rush et al.: x̄ over windows of the words that count, then p, then enc.
    fn by_definition(trial: &Trial, state: &[f64], context: &[u32]) -> Vec<f64> {
        let read = |parameter: &Parameter| {
            trial.parameters.device.read(parameter.of(&trial.parameters.values)).unwrap()
        };
        let table = read(&trial.layer.embedding.table);
        let (matching, joining) =
            (read(&trial.layer.matching), read(trial.layer.joining.as_ref().unwrap()));
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
    fn what_is_read_can_stand_beside_the_state() {
        let mut trial = trial(Order::StepByStep, Joining::Concatenation);
        let joined = trial.forward();
        let device = &trial.parameters.device;
        let states = device.read(trial.states.of(&trial.parameters.values)).unwrap();
        let read = device.read(trial.looking.read[0].all()).unwrap();
        for (place, joined) in joined.chunks(2 * DIM).enumerate() {
            assert_eq!(joined[..DIM], states[place * DIM..][..DIM]);
            assert_eq!(joined[DIM..], read[place * DIM..][..DIM]);
        }
    }

    #[test]
    fn each_place_sees_its_own_context_alone() {
        for order in [Order::StepByStep, Order::ContextByContext] {
            let mut trial = trial(order, Joining::Sum);
            let joined = trial.forward();
            let states = trial.parameters.device.read(trial.states.of(&trial.parameters.values));
            let (states, contexts) = (states.unwrap(), contexts());
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
