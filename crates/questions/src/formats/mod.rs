//! Files and folders ↔ question sets; question sets → Arrow.

#[cfg(feature = "arrow")]
pub mod arrow;
pub(crate) mod assemble;
pub(crate) mod base128;
pub mod cbt;
pub mod cnn;
pub mod compact;
pub(crate) mod empty_fields;
#[cfg(feature = "parquet")]
pub(crate) mod hugging_face;
pub mod json;
pub mod jsonl;
pub(crate) mod lm_eval;
pub(crate) mod merge;
pub(crate) mod open;
pub(crate) mod output;
#[cfg_attr(not(feature = "parquet"), path = "parquet/absent.rs")]
pub mod parquet;
pub(crate) mod running_text;
pub(crate) mod sentence;
pub mod shards;
pub(crate) mod write;
