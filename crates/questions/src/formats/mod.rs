//! Files and folders ↔ question sets.

pub(crate) mod assemble;
pub(crate) mod base128;
pub mod cbt;
mod checked_pages;
pub mod cnn;
pub mod compact;
pub mod jsonl;
pub(crate) mod merge;
pub(crate) mod open;
pub(crate) mod output;
pub mod parquet;
pub(crate) mod running_text;
pub(crate) mod sentence;
pub(crate) mod write;
