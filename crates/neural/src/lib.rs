//! Language models that are networks (§3, lexical memory; §4.4): given the words before it, how probable
//! is a word? They know numbers of words, never spellings.
//!
//! ```text
//! text ──streams, runs──▶ batches
//!                            ▼
//! layers ──▶ networks (lstm_lm, lexical_memory) ──step──▶ optimiser
//!   ▲                        └──fill──▶ probabilities of the words that fill blanks
//! Parameters, on a Device ◀────────────────────────────────────┘
//! ```

mod cloze;
mod contexts;
mod convolutional_attention;
mod embedding;
mod error;
#[cfg(test)]
mod gradients;
mod hops;
mod lexical_cloze;
mod lexical_memory;
mod lstm;
mod lstm_cloze;
mod lstm_lm;
mod network;
mod optimiser;
mod output;
mod parameters;
mod runs;
mod sampling;
mod scoring;
mod softmax;
mod streams;

pub use cloze::{Cloze, FillsBlanks};
pub use contexts::Contexts;
pub use convolutional_attention::{Attention, ConvolutionalAttention, Joining, Looking, Order};
pub use embedding::Embedding;
pub use error::{Error, Result};
pub use hops::{Hopping, Hops};
pub use lexical_memory::{LexicalConfig, LexicalMemory};
pub use lstm::{LstmLayer, Pass, States};
pub use lstm_lm::{LstmConfig, LstmLm, Window};
pub use network::{Network, Tables};
pub use optimiser::{Method, Optimiser};
pub use output::Output;
pub use parameters::{Initial, Parameter, Parameters, Plan};
pub use runs::Runs;
pub use sampling::{Sample, SampledSoftmax, Sampler};
pub use softmax::{Scores, Softmax};
pub use streams::{Streams, Text};

/// The hash of this crate's code, without comments and tests: what is learnt with it depends on it.
pub const SOURCES: &str = env!("GOLDILOCKS_SOURCES");
