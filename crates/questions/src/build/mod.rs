//! Books → questions (§2): which words can be asked for, with which candidates, in which split.

mod builder;
mod candidates;
pub(crate) mod case;
mod classes;
pub(crate) mod counts;
mod python_set;
pub(crate) mod rules;
mod splits;

pub use builder::{Blank, BookQuestions, BuildOutput, Builder};
pub use counts::{Counts, Shortfall};
pub use rules::{CandidateOrder, Complement, FillUp, RepeatedWords, Rules};
pub use splits::{SplitFile, draw_splits};
