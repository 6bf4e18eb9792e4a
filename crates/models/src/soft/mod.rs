//! Embedding models (§4.3) and memory networks with soft attention (§3.2).

pub(crate) mod attention;
pub(crate) mod candidate_softmax;
pub(crate) mod dictionary_softmax;
pub(crate) mod embedding;
pub(crate) mod memory_network;
pub(crate) mod model;
pub(crate) mod network;
pub(crate) mod settings;
pub(crate) mod tables;
