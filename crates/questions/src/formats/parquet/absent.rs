//! Parquet in a build without the feature `parquet`: an error that says so.

use std::io::Write;
use std::marker::PhantomData;
use std::path::Path;

use crate::error::{Error, Result};
use crate::formats::shards::ShardFile;
use crate::{EmptyFields, OpenOptions, QuestionSet, Warnings};

/// Refuses a Parquet file.
///
/// # Errors
/// Always [`Error::NoParquet`].
pub fn read<R>(_: R, path: &Path, _: &OpenOptions) -> Result<(QuestionSet, Warnings)> {
    Err(Error::NoParquet { path: path.to_owned() })
}

/// Refuses Parquet files.
///
/// # Errors
/// Always [`Error::NoParquet`].
pub fn read_files(files: &[ShardFile], _: &OpenOptions) -> Result<(QuestionSet, Warnings)> {
    let path = files.first().map(|file| file.path.clone()).unwrap_or_default();
    Err(Error::NoParquet { path })
}

/// Refuses a Parquet file.
///
/// # Errors
/// Always [`Error::NoParquet`].
pub fn read_ids(path: &Path, _: impl FnMut(&str)) -> Result<()> {
    Err(Error::NoParquet { path: path.to_owned() })
}

/// Refuses a Parquet file.
///
/// # Errors
/// Always [`Error::NoParquet`].
pub fn with_ids(path: &Path, _: &[String], _: &mut (impl Write + Send)) -> Result<()> {
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

/// A writer that no build without the feature can make.
pub struct Writer<'p, W> {
    never: std::convert::Infallible,
    of: PhantomData<(&'p Path, W)>,
}

impl<'p, W: Write + Send> Writer<'p, W> {
    /// Refuses to write a Parquet file.
    ///
    /// # Errors
    /// Always [`Error::NoParquet`].
    pub fn new(_: W, path: &'p Path) -> Result<Self> {
        Err(Error::NoParquet { path: path.to_owned() })
    }

    /// Adds all questions of a set.
    ///
    /// # Errors
    /// None: there is no such writer.
    pub fn push(
        &mut self,
        _: &QuestionSet,
        _: &EmptyFields,
        _: impl Fn(usize) -> String,
    ) -> Result<()> {
        match self.never {}
    }

    /// Ends the file.
    ///
    /// # Errors
    /// None: there is no such writer.
    pub fn finish(self) -> Result<usize> {
        match self.never {}
    }
}
