//! Language models that are networks (§3, lexical memory; §4.4): given the words before it, how probable is
//! a word? They know numbers of tokens, never spellings.
//!
//! ```text
//! text ──▶ batches ──▶ Training { network, weights, gradients, optimiser, buffers, graph } ──▶ Weights
//! a cloze text ───────▶ Answering { network, weights } ───────────────────────────────────▶ ln p per candidate
//! ```
//!
//! | folder | holds |
//! | --- | --- |
//! | `layers` | embedding, LSTM, attention over a context, hops, halves of a Transformer's block, softmax: places in the [`Weights`] and how they compute |
//! | `networks` | [`LstmLm`], [`LexicalMemory`], [`Decoder`] and [`Chooser`]: layers put together, and how they score a [`Cloze`] |
//! | `text` | running text as windows of streams, or runs of words with their memories |
//!
//! A [`Network`] is layers and settings; its numbers are in [`Weights`], on a device. Answering needs
//! nothing else. [`Training`] adds gradients, an optimiser and buffers, and does steps, losses and
//! checkpoints for all networks.

mod answering;
mod error;
#[cfg(test)]
mod gradients;
mod layers;
mod muon;
mod network;
mod networks;
mod optimiser;
mod text;
mod training;
mod weights;

pub use answering::{Answering, ClozeNetwork, ClozeScorer};
pub use error::{Error, Result};
pub use layers::{
    Attention, AttentionBuffers, BlockShape, ConvolutionalAttention, Embedding, HopBuffers, Hops,
    LstmBuffers, LstmLayer, Merge, Order, Sample, SampledSoftmax, Sampler, ScoreBuffers, Softmax,
    SoftmaxBuffers, States, WithGradient,
};
pub use network::{Mode, Network, StepContext};
pub use networks::{
    Batch, ChoiceBatch, Chooser, ChooserBuffers, ChooserConfig, Decoder, DecoderBuffers,
    DecoderConfig, LexicalConfig, LexicalMemory, LstmConfig, LstmLm, Window,
};
pub use optimiser::{Method, Optimiser};
pub use text::{Cloze, Contexts, Runs, Streams, Text};
pub use training::{Trainer, Training, TrainingConfig};
pub use weights::{Initial, Parameter, Plan, Tables, Weights};

/// The hash of this crate's code, without comments and tests: what is learnt with it depends on it.
pub const SOURCES: &str = env!("GOLDILOCKS_SOURCES");
