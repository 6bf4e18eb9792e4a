//! N-gram language models (§4.2): Kneser-Ney, alone and with a cache.

pub(crate) mod cache;
pub(crate) mod language_model;
pub(crate) mod plain;
