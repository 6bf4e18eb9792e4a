//! What every method promises: question → one score per candidate; how it is trained, set, saved and loaded.

pub(crate) mod answering;
pub(crate) mod error;
pub(crate) mod explanation;
pub(crate) mod folder;
pub(crate) mod method;
pub(crate) mod settings;
pub(crate) mod training;
