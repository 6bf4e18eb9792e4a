//! Sets of any size, in shards: a plan, a pure function of a shard, and a merge.
//!
//! ```text
//! books ──plan──▶ plan.toml ──build_shard 0, 1, 2, …──▶ data/*.parquet + receipts ──merge──▶ merged.toml
//! ```
//!
//! The number of shards belongs to the plan, and a shard is one file of a fixed name with the same bytes wherever it
//! is built. So any scheduler will do, a task may run twice, and what was interrupted is resumed by running it again.

mod candidates;
mod files;
mod hashes;
mod merge;
mod parts;
mod plan;
mod receipt;
mod shard;
mod shards;
mod survey;
mod thin;

pub use merge::{MERGED, MergedSet, merge};
pub use parts::SetParts;
pub use plan::{PLAN, Plan, PlanOptions, PlannedBook, Shard, plan};
pub use receipt::{Receipt, ShardBook};
pub use shard::{ShardOutcome, build_shard, build_shards};
pub use shards::{AnswerFolder, Shards, prediction_files};

#[cfg(all(test, feature = "parquet"))]
mod tests;
