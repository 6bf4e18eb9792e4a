//! [`ServerSettings`]: how a server is asked.

use serde::{Deserialize, Serialize};

use crate::{Error, Result, TextForm};

/// What a candidate's score is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scoring {
    /// ln p of the query with the candidate in it, the paper's rule.
    #[default]
    Query,
    /// ln p of the candidate's own tokens.
    Candidate,
    /// Whether a chat chooses its letter.
    Choice,
}

/// How log-probabilities are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The best one for the kind of server.
    #[default]
    Auto,
    /// llama-server: tokens are forced by a grammar.
    Forced,
    /// OpenAI's `/v1/completions` with `echo`.
    Echo,
    /// The option `prompt_logprobs` of vLLM.
    PromptLogprobs,
    /// The option `logprob_start_len` of SGLang.
    Spans,
}

/// How a server is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSettings {
    /// The model, where the server has several.
    pub name: Option<String>,
    /// What a score is.
    pub scoring: Scoring,
    /// How log-probabilities are asked for.
    pub method: Method,
    /// How tokens become text.
    pub text: TextForm,
    /// `choice`: orders of the letters that are asked, each a request.
    pub rotations: usize,
    /// Whether the model may be untrained; then the probe accepts meaningless figures.
    pub untrained: bool,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            name: None,
            scoring: Scoring::Query,
            method: Method::Auto,
            text: TextForm::Plain,
            rotations: 1,
            untrained: false,
        }
    }
}

impl ServerSettings {
    /// Changes the settings by `KEY=VALUE`.
    ///
    /// # Errors
    /// [`Error::Setting`] for an unknown key or value.
    pub fn set(&mut self, text: &str) -> Result<()> {
        let wrong = |expected: &str| Error::Setting {
            text: text.to_owned(),
            expected: expected.to_owned(),
        };
        const KEYS: &str =
            "KEY=VALUE, where KEY is name, scoring, method, text, rotations or untrained";
        let (key, value) = text.split_once('=').ok_or_else(|| wrong(KEYS))?;
        match key {
            "name" => self.name = Some(value.to_owned()),
            "scoring" => {
                self.scoring = parsed(value).ok_or_else(|| wrong("query, candidate or choice"))?
            }
            "method" => {
                let expected = "auto, forced, echo, prompt-logprobs or spans";
                self.method = parsed(value).ok_or_else(|| wrong(expected))?;
            }
            "text" => self.text = parsed(value).ok_or_else(|| wrong("plain or tokens"))?,
            "rotations" => {
                let rotations = value.parse().ok().filter(|n| (1..=100).contains(n));
                self.rotations = rotations.ok_or_else(|| wrong("a number from 1 to 100"))?;
            }
            "untrained" => self.untrained = value.parse().map_err(|_| wrong("true or false"))?,
            _ => return Err(wrong(KEYS)),
        }
        Ok(())
    }
}

fn parsed<T: for<'a> Deserialize<'a>>(value: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(value.to_owned())).ok()
}
