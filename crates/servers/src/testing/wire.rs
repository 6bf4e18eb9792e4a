//! The answers of the fake in the form of each server.

use serde_json::{Value, json};

use super::{Fake, Fault, split, text_of};
use crate::Kind;

impl Fake {
    /// The status and body for a path.
    pub(super) fn answer(&self, path: &str, body: &Value) -> (u16, Value) {
        if self.has(Fault::ErrorWithStatus200) && !body.is_null() {
            return (200, json!({"error": {"message": "out of memory", "type": "server_error"}}));
        }
        if self.has(Fault::TooLong) && body.to_string().len() > 4000 {
            let message = "request (2000 tokens) exceeds the available context size (1024 tokens)";
            return (
                400,
                json!({"error": {"code": 400, "message": message, "type": "exceed_context_size_error"}}),
            );
        }
        match (self.kind, path) {
            (Kind::LlamaServer, "/props") => (
                200,
                json!({
                    "build_info": "b11669", "model_alias": "fake", "total_slots": 4,
                    "default_generation_settings": {"n_ctx": 100_000}, "chat_template": "{{ messages }}",
                }),
            ),
            (Kind::LlamaServer, "/tokenize") => (200, self.llama_tokens(body)),
            (Kind::LlamaServer, "/completion") => self.llama_completion(body),
            (Kind::Sglang, "/model_info") => (200, json!({"model_path": "fake"})),
            (Kind::Sglang, "/server_info") => (200, json!({"version": "0.5.1"})),
            (Kind::Sglang | Kind::Vllm, "/tokenize") => {
                let tokens = self.tokens(body["prompt"].as_str().unwrap_or_default());
                (200, json!({"tokens": tokens, "count": tokens.len()}))
            }
            (Kind::Sglang, "/generate") => (200, self.sglang_generate(body)),
            (Kind::Vllm, "/version") => (200, json!({"version": "0.32.0"})),
            (Kind::Ollama, "/api/version") => (200, json!({"version": "0.12.11"})),
            (_, "/v1/models") => {
                (200, json!({"data": [{"id": "fake", "root": "fake", "max_model_len": 100_000}]}))
            }
            (Kind::Vllm | Kind::OpenAiLike | Kind::LlamaServer, "/v1/completions") => {
                (200, self.completions(body))
            }
            (_, "/v1/chat/completions") => (
                200,
                json!({
                    "choices": [{"message": {"role": "assistant", "content": self.reply}}],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 1},
                }),
            ),
            (_, "/v1/messages") => (
                200,
                json!({
                    "content": [{"type": "text", "text": self.reply}], "stop_reason": "end_turn",
                    "usage": {"input_tokens": 100, "output_tokens": 1},
                }),
            ),
            _ => (404, json!({"error": {"message": "File Not Found", "code": 404}})),
        }
    }

    fn llama_tokens(&self, body: &Value) -> Value {
        let tokens = self.tokens(body["content"].as_str().unwrap_or_default());
        let token = |&id: &u64| json!({"id": id, "piece": text_of(id)});
        json!({"tokens": tokens.iter().map(token).collect::<Vec<_>>()})
    }

    fn llama_completion(&self, body: &Value) -> (u16, Value) {
        let mut ids: Vec<u64> = numbers(&body["prompt"]);
        let n_prompt = ids.len();
        let n = body["n_predict"].as_u64().unwrap_or(1) as usize;
        let forced: Vec<u64> = match &body["grammar"] {
            Value::String(grammar) => {
                let ids = grammar.split(['[', ']']).filter_map(|part| part.parse().ok());
                ids.collect()
            }
            _ => body["logit_bias"]
                .as_array()
                .map_or(Vec::new(), |list| vec![list[0][0].as_u64().unwrap_or(0)]),
        };
        // A grammar works on text: a part of a character can't be forced by one.
        if body["grammar"].is_string() && forced.iter().any(|&id| text_of(id).contains('\u{fffd}'))
        {
            let message = "got exception: Unexpected empty grammar stack after accepting piece";
            return (
                500,
                json!({"error": {"code": 500, "message": message, "type": "server_error"}}),
            );
        }
        let mut entries = Vec::new();
        for place in 0..n {
            let previous = ids.last().copied().unwrap_or(0);
            let forced = forced.get(place).copied().filter(|_| !self.has(Fault::NotForced));
            let id = forced.unwrap_or_else(|| self.best_after(previous));
            let log_prob = self.wrong(self.log_prob(previous, id), place);
            entries.push(
                json!({"id": id, "token": text_of(id), "logprob": log_prob, "top_logprobs": []}),
            );
            ids.push(id);
        }
        if self.has(Fault::OneShort) {
            entries.pop();
        }
        let tokens = &ids[n_prompt..];
        let content: String = tokens.iter().map(|&id| text_of(id)).collect();
        (
            200,
            json!({
                "content": content, "tokens": tokens, "completion_probabilities": entries,
                "timings": {"cache_n": n_prompt.saturating_sub(1), "prompt_n": 1, "predicted_n": n},
            }),
        )
    }

    /// A log-probability, or what a fault makes of it.
    fn wrong(&self, log_prob: f64, place: usize) -> Value {
        match self.fault {
            Some(Fault::NotANumber) if place == 0 => json!("NaN"),
            Some(Fault::Floor) if place == 0 => json!(-9999.0),
            _ => json!(log_prob),
        }
    }

    fn completions(&self, body: &Value) -> Value {
        let texts: Vec<&str> = match &body["prompt"] {
            Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
            text => vec![text.as_str().unwrap_or_default()],
        };
        let mut choices: Vec<Value> =
            texts.iter().enumerate().map(|(n, text)| self.choice(n, text, body)).collect();
        if self.has(Fault::Permutes) && choices.len() > 1 {
            let logprobs = choices[0]["logprobs"].clone();
            choices[0]["logprobs"] = choices[1]["logprobs"].clone();
            choices[1]["logprobs"] = logprobs;
        }
        let sent: usize = texts.iter().map(|text| self.tokens(text).len()).sum();
        json!({"choices": choices, "usage": {"prompt_tokens": sent, "completion_tokens": texts.len()}})
    }

    fn choice(&self, index: usize, text: &str, body: &Value) -> Value {
        let mut ids = self.tokens(text);
        if self.has(Fault::Truncates) {
            ids.drain(..ids.len().min(5));
        }
        let n_prompt = ids.len();
        ids.push(self.best_after(ids.last().copied().unwrap_or(0)));
        let log_probs = self.log_probs(&ids);
        let generated = json!({
            "tokens": [text_of(ids[n_prompt])], "token_logprobs": [log_probs[n_prompt]], "text_offset": [0],
        });
        let chat =
            json!({"content": [{"token": text_of(ids[n_prompt]), "logprob": log_probs[n_prompt]}]});
        if self.has(Fault::ChatForm) {
            return json!({"index": index, "text": "", "logprobs": chat});
        }
        if let Some(0) = body["prompt_logprobs"].as_u64() {
            let entry = |(&id, log_prob): (&u64, &Option<f64>)| match log_prob {
                None => Value::Null,
                Some(log_prob) => {
                    json!({id.to_string(): {"logprob": log_prob, "decoded_token": text_of(id)}})
                }
            };
            let list: Vec<Value> = ids[..n_prompt].iter().zip(&log_probs).map(entry).collect();
            return json!({"index": index, "text": "", "prompt_logprobs": list, "prompt_token_ids": ids[..n_prompt]});
        }
        if body["echo"] != true || self.has(Fault::EchoIgnored) {
            return json!({"index": index, "text": text_of(ids[n_prompt]), "logprobs": generated});
        }
        let tokens: Vec<String> = ids.iter().map(|&id| text_of(id)).collect();
        let mut values: Vec<Value> = log_probs
            .iter()
            .enumerate()
            .map(|(place, log_prob)| {
                log_prob.map_or(Value::Null, |value| {
                    self.wrong(value, place + 1 - n_prompt.min(place + 1))
                })
            })
            .collect();
        if self.has(Fault::Shifted) && values.len() > 2 {
            values.remove(1);
            values.push(json!(-1.0));
        }
        if self.has(Fault::OneShort) {
            values.pop();
        }
        json!({"index": index, "text": text, "logprobs": {"tokens": tokens, "token_logprobs": values}})
    }

    fn sglang_generate(&self, body: &Value) -> Value {
        let one = |ids: Vec<u64>| {
            let start =
                body["logprob_start_len"].as_u64().map_or(ids.len(), |start| start as usize);
            let next = self.best_after(ids.last().copied().unwrap_or(0));
            let log_probs = self.log_probs(&ids);
            let entry = |place: usize| {
                let log_prob = log_probs[place].filter(|_| place > start);
                json!([
                    log_prob
                        .map(|log_prob| self.wrong(log_prob, place + 1 - ids.len().min(place + 1))),
                    ids[place],
                    text_of(ids[place])
                ])
            };
            let mut list: Vec<Value> = (start..ids.len()).map(entry).collect();
            if self.has(Fault::OneShort) {
                list.pop();
            }
            let generated = self.log_prob(ids.last().copied().unwrap_or(0), next);
            json!({"text": text_of(next), "meta_info": {
                "input_token_logprobs": list, "output_token_logprobs": [[generated, next, text_of(next)]],
                "prompt_tokens": ids.len(), "cached_tokens": start, "completion_tokens": 1,
            }})
        };
        match &body["input_ids"] {
            Value::Array(lists) if lists.first().is_some_and(Value::is_array) => {
                Value::Array(lists.iter().map(|ids| one(numbers(ids))).collect())
            }
            Value::Array(_) => one(numbers(&body["input_ids"])),
            _ => one(split(body["text"].as_str().unwrap_or_default())),
        }
    }
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().map_or(Vec::new(), |list| list.iter().filter_map(Value::as_u64).collect())
}
