//! A question set → Table 1, and what leaks from split to split.

use questions::{Leaks, QuestionSet, Statistics};
use serde::Serialize;

use crate::Reporter;
use crate::progress::during;

/// Pairs of books that share less than this are not listed.
pub const LEAST_SHARE: f64 = 0.01;

/// What is in a set.
#[derive(Debug, Serialize)]
pub struct SetStatistics {
    /// The figures of Table 1.
    pub statistics: Statistics,
    /// Text, questions and candidates that are shared.
    pub leaks: Leaks,
}

/// Counts a set and looks for leaks.
pub fn stats(set: &QuestionSet, reporter: &dyn Reporter) -> SetStatistics {
    let count =
        || SetStatistics { statistics: Statistics::of(set), leaks: Leaks::of(set, LEAST_SHARE) };
    during(reporter, "count", "words, candidates, shared text", count)
}
