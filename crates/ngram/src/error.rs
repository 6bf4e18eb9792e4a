//! Everything that can go wrong with a language model, with a remedy where there is one.
#![expect(missing_docs, reason = "the message of a variant says what its fields are")]

use std::io;
use std::path::PathBuf;

use base::Remedy;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a language model could not be estimated, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("nothing to estimate a language model on: expected a sentence, found none")]
    NoText,
    #[error("the text is too long: expected fewer than 4,294,967,296 words and sentence ends")]
    TooLong,
    #[error("the distinct words of the text are too long: expected less than 4 GiB together")]
    TooManyWords,
    #[error(
        "too many different words for n-grams of {order} words on disk: expected fewer than {most}"
    )]
    TooManyWordsForOrder { order: usize, most: u64 },
    #[error("too many different n-grams of {length} words: expected fewer than 4,294,967,295")]
    TooManyGrams { length: usize },
    #[error(
        "an n-gram of {length} words is too frequent: expected fewer than 4,294,967,296 occurrences"
    )]
    TooFrequent { length: usize },
    #[error("too little memory: expected at least {expected} MiB, found {found}")]
    TooLittleMemory { expected: u64, found: u64 },
    /// A temporary file could not be made, written or read.
    #[error("{}: cannot keep temporary files: {reason}", folder.display())]
    Temporary { folder: PathBuf, reason: io::Error },
    #[error("the estimation was cancelled")]
    Cancelled,
    #[error("n-grams of {found} words: expected an order from 1 to {max}")]
    Order { max: usize, found: usize },
    /// The file does not begin as model files do.
    #[error("{}: not a language model: expected `{expected}` at its start, found other bytes", path.display())]
    NotAModel { path: PathBuf, expected: &'static str },
    #[error("{}: unsupported format: expected version {expected}, found {found}", path.display())]
    OtherVersion { path: PathBuf, expected: u32, found: u32 },
    /// The model file was cut or changed.
    #[error("{}: corrupt language model: {reason}", path.display())]
    Corrupt { path: PathBuf, reason: String },
    #[error("{}:{line}: invalid ARPA file: expected {expected}, found {found}", path.display())]
    Arpa { path: PathBuf, line: usize, expected: String, found: String },
    #[error("{}: the word `{word}` cannot be written to an ARPA file: it is empty or contains white space", path.display())]
    Unwritable { path: PathBuf, word: String },
    // `reason` is part of the message, so it is not a source as well.
    #[error("{}: {reason}", path.display())]
    File { path: PathBuf, reason: io::Error },
}

impl Error {
    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NoText => Some(Remedy::advice("a text has one sentence per line")),
            Self::NotAModel { .. } => Some(Remedy::ImportArpa),
            Self::OtherVersion { .. } | Self::Corrupt { .. } => Some(Remedy::RebuildLanguageModel),
            Self::Arpa { .. } => Some(Remedy::advice(
                "check that the file is complete: it begins with `\\data\\` and ends with `\\end\\`",
            )),
            Self::TooLong => Some(Remedy::EstimateOnDisk),
            Self::TooManyGrams { .. } => Some(Remedy::advice(
                "leave out rare n-grams, choose a lower order, or estimate on a part of the text",
            )),
            Self::TooManyWordsForOrder { .. } => Some(Remedy::advice("choose a lower order")),
            Self::TooLittleMemory { .. } => Some(Remedy::AllowMoreMemory),
            Self::Temporary { .. } => Some(Remedy::ChooseTemporaryFolder),
            Self::TooManyWords | Self::TooFrequent { .. } => {
                Some(Remedy::advice("estimate on a part of the text"))
            }
            Self::Order { .. } | Self::Unwritable { .. } | Self::File { .. } | Self::Cancelled => {
                None
            }
        }
    }
}
