//! What can keep a report from being written.

use std::io;
use std::path::PathBuf;

/// Anything that keeps results from becoming a report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that can't be written.
    #[error("{}: cannot be written: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A report that would be replaced.
    #[error("{}: exists already", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// A folder that holds other things than a report.
    #[error("{}: is not replaced: it holds `{entry}`, which is no part of a report", path.display())]
    ForeignFolder {
        /// The folder.
        path: PathBuf,
        /// One of those other things.
        entry: String,
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
            Self::File { .. } => Some(
                "nothing was left behind; is there room on the disk, and may you write there?"
                    .to_owned(),
            ),
            Self::NoRun { .. } => None,
            Self::Exists { .. } => {
                Some("choose another `-o`, or add `--force` to replace it".to_owned())
            }
            Self::ForeignFolder { .. } => {
                Some("choose a new folder; only a report is replaced".to_owned())
            }
            Self::Evaluation(error) => error.remedy().map(|remedy| remedy.to_string()),
        }
    }
}
