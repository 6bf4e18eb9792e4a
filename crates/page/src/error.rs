//! [`Error`]: what can keep the page from being served, or a study from being made.

use std::io;
use std::path::PathBuf;

use base::Remedy;
use questions::WordClass;

/// What can stop the server, the store or a study; what a visitor does wrong is a page instead.
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// SQLite cannot read or write the store. The reason is part of the message, so it is not a source.
    #[error("{}: {reason}", path.display())]
    Store { path: PathBuf, reason: rusqlite::Error },
    /// A store of a newer version, or a database of another program.
    #[error("{}: not a study of this version: expected format {expected}, found {found}", path.display())]
    OtherStore { path: PathBuf, expected: i64, found: i64 },
    /// The store took no data though nothing was wrong with them: the disk is full, for example.
    #[error("{}: not written: {reason}", path.display())]
    NotWritten { path: PathBuf, reason: String },
    /// The server cannot listen on the address.
    #[error("{address}: {reason}")]
    Listen { address: String, reason: io::Error },
    /// The system gives no random numbers.
    #[error("no random numbers: {reason}")]
    Random { reason: getrandom::Error },
    /// A set with too few different questions of a class whose answer is known.
    #[error("{}: expected {wanted} questions, found {found}", class_label(*class))]
    TooFewQuestions { class: Option<WordClass>, wanted: usize, found: usize },
    /// A setting of a study that is out of range, or that others contradict.
    #[error("{key}: expected {expected}, found {found}")]
    Setting { key: &'static str, expected: String, found: String },
    /// A study that the store does not have.
    #[error("{}: no study {id}", path.display())]
    NoStudy { path: PathBuf, id: i64 },
    /// A study that nobody has answered yet.
    #[error("{}: no answers yet", path.display())]
    NoAnswers { path: PathBuf },
    /// From the question set.
    #[error(transparent)]
    Questions(#[from] questions::Error),
    /// Predictions could not be read, or do not fit the set.
    #[error(transparent)]
    Evaluation(#[from] evaluation::Error),
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::OtherStore { .. } => {
                Some(Remedy::advice("name a new file, and a store is created there"))
            }
            Self::Listen { .. } => Some(Remedy::ChooseOtherPort),
            Self::TooFewQuestions { found, .. } => Some(Remedy::DrawFewer { n: *found }),
            Self::Setting { key: "annotators", .. } => Some(Remedy::advice(
                "each annotator answers a shared question once: ask for more annotators, or share fewer questions",
            )),
            Self::NoAnswers { .. } => Some(Remedy::CollectAnswers),
            Self::Questions(error) => error.remedy(),
            Self::Evaluation(error) => error.remedy(),
            _ => None,
        }
    }
}

fn class_label(class: Option<WordClass>) -> &'static str {
    class.map_or("questions", WordClass::label)
}
