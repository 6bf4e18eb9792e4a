//! [`Error`]: what can go wrong with a model, each with a remedy where there is one.

use std::io;
use std::path::{Path, PathBuf};

use crate::MODELS;
use base::{Remedy, nearest};

impl From<numerics::Error> for Error {
    fn from(error: numerics::Error) -> Self {
        match error {
            numerics::Error::File { path, reason } => Self::unreadable(&path, reason),
            numerics::Error::Damaged { path, reason } => Self::Damaged { path, line: None, reason },
            error => Self::Device(error),
        }
    }
}

impl From<neural::Error> for Error {
    fn from(error: neural::Error) -> Self {
        match error {
            neural::Error::Device(error) => error.into(),
            error => Self::Network(error),
        }
    }
}

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A model can't be trained, saved, loaded or asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    /// No method of [`MODELS`] has that name.
    #[error("unknown model `{name}`")]
    UnknownModel { name: String },
    /// A setting without `=`.
    #[error("malformed setting `{text}`: expected `KEY=VALUE`")]
    MalformedSetting { text: String },
    /// The model has no such setting.
    #[error("unknown setting `{key}` of `{model}`")]
    UnknownSetting { model: &'static str, key: String, known: Vec<&'static str> },
    /// A value of the wrong type or out of its range.
    #[error("wrong value of `{key}`: expected {expected}, found `{found}`")]
    SettingValue { key: &'static str, expected: String, found: String },
    /// The set lacks what the model learns from.
    #[error("nothing to train `{model}` on: expected {expected}, found none")]
    NothingToTrainOn { model: &'static str, expected: &'static str, hint: &'static str },
    /// A score that is NaN or infinite.
    #[error("question {id}: the score of `{candidate}` is {found}: expected a finite number")]
    NotFinite { id: String, candidate: String, found: f64 },
    /// A scorer returned another number of lists than there are questions or, where a question is named, another
    /// number of scores than it has candidates.
    #[error("{}", score_count(question.as_deref(), *expected, *found))]
    ScoreCount { question: Option<String>, expected: usize, found: usize },
    /// What a scorer of another crate failed with.
    #[error(transparent)]
    External(Box<dyn std::error::Error + Send + Sync>),
    /// The consumer of the scores of [`crate::score_all`] failed.
    #[error(transparent)]
    Sink(Box<dyn std::error::Error + Send + Sync>),
    /// The folder to save to is there already.
    #[error("{}: already exists", path.display())]
    Exists { path: PathBuf, is_model: bool },
    /// The folder to load from has no manifest.
    #[error("{}: not a model: it has no `model.toml`", path.display())]
    NoModel { path: PathBuf },
    /// The folder was written by another version of this program.
    #[error("{}: other format: expected version {expected}, found {found}", path.display())]
    OtherFormat { path: PathBuf, model: String, expected: i64, found: i64 },
    /// A file of a model that can't be what was written.
    #[error("{}{}: damaged model: {reason}", path.display(), line.map(|n| format!(":{n}")).unwrap_or_default())]
    Damaged { path: PathBuf, line: Option<usize>, reason: String },
    /// The loss of a learner became infinite or NaN.
    #[error(
        "`{model}` diverged in epoch {epoch}, step {step}: the mean loss is {loss} with `learning_rate={learning_rate}`"
    )]
    Diverged { model: &'static str, epoch: usize, step: usize, loss: f64, learning_rate: f64 },
    /// The listener asked for the training to stop.
    #[error("interrupted")]
    Interrupted,
    /// A device that is not there, has too little memory or is lost.
    #[error(transparent)]
    Device(numerics::Error),
    /// Weights that are not a network's.
    #[error(transparent)]
    Network(neural::Error),
    /// A language model that can't be estimated, read or written.
    #[error(transparent)]
    LanguageModel(#[from] ngram::Error),
    /// A file or folder that can't be read or written.
    #[error("{}: {reason}", path.display())]
    File { path: PathBuf, reason: io::Error },
}

fn score_count(question: Option<&str>, expected: usize, found: usize) -> String {
    match question {
        Some(id) => {
            format!("question {id}: expected {expected} scores, one per candidate, found {found}")
        }
        None => format!("expected {expected} lists of scores, one per question, found {found}"),
    }
}

impl Error {
    /// Wraps the error of a scorer of another crate.
    pub fn external(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::External(error.into())
    }

    /// Wraps the error of the consumer of [`crate::score_all`].
    pub fn sink(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Sink(error.into())
    }

    /// A file of a model that can't be read: missing, not text, or refused by the system.
    pub(crate) fn unreadable(path: &Path, error: io::Error) -> Self {
        let damaged = |reason: &str| Self::Damaged {
            path: path.to_owned(),
            line: None,
            reason: reason.to_owned(),
        };
        match error.kind() {
            io::ErrorKind::NotFound => damaged("the file is missing"),
            io::ErrorKind::InvalidData => damaged("not UTF-8"),
            _ => Self::File { path: path.to_owned(), reason: error },
        }
    }

    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        let train = |model: Option<&String>, folder: Option<&PathBuf>| {
            Some(Remedy::Train { model: model.cloned(), folder: folder.cloned() })
        };
        match self {
            Self::UnknownModel { name } => {
                let meant = nearest(name, MODELS.iter().map(|method| method.name));
                Some(Remedy::ListModels { meant: meant.map(str::to_owned) })
            }
            Self::MalformedSetting { .. } => {
                Some(Remedy::WriteSettingAs { example: "max_penalty=5" })
            }
            Self::UnknownSetting { model, key, known } => {
                Some(match (nearest(key, known.iter().copied()), known.as_slice()) {
                    (Some(name), _) => Remedy::DidYouMean { name: name.to_owned() },
                    (None, []) => Remedy::advice(format!("`{model}` has no settings")),
                    (None, _) => Remedy::ListSettings { model: (*model).to_owned() },
                })
            }
            Self::NothingToTrainOn { hint, .. } => Some(Remedy::advice(*hint)),
            Self::Exists { is_model: true, .. } => Some(Remedy::Overwrite),
            Self::Exists { is_model: false, .. } => Some(Remedy::ChooseNewFolder),
            Self::NoModel { path } => train(None, Some(path)),
            Self::OtherFormat { model, .. } => train(Some(model), None),
            Self::Damaged { .. } | Self::NotFinite { .. } => train(None, None),
            Self::Diverged { learning_rate, .. } => {
                let value = (learning_rate / 4.0).to_string();
                Some(Remedy::Set { key: "learning_rate", value })
            }
            Self::Device(error) => error.remedy(),
            Self::Network(error) => error.remedy(),
            Self::LanguageModel(error) => error.remedy(),
            Self::SettingValue { .. }
            | Self::File { .. }
            | Self::ScoreCount { .. }
            | Self::Interrupted
            | Self::External(_)
            | Self::Sink(_) => None,
        }
    }
}
