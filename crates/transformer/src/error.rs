//! [`Error`]: a checkpoint that can't be used, or a text that it can't read.

use std::io;
use std::path::{Path, PathBuf};

use base::Remedy;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A checkpoint can't be read, or can't read a text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    /// A file that can't be read.
    #[error("{}: {reason}", path.display())]
    File { path: PathBuf, reason: io::Error },
    /// A file that is not what its name says.
    #[error("{}: damaged checkpoint: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
    /// Another kind of network.
    #[error("{}: the architecture is `{found}`: expected `LlamaForCausalLM` or `Qwen3ForCausalLM`", path.display())]
    OtherArchitecture { path: PathBuf, found: String },
    /// A variant of a known network that is not known.
    #[error("{}: `{key}` is {found}: expected {expected}", path.display())]
    OtherVariant { path: PathBuf, key: String, found: String, expected: String },
    /// A tensor that does not fit the configuration.
    #[error("{}: tensor `{name}`: {reason}", path.display())]
    Tensor { path: PathBuf, name: String, reason: String },
    /// A tokenizer of another model.
    #[error("{}: the tokenizer does not fit the model: {reason}", path.display())]
    OtherTokenizer { path: PathBuf, reason: String },
    /// A file that memory has no room for.
    #[error("{}: needs {} MB of memory more than there is", path.display(), bytes.div_ceil(1 << 20))]
    TooLarge { path: PathBuf, bytes: usize },
    /// Texts of one question that begin with different tokens.
    #[error("the texts of the question share no token, so the first has no probability")]
    NothingShared,
    /// A text with more tokens than the model has positions.
    #[error("the text is too long: it has {found} tokens, the model reads {limit}")]
    TooLong { found: usize, limit: usize },
    /// A text that the tokenizer can't split.
    #[error("the text can't be split into tokens: {reason}")]
    Text { reason: String },
}

impl Error {
    /// A file of a folder that can't be read.
    pub(crate) fn unreadable(path: &Path, reason: io::Error) -> Self {
        let damaged = |reason: &str| Self::Damaged { path: path.into(), reason: reason.into() };
        match reason.kind() {
            io::ErrorKind::NotFound => damaged("the file is missing"),
            io::ErrorKind::InvalidData => damaged("not UTF-8"),
            _ => Self::File { path: path.to_owned(), reason },
        }
    }

    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        let advice = |text: &'static str| Some(Remedy::advice(text));
        match self {
            Self::Damaged { .. } | Self::Tensor { .. } => advice(
                "copy the folder again: it needs config.json, tokenizer.json, and model.safetensors or its parts \
                 with model.safetensors.index.json",
            ),
            Self::OtherArchitecture { .. } | Self::OtherVariant { .. } => advice(
                "serve it with a program that knows it, and answer with the server's address",
            ),
            Self::OtherTokenizer { .. } => {
                advice("copy tokenizer.json again, from where the weights come from")
            }
            Self::TooLarge { .. } => advice("close other programs, or take a smaller network"),
            Self::File { .. } | Self::NothingShared | Self::TooLong { .. } | Self::Text { .. } => {
                None
            }
        }
    }
}
