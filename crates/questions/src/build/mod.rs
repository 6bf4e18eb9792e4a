//! Books → questions (§2): which words can be asked for, with which candidates, in which split.

mod builder;
mod candidates;
pub(crate) mod case;
mod classes;
pub(crate) mod counts;
mod near_copies;
mod python_set;
pub(crate) mod rules;
mod splits;

pub use builder::{Blank, BookQuestions, BuildOutput, Builder};
pub use counts::{Counts, Sampler, Shortfall};
pub use near_copies::{NEAR_COPY, NearCopy, near_copies, near_copies_of};
pub use rules::{CandidateOrder, Complement, FillUp, RepeatedWords, Rules};
pub use splits::{SplitFile, SplitShares, draw_splits, draw_splits_of_groups, hash_split};
