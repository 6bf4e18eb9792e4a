//! CNN QA, the second data set of the paper (§5.1; Hermann et al. 2015): `.question` files in their folders, and
//! JSON lines → [`QuestionSet`](crate::QuestionSet).
//!
//! A question is a news article, a bullet point of its summary with an entity missing, and the entities of the
//! article as candidates: `@entity0`, `@entity1`, … in the order of their numbers, 26 on average.
//!
//! | of the file | becomes |
//! |---|---|
//! | article | the context: a sentence ends with the word `.`, `?` or `!` |
//! | query with `@placeholder` | the query with [`BLANK_WORD`](crate::BLANK_WORD) |
//! | URL | the book; its running text is the article, which is stored once for all its questions |
//! | `training`, `validation`, `test` (folder or key) | the split |
//! | what the entities are called | nothing: no model may see it |
//!
//! Memory holds the set and a few megabytes a thread, whatever the size of the files.
//!
//! Chosen: candidates are the entities of the article, not those that stand in the query alone, since no system of
//! the paper could choose them.

pub(crate) mod article;
pub(crate) mod folder;
mod lines;
mod numbering;
mod question_file;
mod reading;
#[cfg(test)]
mod tests;

pub use folder::{files, read_file, read_folder};
pub use lines::{is_news, read_lines};
