//! [`Error`]: what can keep results from becoming a report.

use std::io;
use std::path::PathBuf;

use base::Remedy;

/// What can keep results from becoming a report.
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder that cannot be written.
    #[error("{}: cannot be written: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// A report that would be replaced without having been asked for.
    #[error("{}: already exists", path.display())]
    Exists { path: PathBuf },
    /// A folder that holds something that is not part of a report.
    #[error("{}: not replaced: it holds `{entry}`, which is not part of a report", path.display())]
    ForeignFolder { path: PathBuf, entry: String },
    /// A row without predictions.
    #[error("row `{name}` has no run: expected at least one seed's predictions")]
    NoRun { name: String },
    /// Predictions that give no figure.
    #[error(transparent)]
    Evaluation(#[from] evaluation::Error),
}

impl Error {
    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::File { .. } => Some(Remedy::advice(
                "nothing was written; check the permissions and the space on the disk",
            )),
            Self::Exists { .. } => Some(Remedy::Overwrite),
            Self::ForeignFolder { .. } => Some(Remedy::ChooseNewFolder),
            Self::NoRun { .. } => None,
            Self::Evaluation(error) => error.remedy(),
        }
    }
}
