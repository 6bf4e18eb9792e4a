//! Multiple choice by chat: passage, sentence with a gap, ten letters; for servers without log-probabilities.
//!
//! Candidates get letters in an order drawn from the seed, since models prefer some letters. A reply that names no
//! letter is counted, and so is a refusal; neither chooses a candidate.

use std::sync::atomic::{AtomicBool, Ordering};

use base::seeds::{Use, generator};
use corpus::detokenise::plain_text;
use questions::Question;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Usage;
use crate::{Error, Kind, Result, Server, Transport};

/// The outcome of a question to a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChoiceOutcome {
    /// A candidate, by its place in the question.
    Candidate(usize),
    /// The model does not want to answer.
    Refused,
    /// No letter could be found in the reply.
    Unparsable,
}

/// A reply, and the letter that was found in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoiceReply {
    /// The candidate, or why there is none.
    pub chosen: ChoiceOutcome,
    /// The letter in the reply.
    pub letter: Option<char>,
    /// The first words of the reply.
    pub reply: String,
}

/// Asks a chat to choose.
pub struct MultipleChoice {
    model: String,
    is_anthropic: bool,
    seed: u64,
    rotations: usize,
    /// Newer models of OpenAI want `max_completion_tokens`, and no temperature.
    is_reasoning: AtomicBool,
}

const BLANK: &str = "_____";

impl MultipleChoice {
    /// Asks a server's model, each question `rotations` times.
    pub fn new(server: &Server, seed: u64, rotations: usize) -> Self {
        Self {
            model: server.model.clone(),
            is_anthropic: server.kind == Kind::Anthropic,
            seed,
            rotations: rotations.max(1),
            is_reasoning: AtomicBool::new(false),
        }
    }

    /// The replies to a question without the first `n_cut` sentences of its context.
    ///
    /// # Errors
    /// If the server does not answer, or not with a message.
    pub fn ask(
        &self,
        transport: &dyn Transport,
        question: &Question<'_>,
        n_cut: usize,
    ) -> Result<(Vec<ChoiceReply>, Usage)> {
        let mut usage = Usage::default();
        let mut replies = Vec::new();
        let n_candidates = question.candidates.len();
        for rotation in 0..self.rotations {
            let order = self.order(question, rotation);
            let prompt = prompt(question, &order, n_cut);
            let (text, is_refused, used) = self.message(transport, &prompt)?;
            usage = usage.plus(used);
            let words: Vec<&str> =
                order.iter().map(|&place| question.word(question.candidates[place])).collect();
            let letter = letter(&text, n_candidates, &words);
            let chosen = match letter {
                Some(letter) => ChoiceOutcome::Candidate(order[usize::from(letter as u8 - b'A')]),
                None if is_refused || refuses(&text) => ChoiceOutcome::Refused,
                None => ChoiceOutcome::Unparsable,
            };
            replies.push(ChoiceReply {
                chosen,
                letter,
                reply: crate::transport::shortened(&text, 80),
            });
        }
        Ok((replies, usage))
    }

    /// A small question, to see that a chat answers.
    pub(crate) fn greet(&self, transport: &dyn Transport) -> Result<(Option<char>, Usage)> {
        let words = ["cold", "window"];
        let prompt = "One word is missing from the sentence:\n\nThe opposite of hot is _____.\n\nWhich word is it?\n\n\
                      A. cold\nB. window\n\nAnswer with the letter of the word and nothing else.";
        let (text, _, usage) = self.message(transport, prompt)?;
        Ok((letter(&text, words.len(), &words), usage))
    }

    /// The candidates in the order of their letters; each rotation moves all by as many letters.
    fn order(&self, question: &Question<'_>, rotation: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..question.candidates.len()).collect();
        let id = question.id().to_string();
        order.shuffle(&mut generator(self.seed, Use::Letters, &[&id]));
        let by = rotation * order.len() / self.rotations % order.len().max(1);
        order.rotate_left(by);
        order
    }

    /// Sends a message; the text of the reply, and whether the server says that the model refused.
    fn message(&self, transport: &dyn Transport, prompt: &str) -> Result<(String, bool, Usage)> {
        if self.is_anthropic {
            return self.anthropic(transport, prompt);
        }
        const PATH: &str = "/v1/chat/completions";
        let body = || {
            let mut body =
                json!({"model": self.model, "messages": [{"role": "user", "content": prompt}]});
            if self.is_reasoning.load(Ordering::Relaxed) {
                body["max_completion_tokens"] = json!(4096);
            } else {
                body["max_tokens"] = json!(8);
                body["temperature"] = json!(0);
            }
            body
        };
        let answer = match transport.post(PATH, body()) {
            Err(Error::Status { status: 400, message, .. })
                if message.contains("max_completion_tokens") || message.contains("temperature") =>
            {
                self.is_reasoning.store(true, Ordering::Relaxed);
                transport.post(PATH, body())?
            }
            answer => answer?,
        };
        let message = &answer["choices"][0]["message"];
        let refusal = message["refusal"].as_str();
        let text = message["content"].as_str().or(refusal);
        let text = text.ok_or_else(|| Error::NoReply {
            found: crate::transport::shortened(&answer.to_string(), 200),
        })?;
        Ok((text.to_owned(), refusal.is_some(), Usage::of(&answer)))
    }

    fn anthropic(&self, transport: &dyn Transport, prompt: &str) -> Result<(String, bool, Usage)> {
        let body = json!({
            "model": self.model, "max_tokens": 8, "messages": [{"role": "user", "content": prompt}],
        });
        let answer = transport.post("/v1/messages", body)?;
        let blocks = answer["content"].as_array().map_or(&[][..], Vec::as_slice);
        let text: String = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let is_refused = answer["stop_reason"] == "refusal";
        if text.is_empty() && !is_refused {
            return Err(Error::NoReply {
                found: crate::transport::shortened(&answer.to_string(), 200),
            });
        }
        Ok((text, is_refused, Usage::of(&answer)))
    }
}

/// The message to the model.
fn prompt(question: &Question<'_>, order: &[usize], n_cut: usize) -> String {
    let sentences: Vec<Vec<&str>> = question
        .context
        .iter()
        .skip(n_cut)
        .map(|sentence| sentence.iter().map(|&word| question.word(word)).collect())
        .collect();
    let mut query: Vec<&str> = question.query.iter().map(|&word| question.word(word)).collect();
    query[question.blank] = BLANK;
    let context = plain_text(&sentences);
    let query = plain_text(&[query]);
    let options: Vec<String> = ('A'..)
        .zip(order)
        .map(|(letter, &place)| format!("{letter}. {}", question.word(question.candidates[place])))
        .collect();
    let passage = if context.is_empty() {
        String::new()
    } else {
        format!("A passage from a book:\n\n{context}\n\n")
    };
    format!(
        "{passage}One word is missing from the {}sentence:\n\n{query}\n\nWhich word is it?\n\n{}\n\nAnswer with \
         the letter of the word and nothing else.",
        if context.is_empty() { "" } else { "next " },
        options.join("\n"),
    )
}

/// The letter that a reply names: a letter on its own, or that of the candidate that the reply repeats.
fn letter(reply: &str, n_candidates: usize, words: &[&str]) -> Option<char> {
    let last = b'A' + u8::try_from(n_candidates.clamp(1, 26) - 1).unwrap_or(25);
    let is_letter = |c: char| ('A'..=char::from(last)).contains(&c);
    let trimmed = reply.trim().trim_matches(|c: char| !c.is_alphanumeric() && c != '\'');
    if let Some(place) = words.iter().position(|word| *word == trimmed && word.chars().count() > 1)
    {
        return Some(char::from(b'A' + u8::try_from(place).ok()?));
    }
    let tokens =
        reply.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|token| !token.is_empty());
    let mut letters = tokens.enumerate().filter_map(|(place, token)| {
        let mut characters = token.chars();
        let first = characters.next().filter(|&c| is_letter(c) && characters.next().is_none())?;
        // «A» and «I» may be words of a sentence; they count at its start, or after «answer is».
        (place == 0 || !matches!(first, 'A' | 'I') || reply.to_lowercase().contains("answer"))
            .then_some(first)
    });
    letters.next()
}

fn refuses(reply: &str) -> bool {
    let reply = reply.to_lowercase().replace('’', "'");
    ["i can't", "i cannot", "i'm sorry", "i am sorry", "i'm unable", "i am unable", "i won't"]
        .iter()
        .any(|sign| reply.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_found_in_what_models_reply() {
        let words = ["Hen", "fox", "owl"];
        for (reply, expected) in [
            ("B", Some('B')),
            (" B.", Some('B')),
            ("(C)", Some('C')),
            ("**B**. fox", Some('B')),
            ("The answer is A.", Some('A')),
            ("fox", Some('B')),
            ("owl.", Some('C')),
            ("A fox", Some('A')),
            ("D", None),
            ("It was a fox.", None),
            ("", None),
        ] {
            assert_eq!(letter(reply, 3, &words), expected, "{reply}");
        }
        assert!(refuses("I’m sorry, but I can't help with that."));
        assert!(!refuses("It was a fox."));
    }
}
