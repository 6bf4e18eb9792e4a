//! The words of a question set → a model's own numbers for them.

pub(crate) mod case;
pub(crate) mod dictionary;
pub(crate) mod lexicon;
pub(crate) mod lowercase;
pub(crate) mod running_text;
pub(crate) mod word_list;
