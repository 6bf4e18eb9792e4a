//! A language model that needs no server: bigrams of made-up tokens in every wire format, with faults on request.

mod wire;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::{Kind, Reply, Request, Transport, Unreachable};

/// What a fake server does wrong.
#[expect(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    EchoIgnored,
    ChatForm,
    OneShort,
    DoubledBos,
    Shifted,
    NotANumber,
    Floor,
    AllEqual,
    ErrorWithStatus200,
    Truncates,
    Permutes,
    Noisy,
    NotForced,
    NotJson,
    TooLong,
}

/// A server in memory.
pub struct Fake {
    /// Whose paths and forms it has.
    pub kind: Kind,
    /// Whether its tokeniser begins with BOS.
    pub has_bos: bool,
    /// What it does wrong.
    pub fault: Option<Fault>,
    /// What a chat replies.
    pub reply: &'static str,
    /// Requests that were answered.
    pub n_requests: AtomicUsize,
    /// Paths that were asked for.
    pub paths: Mutex<Vec<String>>,
}

impl Fake {
    /// A server without faults.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            has_bos: true,
            fault: None,
            reply: "B",
            n_requests: AtomicUsize::new(0),
            paths: Mutex::default(),
        }
    }

    /// A server with a fault.
    pub fn with(kind: Kind, fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::new(kind) }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// The log-probability of a token after another, from −0.5 to −10.5.
    fn log_prob(&self, previous: u64, token: u64) -> f64 {
        if self.has(Fault::AllEqual) {
            return 0.0;
        }
        let mixed = (previous.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ token)
            .wrapping_mul(0xd6e8_feb8_6659_fd93);
        let noise = if self.has(Fault::Noisy) {
            self.n_requests.load(Ordering::SeqCst).saturating_sub(8) as f64 * (mixed % 8) as f64
        } else {
            0.0
        };
        -0.5 - (mixed >> 40) as f64 / (1_u64 << 24) as f64 * 10.0 - noise
    }

    /// The most probable of a few tokens.
    fn best_after(&self, previous: u64) -> u64 {
        let words = [" a", " th", " he", " an", " b", " to", " we"].map(id_of);
        let better =
            |a: &u64, b: &u64| self.log_prob(previous, *a).total_cmp(&self.log_prob(previous, *b));
        words.into_iter().max_by(better).unwrap_or(BOS)
    }

    fn tokens(&self, text: &str) -> Vec<u64> {
        let n_bos = usize::from(self.has_bos) * if self.has(Fault::DoubledBos) { 2 } else { 1 };
        std::iter::repeat_n(BOS, n_bos).chain(split(text)).collect()
    }

    /// The log-probability of each token, none for the first.
    fn log_probs(&self, ids: &[u64]) -> Vec<Option<f64>> {
        let pair = |pair: &[u64]| Some(self.log_prob(pair[0], pair[1]));
        [None].into_iter().chain(ids.windows(2).map(pair)).take(ids.len()).collect()
    }
}

impl Transport for Fake {
    fn send(&self, request: &Request) -> Result<Reply, Unreachable> {
        self.n_requests.fetch_add(1, Ordering::SeqCst);
        if let Ok(mut paths) = self.paths.lock() {
            paths.push(request.path.clone());
        }
        let body = request.body.clone().unwrap_or(Value::Null);
        let (status, answer) = self.answer(&request.path, &body);
        let body = if self.has(Fault::NotJson) && request.body.is_some() {
            "<html>".to_owned()
        } else {
            answer.to_string()
        };
        // Python writes what JSON does not have.
        let body = if self.has(Fault::NotANumber) { body.replace("\"NaN\"", "NaN") } else { body };
        Ok(Reply { status, body })
    }
}

const BOS: u64 = 1;

/// Tokens of at most three bytes, a space at their start; other than ASCII byte by byte.
fn split(text: &str) -> Vec<u64> {
    let mut ids = Vec::new();
    let mut token: Vec<u8> = Vec::new();
    for byte in text.bytes() {
        if !token.is_empty()
            && (token.len() == 3
                || byte == b' '
                || !byte.is_ascii()
                || !token[0].is_ascii()
                || token[0] == b'\n')
        {
            ids.push(number(&token));
            token.clear();
        }
        token.push(byte);
    }
    if !token.is_empty() {
        ids.push(number(&token));
    }
    ids
}

fn number(token: &[u8]) -> u64 {
    token.iter().fold(token.len() as u64, |id, &byte| id * 256 + u64::from(byte))
}

fn id_of(token: &str) -> u64 {
    number(token.as_bytes())
}

/// The text of a token; U+FFFD for a part of a character.
fn text_of(id: u64) -> String {
    if id == BOS {
        return "<s>".to_owned();
    }
    let mut bytes = Vec::new();
    let mut rest = id;
    while rest > 3 {
        bytes.push((rest % 256) as u8);
        rest /= 256;
    }
    bytes.reverse();
    String::from_utf8_lossy(&bytes).into_owned()
}
