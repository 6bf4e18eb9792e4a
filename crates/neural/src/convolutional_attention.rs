//! Convolutional attention over the context (§4.4; Rush, Chopra & Weston 2015, §3.2): a state for each word that is
//! to be predicted, and the words before its sentence → what the context adds to the state.
//!
//! ```text
//! context words ──F──▶ x̃ ─────────────┬──────────────────┐
//! states h ──P──▶ queries ──x̃ᵀ P h──▶ softmax ──smooth──▶ enc ──join──▶ h + enc
//! ```
//!
//! Consecutive words share nearly all of their contexts. So a context holds all words that any word of a
//! window of text may look at, embedded once, and each word has bounds within it: the scores of a
//! context are one product, exact for each word.

use numerics::device::{Array, Device, Layout, Matrix, Part, PartMut};

use crate::contexts::Contexts;
use crate::parameters::{Initial, Parameter, Parameters, Plan};
use crate::{Embedding, Result};

/// The layer's parameters.
#[derive(Clone, Debug)]
pub struct ConvolutionalAttention {
    /// F, words × dim.
    embedding: Embedding,
    /// P, states → queries, dim × dim.
    matching: Parameter,
    /// What was read → what joins the state, dim × dim.
    joining: Parameter,
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
    /// h + enc, n × dim.
    pub joined: D::Array,
}

/// How many contexts of how many words, at how many steps of how many rows; as many rows, one after the
/// other, share each context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    contexts: usize,
    length: usize,
    steps: usize,
    rows: usize,
}

impl Shape {
    fn of(contexts: &Contexts, rows: usize) -> Self {
        let steps = contexts.bounds.len() / 2 / rows.max(1);
        Self { contexts: contexts.n, length: contexts.words.len() / contexts.n.max(1), steps, rows }
    }

    /// Where the numbers that belong to each context stand among steps × rows × columns, in as few
    /// batches as there can be.
    fn batches(self, columns: usize) -> impl Iterator<Item = (usize, Layout)> {
        let Self { contexts, steps, rows, .. } = self;
        let sharing = rows / contexts.max(1);
        let (n_batches, layout) = if sharing == 1 {
            let row_stride = rows * columns;
            (1, Layout { rows: steps, columns, row_stride, batch: contexts, batch_stride: columns })
        } else {
            (steps, Layout::batch(contexts, sharing, columns))
        };
        (0..n_batches).map(move |step| (step * rows * columns, layout))
    }

    /// The embedded words of each context.
    fn embedded<A: Array>(self, embedded: &A, dim: usize) -> Matrix<'_, A> {
        embedded.all().laid_out(Layout::batch(self.contexts, self.length, dim))
    }
}

impl ConvolutionalAttention {
    /// One more layer of a network.
    pub fn plan(
        plan: &mut Plan,
        [words, dim]: [usize; 2],
        reach: usize,
        initial: Initial,
    ) -> Self {
        Self {
            embedding: Embedding::plan(plan, "context.embedding", [words, dim], initial),
            matching: plan.add("context.matching", [dim, dim], initial),
            joining: plan.add("context.joining", [dim, dim], initial),
            reach,
        }
    }

    fn dim(&self) -> usize {
        self.matching.rows()
    }

    /// Room for contexts of `rows` rows of words.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn looking<D: Device>(
        &self,
        device: &D,
        contexts: &Contexts,
        rows: usize,
    ) -> Result<Looking<D>> {
        let shape = Shape::of(contexts, rows);
        let (n, dim) = (shape.steps * rows, self.dim());
        let pair = |len: usize| -> Result<[D::Array; 2]> {
            Ok([device.zeros(len)?, device.zeros(len)?])
        };
        Ok(Looking {
            words: device.words(&contexts.words)?,
            bounds: device.words(&contexts.bounds)?,
            embedded: pair(contexts.words.len() * dim)?,
            queries: pair(n * dim)?,
            attention: device.zeros(n * shape.length)?,
            smoothed: device.zeros(n * shape.length)?,
            scores: device.zeros(n * shape.length)?,
            read: pair(n * dim)?,
            joined: device.zeros(n * dim)?,
            shape,
        })
    }

    /// States → states with what the context adds to them, in `looking.joined`.
    ///
    /// # Shapes
    /// `states` (steps · rows) × dim.
    pub fn forward<D: Device>(
        &self,
        parameters: &Parameters<D>,
        states: Part<'_, D::Array>,
        looking: &mut Looking<D>,
    ) {
        let Parameters { device, values, .. } = parameters;
        let (dim, shape) = (self.dim(), looking.shape);
        let Looking { words, bounds, attention, smoothed, joined, .. } = looking;
        let ([embedded, _], [queries, _], [read, _]) =
            (&mut looking.embedded, &mut looking.queries, &mut looking.read);
        // x̃ = F x
        self.embedding.forward(parameters, words.all(), embedded.all_mut());
        let matching = self.matching.matrix(values);
        device.multiply(queries.all_mut().rows_of(dim), [0.0, 1.0], states.rows_of(dim), matching);
        // p ∝ exp(x̃ᵀ P h)
        let embedded = shape.embedded(embedded, dim);
        shape.multiply_down(device, attention, queries, embedded);
        device.softmax_rows(attention.all_mut(), bounds.all());
        // enc = x̄ᵀ p. The mean over windows is its own transpose, so x̄ᵀ p = x̃ᵀ p̄: smoothing the attention
        // of each word is cheaper than smoothing the embeddings, and stays within the bounds of each.
        device.smooth_rows(smoothed.all_mut(), attention.all(), bounds.all(), self.reach);
        shape.multiply_across(device, read, smoothed, embedded);
        // Chosen: what was read is summed with the state after a linear map.
        device.copy(joined.all_mut(), states);
        let joining = self.joining.matrix(values);
        device.multiply(joined.all_mut().rows_of(dim), [1.0, 1.0], read.all().rows_of(dim), joining);
    }

    /// The gradients of the parameters, which are set, not added to, and that of the states.
    ///
    /// # Shapes
    /// `gradient` (steps · rows) × dim: that of `looking.joined` becomes that of the states.
    pub fn backward<D: Device>(
        &self,
        parameters: &mut Parameters<D>,
        states: Part<'_, D::Array>,
        mut gradient: PartMut<'_, D::Array>,
        looking: &mut Looking<D>,
    ) {
        let Parameters { device, values, gradients } = parameters.parts();
        let (dim, shape) = (self.dim(), looking.shape);
        let Looking { bounds, attention, smoothed, scores, .. } = looking;
        let [embedded, embedded_gradient] = &mut looking.embedded;
        let [queries, queries_gradient] = &mut looking.queries;
        let [read, read_gradient] = &mut looking.read;
        let whole = [0.0, 1.0];
        let above = gradient.reborrow().read().rows_of(dim);
        let into = self.joining.matrix_mut(gradients);
        device.multiply(into, whole, read.all().rows_of(dim).transposed(), above);
        let joining = self.joining.matrix(values).transposed();
        device.multiply(read_gradient.all_mut().rows_of(dim), whole, above, joining);

        let matrices = shape.embedded(embedded, dim);
        shape.multiply_back(device, (embedded_gradient, 0.0), smoothed, read_gradient);
        shape.multiply_down(device, smoothed, read_gradient, matrices);
        device.smooth_rows(scores.all_mut(), smoothed.all(), bounds.all(), self.reach);
        device.softmax_rows_backward(scores.all_mut(), attention.all(), shape.length);
        shape.multiply_back(device, (embedded_gradient, 1.0), scores, queries);
        shape.multiply_across(device, queries_gradient, scores, matrices);

        let below = queries_gradient.all().rows_of(dim);
        let into = self.matching.matrix_mut(gradients);
        device.multiply(into, whole, states.rows_of(dim).transposed(), below);
        let matching = self.matching.matrix(values).transposed();
        device.multiply(gradient.rows_of(dim), [1.0, 1.0], below, matching);
        device.fill(self.embedding.table.of_mut(gradients), 0.0);
        self.embedding.backward(parameters, looking.words.all(), looking.embedded[1].all());
    }
}

/// Products of numbers of each word with those of its context.
impl Shape {
    /// `into = of_words · embeddedᵀ`.
    ///
    /// # Shapes
    /// `into` n × length, `of_words` n × dim.
    fn multiply_down<D: Device>(
        self,
        device: &D,
        into: &mut D::Array,
        of_words: &D::Array,
        embedded: Matrix<'_, D::Array>,
    ) {
        let (_, dim) = embedded.shape();
        let batches = self.batches(self.length).zip(self.batches(dim));
        for ((first, layout), (first_of_words, layout_of_words)) in batches {
            let into = into.part_mut(first..into.len()).laid_out(layout);
            let left = of_words.part(first_of_words..of_words.len()).laid_out(layout_of_words);
            device.multiply(into, [0.0, 1.0], left, embedded.transposed());
        }
    }

    /// `into = attention · embedded`.
    ///
    /// # Shapes
    /// `into` n × dim, `attention` n × length.
    fn multiply_across<D: Device>(
        self,
        device: &D,
        into: &mut D::Array,
        attention: &D::Array,
        embedded: Matrix<'_, D::Array>,
    ) {
        let (_, dim) = embedded.shape();
        let batches = self.batches(dim).zip(self.batches(self.length));
        for ((first, layout), (first_of_attention, layout_of_attention)) in batches {
            let into = into.part_mut(first..into.len()).laid_out(layout);
            let left = attention.part(first_of_attention..attention.len());
            device.multiply(into, [0.0, 1.0], left.laid_out(layout_of_attention), embedded);
        }
    }

    /// `into = keep · into + attentionᵀ · of_words`.
    ///
    /// # Shapes
    /// `into` (contexts · length) × dim, `attention` n × length, `of_words` n × dim.
    fn multiply_back<D: Device>(
        self,
        device: &D,
        (into, keep): (&mut D::Array, f64),
        attention: &D::Array,
        of_words: &D::Array,
    ) {
        let dim = into.len() / (self.contexts * self.length).max(1);
        let batches = self.batches(self.length).zip(self.batches(dim));
        for (batch, ((first, layout), (first_of_words, layout_of_words))) in batches.enumerate() {
            let into = into.all_mut().laid_out(Layout::batch(self.contexts, self.length, dim));
            let left = attention.part(first..attention.len()).laid_out(layout).transposed();
            let right = of_words.part(first_of_words..of_words.len()).laid_out(layout_of_words);
            let keep = if batch == 0 { keep } else { 1.0 };
            device.multiply(into, [keep, 1.0], left, right);
        }
    }
}
