//! A block's first part: each place looks at those before it and at itself (Vaswani et al. 2017), with
//! normalised queries and keys (Henry et al. 2020) and rotary positions (Su et al. 2021).
//!
//! ```text
//! stream ──norm──▶ queries, keys ──norms──▶ rotated ──▶ attention ──▶ read ──dropout──▶ output ──▶ + stream
//!                  values ─────────────────────────────────▲
//! ```

use numerics::device::{
    Array, Attention, AttentionGradients, AttentionResults, Backend, Device, Halves, Indices,
    Layout, Reals, Rotation,
};

use super::blocks::{BlockShape, Mixed, Places, Scratch, if_learning};
use super::{Linear, Norm};
use crate::Result;
use crate::weights::{Initial, Parameter, Plan};

/// The first part of a block.
#[derive(Clone, Debug)]
pub struct SelfAttention {
    norms: AttentionNorms,
    /// Queries, keys and values of all heads.
    joined: Linear,
    output: Linear,
    shape: BlockShape,
}

/// Its norms.
#[derive(Clone, Debug)]
pub struct AttentionNorms {
    /// Of the stream.
    input: Norm,
    /// What each number of a normalised query is multiplied by, then of a key; Llama has no such norms.
    heads: Option<Parameter>,
}

impl AttentionNorms {
    /// Adds them to the plan of a network.
    pub fn plan(plan: &mut Plan, layer: &str, shape: BlockShape, has_head_norms: bool) -> Self {
        let input = Norm::plan(plan, format!("{layer}.input_layernorm.weight"), shape.width);
        let heads =
            ["q", "k"].map(|part| (format!("{layer}.self_attn.{part}_norm.weight").into(), 1));
        let heads = has_head_norms.then(|| plan.add_stacked(heads, shape.head_dim, Initial::One));
        Self { input, heads }
    }
}

/// What it remembers for the backward pass.
#[derive(Debug)]
pub struct SelfAttentionBuffers<D: Device> {
    /// The stream that entered; nothing if nothing is learnt.
    input: Reals<D>,
    normed: Halves<D>,
    /// Queries, keys and values.
    joined: Halves<D>,
    /// Queries and keys, rotated, and normalised where there are norms.
    rotated: Halves<D>,
    /// What all heads have read.
    read: Halves<D>,
    /// The logarithm of the sum of each softmax. The weights themselves are computed again for the backward
    /// pass: those of all heads of all blocks would be most of the memory of a step.
    log_sums: Reals<D>,
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
    ) -> Result<SelfAttentionBuffers<D>> {
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
        weights: Mixed<'_, D>,
        stream: &mut Reals<D>,
        buffers: &mut SelfAttentionBuffers<D>,
        (places, number): (&Places<D>, u32),
    ) {
        let device = weights.device;
        let SelfAttentionBuffers { input, normed, joined, rotated, read, log_sums } = buffers;
        let copy = (!input.is_empty()).then(|| input.all_mut());
        self.norms.input.forward(weights, normed.all_mut(), copy, stream.all());
        self.joined.forward(weights, joined.all_mut(), normed.all());
        device.rotate(rotated.all_mut(), self.rotation(weights, joined, places));
        let attention = self.attention(rotated, joined, places);
        device.attention(read.all_mut(), log_sums.all_mut(), attention);
        places.drop_halves(device, read.all_mut(), number);
        self.output.forward_and_add(weights, stream.all_mut(), read.all());
    }

    fn rotation<'a, D: Device>(
        &self,
        weights: Mixed<'a, D>,
        joined: &'a Halves<D>,
        places: &'a Places<D>,
    ) -> Rotation<'a, Reals<D>, Halves<D>> {
        let BlockShape { heads, head_dim: dim, .. } = self.shape;
        let scales = self.norms.heads.as_ref().map(|scales| scales.of(weights.values));
        Rotation { from: joined.all(), scales, angles: places.angles.all(), heads, dim }
    }

    /// What the heads read.
    fn attention<'a, D: Device>(
        &self,
        rotated: &'a Halves<D>,
        joined: &'a Halves<D>,
        places: &'a Places<D>,
    ) -> Attention<'a, Halves<D>, Indices<D>> {
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
        (weights, gradients): (Mixed<'_, D>, &mut Reals<D>),
        gradient: &mut Reals<D>,
        buffers: &SelfAttentionBuffers<D>,
        (places, scratch, number): (&Places<D>, &mut Scratch<D>, u32),
    ) {
        let device = weights.device;
        let (width, n, dim) = (self.shape.width, places.n(), self.shape.heads_dim());
        let SelfAttentionBuffers { input, normed, joined, rotated, read, log_sums } = buffers;
        let Scratch { above, wide, narrow, normed: of_normed, deltas } = scratch;
        let mut of_read = of_normed.slice_mut(0..n * dim);
        self.output.backward(weights, gradients, of_read.reborrow(), [read.all(), above.all()]);
        places.drop_halves(device, of_read.reborrow(), number);
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
        let rotation = self.rotation(weights, joined, places);
        let scales = self.norms.heads.as_ref().map(|scales| scales.of_mut(gradients));
        device.rotate_backward(of_joined.reborrow(), scales, rotation, of_rotated.read());
        let mut of_normed = of_normed.slice_mut(0..n * width);
        let read = [normed.all(), of_joined.read()];
        self.joined.backward(weights, gradients, of_normed.reborrow(), read);
        let read = (input.all(), of_normed.read());
        let into = (gradient.all_mut(), above.all_mut());
        self.norms.input.backward(weights, gradients, into, read);
    }
}

/// The values of all heads, the last of the three parts of rows of some numbers in all.
fn values_layout(len: usize, shape: BlockShape) -> Layout {
    let (columns, row_stride) = (shape.heads_dim(), 3 * shape.heads_dim());
    Layout { rows: len / row_stride, columns, row_stride, batch: 1, batch_stride: len }
}
