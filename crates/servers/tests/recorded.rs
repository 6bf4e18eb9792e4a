//! Conversations with real servers, played back: what `tests/servers/record` wrote of a probe.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use goldilocks_servers::{
    Error, FilledQuestion, Kind, Method, Reply, Request, RequestOptions, Server, ServerSettings,
    Transport, Unreachable, probe, protocol_of,
};
use serde_json::Value;

/// Answers every request as the server did; the same request again gets the next answer.
struct Recorded {
    answers: Mutex<HashMap<String, Vec<Reply>>>,
}

impl Recorded {
    fn open(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        let mut answers: HashMap<String, Vec<Reply>> = HashMap::new();
        for line in text.lines().rev() {
            let line: Value = serde_json::from_str(line).unwrap();
            let key = format!("{} {}", line["path"].as_str().unwrap(), line["body"]);
            let status = u16::try_from(line["status"].as_u64().unwrap()).unwrap();
            let reply = Reply { status, body: line["reply"].as_str().unwrap().to_owned() };
            answers.entry(key).or_default().push(reply);
        }
        Self { answers: Mutex::new(answers) }
    }
}

impl Transport for Recorded {
    fn send(&self, request: &Request) -> Result<Reply, Unreachable> {
        let body = request.body.clone().unwrap_or(Value::Null);
        let mut answers = self.answers.lock().unwrap();
        let list = answers.get_mut(&format!("{} {body}", request.path));
        let reply =
            list.and_then(|list| if list.len() > 1 { list.pop() } else { list.first().cloned() });
        reply.ok_or_else(|| Unreachable {
            path: request.path.clone(),
            reason: "was not recorded".into(),
        })
    }
}

/// Answers every request with the same bytes.
struct Same(&'static str);

impl Transport for Same {
    fn send(&self, _: &Request) -> Result<Reply, Unreachable> {
        Ok(Reply { status: 200, body: self.0.to_owned() })
    }
}

#[test]
fn vllm_echoes_a_text_and_one_token_more_which_does_not_count() {
    let server = Server {
        kind: Kind::Vllm,
        version: None,
        model: "smol-hf".to_owned(),
        file: None,
        n_context: None,
        n_slots: None,
        template: None,
    };
    let protocol = protocol_of(&server, Method::Echo).unwrap();
    let score = |text: &str| {
        let filled = FilledQuestion {
            texts: vec![text.to_owned()],
            candidates: vec![std::ops::Range::default()],
        };
        let options = RequestOptions { slot: 0, may_cache: true };
        protocol.score(&Same(include_str!("recorded/vllm-echo.json")), &filled, options)
    };
    let (pieces, usage) =
        score("Once upon a time there was a little girl. She walked in.").unwrap();
    assert_eq!((pieces[0].len(), usage.sent), (14, 14));
    assert_eq!(pieces[0].last().unwrap().log_prob, Some(-8.038643836975098));
    let error = score("Once upon a time there was a little girl. She walked out.").unwrap_err();
    assert!(matches!(error, Error::OtherText { .. }), "{error}");
}

#[test]
fn a_part_of_a_character_that_is_generated_after_a_text_does_not_count() {
    let server = Server {
        kind: Kind::OpenAiLike,
        version: None,
        model: "m".to_owned(),
        file: None,
        n_context: None,
        n_slots: None,
        template: None,
    };
    let reply = r#"{"choices":[{"logprobs":{"tokens":["So"," it","."," \ufffd"],"token_logprobs":[null,-1,-2,-3]}}]}"#;
    let filled = FilledQuestion {
        texts: vec!["So it.".to_owned()],
        candidates: vec![std::ops::Range::default()],
    };
    let options = RequestOptions { slot: 0, may_cache: true };
    let protocol = protocol_of(&server, Method::Echo).unwrap();
    let (pieces, _) = protocol.score(&Same(reply), &filled, options).unwrap();
    assert_eq!(pieces[0].last().unwrap().log_prob, Some(-2.0));
}

fn settings(method: Method) -> ServerSettings {
    ServerSettings { method, ..ServerSettings::default() }
}

#[test]
fn llama_server_is_known_and_its_forced_tokens_have_sense() {
    let found =
        probe(&Recorded::open("llama-server.jsonl"), &settings(Method::Auto), false).unwrap();
    assert_eq!((found.server.kind, found.server.n_slots), (Kind::LlamaServer, Some(4)));
    assert!(found.server.file.unwrap().contains("134515008 parameters"));
    assert!(found.figures.gaps.iter().all(|gap| *gap > 3.0), "{:?}", found.figures);
    assert!(found.figures.context_gain > 1.0, "{:?}", found.figures);
    assert!(found.figures.generated_less_given.unwrap().abs() < 1e-3);
}

#[test]
fn llama_server_ignores_echo_and_is_refused() {
    let error = probe(&Recorded::open("llama-server-echo.jsonl"), &settings(Method::Echo), false)
        .err()
        .unwrap();
    assert_eq!(error, Error::ChatForm);
}
