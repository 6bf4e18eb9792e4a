//! A block's second half: each place by itself, through hidden numbers with gates (Shazeer 2020).
//!
//! ```text
//! stream ──norm──▶ gates and ups ──SwiGLU──▶ hidden ──dropout──▶ down ──▶ + stream
//! ```

use numerics::device::{Array, Backend, Reals};

use super::blocks::{BlockShape, Places, Scratch, if_learning};
use super::{Linear, Norm};
use crate::Result;
use crate::weights::{Initial, Plan, Weights};

/// The second half of a block.
#[derive(Clone, Debug)]
pub struct FeedForward {
    norm: Norm,
    gate_up: Linear,
    down: Linear,
    shape: BlockShape,
}

/// What it remembers for the backward pass.
#[derive(Debug)]
pub struct FeedForwardBuffers<A> {
    /// The stream that entered; nothing if nothing is learnt.
    input: A,
    normed: A,
    gate_up: A,
    hidden: A,
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
    ) -> Result<FeedForwardBuffers<Reals<D>>> {
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
        weights: &Weights<D>,
        stream: &mut Reals<D>,
        buffers: &mut FeedForwardBuffers<Reals<D>>,
        (places, number): (&Places<D>, u32),
    ) {
        let device = &weights.device;
        let BlockShape { width, feed_forward, .. } = self.shape;
        let FeedForwardBuffers { input, normed, gate_up, hidden } = buffers;
        if !input.is_empty() {
            device.copy(input.all_mut(), stream.all());
        }
        self.norm.forward(weights, normed.all_mut().rows_of(width), stream.all().rows_of(width));
        self.gate_up.forward(weights, (gate_up.all_mut(), 0.0), normed.all());
        device.swiglu(hidden.all_mut(), gate_up.all(), feed_forward);
        places.drop(device, hidden, number);
        self.down.forward(weights, (stream.all_mut(), 1.0), hidden.all());
    }

    /// The gradient of the stream: after → before.
    pub fn backward<D: Backend>(
        &self,
        (weights, gradients): (&Weights<D>, &mut Reals<D>),
        gradient: &mut Reals<D>,
        buffers: &FeedForwardBuffers<Reals<D>>,
        (places, scratch, number): (&Places<D>, &mut Scratch<Reals<D>>, u32),
    ) {
        let device = &weights.device;
        let BlockShape { width, feed_forward, .. } = self.shape;
        let n = places.n();
        let FeedForwardBuffers { input, normed, gate_up, hidden } = buffers;
        let [wide, narrow, of_normed, _] = scratch.get();
        let mut of_hidden = narrow.slice_mut(0..n * feed_forward);
        let read = [hidden.all(), gradient.all()];
        self.down.backward(weights, gradients, of_hidden.reborrow(), read);
        places.drop_slice(device, of_hidden.reborrow(), number);
        let mut of_gate_up = wide.slice_mut(0..2 * n * feed_forward);
        let of_hidden = of_hidden.read();
        device.swiglu_backward(of_gate_up.reborrow(), gate_up.all(), of_hidden, feed_forward);
        let mut of_normed = of_normed.slice_mut(0..n * width);
        let read = [normed.all(), of_gate_up.read()];
        self.gate_up.backward(weights, gradients, of_normed.reborrow(), read);
        let into = (gradient.all_mut().rows_of(width), 1.0);
        let read = [input.all(), of_normed.read()].map(|rows| rows.rows_of(width));
        self.norm.backward(weights, gradients, into, read);
    }
}
