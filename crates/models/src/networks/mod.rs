//! Neural language models (§4.4) and the lexical memory (§3): settings → network, question → text with a blank.

pub(crate) mod answers;
pub(crate) mod contextual_lstm;
pub(crate) mod device;
pub(crate) mod learner;
pub(crate) mod lexical_memory;
pub(crate) mod lstm;
pub(crate) mod network;
pub(crate) mod settings;
