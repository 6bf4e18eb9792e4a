//! Language models that are networks (§3, lexical memory; §4.4): given the words before it, how probable
//! is a word? They know numbers of words, never spellings.

mod cloze;
mod error;
mod lstm_cloze;
mod streams;

pub use cloze::{Cloze, FillsBlanks};
pub use error::{Error, Result};
pub use streams::{Streams, Text};
