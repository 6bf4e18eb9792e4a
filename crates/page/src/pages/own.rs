//! A passage of one's own: paste it, hide a word, and let the models answer.

use axum::Form;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::question::AnsweredQuestion;
use crate::own::{LONGEST, Passage, example};
use crate::site::{Answer, Shared, Site, aside};
use crate::view;

/// What was pasted, and the word that was hidden.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct OwnForm {
    text: String,
    /// `SENTENCE.WORD`, each counted from 0.
    gap: String,
    model: String,
    seal: String,
}

/// The address of the form; with `example`, that of a form filled with an example.
#[derive(Deserialize)]
pub struct StartQuery {
    example: Option<String>,
}

/// The empty form, or the example.
pub async fn start(
    State(site): Shared,
    headers: HeaderMap,
    Query(start): Query<StartQuery>,
) -> Answer {
    aside(move || {
        let text = if start.example.is_some() { example() } else { String::new() };
        Ok(show(&site, &headers, &OwnForm { text, ..OwnForm::default() }, ""))
    })
    .await
}

/// The passage with its words to choose from, and the answers where one was chosen.
pub async fn answer(State(site): Shared, headers: HeaderMap, Form(form): Form<OwnForm>) -> Answer {
    site.check_form(&headers, &form.seal)?;
    aside(move || {
        let problem = match form.text.len() {
            length if length > LONGEST => "That is too long: a page or two of a book is enough.",
            _ if form.text.trim().is_empty() => "Paste a passage of two sentences or more.",
            _ => "",
        };
        Ok(show(&site, &headers, &form, problem))
    })
    .await
}

fn show(site: &Site, headers: &HeaderMap, form: &OwnForm, problem: &str) -> Response {
    let gap = form.gap.split_once('.').and_then(|(s, w)| Some((s.parse().ok()?, w.parse().ok()?)));
    let passage = Passage::of(if problem.is_empty() { &form.text } else { "" });
    let question = gap.and_then(|(sentence, word)| {
        let set = passage.question(sentence, word)?;
        let example = set.example(0);
        let words = (set.vocabulary(), &example);
        Some((sentence, AnsweredQuestion::of(&site.catalogue, words, &form.model, None)))
    });
    let (answered, hidden) = match question {
        Some((sentence, mut answered)) => {
            let reading = answered.take_story();
            (Some(answered), Some((sentence, reading)))
        }
        None => (None, None),
    };
    let paragraphs = passage.drawn(hidden);
    let has_words =
        paragraphs.iter().flatten().flatten().flat_map(|s| &s.words).any(|w| w.button.is_some());
    let view = context! {
        text => form.text.clone(),
        problem,
        has_words,
        paragraphs => Serde(paragraphs),
        answered => Serde(answered),
        gap => form.gap.clone(),
        seal => site.form_seal(headers),
        longest => LONGEST,
    };
    view::page(StatusCode::OK, "own.html", site.shell(), view)
}
