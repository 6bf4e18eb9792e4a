//! An attention check: a word that the page names is to be chosen.

use axum::Form;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use minijinja::context;
use serde::Deserialize;

use super::test::{SHELL, annotator, stranger};
use crate::Result;
use crate::site::{Answer, PageError, Shared, Site, see_other};
use crate::store::Store;
use crate::study::{self, Annotator, Settings};
use crate::view;

/// What can be chosen.
const WORDS: [&str; 10] = [
    "bridge", "button", "candle", "garden", "kitten", "ladder", "lamp", "pocket", "river", "winter",
];

/// A choice, with what the server sealed when it asked.
#[derive(Deserialize)]
pub struct CheckForm {
    number: usize,
    choice: usize,
    seal: String,
}

/// The number of the check that an annotator with so many answers is to have now.
///
/// # Errors
/// Those of the store.
pub fn due(
    store: &Store,
    annotator: &Annotator,
    answered: usize,
    settings: &Settings,
) -> Result<Option<usize>> {
    let Some(wanted) = answered.checked_div(settings.check_every) else { return Ok(None) };
    let n = study::checks(store, annotator)?.n;
    Ok((wanted > n).then_some(n + 1))
}

/// The word of a check, as a place among [`WORDS`]: not the same for everybody.
fn word(annotator: &Annotator, number: usize) -> usize {
    (7 * annotator.id.unsigned_abs() as usize + 3 * number) % WORDS.len()
}

/// Shows a check to somebody with so many answers of so many.
///
/// # Errors
/// None.
pub fn ask(
    site: &Site,
    annotator: &Annotator,
    number: usize,
    (done, total): (usize, usize),
) -> Answer {
    let seal = site.key.seal(&texts(annotator, number).each_ref().map(String::as_str));
    let view = context! { number, done, total, seal, words => WORDS, word => WORDS[word(annotator, number)] };
    Ok(view::page(StatusCode::OK, "attention.html", SHELL, view))
}

/// Keeps whether the word was chosen, and goes on with the test.
pub async fn check(State(site): Shared, headers: HeaderMap, Form(form): Form<CheckForm>) -> Answer {
    let Some(annotator) = annotator(&site, &headers)? else { return Ok(stranger()) };
    if !site
        .key
        .has_sealed(&texts(&annotator, form.number).each_ref().map(String::as_str), &form.seal)
    {
        return Err(PageError::Forged);
    }
    let passed = form.choice == word(&annotator, form.number);
    study::record_check(site.store()?, &annotator, form.number, passed, (site.now)()).await?;
    Ok(see_other("/test"))
}

/// What the seal of a check's form is over.
fn texts(annotator: &Annotator, number: usize) -> [String; 3] {
    ["check".to_owned(), annotator.id.to_string(), number.to_string()]
}
