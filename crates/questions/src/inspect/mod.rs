//! What a question set holds (Table 1), and what its splits share that they should not.

mod held_out;
mod leaks;
pub(crate) mod shared_ngrams;
mod statistics;

pub use held_out::HeldOut;
pub use leaks::{CandidateFaults, DuplicateKind, Duplicates, Leaks, Overlap};
pub use statistics::{SplitStatistics, Statistics, Totals};
