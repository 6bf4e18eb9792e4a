//! Parquet in a build without the feature `parquet`: an error that says so.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};
use crate::{EmptyFields, OpenOptions, QuestionSet, Warnings};

/// Refuses a Parquet file.
///
/// # Errors
/// Always [`Error::NoParquet`].
pub fn read<R>(_: R, path: &Path, _: &OpenOptions) -> Result<(QuestionSet, Warnings)> {
    Err(Error::NoParquet { path: path.to_owned() })
}

/// Refuses to write a Parquet file.
///
/// # Errors
/// Always [`Error::NoParquet`].
pub fn write(
    _: &QuestionSet,
    _: &EmptyFields,
    _: &mut (impl Write + Send),
    path: &Path,
) -> Result<()> {
    Err(Error::NoParquet { path: path.to_owned() })
}
