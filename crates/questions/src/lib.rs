//! The Children's Book Test (§2): cloze questions from books, and the files that hold them.
//!
//! Everything before a [`Question`] makes questions; everything after it reads them. A [`Question`]
//! holds neither the answer nor the word class, so no model can look at them; an [`Example`] holds both.

mod id;
mod question;
mod set;

pub use question::{Example, Question, Split, WordClass};
pub use set::{BLANK, BLANK_WORD, BookText, NewQuestion, QuestionSet};
