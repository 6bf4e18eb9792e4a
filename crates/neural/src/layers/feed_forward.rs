//! A block's second part: each place by itself, through hidden numbers with gates (Shazeer 2020).
//!
//! ```text
//! stream ──norm──▶ gates and ups ──SwiGLU──▶ hidden ──dropout──▶ down ──▶ + stream
//! ```

use numerics::device::{Array, Backend, Device, Halves, Reals};

use super::blocks::{BlockShape, Mixed, Places, Scratch, if_learning};
use super::{Linear, Norm};
use crate::Result;
use crate::weights::{Initial, Plan};

/// The second part of a block.
#[derive(Clone, Debug)]
pub struct FeedForward {
    norm: Norm,
    gate_up: Linear,
    down: Linear,
    shape: BlockShape,
}

/// What it remembers for the backward pass.
#[derive(Debug)]
pub struct FeedForwardBuffers<D: Device> {
    /// The stream that entered; nothing if nothing is learnt.
    input: Reals<D>,
    normed: Halves<D>,
    gate_up: Halves<D>,
    hidden: Halves<D>,
}

impl FeedForward {
    /// Adds its matrices to the plan of a network; the norm is there already.
    pub fn plan(plan: &mut Plan, layer: &str, norm: Norm, shape: BlockShape) -> Self {
        let (width, hidden) = (shape.width, shape.feed_forward);
        let name = |name: &str| format!("{layer}.mlp.{name}_proj.weight");
        let gate_up = [(name("gate").into(), hidden), (name("up").into(), hidden)];
        let gate_up = Linear { matrix: plan.add_stacked(gate_up, width, shape.initial()) };
        let down = Linear { matrix: plan.add(name("down"), [width, hidden], Initial::Zero) };
        Self { norm, gate_up, down, shape }
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
    ) -> Result<FeedForwardBuffers<D>> {
        let BlockShape { width, feed_forward, .. } = self.shape;
        Ok(FeedForwardBuffers {
            input: device.zeros(if_learning(is_learning, n * width))?,
            normed: device.zeros(n * width)?,
            gate_up: device.zeros(2 * n * feed_forward)?,
            hidden: device.zeros(n * feed_forward)?,
        })
    }

    /// Adds to the stream.
    pub fn forward<D: Backend>(
        &self,
        weights: Mixed<'_, D>,
        stream: &mut Reals<D>,
        buffers: &mut FeedForwardBuffers<D>,
        (places, number): (&Places<D>, u32),
    ) {
        let device = weights.device;
        let FeedForwardBuffers { input, normed, gate_up, hidden } = buffers;
        let copy = (!input.is_empty()).then(|| input.all_mut());
        self.norm.forward(weights, normed.all_mut(), copy, stream.all());
        self.gate_up.forward(weights, gate_up.all_mut(), normed.all());
        device.swiglu(hidden.all_mut(), gate_up.all(), self.shape.feed_forward);
        places.drop_halves(device, hidden.all_mut(), number);
        self.down.forward_and_add(weights, stream.all_mut(), hidden.all());
    }

    /// The gradient of the stream: after → before.
    pub fn backward<D: Backend>(
        &self,
        (weights, gradients): (Mixed<'_, D>, &mut Reals<D>),
        gradient: &mut Reals<D>,
        buffers: &FeedForwardBuffers<D>,
        (places, scratch, number): (&Places<D>, &mut Scratch<D>, u32),
    ) {
        let (device, n) = (weights.device, places.n());
        let BlockShape { width, feed_forward, .. } = self.shape;
        let FeedForwardBuffers { input, normed, gate_up, hidden } = buffers;
        let Scratch { above, wide, narrow, normed: of_normed, .. } = scratch;
        let mut of_hidden = narrow.slice_mut(0..n * feed_forward);
        self.down.backward(weights, gradients, of_hidden.reborrow(), [hidden.all(), above.all()]);
        places.drop_halves(device, of_hidden.reborrow(), number);
        let mut of_gate_up = wide.slice_mut(0..2 * n * feed_forward);
        let of_hidden = of_hidden.read();
        device.swiglu_backward(of_gate_up.reborrow(), gate_up.all(), of_hidden, feed_forward);
        let mut of_normed = of_normed.slice_mut(0..n * width);
        let read = [normed.all(), of_gate_up.read()];
        self.gate_up.backward(weights, gradients, of_normed.reborrow(), read);
        let read = (input.all(), of_normed.read());
        let into = (gradient.all_mut(), above.all_mut());
        self.norm.backward(weights, gradients, into, read);
    }
}
