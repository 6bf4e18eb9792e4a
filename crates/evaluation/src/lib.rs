//! Predictions in, honest figures out (§4 and §5): accuracy with its interval, pairs of models,
//! ensembles, people.
//!
//! Everything here reads [`Predictions`], never a model, so ensembles, people and other programs are
//! evaluated in the same way.
//!
//! | module | input → output |
//! |---|---|
//! | [`predictions`] | JSON lines ⇄ [`Predictions`] |
//! | `arrow` | predictions → Arrow record batches, with the feature of that name |
//! | [`check`] | predictions and a question set → [`MatchedPredictions`], or what does not fit |
//! | [`accuracy`] | predictions → [`Results`]: accuracy per class with its Wilson interval |
//! | [`Tally`] | predictions read file by file → [`Results`] |
//! | [`seeds`] | results of several seeds → mean and standard deviation |
//! | [`compare`](mod@compare) | two predictions of the same questions → McNemar, clustered bootstrap, Holm |
//! | [`Difference`] | a figure of the paper and ours → the difference and its interval |
//! | [`ensemble`], [`combine`](mod@combine) | predictions of several models → predictions |
//! | [`exclusion`] | predictions → predictions without candidates that are in the query |
//! | [`humans`] | people's answers → predictions, agreement between annotators |
//! | [`breakdown`] | accuracy by book, by position and frequency of the answer; what all models miss |
//!
//! ```
//! let lines = r#"
//! {"id": "1", "class": "V", "split": "test", "candidates": ["ran", "sat"], "scores": [2, 1], "answer": "ran"}
//! {"id": "2", "class": "V", "split": "test", "candidates": ["ran", "sat"], "scores": [3, 3], "answer": "ran"}
//! "#;
//! let predictions = goldilocks_evaluation::Predictions::from_text("mine.jsonl", lines.trim())?;
//! let results = goldilocks_evaluation::evaluate(&predictions)?;
//! // One right, one tied with another: (1 + ½) / 2.
//! assert_eq!(results[0].classes.all.accuracy, 0.75);
//! # Ok::<(), goldilocks_evaluation::Error>(())
//! ```

pub mod accuracy;
mod aligned;
#[cfg(feature = "arrow")]
pub mod arrow;
pub mod bootstrap;
pub mod breakdown;
pub mod check;
pub mod combine;
pub mod compare;
mod difference;
pub mod ensemble;
mod error;
pub mod exclusion;
pub mod humans;
mod jsonl;
pub mod predictions;
pub mod seeds;
mod selection;
mod tally;
#[cfg(test)]
mod testing;

pub use accuracy::{Accuracy, Results, evaluate};
pub use base::ByClass;
pub use check::{MatchedPredictions, QuestionIndex, check_against};
pub use combine::{Combination, combine};
pub use compare::{Comparison, PairedDifference, Resampling, compare};
pub use difference::Difference;
pub use error::{Error, LineError};
pub use exclusion::exclude_cooccurrences;
pub use humans::{Agreement, HumanAnswer, People, Person};
pub use predictions::{Prediction, Predictions};
pub use seeds::{SeedResults, Spread, over_seeds};
pub use tally::Tally;
