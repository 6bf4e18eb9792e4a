//! Question → memories (§3.1): windows, sentences, words; how they are encoded and compared.

pub(crate) mod composition;
pub(crate) mod format;
pub(crate) mod matching;
pub(crate) mod windows;
