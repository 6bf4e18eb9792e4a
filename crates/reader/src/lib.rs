//! How does a Transformer learn to read stories? Books and questions → a folder in Hugging Face's layout, a plain
//! language model whose score of a candidate is ln p from it to the end of the query.
//!
//! ```text
//! set, further books ──prepare──▶ tokenizer, text, questions in pieces ──train──▶ weights ──export──▶ folder
//!                                   (working folder, with checkpoints)
//! ```
//!
//! | file | holds |
//! | --- | --- |
//! | `prepare`, `plain`, `pieces`, `passages` | text and questions → pieces |
//! | `rows`, `choices` | pieces → what a step learns from |
//! | `train`, `tune`, `working` | steps on text and on questions, and what is kept of them |
//! | `answering` | a network on a device, ours or one of the same layout, that answers |
//! | `score`, `export` | what was learnt: accuracy, and the folder |

mod answering;
mod choices;
mod compute;
mod config;
mod error;
mod export;
mod files;
mod passages;
mod pieces;
mod plain;
mod prepare;
mod rows;
mod score;
mod train;
mod tune;
mod working;

pub use answering::{Answerer, ROW};
pub use compute::Compute;
pub use config::Config;
pub use error::{Error, Result};
pub use export::export;
pub use passages::{Choice, Key, Passage};
pub use pieces::{DOCUMENT, Pieces};
pub use prepare::{Index, Prepared, SKETCHES, Sources, prepare};
pub use score::Accuracy;
pub use train::{Budget, Outcome, Place, Trained, train};
pub use working::CurvePoint;

/// The hash of this crate's code, without comments and tests: what is learnt with it depends on it.
pub const SOURCES: &str = env!("GOLDILOCKS_SOURCES");

/// What a training reports.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// Something begins that takes a while.
    Stage {
        /// What it is.
        what: String,
    },
    /// How far a training is.
    Progress(Progress),
    /// A loss or accuracy on validation, in words.
    Note(String),
}

/// How far a training is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// `pretrain` or `tune`.
    pub phase: &'static str,
    /// Steps done.
    pub step: u64,
    /// Of how many, once that is known.
    pub steps: Option<u64>,
    /// The mean loss since the last report.
    pub loss: f64,
    /// Pieces per second, if there is a clock.
    pub per_second: Option<f64>,
    /// Seconds that are left, if there is a clock.
    pub left: Option<f64>,
}

/// Listens to a training.
pub trait Reporter: Sync {
    /// Receives an event.
    fn report(&self, event: Event);

    /// Whether the training should stop, its checkpoint written.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Reads a clock, in seconds from any start.
    fn seconds(&self) -> Option<f64> {
        None
    }
}

impl<F: Fn(Event) + Sync> Reporter for F {
    fn report(&self, event: Event) {
        self(event);
    }
}
