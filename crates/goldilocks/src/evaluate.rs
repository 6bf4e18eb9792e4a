//! Predictions → accuracy of each class with its interval.

use std::path::{Path, PathBuf};

use evaluation::Results;

use crate::sets::{SetOptions, read_predictions};
use crate::{Reporter, Result};

/// Evaluates predictions files: for each, the results of each split. Where a set is given, every question of it must be
/// answered once, and no other.
///
/// # Errors
/// If a file can't be read, or does not fit the set.
pub fn evaluate(
    predictions: &[PathBuf],
    questions: Option<&Path>,
    options: &SetOptions,
    reporter: &dyn Reporter,
) -> Result<Vec<Vec<Results>>> {
    let files = read_predictions(predictions, questions, options, &options.selection(), reporter)?;
    Ok(files.iter().map(evaluation::evaluate).collect::<Result<_, _>>()?)
}
