//! llama-server: the tokens after the shared ones are forced by a token grammar, and their log-probabilities read off.
//!
//! `/completion` computes probabilities before the grammar restricts the choice, so those of forced tokens are the
//! model's own. The shared tokens are computed once per question and slot, since the server keeps them.

use serde_json::{Value, json};

use super::{Protocol, RequestOptions, ScoredTexts, Usage};
use crate::check::is_the_text;
use crate::{Error, FilledQuestion, Piece, Result, Transport, shared_prefix};

const PATH: &str = "/completion";

pub(super) struct ForcedTokens {
    pub n_context: Option<usize>,
}

impl Protocol for ForcedTokens {
    fn score(
        &self,
        transport: &dyn Transport,
        filled: &FilledQuestion,
        options: RequestOptions,
    ) -> Result<ScoredTexts> {
        let mut texts =
            filled.texts.iter().map(|text| tokens(transport, text)).collect::<Result<Vec<_>>>()?;
        let ids: Vec<Vec<u64>> =
            texts.iter().map(|pieces| pieces.iter().map(|piece| piece.id).collect()).collect();
        let longest = ids.iter().map(Vec::len).max().unwrap_or(0);
        if let Some(n_context) = self.n_context.filter(|n_context| longest >= *n_context) {
            let message = format!("{longest} tokens, and {n_context} fit");
            return Err(Error::TooLong { message });
        }
        let n_shared = shared_prefix(&ids);
        if n_shared == 0 {
            return Err(Error::NothingShared);
        }
        let mut usage = Usage::default();
        for (pieces, ids) in texts.iter_mut().zip(&ids) {
            let (shared, tail) = ids.split_at(n_shared);
            let (log_probs, used) = match force(transport, shared, tail, options) {
                // A token that is a part of a character can't be forced by a grammar, but by its bias.
                Err(Error::Status { status: 500, message, .. }) if message.contains("grammar") => {
                    one_by_one(transport, shared, tail, options)?
                }
                result => result?,
            };
            usage = usage.plus(used);
            for (piece, log_prob) in pieces[n_shared..].iter_mut().zip(log_probs) {
                piece.log_prob = Some(log_prob);
            }
        }
        Ok((texts, usage))
    }

    fn next(&self, transport: &dyn Transport, text: &str) -> Result<Piece> {
        let ids: Vec<u64> = tokens(transport, text)?.iter().map(|piece| piece.id).collect();
        // Without a sampler the server draws a token, whatever the temperature.
        let body = json!({
            "prompt": ids, "n_predict": 1, "n_probs": 1, "temperature": 0, "samplers": ["top_k"], "top_k": 1,
            "return_tokens": true,
        });
        let answer = transport.post(PATH, body)?;
        let first = &answer["completion_probabilities"][0];
        let piece = || {
            Some(Piece {
                id: first["id"].as_u64()?,
                text: first["token"].as_str()?.to_owned(),
                log_prob: first["logprob"].as_f64(),
            })
        };
        // The server keeps silent about a token that is the first part of a character.
        let part = || {
            let text = answer["content"].as_str().filter(|text| text.contains('\u{fffd}'))?;
            let id = answer["tokens"][0].as_u64()?;
            Some(Piece { id, text: text.to_owned(), log_prob: None })
        };
        piece().or_else(part).ok_or_else(|| {
            Error::malformed(PATH, "the log-probability of a generated token", &answer)
        })
    }

    fn complete(&self, transport: &dyn Transport, text: &str, n_tokens: usize) -> Result<String> {
        let ids: Vec<u64> = tokens(transport, text)?.iter().map(|piece| piece.id).collect();
        let body =
            json!({"prompt": ids, "n_predict": n_tokens, "temperature": 0, "cache_prompt": true});
        let answer = transport.post(PATH, body)?;
        let text = answer["content"].as_str().map(str::to_owned);
        text.ok_or_else(|| Error::malformed(PATH, "a text", &answer))
    }
}

/// The tokens of a text. Special tokens that are written out in a book stay text.
fn tokens(transport: &dyn Transport, text: &str) -> Result<Vec<Piece>> {
    const PATH: &str = "/tokenize";
    let body =
        json!({"content": text, "add_special": true, "parse_special": false, "with_pieces": true});
    let answer = transport.post(PATH, body)?;
    let list = answer["tokens"]
        .as_array()
        .ok_or_else(|| Error::malformed(PATH, "a list of tokens", &answer))?;
    let piece = |token: &Value| {
        let text = match &token["piece"] {
            Value::String(text) => text.clone(),
            Value::Array(bytes) => {
                let bytes: Vec<u8> =
                    bytes.iter().filter_map(|byte| u8::try_from(byte.as_u64()?).ok()).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            _ => return None,
        };
        Some(Piece { id: token["id"].as_u64()?, text, log_prob: None })
    };
    let pieces: Option<Vec<Piece>> = list.iter().map(piece).collect();
    let pieces =
        pieces.ok_or_else(|| Error::malformed(PATH, "tokens with ids and pieces", &answer))?;
    is_the_text(text, &pieces)?;
    Ok(pieces)
}

/// The log-probabilities of tokens after others.
fn force(
    transport: &dyn Transport,
    before: &[u64],
    tail: &[u64],
    options: RequestOptions,
) -> Result<(Vec<f64>, Usage)> {
    let grammar: Vec<String> = tail.iter().map(|id| format!("<[{id}]>")).collect();
    let how = ("grammar", json!(format!("root ::= {}", grammar.join(" "))));
    generate(transport, before, tail, how, options)
}

fn one_by_one(
    transport: &dyn Transport,
    before: &[u64],
    tail: &[u64],
    options: RequestOptions,
) -> Result<(Vec<f64>, Usage)> {
    let (mut log_probs, mut usage) = (Vec::new(), Usage::default());
    let mut prompt = before.to_vec();
    for &id in tail {
        let (one, used) =
            generate(transport, &prompt, &[id], ("logit_bias", json!([[id, 1000.0]])), options)?;
        log_probs.extend(one);
        usage = usage.plus(used);
        prompt.push(id);
    }
    Ok((log_probs, usage))
}

fn generate(
    transport: &dyn Transport,
    before: &[u64],
    tail: &[u64],
    (key, how): (&str, Value),
    options: RequestOptions,
) -> Result<(Vec<f64>, Usage)> {
    let mut body = json!({
        "prompt": before, "n_predict": tail.len(), "n_probs": 1, "temperature": 0, "samplers": [],
        "cache_prompt": options.may_cache, "return_tokens": true, "id_slot": options.slot,
    });
    body[key] = how;
    let answer = transport.post(PATH, body)?;
    let list = |key: &str| answer[key].as_array().map_or(&[][..], Vec::as_slice);
    let found: Vec<u64> = list("tokens").iter().filter_map(Value::as_u64).collect();
    if found != tail {
        return Err(Error::NotForced { expected: tail.to_vec(), found });
    }
    let log_probs = list("completion_probabilities");
    if log_probs.len() != tail.len() {
        return Err(Error::Count { expected: tail.len(), found: log_probs.len() });
    }
    let log_prob = |(entry, id): (&Value, &u64)| {
        let found = entry["logprob"]
            .as_f64()
            .filter(|_| entry["id"].as_u64().is_none_or(|found| found == *id));
        found
            .ok_or_else(|| Error::malformed(PATH, "the log-probability of the forced token", entry))
    };
    let log_probs = log_probs.iter().zip(tail).map(log_prob).collect::<Result<Vec<f64>>>()?;
    let timings = &answer["timings"];
    let count = |key: &str| timings[key].as_u64().unwrap_or(0);
    let cached = count("cache_n");
    let usage = Usage {
        requests: 1,
        sent: count("prompt_n") + cached,
        cached,
        generated: count("predicted_n"),
    };
    Ok((log_probs, usage))
}
