//! SGLang: `/generate` with `logprob_start_len`, which keeps what was computed of the shared tokens.
//!
//! The entry at that place has no log-probability, so it is asked from one token earlier. The first text is sent
//! alone and leaves the shared tokens in the cache; the others follow in one request.

use serde_json::{Value, json};

use super::{Protocol, RequestOptions, ScoredTexts, Usage};
use crate::check::is_the_text;
use crate::transport::shortened;
use crate::{Error, FilledQuestion, Piece, Result, Transport, shared_prefix};

const PATH: &str = "/generate";

pub(super) struct Spans;

impl Protocol for Spans {
    fn score(
        &self,
        transport: &dyn Transport,
        filled: &FilledQuestion,
        _: RequestOptions,
    ) -> Result<ScoredTexts> {
        let ids =
            filled.texts.iter().map(|text| tokens(transport, text)).collect::<Result<Vec<_>>>()?;
        let n_shared = shared_prefix(&ids);
        if n_shared == 0 {
            return Err(Error::NothingShared);
        }
        let mut usage = Usage::default();
        let mut texts = Vec::with_capacity(ids.len());
        for group in [&ids[..1], &ids[1..]] {
            if group.is_empty() {
                continue;
            }
            let body = json!({
                "input_ids": group, "sampling_params": {"max_new_tokens": 1, "temperature": 0},
                "return_logprob": true, "logprob_start_len": n_shared - 1, "return_text_in_logprobs": true,
            });
            let answers = transport.post(PATH, body)?;
            let answers = answers.as_array().map_or(std::slice::from_ref(&answers), Vec::as_slice);
            if answers.len() != group.len() {
                return Err(Error::Count { expected: group.len(), found: answers.len() });
            }
            for (answer, ids) in answers.iter().zip(group) {
                texts.push(pieces(answer, ids, n_shared)?);
                let meta = &answer["meta_info"];
                let count = |key: &str| meta[key].as_u64().unwrap_or(0);
                usage = usage.plus(Usage {
                    requests: 0,
                    sent: count("prompt_tokens"),
                    cached: count("cached_tokens"),
                    generated: count("completion_tokens"),
                });
            }
            usage.requests += 1;
        }
        complete_shared(&filled.texts, &mut texts, n_shared)?;
        Ok((texts, usage))
    }

    fn next(&self, transport: &dyn Transport, text: &str) -> Result<Piece> {
        let body = json!({
            "input_ids": tokens(transport, text)?, "sampling_params": {"max_new_tokens": 1, "temperature": 0},
            "return_logprob": true, "return_text_in_logprobs": true,
        });
        let answer = transport.post(PATH, body)?;
        let first = &answer["meta_info"]["output_token_logprobs"][0];
        piece(first).ok_or_else(|| {
            Error::malformed(PATH, "the log-probability of a generated token", &answer)
        })
    }

    fn complete(&self, transport: &dyn Transport, text: &str, n_tokens: usize) -> Result<String> {
        let body = json!({"text": text, "sampling_params": {"max_new_tokens": n_tokens, "temperature": 0}});
        let answer = transport.post(PATH, body)?;
        let text = answer["text"].as_str().map(str::to_owned);
        text.ok_or_else(|| Error::malformed(PATH, "a text", &answer))
    }
}

fn tokens(transport: &dyn Transport, text: &str) -> Result<Vec<u64>> {
    const PATH: &str = "/tokenize";
    let answer = transport.post(PATH, json!({"prompt": text, "add_special_tokens": true}))?;
    let ids = answer["tokens"].as_array().and_then(|ids| ids.iter().map(Value::as_u64).collect());
    ids.ok_or_else(|| Error::malformed(PATH, "a list of tokens", &answer))
}

/// Parses `[log-probability, id, text]`.
fn piece(entry: &Value) -> Option<Piece> {
    let text = entry[2].as_str().unwrap_or_default().to_owned();
    Some(Piece { id: entry[1].as_u64()?, text, log_prob: entry[0].as_f64() })
}

fn pieces(answer: &Value, ids: &[u64], n_shared: usize) -> Result<Vec<Piece>> {
    let list = answer["meta_info"]["input_token_logprobs"].as_array();
    let list = list.ok_or_else(|| Error::malformed(PATH, "`input_token_logprobs`", answer))?;
    let expected = ids.len() - (n_shared - 1);
    if list.len() != expected {
        return Err(Error::Count { expected, found: list.len() });
    }
    let shared =
        ids[..n_shared].iter().map(|&id| Piece { id, text: String::new(), log_prob: None });
    let tail = list[1..].iter().zip(&ids[n_shared..]).map(|(entry, id)| {
        let piece = piece(entry).filter(|piece| piece.id == *id);
        piece.ok_or_else(|| Error::malformed(PATH, "the tokens that were sent", entry))
    });
    shared.map(Ok).chain(tail).collect()
}

/// The last shared token gets the text that the tails leave, so that positions in the text are known.
fn complete_shared(texts: &[String], pieces: &mut [Vec<Piece>], n_shared: usize) -> Result<()> {
    let tail = |pieces: &[Piece]| {
        pieces[n_shared..].iter().map(|piece| piece.text.as_str()).collect::<String>()
    };
    let mut lists = texts.iter().zip(&*pieces);
    // A tail with parts of characters is not the end of its text, letter for letter.
    let shared = lists.find_map(|(text, pieces)| text.strip_suffix(&tail(pieces)));
    for (text, pieces) in texts.iter().zip(pieces) {
        let Some(rest) = shared.and_then(|shared| text.strip_prefix(shared)) else {
            return Err(Error::OtherText {
                expected: shortened(text, 60),
                found: shortened(&tail(pieces), 60),
            });
        };
        is_the_text(rest, &pieces[n_shared..])?;
        pieces[n_shared - 1].text = text[..text.len() - rest.len()].to_owned();
    }
    Ok(())
}
