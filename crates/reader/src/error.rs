//! What can go wrong when a reader is trained.

use std::io;
use std::path::{Path, PathBuf};

use base::Remedy;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A reader can't be trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    /// A book that can't be read.
    #[error(transparent)]
    Corpus(#[from] corpus::Error),
    /// A device that failed, or weights of another network.
    #[error(transparent)]
    Neural(#[from] neural::Error),
    /// A set without running text for training.
    #[error("the set has no running text of training books to learn from")]
    NoText,
    /// Further books that can't be compared with anything.
    #[error(
        "the set has no running text of validation or test books, with which further books must share none"
    )]
    NothingHeldOut,
    /// Books that share text with those of the validation or test split.
    #[error(
        "{} of the further books share text with the set's validation or test books: {}",
        books.len(), books.join(", ")
    )]
    Leaks { books: Vec<String> },
    /// Fewer pieces of text than a step needs.
    #[error("too little text: expected at least {expected} pieces, found {found}")]
    TooLittleText { expected: usize, found: usize },
    /// A tokenizer that could not be trained, or can't split a text.
    #[error("the tokenizer: {reason}")]
    Tokenizer { reason: String },
    /// A file that can't be read or written.
    #[error("{}: {reason}", path.display())]
    File { path: PathBuf, reason: io::Error },
    /// A file that is not what its name says.
    #[error("{}: damaged: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
    /// What another training has left.
    #[error("{}: holds a training with another {what}: expected {expected}, found {found}", path.display())]
    OtherTraining { path: PathBuf, what: &'static str, expected: String, found: String },
    /// Nothing to resume.
    #[error("{}: no training to resume: expected prepared text there", path.display())]
    NothingPrepared { path: PathBuf },
    /// A loss that is no number.
    #[error("training diverged at step {step}: the loss is {loss}")]
    Diverged { step: u64, loss: f64 },
    /// A budget in minutes where nobody knows the time.
    #[error("a training for some minutes needs a clock, and there is none")]
    NoClock,
    /// The work was cancelled.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// A file that can't be read or written, for `map_err`.
    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |reason| Self::File { path: path.clone(), reason }
    }

    /// A file that is not what its name says.
    pub(crate) fn damaged(path: &Path, reason: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }

    /// A tokenizer's own error.
    pub(crate) fn tokenizer(reason: impl ToString) -> Self {
        Self::Tokenizer { reason: reason.to_string() }
    }

    /// Whether a device has too little memory.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::Neural(neural::Error::Device(numerics::Error::OutOfMemory { .. })))
    }

    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Corpus(error) => error.remedy(),
            Self::Neural(neural::Error::Device(numerics::Error::OutOfMemory { .. })) => {
                Some(Remedy::advice("set fewer `rows` and `tune_rows`, or a smaller `length`"))
            }
            Self::Neural(error) => error.remedy(),
            Self::NoText => Some(Remedy::BuildQuestions),
            Self::Leaks { .. } => Some(Remedy::LeaveOutLeaks),
            Self::TooLittleText { .. } => {
                Some(Remedy::advice("add further books, or set smaller `rows` and `length`"))
            }
            Self::NothingHeldOut => {
                Some(Remedy::advice("bring the running text of these books next to the questions"))
            }
            Self::Damaged { .. } | Self::OtherTraining { .. } => {
                Some(Remedy::advice("remove the folder and prepare the text again"))
            }
            Self::NothingPrepared { .. } => {
                Some(Remedy::advice("name the set to learn from, which prepares it"))
            }
            Self::Diverged { .. } => {
                Some(Remedy::Set { key: "learning_rate", value: "half of it".to_owned() })
            }
            Self::NoClock => Some(Remedy::advice("set a number of `steps`")),
            Self::File { .. } | Self::Tokenizer { .. } | Self::Interrupted => None,
        }
    }
}
