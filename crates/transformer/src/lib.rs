//! Given the tokens before it, how probable is a token, according to a Transformer that somebody else has
//! trained?
//!
//! ```text
//! config.json ─────────▶ Config ┐
//! model*.safetensors ─▶ Weights ┼▶ Checkpoint ──reader──▶ Reader: a text and its branches → Σ ln p of each
//! tokenizer.json ──────▶ Tokens ┘
//! ```
//!
//! A [`Checkpoint`] is a folder in Hugging Face's layout, of the families Llama and Qwen3. Everything is
//! computed in `f32` on the processor, one [`Reader`] on one thread, so scores are the same for any number of
//! threads. What would change the figures and is not known here is refused by name, never ignored. For other devices a
//! network is taken apart, [`Parts`].

mod checkpoint;
mod config;
mod error;
mod export;
mod files;
mod network;
mod parts;
mod reader;
mod tensors;
mod tokens;
mod weights;

pub use checkpoint::{Checkpoint, Hashes};
pub use config::Architecture;
pub use error::{Error, Result};
pub use export::export;
pub use files::Files;
pub use parts::Parts;
pub use reader::{Branch, Reader};
pub use tensors::NumberFormat;

/// The hash of the code that scores depend on, without comments and tests.
pub const SOURCES: &str = env!("GOLDILOCKS_SOURCES");
