//! What can keep a report from being written.

use std::io;
use std::path::PathBuf;

/// Anything that keeps results from becoming a report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that can't be written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file that would be overwritten.
    #[error("{}: the file exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A row that nobody answered for.
    #[error("row `{name}` has no run: expected at least one seed's predictions")]
    NoRun {
        /// The row's model.
        name: String,
    },
    /// Predictions that give no figure.
    #[error(transparent)]
    Evaluation(#[from] evaluation::Error),
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File { .. } | Self::NoRun { .. } => None,
            Self::Exists { .. } => Some("`--force` writes over it".to_owned()),
            Self::Evaluation(error) => error.hint(),
        }
    }
}
