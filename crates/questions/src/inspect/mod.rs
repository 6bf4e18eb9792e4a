//! What a question set holds (Table 1), and what its splits share that they should not.

mod held_out;
mod known_books;
mod leaks;
pub(crate) mod shared_ngrams;
mod statistics;

pub use held_out::HeldOut;
pub use known_books::{BookSketch, KnownBooks};
pub use leaks::{
    CandidateFaults, DuplicateKind, Duplicates, Leaks, Overlap, RepeatCounts, candidate_faults,
    count_repeats, duplicates, overlaps, question_hashes,
};
pub use shared_ngrams::{PairCounts, count_shared, n_shared, ngrams_of_text};
pub use statistics::{PartialStatistics, SplitStatistics, Statistics, Totals};
