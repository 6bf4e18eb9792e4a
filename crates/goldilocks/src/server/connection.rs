//! Requests over HTTP: kept connections, time-outs, retries. The one file of the library that opens a connection.

use std::thread;
use std::time::Duration;

use servers::{Reply, Request, Transport, Unreachable};

use super::address::{Keys, ServerAddress};
use crate::Result;

/// The largest answer that is read: ten echoed texts of a question are about a megabyte.
const LARGEST: u64 = 64 << 20;

/// A connection to a server.
pub(super) struct Connection {
    agent: ureq::Agent,
    address: ServerAddress,
    key: Option<String>,
    tries: u32,
    /// The wait before the second try; it doubles with each further one.
    first_wait: Duration,
}

impl Connection {
    pub(super) fn new(address: &ServerAddress, keys: &Keys, timeout: Duration) -> Result<Self> {
        let key = address.key(keys)?.map(str::to_owned);
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A key must not follow a redirection to another host.
            .max_redirects(0)
            .timeout_global(Some(timeout))
            .max_idle_connections_per_host(64)
            .build();
        let first_wait = Duration::from_millis(500);
        Ok(Self { agent: config.into(), address: address.clone(), key, tries: 5, first_wait })
    }

    #[cfg(test)]
    pub(super) fn impatient(mut self) -> Self {
        self.first_wait = Duration::from_millis(1);
        self
    }

    /// One try: the reply, and how long the server wants to be left alone.
    fn try_once(&self, request: &Request) -> Result<(Reply, Option<Duration>), ureq::Error> {
        let url = self.address.url(&request.path);
        let mut response = match &request.body {
            None => {
                let mut builder = self.agent.get(url);
                for (name, value) in self.headers() {
                    builder = builder.header(name, value);
                }
                builder.call()?
            }
            Some(body) => {
                let mut builder = self.agent.post(url).header("Content-Type", "application/json");
                for (name, value) in self.headers() {
                    builder = builder.header(name, value);
                }
                builder.send(body.to_string())?
            }
        };
        let status = response.status().as_u16();
        let after = response.headers().get("retry-after");
        let seconds: Option<f64> = after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let seconds = seconds.filter(|seconds| (0.0..=3600.0).contains(seconds));
        let body = response.body_mut().with_config().limit(LARGEST).read_to_string()?;
        Ok((Reply { status, body }, seconds.map(Duration::from_secs_f64)))
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        let Some(key) = &self.key else { return Vec::new() };
        if self.address.is_anthropic() {
            return vec![
                ("x-api-key", key.clone()),
                ("anthropic-version", "2023-06-01".to_owned()),
            ];
        }
        vec![("Authorization", format!("Bearer {key}"))]
    }
}

impl Transport for Connection {
    fn send(&self, request: &Request) -> Result<Reply, Unreachable> {
        let mut wait = self.first_wait;
        let mut tried = 1;
        loop {
            let result = self.try_once(request);
            let (is_final, at_least) = match &result {
                Ok((reply, after)) => (!may_retry(reply, *after), after.unwrap_or_default()),
                Err(error) => (!is_passing(error), Duration::ZERO),
            };
            if is_final || tried == self.tries {
                return result.map(|(reply, _)| reply).map_err(|error| Unreachable {
                    path: self.address.url(&request.path),
                    reason: format!(
                        "{error} (tried {tried} time{})",
                        if tried == 1 { "" } else { "s" }
                    ),
                });
            }
            thread::sleep(wait.max(at_least) + jitter(request, wait));
            wait *= 2;
            tried += 1;
        }
    }
}

/// Up to a quarter more, different for different requests, so that those in flight do not come back at once.
fn jitter(request: &Request, wait: Duration) -> Duration {
    let body = request.body.as_ref().map(ToString::to_string).unwrap_or_default();
    let sum: usize = body.bytes().map(usize::from).sum();
    wait.mul_f64((sum % 97) as f64 / 97.0 / 4.0)
}

/// Statuses that may pass. A 429 may, if the server says when; one about money does not.
fn may_retry(reply: &Reply, after: Option<Duration>) -> bool {
    let is_about_money = ["insufficient_quota", "credit_balance", "spend_limit", "billing"]
        .iter()
        .any(|sign| reply.body.contains(sign));
    match reply.status {
        408 | 409 | 502 | 503 | 504 | 529 => true,
        // llama-server's way to say that a grammar can't force a token.
        500 => !reply.body.contains("grammar"),
        429 => after.is_some() && !is_about_money,
        _ => false,
    }
}

fn is_passing(error: &ureq::Error) -> bool {
    matches!(
        error,
        ureq::Error::Io(_)
            | ureq::Error::Timeout(_)
            | ureq::Error::ConnectionFailed
            | ureq::Error::Protocol(_)
    )
}
