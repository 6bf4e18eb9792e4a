//! A block's first half: each place looks at those before it and at itself (Vaswani et al. 2017), with
//! normalised queries and keys (Henry et al. 2020) and rotary positions (Su et al. 2021).
//!
//! ```text
//! stream ──norm──▶ queries, keys ──norms──▶ rotated ──▶ attention ──▶ read ──dropout──▶ output ──▶ + stream
//!                  values ─────────────────────────────────▲
//! ```

use numerics::device::Device;
use numerics::device::{
    Array, Attention, AttentionGradients, AttentionResults, Backend, DeviceMatrix, DeviceMatrixMut,
    Indices, Layout, Reals, Rotation, Slice, SliceMut,
};

use super::blocks::{BlockShape, Places, Scratch, if_learning};
use super::{Linear, Norm};
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

/// Its norms: of the stream, and, where there are any, of each query and of each key.
#[derive(Clone, Debug)]
pub struct AttentionNorms {
    input: Norm,
    heads: Option<[Norm; 2]>,
}

impl AttentionNorms {
    /// Adds them to the plan of a network.
    pub fn plan(plan: &mut Plan, layer: &str, shape: BlockShape, has_head_norms: bool) -> Self {
        let mut norm = |name: &str, dim| Norm::plan(plan, format!("{layer}.{name}.weight"), dim);
        let input = norm("input_layernorm", shape.width);
        let mut of_heads =
            || ["self_attn.q_norm", "self_attn.k_norm"].map(|name| norm(name, shape.head_dim));
        Self { input, heads: has_head_norms.then(&mut of_heads) }
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
    /// Queries and keys, rotated, and normalised where there are norms.
    rotated: A,
    /// What all heads have read.
    read: A,
    /// The logarithm of the sum of each softmax. The weights themselves are computed again for the backward
    /// pass: those of all heads of all blocks would be most of the memory of a step.
    log_sums: A,
}

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
            log_sums: device.zeros(n * self.shape.heads)?,
        })
    }

    /// Adds to the stream.
    pub fn forward<D: Backend>(
        &self,
        weights: &Weights<D>,
        stream: &mut Reals<D>,
        buffers: &mut SelfAttentionBuffers<Reals<D>>,
        (places, number): (&Places<D>, u32),
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
        let SelfAttentionBuffers { joined, rotated, read, log_sums, .. } = buffers;
        let attention = self.attention(rotated, joined, places);
        device.attention(read.all_mut(), log_sums.all_mut(), attention);
        places.drop(device, read, number);
        self.output.forward(weights, (stream.all_mut(), 1.0), read.all());
    }

    /// Queries and keys → the same rotated, and normalised where there are norms.
    fn rotate<D: Backend>(
        &self,
        weights: &Weights<D>,
        SelfAttentionBuffers { joined, rotated, .. }: &mut SelfAttentionBuffers<Reals<D>>,
        places: &Places<D>,
    ) {
        let Self { norms, shape, .. } = self;
        for (part, norm) in norms.heads.iter().flatten().enumerate() {
            let into = side_by_side_mut(rotated.all_mut(), *shape, [part, 2]);
            norm.forward(weights, into, side_by_side(joined.all(), *shape, [part, 3]));
        }
        if norms.heads.is_none() {
            let into = rotated.all_mut().rows_of(2 * shape.heads_dim());
            let from = joined.all().laid_out(pairs_layout(joined.len(), *shape));
            weights.device.copy_rows(into, from);
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

    /// What the heads read.
    fn attention<'a, D: Device>(
        &self,
        rotated: &'a Reals<D>,
        joined: &'a Reals<D>,
        places: &'a Places<D>,
    ) -> Attention<'a, Reals<D>, Indices<D>> {
        let (shape, length) = (self.shape, places.length);
        let bounds = places.bounds.as_ref().map(Array::all);
        let values = joined.slice(2 * shape.heads_dim()..joined.len());
        let values = values.laid_out(values_layout(joined.len(), shape));
        let (queries_and_keys, heads) = (rotated.all(), shape.heads);
        Attention { queries_and_keys, values, length, heads, bounds }
    }

    /// The gradient of the stream: after → before.
    pub fn backward<D: Backend>(
        &self,
        (weights, gradients): (&Weights<D>, &mut Reals<D>),
        gradient: &mut Reals<D>,
        buffers: &SelfAttentionBuffers<Reals<D>>,
        (places, scratch, number): (&Places<D>, &mut Scratch<Reals<D>>, u32),
    ) {
        let device = &weights.device;
        let (width, n, dim) = (self.shape.width, places.n(), self.shape.heads_dim());
        let SelfAttentionBuffers { input, normed, joined, rotated, read, log_sums } = buffers;
        let [wide, narrow, of_normed, deltas] = scratch.get();
        let mut of_read = of_normed.slice_mut(0..n * dim);
        let above = [read.all(), gradient.all()];
        self.output.backward(weights, gradients, of_read.reborrow(), above);
        places.drop_slice(device, of_read.reborrow(), number);
        let mut of_joined = wide.slice_mut(0..3 * n * dim);
        let mut of_rotated = narrow.slice_mut(0..2 * n * dim);
        let results = AttentionResults {
            read: read.all(),
            kept: 1.0 - places.dropout,
            log_sums: log_sums.all(),
            gradient: of_read.read(),
        };
        let into = AttentionGradients {
            queries_and_keys: of_rotated.reborrow(),
            values: of_joined
                .slice_mut(2 * dim..3 * n * dim)
                .laid_out(values_layout(3 * n * dim, self.shape)),
            deltas: deltas.all_mut(),
        };
        device.attention_backward(into, self.attention(rotated, joined, places), results);
        device.rotate(of_rotated.reborrow(), self.rotation(places, true));
        if self.norms.heads.is_none() {
            let layout = pairs_layout(of_joined.len, self.shape);
            let from = of_rotated.reborrow().read().rows_of(2 * dim);
            device.copy_rows(of_joined.reborrow().laid_out(layout), from);
        }
        for (part, norm) in self.norms.heads.iter().flatten().enumerate() {
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

/// The queries and keys of all heads, the first two of the three parts of rows of some numbers in all.
fn pairs_layout(len: usize, shape: BlockShape) -> Layout {
    let (columns, row_stride) = (2 * shape.heads_dim(), 3 * shape.heads_dim());
    Layout { rows: len / row_stride, columns, row_stride, batch: 1, batch_stride: len }
}

/// The values of all heads, the last of the three parts of rows of some numbers in all.
fn values_layout(len: usize, shape: BlockShape) -> Layout {
    let (columns, row_stride) = (shape.heads_dim(), 3 * shape.heads_dim());
    Layout { rows: len / row_stride, columns, row_stride, batch: 1, batch_stride: len }
}
