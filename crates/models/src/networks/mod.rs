//! Neural language models (§4.4) and the lexical memory (§3): settings → network, question → text with a
//! blank.
//!
//! A [`family::NetworkFamily`] says what a network is made of and what it reads; `device` is the one place
//! where the kinds of devices meet.

pub(crate) mod answers;
pub(crate) mod contextual_lstm;
pub(crate) mod device;
pub(crate) mod family;
pub(crate) mod learner;
pub(crate) mod lexical_memory;
pub(crate) mod lstm;
pub(crate) mod settings;
#[cfg(test)]
pub(crate) mod tests;
