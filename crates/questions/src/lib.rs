//! The Children's Book Test (§2): cloze questions from books, and the files that hold them.
//!
//! Everything before a [`Question`] makes questions; everything after it reads them. A [`Question`]
//! holds neither the answer nor the word class, so no model can look at them; an [`Example`] holds both.

mod assemble;
mod atomic;
mod base128;
pub mod cbt;
pub mod compact;
mod error;
#[cfg(test)]
mod fixtures;
mod id;
pub mod jsonl;
mod merge;
mod open;
pub mod parquet;
mod question;
mod running_text;
mod sentence;
mod set;
mod write;

pub use atomic::{write_file, write_folder};
pub use base128::Damage;
pub use error::{At, Error, Flaw, Result};
pub use open::{OpenOptions, Warnings};
pub use question::{Example, Question, Split, WordClass};
pub use set::{BLANK, BLANK_WORD, BookText, NewQuestion, QuestionSet};
pub use write::Format;
