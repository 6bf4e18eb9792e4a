//! vLLM's `prompt_logprobs`: as `echo`, with token ids, so that different tokens with equal texts are distinguished.

use serde_json::{Value, json};

use super::{
    Protocol, RequestOptions, ScoredTexts, Usage, choices, complete_by_completions,
    next_by_completions,
};
use crate::check::is_the_text;
use crate::{Error, FilledQuestion, Piece, Result, Transport};

const PATH: &str = "/v1/completions";

pub(super) struct PromptLogprobs {
    pub model: String,
}

impl Protocol for PromptLogprobs {
    fn score(
        &self,
        transport: &dyn Transport,
        filled: &FilledQuestion,
        _: RequestOptions,
    ) -> Result<ScoredTexts> {
        let body = json!({
            "model": self.model, "prompt": filled.texts, "prompt_logprobs": 0, "max_tokens": 1, "temperature": 0,
            "return_token_ids": true,
        });
        let answer = transport.post(PATH, body)?;
        let choices = choices(&answer, filled.texts.len())?;
        if let (Some(choice), Some(text)) = (choices.first(), filled.texts.first()) {
            self.is_whole(transport, choice, text)?;
        }
        let texts = choices.iter().zip(&filled.texts).map(|(choice, text)| pieces(choice, text));
        Ok((texts.collect::<Result<_>>()?, Usage::of(&answer)))
    }

    fn next(&self, transport: &dyn Transport, text: &str) -> Result<Piece> {
        next_by_completions(transport, &self.model, text)
    }

    fn complete(&self, transport: &dyn Transport, text: &str, n_tokens: usize) -> Result<String> {
        complete_by_completions(transport, &self.model, text, n_tokens)
    }
}

impl PromptLogprobs {
    /// The first token of a text comes without its own text: a text that was cut there would not show.
    fn is_whole(&self, transport: &dyn Transport, choice: &Value, text: &str) -> Result<()> {
        let body = json!({"model": self.model, "prompt": text, "add_special_tokens": true});
        let expected = transport.post("/tokenize", body)?["tokens"].as_array().map_or(0, Vec::len);
        let found = choice["prompt_logprobs"].as_array().map_or(0, Vec::len);
        if found == expected { Ok(()) } else { Err(Error::Count { expected, found }) }
    }
}

fn pieces(choice: &Value, text: &str) -> Result<Vec<Piece>> {
    let Some(list) = choice["prompt_logprobs"].as_array() else {
        return Err(Error::EchoIgnored { n_characters: text.chars().count(), found: 0 });
    };
    let ids = choice["prompt_token_ids"].as_array().map_or(&[][..], Vec::as_slice);
    let mut pieces = Vec::with_capacity(list.len());
    for (place, entry) in list.iter().enumerate() {
        let Some(entry) = entry.as_object() else {
            // The first token has neither a probability nor a text.
            let id = ids.get(place).and_then(Value::as_u64).unwrap_or(0);
            pieces.push(Piece { id, text: String::new(), log_prob: None });
            continue;
        };
        // The most probable token may be listed too: the token of the text is the one with its id, or the only one.
        let wanted = ids.get(place).and_then(Value::as_u64).map(|id| id.to_string());
        let found = entry.iter().find(|(id, _)| wanted.as_ref().is_none_or(|wanted| wanted == *id));
        let (id, token) =
            found.ok_or_else(|| Error::malformed(PATH, "the token of the text", &json!(entry)))?;
        pieces.push(Piece {
            id: id.parse().unwrap_or(0),
            text: token["decoded_token"].as_str().unwrap_or_default().to_owned(),
            log_prob: token["logprob"].as_f64(),
        });
    }
    complete_first(text, &mut pieces)?;
    Ok(pieces)
}

/// The first token's text is what the others leave of the text; nothing, where it is BOS.
fn complete_first(text: &str, pieces: &mut [Piece]) -> Result<()> {
    if let [first, second, rest @ ..] = &*pieces
        && first.id == second.id
        && is_the_text(text, rest).is_ok()
    {
        return Err(Error::DoubledBos { token: second.text.clone() });
    }
    let rest: String = pieces.iter().skip(1).map(|piece| piece.text.as_str()).collect();
    if let (Some(first), Some(start)) = (pieces.first_mut(), text.strip_suffix(&rest))
        && first.text.is_empty()
    {
        first.text = start.to_owned();
    }
    is_the_text(text, pieces)
}
