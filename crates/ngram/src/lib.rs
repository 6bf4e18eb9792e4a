//! N-gram language models with modified, interpolated Kneser-Ney smoothing (§4.2; Chen & Goodman 1998).
//!
//! ```text
//! sentences ──text──▶ Text ──sorted──▶ SortedText ──counts──▶ Grams ──discounts──▶ ┐
//!                                                  └──pruning──▶ probabilities ┴▶ Table ──encode──▶ Model
//!                                                                       ARPA ◀──▶ Table
//! ```
//!
//! A [`Table`] has every n-gram with its probability and its backoff; a [`Model`] is the same in the bytes of
//! the model file, memory-mapped, and can be queried: word by word, or whole sentences at once with a
//! [`SentenceScorer`]. A [`LargeText`] takes the same way on disk, within a limit of memory, to the same bytes. All
//! probabilities are natural logarithms; ARPA files have decimal ones.
//!
//! ```
//! use goldilocks_ngram::{Model, Options, Text, estimate};
//!
//! let mut text = Text::default();
//! text.push("the bear ate the soup".split(' '))?;
//! text.push("the bear slept".split(' '))?;
//! let estimate = estimate(&text.sort(3)?, &Options { order: 3, ..Options::default() })?;
//! let model = Model::new(&estimate.table, false)?;
//! let score = |words: &str| model.log_probs(words.split(' ')).iter().sum::<f32>();
//! assert!(score("the bear ate the soup") > score("the soup ate the bear"));
//! # Ok::<(), goldilocks_ngram::Error>(())
//! ```

mod arpa;
mod counts;
mod discounts;
mod disk;
mod encode;
mod error;
mod estimate;
mod file;
mod model;
#[cfg(test)]
mod naive;
mod packed;
mod probabilities;
mod pruning;
mod quantise;
mod sentences;
mod slots;
mod sorted;
mod table;
mod text;

pub use arpa::{read_arpa, write_arpa};
pub use discounts::{Discounts, Fallback};
pub use disk::{LargeEstimate, LargeText, Limits, Stage};
pub use error::{Error, Result};
pub use estimate::{Estimate, Options, estimate};
pub use model::{Model, State};
pub use pruning::Pruning;
pub use sentences::SentenceScorer;
pub use sorted::SortedText;
pub use table::{Level, Table};
pub use text::{END, START, Text, TokenId, UNKNOWN};

/// The hash of this crate's code, without comments and tests: what is learnt with it depends on it.
pub const SOURCES: &str = env!("GOLDILOCKS_SOURCES");

/// The longest n-grams that can be estimated or read.
pub const MAX_ORDER: usize = 6;
