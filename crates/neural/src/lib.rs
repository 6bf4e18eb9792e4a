//! Language models that are networks (§3, lexical memory; §4.4): given the words before it, how probable
//! is a word? They know numbers of words, never spellings.
//!
//! ```text
//! layers (embedding, lstm, softmax, sampling) ──▶ networks (lstm_lm) ──step──▶ optimiser
//!                  Parameters, on a Device ◀──────────────────────────────────────┘
//! ```

mod cloze;
mod embedding;
mod error;
#[cfg(test)]
mod gradients;
mod lstm;
mod lstm_cloze;
mod lstm_lm;
mod network;
mod optimiser;
mod parameters;
mod sampling;
mod scoring;
mod softmax;
mod streams;

pub use cloze::{Cloze, FillsBlanks};
pub use embedding::Embedding;
pub use error::{Error, Result};
pub use lstm::{LstmLayer, Pass, States};
pub use lstm_lm::{LstmConfig, LstmLm, Window};
pub use network::{Network, Tables};
pub use optimiser::{Method, Optimiser};
pub use parameters::{Initial, Parameter, Parameters, Plan};
pub use sampling::{Sample, SampledSoftmax, Sampler};
pub use softmax::{Scores, Softmax};
pub use streams::{Streams, Text};
