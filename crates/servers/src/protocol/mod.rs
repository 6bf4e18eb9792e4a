//! [`Protocol`]: how the log-probabilities of a given text are requested from a server. One file per protocol.

pub mod choice;
mod echo;
mod forced;
mod prompt_logprobs;
mod spans;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, FilledQuestion, Kind, Method, Piece, Result, Server, Transport};

/// Tokens that a server has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Requests that were answered.
    pub requests: u64,
    /// Tokens of the texts that were sent.
    pub sent: u64,
    /// How many of them the server had in its cache, if it reports that.
    pub cached: u64,
    /// Tokens that were generated or forced.
    pub generated: u64,
}

impl Usage {
    /// The sum of two.
    pub fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            sent: self.sent + other.sent,
            cached: self.cached + other.cached,
            generated: self.generated + other.generated,
        }
    }

    /// All tokens that may have to be paid for.
    pub fn tokens(self) -> u64 {
        self.sent + self.generated
    }

    /// OpenAI's `usage`, or Anthropic's.
    fn of(answer: &Value) -> Self {
        let usage = &answer["usage"];
        let count = |keys: [&str; 2]| keys.iter().find_map(|key| usage[*key].as_u64()).unwrap_or(0);
        Self {
            requests: 1,
            sent: count(["prompt_tokens", "input_tokens"]),
            cached: usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0),
            generated: count(["completion_tokens", "output_tokens"]),
        }
    }
}

/// How a question is sent to a server.
#[derive(Clone, Copy, Debug)]
pub struct RequestOptions {
    /// The slot of the server that computes it, for servers that have a cache per slot.
    pub slot: usize,
    /// Whether the server may use its cache.
    pub may_cache: bool,
}

/// The tokens of each text with their log-probabilities, at least those after the shared ones; and the tokens used.
pub type ScoredTexts = (Vec<Vec<Piece>>, Usage);

/// A way to request log-probabilities of given texts.
pub trait Protocol: Send + Sync {
    /// The tokens of the texts with log-probabilities.
    ///
    /// # Errors
    /// If the server does not answer, or answers something that can't be the log-probabilities of these texts.
    fn score(
        &self,
        transport: &dyn Transport,
        filled: &FilledQuestion,
        options: RequestOptions,
    ) -> Result<ScoredTexts>;

    /// The token that the model thinks most probable after a text, and its log-probability.
    ///
    /// # Errors
    /// As [`Self::score`].
    fn next(&self, transport: &dyn Transport, text: &str) -> Result<Piece>;

    /// Continues a text by `n_tokens` tokens, each the most probable one.
    ///
    /// # Errors
    /// As [`Self::score`].
    fn complete(&self, transport: &dyn Transport, text: &str, n_tokens: usize) -> Result<String>;
}

/// The protocol for a server.
///
/// # Errors
/// [`Error::NoLogProbs`] for a server that is known not to give any.
pub fn protocol_of(server: &Server, method: Method) -> Result<Box<dyn Protocol>> {
    let model = server.model.clone();
    let method = match (method, server.kind) {
        (Method::Auto, Kind::LlamaServer) => Method::Forced,
        (Method::Auto, Kind::Sglang) => Method::Spans,
        (Method::Auto, Kind::Ollama | Kind::Anthropic) => {
            return Err(Error::NoLogProbs { name: server.kind.name().to_owned() });
        }
        (Method::Auto, Kind::Vllm | Kind::OpenAiLike) => Method::Echo,
        (method, _) => method,
    };
    Ok(match method {
        Method::Auto | Method::Echo => Box::new(echo::Echo { model }),
        Method::Forced => Box::new(forced::ForcedTokens { n_context: server.n_context }),
        Method::PromptLogprobs => Box::new(prompt_logprobs::PromptLogprobs { model }),
        Method::Spans => Box::new(spans::Spans),
    })
}

/// The choices of an answer of `/v1/completions`, of which there must be one per text.
fn choices(answer: &Value, expected: usize) -> Result<&[Value]> {
    let choices = answer["choices"].as_array().map_or(&[][..], Vec::as_slice);
    let found = choices.len();
    if found == expected { Ok(choices) } else { Err(Error::Count { expected, found }) }
}

/// OpenAI's way to the most probable next token, which vLLM and others share.
fn next_by_completions(transport: &dyn Transport, model: &str, text: &str) -> Result<Piece> {
    const PATH: &str = "/v1/completions";
    let body = serde_json::json!({
        "model": model, "prompt": text, "max_tokens": 1, "temperature": 0, "logprobs": 1,
    });
    let answer = transport.post(PATH, body)?;
    let logprobs = &answer["choices"][0]["logprobs"];
    let piece = || {
        let token = logprobs["tokens"][0].as_str()?;
        Some(Piece {
            id: 0,
            text: token.to_owned(),
            log_prob: logprobs["token_logprobs"][0].as_f64(),
        })
    };
    if logprobs.get("content").is_some() {
        return Err(Error::ChatForm);
    }
    piece()
        .ok_or_else(|| Error::malformed(PATH, "the log-probability of a generated token", logprobs))
}

/// OpenAI's way to continue a text.
fn complete_by_completions(
    transport: &dyn Transport,
    model: &str,
    text: &str,
    n: usize,
) -> Result<String> {
    const PATH: &str = "/v1/completions";
    let body =
        serde_json::json!({"model": model, "prompt": text, "max_tokens": n, "temperature": 0});
    let answer = transport.post(PATH, body)?;
    let text = answer["choices"][0]["text"].as_str().map(str::to_owned);
    text.ok_or_else(|| Error::malformed(PATH, "a text", &answer))
}
