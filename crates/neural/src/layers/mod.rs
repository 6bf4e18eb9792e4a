//! Layers: places in the weights, the buffers that they need, and their forward and backward passes.

mod blocks;
mod convolutional_attention;
mod embedding;
mod feed_forward;
mod hop_layout;
mod hops;
mod linear;
mod lstm;
mod norm;
mod sampling;
mod self_attention;
mod softmax;
mod softmax_in_halves;

pub use blocks::{BlockShape, Mixed, Places, Scratch};
pub use convolutional_attention::{
    Attention, AttentionBuffers, ConvolutionalAttention, Merge, Order,
};
pub use embedding::{Embedding, Occurrences};
pub use feed_forward::{FeedForward, FeedForwardBuffers};
pub use hops::{HopBuffers, Hops};
pub use linear::Linear;
pub use lstm::{LstmBuffers, LstmLayer, States};
pub use norm::Norm;
pub use sampling::{Sample, SampledSoftmax, Sampler};
pub use self_attention::{AttentionNorms, SelfAttention, SelfAttentionBuffers};
pub use softmax::{ROWS, ScoreBuffers, Softmax, SoftmaxBuffers};

use numerics::device::{Device, Reals};

use crate::Result;

/// Numbers on a device and the gradient of the loss at each.
#[derive(Debug)]
pub struct WithGradient<A> {
    /// The numbers of the forward pass.
    pub value: A,
    /// The gradient of each of them.
    pub gradient: A,
}

/// Allocates numbers and their gradient; no gradient if nothing is learnt.
///
/// # Errors
/// If the device has too little memory.
fn with_gradient<D: Device>(
    device: &D,
    len: usize,
    is_learning: bool,
) -> Result<WithGradient<Reals<D>>> {
    let gradient = if is_learning { len } else { 0 };
    Ok(WithGradient { value: device.zeros(len)?, gradient: device.zeros(gradient)? })
}
