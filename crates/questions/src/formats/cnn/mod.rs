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
//! | the names of the entities | nothing: no model may see them |
//!
//! Memory holds the set and a few megabytes per thread, whatever the size of the files.
//!
//! Chosen: candidates are the entities of the article, not those that only the query has, since no system of
//! the paper could choose them.

pub(crate) mod article;
mod chunks;
pub(crate) mod folder;
mod lines;
mod numbering;
mod question_file;
#[cfg(test)]
mod tests;

pub use folder::{question_files, read_file, read_files};
pub use lines::{is_news, read_lines};
