//! [`Transport`]: how requests reach a server. Sockets, keys, retries and time-outs are its business.

use std::fmt;

use serde_json::Value;

use crate::{Error, Result};

/// A request to a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The path below the server's address: `/v1/completions`.
    pub path: String,
    /// What is posted; none: GET.
    pub body: Option<Value>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status code of HTTP.
    pub status: u16,
    /// The body, as it came.
    pub body: String,
}

/// No answer came, after all tries.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are what the type says")]
pub struct Unreachable {
    pub path: String,
    pub reason: String,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: no answer: {}", self.path, self.reason)
    }
}

impl std::error::Error for Unreachable {}

/// Sends requests; several threads may do so at once.
pub trait Transport: Send + Sync {
    /// Sends a request and waits for the reply, whatever its status.
    ///
    /// # Errors
    /// If there is no reply.
    fn send(&self, request: &Request) -> Result<Reply, Unreachable>;
}

impl<'a> dyn Transport + 'a {
    /// The JSON at a path; none where the server has no such path.
    pub(crate) fn get(&self, path: &str) -> Result<Option<Value>> {
        let request = Request { path: path.to_owned(), body: None };
        let reply = self.send(&request)?;
        match reply.status {
            200..=299 => Ok(serde_json::from_str(&reply.body).ok()),
            401 | 403 => Err(failed(path, &reply)),
            _ => Ok(None),
        }
    }

    /// Posts JSON; the reply must be JSON of a success.
    pub(crate) fn post(&self, path: &str, body: Value) -> Result<Value> {
        let request = Request { path: path.to_owned(), body: Some(body) };
        let reply = self.send(&request)?;
        if !(200..300).contains(&reply.status) {
            return Err(failed(path, &reply));
        }
        let value: Value = serde_json::from_str(&reply.body).map_err(|_| {
            // Python writes numbers that JSON does not have.
            let word = ["NaN", "Infinity"].into_iter().find(|word| reply.body.contains(word));
            let found = word.unwrap_or(&reply.body);
            Error::malformed(path, "JSON with finite numbers", &Value::String(found.to_owned()))
        })?;
        // Some servers answer 200 with an error in the body.
        match value.get("error") {
            None | Some(Value::Null) => Ok(value),
            Some(_) => Err(failed(path, &reply)),
        }
    }
}

/// The error that a status and its body mean.
fn failed(path: &str, reply: &Reply) -> Error {
    let message = message(&reply.body);
    let path = path.to_owned();
    let is_too_long =
        ["context length", "context size", "maximum context", "too long", "exceed_context_size"]
            .iter()
            .any(|sign| message.contains(sign) || reply.body.contains(sign));
    match reply.status {
        401 | 403 => Error::Key { path, message },
        400 | 413 | 422 | 200..=299 if is_too_long => Error::TooLong { message },
        status => Error::Status { path, status, message },
    }
}

/// The words of an error body: `{"error":{"message":…}}`, `{"error":…}`, `{"detail":…}`, or the text itself.
fn message(body: &str) -> String {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let error = value.get("error").or(value.get("detail")).unwrap_or(&value);
    let text = error.get("message").unwrap_or(error);
    let text = text.as_str().map_or_else(|| body.to_owned(), str::to_owned);
    shortened(&text, 300)
}

/// The first characters of a text.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl Error {
    pub(crate) fn malformed(path: &str, expected: &'static str, found: &Value) -> Self {
        let found =
            if found.is_null() { "nothing".to_owned() } else { shortened(&found.to_string(), 200) };
        Self::Malformed { path: path.to_owned(), expected, found }
    }
}
