//! Files and folders ↔ question sets.

pub(crate) mod assemble;
pub(crate) mod base128;
pub mod cbt;
#[cfg(feature = "parquet")]
mod checked_pages;
pub mod cnn;
pub mod compact;
pub mod jsonl;
pub(crate) mod merge;
pub(crate) mod open;
pub(crate) mod output;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
pub mod parquet;
pub(crate) mod running_text;
pub(crate) mod sentence;
pub(crate) mod write;
