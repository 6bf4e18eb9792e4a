//! A question set → Table 1, and what leaks from split to split.

use std::path::Path;

use questions::{Leaks, QuestionSet, Statistics};
use serde::Serialize;

use crate::progress::during;
use crate::scale::SetParts;
use crate::{Program, Reporter, Result};

/// Pairs of books that share less than this are not listed.
pub const LEAST_SHARE: f64 = 0.01;

/// What is in a set.
#[derive(Debug, PartialEq, Serialize)]
pub struct SetStatistics {
    /// The figures of Table 1.
    pub statistics: Statistics,
    /// Text, questions and candidates that are shared.
    pub leaks: Leaks,
}

/// Counts a set in shards and looks for leaks, with a shard in memory at a time; see [`SetParts`] for many machines, and
/// [`SetParts::sampled`] for what `one_of` above 1 does.
///
/// # Errors
/// If the set is not planned and merged, or a shard or a book can't be read.
pub fn stats_of_shards(
    folder: &Path,
    one_of: u64,
    program: &Program,
    reporter: &dyn Reporter,
) -> Result<SetStatistics> {
    SetParts::open(folder, program)?.sampled(one_of).report(reporter)
}

/// Counts a set and looks for leaks.
pub fn stats(set: &QuestionSet, reporter: &dyn Reporter) -> SetStatistics {
    let count =
        || SetStatistics { statistics: Statistics::of(set), leaks: Leaks::of(set, LEAST_SHARE) };
    during(reporter, "count", "words, candidates, shared text", count)
}
