//! Everything that can go wrong with a model, each with the way out where there is one.

use std::io;
use std::path::{Path, PathBuf};

use crate::MODELS;
use base::nearest;

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

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No method of [`MODELS`] has that name.
    #[error("unknown model `{name}`")]
    UnknownModel {
        /// As typed.
        name: String,
    },
    /// A setting without `=`.
    #[error("malformed setting `{text}`: expected `KEY=VALUE`")]
    MalformedSetting {
        /// As typed.
        text: String,
    },
    /// The model has no such setting.
    #[error("unknown setting `{key}` of `{model}`")]
    UnknownSetting {
        /// The model's name.
        model: &'static str,
        /// As typed.
        key: String,
        /// The settings that it has.
        known: Vec<&'static str>,
    },
    /// A value of the wrong type or out of its range.
    #[error("wrong value of `{key}`: expected {expected}, found `{found}`")]
    SettingValue {
        /// The setting's name.
        key: &'static str,
        /// Its range in words.
        expected: String,
        /// As typed.
        found: String,
    },
    /// The set lacks what the model learns from.
    #[error("nothing to train `{model}` on: expected {expected}, found none")]
    NothingToTrainOn {
        /// The model's name.
        model: &'static str,
        /// What it needs.
        expected: &'static str,
        /// How to get it.
        hint: &'static str,
    },
    /// A score that is NaN or infinite.
    #[error("question {id}: the score of `{candidate}` is {found}: expected a finite number")]
    NotFinite {
        /// The question.
        id: String,
        /// The candidate's word.
        candidate: String,
        /// NaN or an infinity.
        found: f32,
    },
    /// A scorer returned another number of lists than there are questions or, where a question is named, another
    /// number of scores than it has candidates.
    #[error("{}", score_count(question.as_deref(), *expected, *found))]
    ScoreCount {
        /// The question whose scores were counted; none: the lists of a batch.
        question: Option<String>,
        /// What there should be.
        expected: usize,
        /// What there is.
        found: usize,
    },
    /// What whoever takes the scores of [`crate::score_all`] failed with.
    #[error(transparent)]
    Sink(Box<dyn std::error::Error + Send + Sync>),
    /// The folder to save to is there already.
    #[error("{}: exists already", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
        /// Whether it is a model, which may be replaced.
        is_model: bool,
    },
    /// The folder to load from has no manifest.
    #[error("{}: not a model: it has no `model.toml`", path.display())]
    NoModel {
        /// The folder.
        path: PathBuf,
    },
    /// The folder was written by another version of this program.
    #[error("{}: other format: expected version {expected}, found {found}", path.display())]
    OtherFormat {
        /// The manifest.
        path: PathBuf,
        /// The model's name.
        model: String,
        /// What this version reads.
        expected: i64,
        /// What the folder has.
        found: i64,
    },
    /// A file of a model that can't be what was written.
    #[error("{}{}: damaged model: {reason}", path.display(), line.map(|n| format!(":{n}")).unwrap_or_default())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1, where it can be told.
        line: Option<usize>,
        /// What is wrong with it.
        reason: String,
    },
    /// The loss of a learner became infinite or NaN.
    #[error(
        "`{model}` diverged in epoch {epoch}, step {step}: the mean loss is {loss} with `learning_rate={learning_rate}`"
    )]
    Diverged {
        /// The model's name.
        model: &'static str,
        /// From 1.
        epoch: usize,
        /// The mini-batch within the epoch, from 1.
        step: usize,
        /// The mean loss of that mini-batch.
        loss: f64,
        /// The step of SGD at that time.
        learning_rate: f64,
    },
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
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system says; part of the message, so not a source of its own.
        reason: io::Error,
    },
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
    /// Wraps the error of whoever takes the scores of [`crate::score_all`].
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

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownModel { name } => {
                let list = format!("`goldilocks models` lists all {}", MODELS.len());
                Some(match nearest(name, MODELS.iter().map(|method| method.name)) {
                    Some(name) => format!("did you mean `{name}`? {list}"),
                    None => list,
                })
            }
            Self::MalformedSetting { .. } => Some("for example `--set max_penalty=5`".to_owned()),
            Self::UnknownSetting { model, key, known } => {
                Some(match (nearest(key, known.iter().copied()), known.as_slice()) {
                    (Some(name), _) => format!("did you mean `{name}`?"),
                    (None, []) => format!("`{model}` has no settings"),
                    (None, _) => format!("`goldilocks models {model}` lists its settings"),
                })
            }
            Self::NothingToTrainOn { hint, .. } => Some((*hint).to_owned()),
            Self::Exists { is_model: true, .. } => {
                Some("choose another folder, or add `--force`".to_owned())
            }
            Self::Exists { is_model: false, .. } => {
                Some("it is no model, so it is not replaced: choose another folder".to_owned())
            }
            Self::NoModel { path } => {
                let path = path.display();
                Some(format!("make it with `goldilocks train MODEL --data SET -o {path}`"))
            }
            Self::OtherFormat { model, .. } => {
                Some(format!("run `goldilocks train {model}` again with this version"))
            }
            Self::Damaged { .. } => {
                Some("copy the folder again, or run `goldilocks train` again".to_owned())
            }
            Self::Diverged { learning_rate, .. } => {
                Some(format!("try a smaller step: `--set learning_rate={}`", learning_rate / 4.0))
            }
            Self::NotFinite { .. } => {
                Some("the model diverged or its files are damaged: train it again".to_owned())
            }
            Self::Device(error) => error.remedy().map(|remedy| remedy.to_string()),
            Self::Network(error) => error.remedy().map(|remedy| remedy.to_string()),
            Self::LanguageModel(error) => error.remedy().map(|remedy| remedy.to_string()),
            Self::SettingValue { .. }
            | Self::File { .. }
            | Self::ScoreCount { .. }
            | Self::Sink(_) => None,
        }
    }
}
