//! A passage of one's own: paste it, blank a word, and let the models answer.

use axum::Form;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use corpus::detokenise::{Spaced, spaced};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::own::{LONGEST, Passage};
use crate::pages::explore::AnsweredQuestion;
use crate::site::{Answer, Shared, Site, aside};
use crate::view;

/// What was pasted, and the word that was blanked.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct OwnForm {
    text: String,
    /// `SENTENCE.WORD`, each counted from 0.
    gap: String,
    model: String,
    seal: String,
}

#[derive(Serialize)]
struct Word {
    text: String,
    has_space: bool,
    gap: Option<String>,
    is_blanked: bool,
}

/// The empty form.
pub async fn blank(State(site): Shared, headers: HeaderMap) -> Answer {
    Ok(show(&site, &headers, &OwnForm::default(), ""))
}

/// The passage with its words to choose from, and the answers where one was chosen.
pub async fn answer(State(site): Shared, headers: HeaderMap, Form(form): Form<OwnForm>) -> Answer {
    site.check_form(&headers, &form.seal)?;
    aside(move || {
        let problem = match form.text.len() {
            length if length > LONGEST => "That is too long: a chapter's page or two is enough.",
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
    let askable = passage.askable();
    let texts: Vec<Vec<&str>> = passage.sentences().collect();
    let sentence = |(number, texts): (usize, &Vec<&str>)| -> Vec<Word> {
        let word = |(place, Spaced { has_space, text }): (usize, Spaced<'_>)| Word {
            text: text.to_owned(),
            has_space,
            gap: askable[number].contains(&place).then(|| format!("{number}.{place}")),
            is_blanked: gap == Some((number, place)),
        };
        spaced(texts).into_iter().enumerate().map(word).collect()
    };
    let sentences: Vec<Vec<Word>> = texts.iter().enumerate().map(sentence).collect();
    let question = gap.and_then(|(sentence, place)| passage.question(sentence, place));
    let looked = question.as_ref().map(|set| {
        AnsweredQuestion::of(
            &site.catalogue,
            (set.vocabulary(), &set.example(0)),
            &form.model,
            None,
        )
    });
    let view = context! {
        text => form.text.clone(),
        problem,
        has_words => askable.iter().any(|words| !words.is_empty()),
        sentences => Serde(sentences),
        looked => Serde(looked),
        class => question.as_ref().and_then(|set| set.example(0).class).map(|class| class.label()),
        gap => form.gap.clone(),
        seal => site.form_seal(headers),
        longest => LONGEST,
    };
    view::page(StatusCode::OK, "own.html", site.shell(), view)
}
