//! What can keep the page from being served, or a study from being made.

use std::io;
use std::path::PathBuf;

use questions::WordClass;

/// Anything that stops the server, the store or a study; what a visitor does wrong is a page instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store can't be read or written.
    #[error("{}: {reason}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What SQLite says; part of the message, so not a source of its own.
        reason: rusqlite::Error,
    },
    /// A store of a newer version, or a database of another program.
    #[error("{}: not a study of this version: expected format {expected}, found {found}", path.display())]
    OtherStore {
        /// The file.
        path: PathBuf,
        /// The format of this version.
        expected: i64,
        /// The file's.
        found: i64,
    },
    /// What was to be written was not, though nothing was wrong with it: the disk is full, for example.
    #[error("{}: not written: {reason}", path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        reason: String,
    },
    /// The address can't be listened on.
    #[error("{address}: {reason}")]
    Listen {
        /// As it was asked for.
        address: String,
        /// What the system says.
        reason: io::Error,
    },
    /// The system gives no random numbers.
    #[error("no random numbers: {reason}")]
    Random {
        /// What the system says.
        reason: getrandom::Error,
    },
    /// A set without enough questions of a class.
    #[error("{}: expected {wanted} questions, found {found}", class_label(*class))]
    TooFewQuestions {
        /// The class, where the set has classes.
        class: Option<WordClass>,
        /// How many were to be drawn.
        wanted: usize,
        /// How many different ones with a known answer there are.
        found: usize,
    },
    /// A setting of a study that can't be followed.
    #[error("{key}: expected {expected}, found {found}")]
    Setting {
        /// What is set.
        key: &'static str,
        /// What it may be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A study that the store does not have.
    #[error("{}: no study {id}", path.display())]
    NoStudy {
        /// The file.
        path: PathBuf,
        /// Its number.
        id: i64,
    },
    /// A study that nobody has answered yet.
    #[error("{}: no answers yet", path.display())]
    NoAnswers {
        /// The file.
        path: PathBuf,
    },
    /// From the question set.
    #[error(transparent)]
    Questions(#[from] questions::Error),
    /// From predictions.
    #[error(transparent)]
    Evaluation(#[from] evaluation::Error),
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::OtherStore { .. } => Some("name another file: a new one is made".to_owned()),
            Self::Listen { .. } => {
                Some("another `--port`, or `--port 0` for any that is free".to_owned())
            }
            Self::TooFewQuestions { found, .. } => {
                Some(format!("draw fewer of each class with `--sample {found}`"))
            }
            Self::Setting { key: "annotators", .. } => Some(
                "the copies of a shared question go to different annotators: ask for more of them, or share fewer"
                    .to_owned(),
            ),
            Self::NoAnswers { .. } => Some(
                "`goldilocks serve --study FILE` prints the address to give to annotators"
                    .to_owned(),
            ),
            Self::Questions(error) => error.remedy().map(|remedy| remedy.to_string()),
            Self::Evaluation(error) => error.remedy().map(|remedy| remedy.to_string()),
            _ => None,
        }
    }
}

fn class_label(class: Option<WordClass>) -> &'static str {
    class.map_or("questions", WordClass::label)
}
