//! Two predictions files on the same questions → how much better one is.

use std::path::{Path, PathBuf};

use evaluation::Comparison;

use crate::sets::{SetOptions, read_predictions};
use crate::{Reporter, Result};

/// Compares two predictions files, split by split; `seed` is that of the bootstrap.
///
/// # Errors
/// If a file can't be read or does not fit the set, or the files are not about the same questions.
pub fn compare(
    files: &[PathBuf; 2],
    questions: Option<&Path>,
    options: &SetOptions,
    seed: u64,
    reporter: &dyn Reporter,
) -> Result<Vec<Comparison>> {
    let files = read_predictions(files, questions, options, &options.selection(), reporter)?;
    Ok(evaluation::compare(&files[0], &files[1], seed)?)
}
