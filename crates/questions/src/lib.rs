//! The Children's Book Test (§2): cloze questions from books, and the files that hold them.
//!
//! Everything before a [`Question`] makes questions; everything after it reads them. A [`Question`]
//! holds neither the answer nor the word class, so no model can look at them; an [`Example`] holds both.

mod anonymise;
mod assemble;
mod base128;
mod build;
mod candidates;
mod case;
pub mod cbt;
mod checked_pages;
mod classes;
pub mod cnn;
pub mod compact;
mod counts;
mod error;
#[cfg(test)]
mod fixtures;
mod flaw;
mod id;
pub mod jsonl;
mod leaks;
mod merge;
mod nearest;
mod open;
mod output;
pub mod parquet;
mod question;
mod rules;
mod running_text;
mod seeds;
mod sentence;
mod set;
mod splits;
mod statistics;
mod write;

pub use anonymise::{Anonymiser, anonymise};
pub use base128::Damage;
pub use build::{BookQuestions, Builder, Built, Instance};
pub use counts::{Counts, Shortfall};
pub use error::{At, Error, Result};
pub use flaw::Flaw;
pub use leaks::{CandidateFaults, Duplicates, Leaks, Overlap, Sameness};
pub use nearest::nearest;
pub use open::{OpenOptions, Warnings};
pub use output::write_file;
pub use question::{Example, Question, Split, WordClass};
pub use rules::{CandidateOrder, FillUp, Per, Rules};
pub use running_text::BOOK_TITLE;
pub use set::{BLANK, BLANK_WORD, BookText, NewQuestion, QuestionSet};
pub use splits::{SplitFile, draw_splits};
pub use statistics::{PUBLISHED, PUBLISHED_VOCABULARY, SplitStatistics, Statistics, Totals};
pub use write::Format;
