//! The Children's Book Test (§2): cloze questions from books, and the files that hold them.
//!
//! Everything before a [`Question`] makes questions; everything after it reads them. A [`Question`]
//! holds neither the answer nor the word class, so no model can look at them; an [`Example`] holds both.

mod anonymise;
mod build;
mod build_error;
mod candidates;
mod case;
mod classes;
mod counts;
#[cfg(test)]
mod fixtures;
mod id;
mod leaks;
mod question;
mod rules;
mod seeds;
mod set;
mod splits;
mod statistics;

pub use anonymise::{Anonymiser, anonymise};
pub use build::{BookQuestions, Builder, Built, Instance};
pub use build_error::BuildError;
pub use classes::Classifier;
pub use counts::{Counts, Shortfall};
pub use leaks::{CandidateFaults, Duplicates, Leaks, Overlap, Sameness};
pub use question::{Example, Question, Split, WordClass};
pub use rules::{CandidateOrder, FillUp, Per, Rules};
pub use set::{BLANK, BLANK_WORD, BookText, NewQuestion, QuestionSet};
pub use splits::{SplitFile, draw_splits};
pub use statistics::{PUBLISHED, PUBLISHED_VOCABULARY, SplitStatistics, Statistics, Totals};
