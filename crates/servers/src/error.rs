//! [`Error`]: why a server's answers can't be used.

use base::Remedy;

use crate::transport::Unreachable;

/// The result of everything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is wrong with a server or its answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    #[error("{path}: the server answered {status}: {message}")]
    Status { path: String, status: u16, message: String },
    #[error("{path}: the server refuses the key, or wants one: {message}")]
    Key { path: String, message: String },
    #[error("{path}: expected {expected}, found {found}")]
    Malformed { path: String, expected: &'static str, found: String },
    #[error(
        "the server ignores `echo`: expected the log-probability of each token of a text of {n_characters} characters, found {found}"
    )]
    EchoIgnored { n_characters: usize, found: usize },
    #[error(
        "the server returns log-probabilities in the form of a chat (`content`): those of generated tokens, not of the text that was sent"
    )]
    ChatForm,
    #[error("the server returned {found} log-probabilities for {expected} tokens")]
    Count { expected: usize, found: usize },
    #[error(
        "the server's tokens are not those of the text that was sent: expected `{expected}`, found `{found}`"
    )]
    OtherText { expected: String, found: String },
    #[error("the server puts its first token `{token}` before the text twice")]
    DoubledBos { token: String },
    #[error("the log-probability of `{token}` is {found}: expected a finite number above -9000")]
    NotALogProb { token: String, found: String },
    #[error(
        "the log-probability of the same token is {generated:.3} when it is generated and {given:.3} when it is given: the server's list is shifted, or belongs to another text"
    )]
    Shifted { generated: f64, given: f64 },
    #[error(
        "the model does not prefer `{sensible}` to `{absurd}` after `{text}` ({gap:.2} nats, expected more than {least:.0}): its figures would be noise"
    )]
    NoSense {
        text: &'static str,
        sensible: &'static str,
        absurd: &'static str,
        gap: f64,
        least: f64,
    },
    #[error("the same question gets scores that differ by {spread:.2} nats when it is asked again")]
    Noisy { spread: f64 },
    #[error(
        "the server generated other tokens than those that it was forced to: expected {expected:?}, found {found:?}"
    )]
    NotForced { expected: Vec<u64>, found: Vec<u64> },
    #[error("a text is too long for the server: {message}")]
    TooLong { message: String },
    #[error("the query alone is too long for the server: {message}")]
    QueryTooLong { message: String },
    #[error("the ten texts of a question do not begin with a common token")]
    NothingShared,
    #[error("{name} does not give log-probabilities of a given text")]
    NoLogProbs { name: String },
    #[error("the server has several models ({}): expected the name of one", names.join(", "))]
    SeveralModels { names: Vec<String> },
    #[error("the server has no model: `/v1/models` is empty")]
    NoModel,
    #[error("the reply of the chat can't be used: {found}")]
    NoReply { found: String },
    #[error("malformed setting `{text}`: expected {expected}")]
    Setting { text: String, expected: String },
    #[error(
        "{n_equal} of {n} questions have equal scores for all candidates: the server does not score what it is sent"
    )]
    AllEqual { n_equal: usize, n: usize },
    #[error(
        "{used} of {budget} tokens are used: the next question might need more than what is left"
    )]
    Budget { used: u64, budget: u64 },
}

impl Error {
    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Unreachable(_) => {
                Remedy::advice("check that the server is running and that the address is right")
            }
            Self::Key { .. } => Remedy::advice(
                "put the key into the environment: GOLDILOCKS_API_KEY, or OPENAI_API_KEY and ANTHROPIC_API_KEY for their own hosts",
            ),
            Self::EchoIgnored { .. } | Self::ChatForm | Self::NoLogProbs { .. } => {
                Remedy::Set { key: "scoring", value: "choice".into() }
            }
            Self::Shifted { .. } => Remedy::advice(
                "llama-cpp-python does this with models that have no BOS token: serve the file with llama-server",
            ),
            Self::DoubledBos { .. } => Remedy::advice(
                "configure the server not to add BOS to prompts, or use a tokeniser that does not",
            ),
            Self::Noisy { .. } => Remedy::advice(
                "check that the model gets its BOS token, and serve it without batching of different shapes",
            ),
            Self::NoSense { .. } => Remedy::Set { key: "untrained", value: "true".into() },
            Self::SeveralModels { .. } => {
                Remedy::Set { key: "name", value: "the model's name".into() }
            }
            Self::NotForced { .. } => {
                Remedy::advice("token grammars need llama-server of December 2025 or later")
            }
            _ => return None,
        })
    }
}
