//! A question to practise on; its answer is not kept.

use axum::Form;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use minijinja::context;
use serde::Deserialize;

use super::test::{SHELL, annotator, stranger};
use crate::site::{Answer, PageError, Shared, Site, see_other};
use crate::study::{self, Annotator, Mode};
use crate::view;

/// The candidates of the question in `practice.html`, and which of them is the answer.
const WORDS: [&str; 10] =
    ["Anna", "Father", "Peter", "bowl", "first", "goat", "second", "table", "three", "window"];
const ANSWER: usize = 0;

/// A choice.
#[derive(Deserialize)]
pub struct PracticeForm {
    choice: usize,
}

/// The question.
pub async fn practice(State(site): Shared, headers: HeaderMap) -> Answer {
    let Some(annotator) = annotator(&site, &headers)? else { return Ok(stranger()) };
    show(&site, &annotator, None)
}

/// The question with its answer.
pub async fn solve(
    State(site): Shared,
    headers: HeaderMap,
    Form(form): Form<PracticeForm>,
) -> Answer {
    let Some(annotator) = annotator(&site, &headers)? else { return Ok(stranger()) };
    let chosen = WORDS.get(form.choice).ok_or(PageError::Malformed)?;
    show(&site, &annotator, Some(chosen))
}

fn show(site: &Site, annotator: &Annotator, chosen: Option<&str>) -> Answer {
    // Whoever has answered everything has nothing to practise for.
    let Some(first) = study::next(site.store()?, annotator)? else { return Ok(see_other("/test")) };
    let has_context = first.mode == Mode::ContextQuery;
    let view = context! { has_context, words => WORDS, chosen, answer => WORDS[ANSWER] };
    Ok(view::page(StatusCode::OK, "practice.html", SHELL, view))
}
