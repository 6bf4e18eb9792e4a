//! What every method promises.

pub(crate) mod answering;
pub(crate) mod curve;
pub(crate) mod device;
pub(crate) mod error;
pub(crate) mod folder;
pub(crate) mod method;
pub(crate) mod provenance;
pub(crate) mod scorer;
pub(crate) mod settings;
pub(crate) mod training;
