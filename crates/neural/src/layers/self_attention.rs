//! A block's first half: each place looks at those before it and at itself (Vaswani et al. 2017), with
//! normalised queries and keys (Henry et al. 2020) and rotary positions (Su et al. 2021).
//!
//! ```text
//! stream ──norm──▶ queries, keys ──norms──▶ rotated ──▶ attention ──▶ read ──dropout──▶ output ──▶ + stream
//!                  values ─────────────────────────────────▲
//! ```

use numerics::device::{Accumulate, Array, Backend, DeviceMatrix, DeviceMatrixMut, Layout};
use numerics::device::{Device, Reals, Rotation, Slice, SliceMut};

use super::blocks::{BlockShape, Places, Scratch, if_learning};
use super::{Linear, Norm, WithGradient, with_gradient};
use crate::Result;
use crate::weights::{Initial, Plan, Weights};

/// The first half of a block.
#[derive(Clone, Debug)]
pub struct SelfAttention {
    norms: AttentionNorms,
    /// Queries, keys and values of all heads.
    joined: Linear,
    output: Linear,
    shape: BlockShape,
}

/// Its norms: of the stream, of each query and of each key.
#[derive(Clone, Debug)]
pub struct AttentionNorms {
    input: Norm,
    queries: Norm,
    keys: Norm,
}

impl AttentionNorms {
    /// Adds them to the plan of a network.
    pub fn plan(plan: &mut Plan, layer: &str, shape: BlockShape) -> Self {
        let mut norm = |name: &str, dim| Norm::plan(plan, format!("{layer}.{name}.weight"), dim);
        Self {
            input: norm("input_layernorm", shape.width),
            queries: norm("self_attn.q_norm", shape.head_dim),
            keys: norm("self_attn.k_norm", shape.head_dim),
        }
    }
}

/// What it remembers for the backward pass.
#[derive(Debug)]
pub struct SelfAttentionBuffers<A> {
    /// The stream that entered; nothing if nothing is learnt.
    input: A,
    normed: A,
    /// Queries, keys and values.
    joined: A,
    /// Queries and keys, normalised and rotated.
    rotated: A,
    /// What all heads have read.
    read: A,
}

/// The attention of one head in all rows, rows × length × length. It is computed again for the backward
/// pass: that of all heads of all blocks would be most of the memory of a step.
pub type HeadScores<A> = WithGradient<A>;

impl SelfAttention {
    /// Adds its matrices to the plan of a network; the norms are there already.
    pub fn plan(plan: &mut Plan, layer: &str, norms: AttentionNorms, shape: BlockShape) -> Self {
        let (width, heads) = (shape.width, shape.heads_dim());
        let name = |name: &str| format!("{layer}.self_attn.{name}_proj.weight");
        let joined = ["q", "k", "v"].map(|part| (name(part).into(), heads));
        let joined = Linear { matrix: plan.add_stacked(joined, width, shape.initial()) };
        let output = Linear { matrix: plan.add(name("o"), [width, heads], Initial::Zero) };
        Self { norms, joined, output, shape }
    }

    /// Allocates buffers for `n` places.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn buffers<D: Backend>(
        &self,
        device: &D,
        n: usize,
        is_learning: bool,
    ) -> Result<SelfAttentionBuffers<Reals<D>>> {
        let (width, heads) = (self.shape.width, self.shape.heads_dim());
        Ok(SelfAttentionBuffers {
            input: device.zeros(if_learning(is_learning, n * width))?,
            normed: device.zeros(n * width)?,
            joined: device.zeros(3 * n * heads)?,
            rotated: device.zeros(2 * n * heads)?,
            read: device.zeros(n * heads)?,
        })
    }

    /// Allocates the scores of a head.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn scores<D: Device>(
        device: &D,
        [rows, length]: [usize; 2],
        is_learning: bool,
    ) -> Result<HeadScores<Reals<D>>> {
        with_gradient(device, rows * length * length, is_learning)
    }

    /// Adds to the stream.
    pub fn forward<D: Backend>(
        &self,
        weights: &Weights<D>,
        stream: &mut Reals<D>,
        buffers: &mut SelfAttentionBuffers<Reals<D>>,
        (places, scores, number): (&Places<D>, &mut HeadScores<Reals<D>>, u32),
    ) {
        let device = &weights.device;
        let width = self.shape.width;
        let SelfAttentionBuffers { input, normed, joined, .. } = buffers;
        if !input.is_empty() {
            device.copy(input.all_mut(), stream.all());
        }
        let into = normed.all_mut().rows_of(width);
        self.norms.input.forward(weights, into, stream.all().rows_of(width));
        self.joined.forward(weights, (joined.all_mut(), 0.0), normed.all());
        self.rotate(weights, buffers, places);
        for head in 0..self.shape.heads {
            self.attend(device, buffers, (places, scores), head);
            let heads = Heads::new(self.shape, places, head);
            let values = heads.values(&buffers.joined);
            let into = heads.of_mut(buffers.read.all_mut(), 0, 1);
            device.multiply(into, Accumulate::REPLACE, heads.scores(&scores.value), values);
        }
        places.drop(device, &mut buffers.read, number);
        self.output.forward(weights, (stream.all_mut(), 1.0), buffers.read.all());
    }

    /// Queries and keys → the same normalised and rotated.
    fn rotate<D: Backend>(
        &self,
        weights: &Weights<D>,
        SelfAttentionBuffers { joined, rotated, .. }: &mut SelfAttentionBuffers<Reals<D>>,
        places: &Places<D>,
    ) {
        let Self { norms, shape, .. } = self;
        for (part, norm) in [&norms.queries, &norms.keys].into_iter().enumerate() {
            let into = side_by_side_mut(rotated.all_mut(), *shape, [part, 2]);
            norm.forward(weights, into, side_by_side(joined.all(), *shape, [part, 3]));
        }
        let rotation = self.rotation(places, false);
        weights.device.rotate(rotated.all_mut(), rotation);
    }

    fn rotation<'a, D: Device>(
        &self,
        places: &'a Places<D>,
        is_backward: bool,
    ) -> Rotation<'a, Reals<D>> {
        let (dim, columns) = (self.shape.head_dim, 2 * self.shape.heads_dim());
        Rotation { angles: places.angles.all(), dim, columns, is_backward }
    }

    /// softmax(Q Kᵀ / √d) of a head.
    fn attend<D: Backend>(
        &self,
        device: &D,
        buffers: &SelfAttentionBuffers<Reals<D>>,
        (places, scores): (&Places<D>, &mut HeadScores<Reals<D>>),
        head: usize,
    ) {
        let heads = Heads::new(self.shape, places, head);
        let [queries, keys] = heads.queries_and_keys(&buffers.rotated);
        let accumulate = Accumulate { alpha: self.shape.scale(), beta: 0.0 };
        let into = heads.scores_mut(&mut scores.value);
        device.multiply(into, accumulate, queries, keys.transposed());
        device.softmax_rows(scores.value.all_mut(), places.bounds.all());
    }

    /// The gradient of the stream: after → before.
    pub fn backward<D: Backend>(
        &self,
        (weights, gradients): (&Weights<D>, &mut Reals<D>),
        gradient: &mut Reals<D>,
        (buffers, scores): (&SelfAttentionBuffers<Reals<D>>, &mut HeadScores<Reals<D>>),
        (places, scratch, number): (&Places<D>, &mut Scratch<Reals<D>>, u32),
    ) {
        let device = &weights.device;
        let (width, n, dim) = (self.shape.width, places.n(), self.shape.heads_dim());
        let SelfAttentionBuffers { input, normed, joined, read, .. } = buffers;
        let [wide, narrow, of_normed] = scratch.get();
        let mut of_read = of_normed.slice_mut(0..n * dim);
        let above = [read.all(), gradient.all()];
        self.output.backward(weights, gradients, of_read.reborrow(), above);
        places.drop_slice(device, of_read.reborrow(), number);
        let mut of_joined = wide.slice_mut(0..3 * n * dim);
        let mut of_rotated = narrow.slice_mut(0..2 * n * dim);
        let of_read = of_read.read();
        for head in 0..self.shape.heads {
            self.attend(device, buffers, (places, scores), head);
            let into = [of_rotated.reborrow(), of_joined.reborrow()];
            let heads = Heads::new(self.shape, places, head);
            heads.backward(device, into, buffers, (scores, of_read));
        }
        device.rotate(of_rotated.reborrow(), self.rotation(places, true));
        let norms = [&self.norms.queries, &self.norms.keys];
        for (part, norm) in norms.into_iter().enumerate() {
            let into = side_by_side_mut(of_joined.reborrow(), self.shape, [part, 3]);
            let from = side_by_side(joined.all(), self.shape, [part, 3]);
            let above = side_by_side(of_rotated.reborrow().read(), self.shape, [part, 2]);
            norm.backward(weights, gradients, (into, 0.0), [from, above]);
        }
        let mut of_normed = of_normed.slice_mut(0..n * width);
        let read = [normed.all(), of_joined.read()];
        self.joined.backward(weights, gradients, of_normed.reborrow(), read);
        let into = (gradient.all_mut().rows_of(width), 1.0);
        let read = [input.all(), of_normed.read()].map(|rows| rows.rows_of(width));
        self.norms.input.backward(weights, gradients, into, read);
    }
}

impl BlockShape {
    /// 1 / √d, the scale of scores.
    fn scale(&self) -> f64 {
        1.0 / (self.head_dim as f64).sqrt()
    }
}

/// The heads of one of several parts of rows.
fn side_by_side<A>(
    values: Slice<'_, A>,
    shape: BlockShape,
    [part, n_parts]: [usize; 2],
) -> DeviceMatrix<'_, A> {
    let (first, len) = (part * shape.heads_dim(), values.len);
    values.slice(first..len).laid_out(heads_layout(len, shape, n_parts))
}

fn side_by_side_mut<A>(
    values: SliceMut<'_, A>,
    shape: BlockShape,
    [part, n_parts]: [usize; 2],
) -> DeviceMatrixMut<'_, A> {
    let (first, len) = (part * shape.heads_dim(), values.len);
    values.cut(first..len).laid_out(heads_layout(len, shape, n_parts))
}

fn heads_layout(len: usize, shape: BlockShape, n_parts: usize) -> Layout {
    let row_stride = n_parts * shape.heads_dim();
    Layout {
        rows: len / row_stride,
        columns: shape.head_dim,
        row_stride,
        batch: shape.heads,
        batch_stride: shape.head_dim,
    }
}

/// A head: its places in all rows of a batch, a matrix for each row.
#[derive(Clone, Copy)]
struct Heads {
    shape: BlockShape,
    rows: usize,
    length: usize,
    head: usize,
}

impl Heads {
    fn new<D: Device>(shape: BlockShape, places: &Places<D>, head: usize) -> Self {
        Self { shape, rows: places.rows, length: places.length, head }
    }

    fn first(self, part: usize) -> usize {
        part * self.shape.heads_dim() + self.head * self.shape.head_dim
    }

    fn layout(self, n_parts: usize) -> Layout {
        let row_stride = n_parts * self.shape.heads_dim();
        Layout {
            rows: self.length,
            columns: self.shape.head_dim,
            row_stride,
            batch: self.rows,
            batch_stride: self.length * row_stride,
        }
    }

    /// The head in one of several parts of each place.
    fn of<A>(self, values: Slice<'_, A>, part: usize, n_parts: usize) -> DeviceMatrix<'_, A> {
        values.slice(self.first(part)..values.len).laid_out(self.layout(n_parts))
    }

    fn of_mut<A>(
        self,
        values: SliceMut<'_, A>,
        part: usize,
        n_parts: usize,
    ) -> DeviceMatrixMut<'_, A> {
        let len = values.len;
        values.cut(self.first(part)..len).laid_out(self.layout(n_parts))
    }

    fn queries_and_keys<A: Array>(self, rotated: &A) -> [DeviceMatrix<'_, A>; 2] {
        [0, 1].map(|part| self.of(rotated.all(), part, 2))
    }

    fn values<A: Array>(self, joined: &A) -> DeviceMatrix<'_, A> {
        self.of(joined.all(), 2, 3)
    }

    fn scores<A: Array>(self, scores: &A) -> DeviceMatrix<'_, A> {
        scores.all().laid_out(Layout::batch(self.rows, self.length, self.length))
    }

    fn scores_mut<A: Array>(self, scores: &mut A) -> DeviceMatrixMut<'_, A> {
        scores.all_mut().laid_out(Layout::batch(self.rows, self.length, self.length))
    }

    /// From the gradient of what was read to those of queries and keys, and of values.
    fn backward<D: Backend>(
        self,
        device: &D,
        [mut of_rotated, of_joined]: [SliceMut<'_, Reals<D>>; 2],
        buffers: &SelfAttentionBuffers<Reals<D>>,
        (scores, of_read): (&mut HeadScores<Reals<D>>, Slice<'_, Reals<D>>),
    ) {
        let [queries, keys] = self.queries_and_keys(&buffers.rotated);
        let of_read = self.of(of_read, 0, 1);
        let attention = self.scores(&scores.value).transposed();
        let into = self.of_mut(of_joined, 2, 3);
        device.multiply(into, Accumulate::REPLACE, attention, of_read);
        let values = self.values(&buffers.joined).transposed();
        let into = self.scores_mut(&mut scores.gradient);
        device.multiply(into, Accumulate::REPLACE, of_read, values);
        let attention = scores.value.all();
        device.softmax_rows_backward(scores.gradient.all_mut(), attention, self.length);
        let of_scores = self.scores(&scores.gradient);
        let accumulate = Accumulate { alpha: self.shape.scale(), beta: 0.0 };
        let into = self.of_mut(of_rotated.reborrow(), 0, 2);
        device.multiply(into, accumulate, of_scores, keys);
        let into = self.of_mut(of_rotated, 1, 2);
        device.multiply(into, accumulate, of_scores.transposed(), queries);
    }
}
