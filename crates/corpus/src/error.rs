//! What can be wrong with a file that this crate reads or writes.

use std::path::{Path, PathBuf};

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A line of a tagged book is not `word TAB pos TAB ner`.
    #[error(
        "{path}:{line}: expected `word`, tab, part of speech, tab, entity class; found `{found}`",
        path = .path.display()
    )]
    TaggedLine {
        /// The file.
        path: PathBuf,
        /// Line number from 1.
        line: usize,
        /// The line.
        found: String,
    },
    /// A tag that Stanford's tools don't have.
    #[error("{path}:{line}: unknown {kind}: `{found}`", path = .path.display())]
    UnknownTag {
        /// The file.
        path: PathBuf,
        /// Line number from 1.
        line: usize,
        /// Which of the two columns.
        kind: &'static str,
        /// The tag.
        found: String,
    },
    /// A tagger's weights are unusable.
    #[error("{place}: {damage}", place = place(.path.as_deref()))]
    Weights {
        /// The file; none where the bytes came from memory.
        path: Option<PathBuf>,
        /// What is wrong with them.
        damage: String,
    },
}

impl Error {
    /// Something to do about it, where there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Weights { .. } => Some(
                "`goldilocks train-tagger FOLDER -o FILE` makes weights from tagged books".into(),
            ),
            Self::Io { .. } | Self::TaggedLine { .. } | Self::UnknownTag { .. } => None,
        }
    }
}

fn place(path: Option<&Path>) -> String {
    path.map_or("weights".into(), |path| path.display().to_string())
}
