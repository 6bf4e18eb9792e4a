//! OpenAI's `/v1/completions` with `echo`: vLLM, llama-cpp-python, Together and others.
//!
//! All texts in one request; the answer has the log-probability of each token of each text, `null` for the first.
//! Servers that do not know `echo` ignore it silently, so tokens are compared with the text.

use serde_json::{Value, json};

use super::{
    Protocol, RequestOptions, ScoredTexts, Usage, choices, complete_by_completions,
    next_by_completions,
};
use crate::check::is_the_text;
use crate::{Error, FilledQuestion, Piece, Result, Transport};

const PATH: &str = "/v1/completions";

pub(super) struct Echo {
    pub model: String,
}

impl Protocol for Echo {
    fn score(
        &self,
        transport: &dyn Transport,
        filled: &FilledQuestion,
        _: RequestOptions,
    ) -> Result<ScoredTexts> {
        // Not 0: several servers take `max_tokens` 0 for «as many as possible». The token is dropped.
        let body = json!({
            "model": self.model, "prompt": filled.texts, "echo": true, "logprobs": 1, "max_tokens": 1,
            "temperature": 0,
        });
        let answer = transport.post(PATH, body)?;
        let choices = choices(&answer, filled.texts.len())?;
        let mut texts: Vec<Option<Vec<Piece>>> = vec![None; choices.len()];
        for (place, choice) in choices.iter().enumerate() {
            let index = choice["index"].as_u64().map_or(place, |index| index as usize);
            let text = filled.texts.get(index);
            let text = text.ok_or_else(|| {
                Error::malformed(PATH, "an index below the number of texts", &choice["index"])
            })?;
            texts[index] = Some(pieces(choice, text)?);
        }
        let texts: Option<Vec<Vec<Piece>>> = texts.into_iter().collect();
        let texts = texts.ok_or(Error::Malformed {
            path: PATH.to_owned(),
            expected: "each index once",
            found: "one twice".to_owned(),
        })?;
        Ok((texts, Usage::of(&answer)))
    }

    fn next(&self, transport: &dyn Transport, text: &str) -> Result<Piece> {
        next_by_completions(transport, &self.model, text)
    }

    fn complete(&self, transport: &dyn Transport, text: &str, n_tokens: usize) -> Result<String> {
        complete_by_completions(transport, &self.model, text, n_tokens)
    }
}

/// The tokens of the text, without those that were generated after it.
fn pieces(choice: &Value, text: &str) -> Result<Vec<Piece>> {
    let logprobs = &choice["logprobs"];
    if logprobs.get("content").is_some() && logprobs.get("tokens").is_none() {
        return Err(Error::ChatForm);
    }
    let list = |key: &str| logprobs[key].as_array().map_or(&[][..], Vec::as_slice);
    let (tokens, log_probs) = (list("tokens"), list("token_logprobs"));
    if tokens.len() != log_probs.len() {
        return Err(Error::Count { expected: tokens.len(), found: log_probs.len() });
    }
    let mut pieces = Vec::with_capacity(tokens.len());
    for (token, log_prob) in tokens.iter().zip(log_probs) {
        let text =
            token.as_str().ok_or_else(|| Error::malformed(PATH, "tokens as texts", token))?;
        pieces.push(Piece { id: 0, text: text.to_owned(), log_prob: log_prob.as_f64() });
    }
    // One token was generated, perhaps one without text; a server that generates none has the text alone.
    // A partial character that was generated is distinguished from one of the text by how the text ends.
    let is_after_text = |piece: &Piece| {
        piece.text.is_empty()
            || (piece.text.contains('\u{fffd}') && text.ends_with(|c: char| c.is_ascii()))
    };
    let ends_after_text = pieces.last().is_some_and(is_after_text);
    let is_text = is_the_text(text, &pieces);
    if pieces.len() > 1 && (ends_after_text || is_text.is_err()) {
        pieces.pop();
        match is_the_text(text, &pieces) {
            Err(error @ Error::DoubledBos { .. }) => return Err(error),
            Err(_) => is_text?,
            Ok(()) => {}
        }
    } else {
        is_text?;
    }
    Ok(pieces)
}
