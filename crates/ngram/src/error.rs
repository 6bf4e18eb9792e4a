//! Everything that can go wrong with a language model, each with the way out where there is one.

use std::io;
use std::path::PathBuf;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A text without a sentence.
    #[error("nothing to estimate a language model on: expected a sentence, found none")]
    NoText,
    /// A text whose places have no number.
    #[error("the text is too long: expected fewer than 4,294,967,296 words and sentence ends")]
    TooLong,
    /// A file that is no model file.
    #[error("{}: not a language model: expected `{expected}` at its start, found other bytes", path.display())]
    NotAModel {
        /// The file.
        path: PathBuf,
        /// What model files begin with.
        expected: &'static str,
    },
    /// A model file of another version.
    #[error("{}: other format: expected version {expected}, found {found}", path.display())]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// What this program reads.
        expected: u32,
        /// What the file has.
        found: u32,
    },
    /// A model file that was cut or changed.
    #[error("{}: damaged language model: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An ARPA file that can't be read as one.
    #[error("{}:{line}: not as ARPA files are: expected {expected}, found {found}", path.display())]
    Arpa {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What should stand there.
        expected: String,
        /// What does.
        found: String,
    },
    /// A word that ARPA files can't hold.
    #[error("{}: the word `{word}` can't stand in an ARPA file: it is empty or has white space in it", path.display())]
    Unwritable {
        /// The file to be written.
        path: PathBuf,
        /// The word.
        word: String,
    },
    /// A file that can't be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says; part of the message, so not a source of its own.
        reason: io::Error,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoText => Some("a text has one sentence a line".to_owned()),
            Self::NotAModel { .. } => {
                Some("`goldilocks lm import` makes a model of an ARPA file".to_owned())
            }
            Self::OtherVersion { .. } | Self::Damaged { .. } => {
                Some("make it anew: train the model again, or import its ARPA file".to_owned())
            }
            Self::Arpa { .. } => Some(
                "is the file whole? it begins with `\\data\\` and ends with `\\end\\`".to_owned(),
            ),
            Self::TooLong | Self::Unwritable { .. } | Self::File { .. } => None,
        }
    }
}
