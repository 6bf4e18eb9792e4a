//! Language models that are networks (§3, lexical memory; §4.4): given the words before it, how probable
//! is a word? They know numbers of words, never spellings.

mod error;
mod streams;
mod window;

pub use error::{Error, Result};
pub use streams::{Streams, Text};
pub use window::{NONE, Window};
