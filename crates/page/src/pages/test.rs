//! Taking the test (§4.5): a name, one question at a time, the score at the end.
//!
//! What is shown before the end is made from a [`questions::Question`], which has neither answer nor class.

use axum::Form;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use questions::{Question, WordClass};
use report::reading::{self, Sentence};
use serde::{Deserialize, Serialize};

use super::attention;
use crate::keys::token;
use crate::site::{Answer, PageError, Shared, Site, cookie, see_other, with_cookie};
use crate::study::{self, Annotator, JoinOutcome, Mode, NextItem, Study};
use crate::view::{self, Shell};

const COOKIE: &str = "goldilocks_annotator";
/// The longest name in characters.
const LONGEST_NAME: usize = 60;
/// How long an answer can be taken back, in seconds; the page offers it for ten.
const UNDO: f64 = 15.0;
/// Annotators see no menu: the other pages are not for them.
pub const SHELL: Shell = Shell { has_studies: false };

/// A name, to join with.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct JoinForm {
    name: String,
    seal: String,
    /// `yes`, where the study has a text to agree to.
    consent: String,
}

/// What the address of a study may bring along.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Invitation {
    /// A name to begin with, such as the number that a platform gives its workers.
    name: String,
}

/// A choice, with what the server sealed when it showed the question.
#[derive(Deserialize)]
pub struct AnswerForm {
    item: i64,
    choice: usize,
    /// When the question was shown, in Unix milliseconds.
    shown: u64,
    seal: String,
}

/// An answer to take back.
#[derive(Deserialize)]
pub struct UndoForm {
    item: i64,
    seal: String,
}

/// Where a study begins.
pub async fn welcome(
    State(site): Shared,
    Path(code): Path<String>,
    Query(invitation): Query<Invitation>,
    headers: HeaderMap,
) -> Answer {
    welcome_with(&site, &code, &headers, &invitation.name, "")
}

fn welcome_with(site: &Site, code: &str, headers: &HeaderMap, name: &str, problem: &str) -> Answer {
    let store = site.store()?;
    let (id, is_open) = study::find_by_code(store, code)?.ok_or(PageError::NotFound)?;
    let known = annotator(site, headers)?;
    let is_elsewhere = known.as_ref().is_some_and(|annotator| annotator.study != id);
    let settings = site.study(store, id)?.settings.clone();
    let view = context! {
        title => settings.name,
        consent => settings.consent,
        practice => settings.practice,
        name => name.chars().take(LONGEST_NAME).collect::<String>(),
        code,
        is_open,
        problem,
        known => known.filter(|_| !is_elsewhere).map(|annotator| annotator.name),
        // The browser forgets the other study when it joins this one.
        elsewhere => is_elsewhere.then(|| return_address(headers)),
        seal => site.key.seal(&["join", code]),
        longest_name => LONGEST_NAME,
    };
    Ok(view::page(StatusCode::OK, "join.html", SHELL, view))
}

/// Adds an annotator to the study and shows the first question.
pub async fn join(
    State(site): Shared,
    Path(code): Path<String>,
    headers: HeaderMap,
    Form(form): Form<JoinForm>,
) -> Answer {
    let store = site.store()?;
    if !site.key.has_sealed(&["join", &code], &form.seal) {
        return Err(PageError::Forged);
    }
    let (id, _) = study::find_by_code(store, &code)?.ok_or(PageError::NotFound)?;
    if annotator(&site, &headers)?.is_some_and(|annotator| annotator.study == id) {
        return Ok(see_other("/test"));
    }
    let settings = site.study(store, id)?.settings.clone();
    let welcome = |problem: &str| welcome_with(&site, &code, &headers, &form.name, problem);
    let name = form.name.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = name.chars().count();
    if length == 0 || length > LONGEST_NAME || name.chars().any(char::is_control) {
        let problem = format!("Please give a name of 1 to {LONGEST_NAME} characters.");
        return welcome(&problem);
    }
    if !settings.consent.is_empty() && form.consent != "yes" {
        return welcome("To take part, please agree to the text below.");
    }
    let token = token()?;
    match study::join(store, id, name, &token, (site.now)()).await? {
        JoinOutcome::Yes => {
            let first = if settings.practice { "/test/practice" } else { "/test" };
            Ok(with_cookie(first, COOKIE, &token, "Lax"))
        }
        JoinOutcome::NameTaken => welcome(
            "Somebody has that name already. If it was you, use the address that you were given when you stopped; else choose another name.",
        ),
        JoinOutcome::Full => welcome("There are no more questions for you. Thank you for coming!"),
        JoinOutcome::Closed => welcome(""),
    }
}

/// The address that an annotator was given when stopping.
pub async fn come_back(State(site): Shared, Path(token): Path<String>) -> Answer {
    match study::annotator(site.store()?, &token)? {
        Some(_) => Ok(with_cookie("/test", COOKIE, &token, "Lax")),
        None => Err(PageError::NotFound),
    }
}

/// The next question, or the end.
pub async fn question(State(site): Shared, headers: HeaderMap) -> Answer {
    let Some(annotator) = annotator(&site, &headers)? else { return Ok(stranger()) };
    let store = site.store()?;
    let (done, total) = study::done(store, &annotator)?;
    let study = site.study(store, annotator.study)?;
    let shown = match study::next(store, &annotator)? {
        Some(shown) if annotator.is_open => shown,
        Some(_) => {
            let text =
                "The study has been closed. The answers that you gave before are kept. Thank you!";
            return Ok(view::message(StatusCode::OK, "Closed", text));
        }
        None => return end(&site, &annotator, &study),
    };
    if let Some(number) = attention::due(store, &annotator, done, &study.settings)? {
        return attention::ask(&site, &annotator, number, (done, total));
    }
    let at = ((site.now)() * 1000.0) as u64;
    let seal =
        site.key.seal(&answer_texts(&annotator, shown.item, at).each_ref().map(String::as_str));
    let drawn = AnnotatorView::of(&study.questions.example(shown.question).question, shown.mode);
    let view = context! {
        title => study.settings.name.clone(),
        drawn => Serde(drawn),
        number => done + 1,
        done,
        total,
        item => shown.item,
        shown => at,
        seal,
        undo => undo_of(&site, &annotator)?,
    };
    Ok(view::page(StatusCode::OK, "test.html", SHELL, view))
}

/// An answer; the redirect to the next question is its confirmation.
pub async fn answer(
    State(site): Shared,
    headers: HeaderMap,
    Form(form): Form<AnswerForm>,
) -> Answer {
    let Some(annotator) = annotator(&site, &headers)? else { return Ok(stranger()) };
    let store = site.store()?;
    let texts = answer_texts(&annotator, form.item, form.shown);
    if !site.key.has_sealed(&texts.each_ref().map(String::as_str), &form.seal) {
        return Err(PageError::Forged);
    }
    // The seal vouches for the item; a form that was sent twice finds another question to be next.
    if let Some(NextItem { item, question, .. }) = study::next(store, &annotator)?
        && item == form.item
    {
        let study = site.study(store, annotator.study)?;
        if form.choice >= study.questions.example(question).question.candidates.len() {
            return Err(PageError::Malformed);
        }
        let now = (site.now)();
        let seconds = (now - form.shown as f64 / 1000.0).max(0.0);
        study::record(store, &annotator, item, form.choice, (seconds, now)).await?;
    }
    Ok(see_other("/test"))
}

/// The answer that can still be taken back, with what the form needs for it.
fn undo_of(site: &Site, annotator: &Annotator) -> Result<Option<minijinja::Value>, PageError> {
    let latest = study::latest(site.store()?, annotator)?;
    let latest = latest.filter(|&(_, answered)| (site.now)() - answered < UNDO);
    Ok(latest.map(|(item, _)| context! { item, seal => site.key.seal(&undo_texts(annotator, item).each_ref().map(String::as_str)) }))
}

/// Takes the last answer back if it is some seconds old. At the end the answers have been shown, and all stay.
pub async fn undo(State(site): Shared, headers: HeaderMap, Form(form): Form<UndoForm>) -> Answer {
    let Some(annotator) = annotator(&site, &headers)? else { return Ok(stranger()) };
    let store = site.store()?;
    let texts = undo_texts(&annotator, form.item);
    if !site.key.has_sealed(&texts.each_ref().map(String::as_str), &form.seal) {
        return Err(PageError::Forged);
    }
    if annotator.is_open && study::next(store, &annotator)?.is_some() {
        study::take_back(store, &annotator, form.item, (site.now)() - UNDO).await?;
    }
    Ok(see_other("/test"))
}

/// The page that tells an annotator how to continue later.
pub async fn pause(State(site): Shared, headers: HeaderMap) -> Answer {
    let Some(annotator) = annotator(&site, &headers)? else { return Ok(stranger()) };
    let (done, total) = study::done(site.store()?, &annotator)?;
    let view =
        context! { done, total, name => annotator.name, address => return_address(&headers) };
    Ok(view::page(StatusCode::OK, "pause.html", SHELL, view))
}

/// The address at which the annotator can continue later, in any browser.
fn return_address(headers: &HeaderMap) -> String {
    let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
    format!("http://{host}/return/{}", cookie(headers, COOKIE).unwrap_or_default())
}

/// Whoever has the cookie of an annotator.
pub fn annotator(site: &Site, headers: &HeaderMap) -> Result<Option<Annotator>, PageError> {
    match cookie(headers, COOKIE) {
        Some(token) => Ok(study::annotator(site.store()?, token)?),
        None => Ok(None),
    }
}

/// The page for somebody without that cookie.
pub fn stranger() -> Response {
    let text = "Open the address that you were given for the study, or the one that you were given when you stopped.";
    view::message(StatusCode::FORBIDDEN, "Who are you?", text)
}

/// What the seal of an answer's form is over.
fn answer_texts(annotator: &Annotator, item: i64, shown: u64) -> [String; 4] {
    ["answer".to_owned(), annotator.id.to_string(), item.to_string(), shown.to_string()]
}

/// What the seal of a form that takes an answer back is over.
fn undo_texts(annotator: &Annotator, item: i64) -> [String; 3] {
    ["undo".to_owned(), annotator.id.to_string(), item.to_string()]
}

/// A question as an annotator sees it.
#[derive(Debug, Serialize)]
struct AnnotatorView {
    context: Vec<Sentence>,
    query: Sentence,
    candidates: Vec<String>,
}

impl AnnotatorView {
    fn of(question: &Question<'_>, mode: Mode) -> Self {
        let context = match mode {
            Mode::Query => vec![],
            Mode::ContextQuery => reading::context(question),
        };
        let candidates = question.candidates.iter().map(|&c| question.word(c).to_owned());
        Self { context, query: reading::query(question), candidates: candidates.collect() }
    }
}

/// The score, right answers and classes included: nothing is left to be answered.
fn end(site: &Site, annotator: &Annotator, study: &Study) -> Answer {
    let questions = &study.questions;
    let answers = study::score(site.store()?, annotator)?;
    let is_right =
        |&&(question, chosen): &&(usize, usize)| questions.example(question).answer == Some(chosen);
    let of_class = |class: &WordClass| {
        let of_class =
            || answers.iter().filter(|(q, _)| questions.example(*q).class == Some(*class));
        context! { label => class.label(), right => of_class().filter(is_right).count(), n => of_class().count() }
    };
    let solution = |&(question, chosen): &(usize, usize)| {
        let example = questions.example(question);
        let word = |index: usize| {
            example.question.candidates.get(index).map(|&c| example.question.word(c))
        };
        context! {
            query => Serde(reading::query(&example.question)),
            chosen => word(chosen),
            answer => example.answer.and_then(word),
        }
    };
    let view = context! {
        solutions => answers.iter().map(solution).collect::<Vec<_>>(),
        name => annotator.name.clone(),
        completion_code => study.settings.completion_code.clone(),
        return_to => study.settings.return_to.clone(),
        right => answers.iter().filter(is_right).count(),
        n => answers.len(),
        classes => WordClass::ALL.iter().map(of_class).collect::<Vec<_>>(),
    };
    Ok(view::page(StatusCode::OK, "end.html", SHELL, view))
}
