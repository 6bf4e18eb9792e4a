//! Exploring: the sets, a list of questions, one question with everybody's scores and what a model looked at.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use base::Vocabulary;
use minijinja::context;
use minijinja::value::Serde;
use questions::{Example, Explanation, Split, WordClass};
use serde::Serialize;

use crate::catalogue::Catalogue;
use crate::filter::{Filter, LONGEST_SEARCH};
use crate::inside;
use crate::site::{Answer, Refusal, Shared, aside};
use crate::view;

/// How many questions a page of the list has.
const PER_PAGE: usize = 20;

/// The first page.
pub async fn home(State(site): Shared) -> Answer {
    let sets = site.catalogue.sets.iter().map(|loaded| {
        let n = report::thousands(loaded.set.len());
        let query = Filter { set: loaded.name.clone(), ..Filter::default() }.query();
        context! { name => loaded.name.clone(), query, n, books => loaded.set.books().len() }
    });
    let view = context! {
        sets => sets.collect::<Vec<_>>(),
        answerers => site.catalogue.answerers.iter().map(|a| a.name.clone()).collect::<Vec<_>>(),
    };
    Ok(view::page(StatusCode::OK, "home.html", site.shell(), view))
}

/// The questions that are asked for, a page of them.
pub async fn list(State(site): Shared, Query(filter): Query<Filter>) -> Answer {
    aside(move || {
        let catalogue = &site.catalogue;
        let (number, loaded) = catalogue.set(&filter.set);
        let places = filter.places(catalogue);
        let pages = places.len().div_ceil(PER_PAGE).max(1);
        let page = filter.page.parse::<usize>().unwrap_or(1).clamp(1, pages);
        let shown = places.iter().skip((page - 1) * PER_PAGE).take(PER_PAGE).map(|&place| {
            let example = loaded.set.example(place);
            let judged = judged(catalogue, number, place);
            context! {
                id => address_of(&loaded.ids[place]),
                about => Serde(About::of(&example)),
                query => Serde(inside::query(&example.question, None)),
                n_right => judged.iter().filter(|is_right| **is_right).count(),
                n_judged => judged.len(),
            }
        });
        let other_page = |page: usize| Filter { page: page.to_string(), ..filter.clone() }.query();
        let view = context! {
            questions => shown.collect::<Vec<_>>(),
            first => (page - 1) * PER_PAGE + 1,
            n => report::thousands(places.len()),
            page, pages,
            previous => (page > 1).then(|| other_page(page - 1)),
            next => (page < pages).then(|| other_page(page + 1)),
            query => Filter { page: String::new(), ..filter.clone() }.query(),
            choices => choices(catalogue, number),
            filter => Serde(&filter),
            longest_search => LONGEST_SEARCH,
        };
        Ok(view::page(StatusCode::OK, "questions.html", site.shell(), view))
    })
    .await
}

/// One question.
pub async fn question(
    State(site): Shared,
    Path(id): Path<String>,
    Query(filter): Query<Filter>,
) -> Answer {
    aside(move || {
        let catalogue = &site.catalogue;
        let id = id.replace('.', "#");
        let found = || {
            let (number, loaded) = catalogue.set(&filter.set);
            let here = loaded.place(&id).map(|place| (number, place));
            let elsewhere = || {
                catalogue.sets.iter().enumerate().find_map(|(n, set)| Some((n, set.place(&id)?)))
            };
            here.or_else(elsewhere)
        };
        let (number, place) = found().ok_or(Refusal::NotFound)?;
        let loaded = &catalogue.sets[number];
        let example = loaded.set.example(place);
        let places = filter.places(catalogue);
        let at = places.partition_point(|&other| other < place);
        let neighbour = |place: Option<&usize>| place.map(|&place| address_of(&loaded.ids[place]));
        let looked = AnsweredQuestion::of(
            catalogue,
            (loaded.set.vocabulary(), &example),
            &filter.model,
            Some((number, place)),
        );
        let switch = |model: &String| {
            (model.clone(), Filter { model: model.clone(), ..filter.clone() }.query())
        };
        let view = context! {
            switches => Serde(looked.models.iter().map(switch).collect::<Vec<_>>()),
            permanent => address_of(&id),
            id,
            set => loaded.name.clone(),
            about => Serde(About::of(&example)),
            looked => Serde(looked),
            previous => neighbour(at.checked_sub(1).and_then(|at| places.get(at))),
            next => neighbour(places[at..].iter().find(|&&other| other > place)),
            list => Filter { model: String::new(), ..filter.clone() }.query(),
            query => filter.query(),
        };
        Ok(view::page(StatusCode::OK, "question.html", site.shell(), view))
    })
    .await
}

/// `#` would end an address.
fn address_of(id: &str) -> String {
    id.replace('#', ".")
}

/// What is known about a question.
#[derive(Serialize)]
struct About {
    class: Option<&'static str>,
    split: Option<&'static str>,
    book: Option<String>,
}

impl About {
    fn of(example: &Example<'_>) -> Self {
        Self {
            class: example.class.map(WordClass::label),
            split: example.split.map(Split::code),
            book: example.book.map(report::book_title),
        }
    }
}

/// Whether each answerer is right about a question, as far as it is known.
fn judged(catalogue: &Catalogue, set: usize, place: usize) -> Vec<bool> {
    catalogue
        .answerers
        .iter()
        .filter_map(|answerer| answerer.is_right(catalogue, set, place))
        .collect()
}

/// What can be chosen in the filter.
fn choices(catalogue: &Catalogue, set: usize) -> minijinja::Value {
    let loaded = &catalogue.sets[set];
    let used: std::collections::BTreeSet<Option<usize>> =
        (0..loaded.set.len()).map(|place| loaded.set.book(place)).collect();
    let books = used.into_iter().flatten().map(|book| {
        let name = &loaded.set.books()[book].name;
        (name.clone(), report::book_title(name))
    });
    let ready = catalogue.answerers.iter().filter(|answerer| answerer.is_ready(set));
    context! {
        sets => catalogue.sets.iter().map(|set| set.name.clone()).collect::<Vec<_>>(),
        classes => Serde(WordClass::ALL.map(|class| (class.code(), class.label()))),
        splits => Serde(Split::ALL.map(Split::code)),
        books => Serde(books.collect::<Vec<_>>()),
        answerers => ready.map(|answerer| answerer.name.clone()).collect::<Vec<_>>(),
        is_waiting => catalogue.answerers.iter().any(|a| a.is_model() && !a.is_ready(set)),
    }
}

/// A question with everybody's scores, and what one model looked at.
#[derive(Serialize)]
pub struct AnsweredQuestion {
    context: Vec<inside::Sentence>,
    query: inside::Sentence,
    candidates: Vec<Candidate>,
    answerers: Vec<Column>,
    /// The model whose looks are drawn.
    model: Option<String>,
    /// The models whose looks can be drawn.
    models: Vec<String>,
    looks: Vec<inside::ListedLook>,
}

#[derive(Serialize)]
struct Candidate {
    word: String,
    is_answer: bool,
    scores: Vec<Option<Score>>,
}

#[derive(Serialize)]
struct Score {
    text: String,
    is_chosen: bool,
}

#[derive(Serialize)]
struct Column {
    name: String,
    is_right: Option<bool>,
}

impl AnsweredQuestion {
    /// Asks everybody. `stored` is the set and place of a question whose answers may be known.
    pub fn of(
        catalogue: &Catalogue,
        (words, example): (&Arc<Vocabulary>, &Example<'_>),
        model: &str,
        stored: Option<(usize, usize)>,
    ) -> Self {
        let question = &example.question;
        let mut explained: Vec<(&str, Explanation)> = Vec::new();
        let mut columns: Vec<(Column, Vec<f32>, usize)> = Vec::new();
        for answerer in &catalogue.answerers {
            let asked = answerer.ask(stored.map(|(set, _)| set), words, question);
            let known = stored.and_then(|(set, place)| answerer.answered(set, place));
            let scored = match (&asked, known) {
                (_, Some(known)) => Some((known.scores.clone(), known.chosen)),
                (Some((scores, _)), None) => Some((scores.clone(), best(scores))),
                (None, None) => None,
            };
            if let Some((scores, chosen)) = scored {
                let is_right = example.answer.map(|answer| answer == chosen);
                columns.push((Column { name: answerer.name.clone(), is_right }, scores, chosen));
            }
            if let Some((_, explanation)) = asked.filter(|(_, e)| !e.spans.is_empty()) {
                explained.push((&answerer.name, explanation));
            }
        }
        // The last model of the list is the paper's own, so it is shown where nobody chose.
        let drawn = explained.iter().find(|(name, _)| *name == model).or(explained.last());
        let nothing = Explanation::default();
        let explanation = drawn.map_or(&nothing, |(_, explanation)| explanation);
        Self {
            context: inside::context(question, explanation),
            query: inside::query(question, explanation.query.as_ref()),
            candidates: candidates(example, &columns),
            looks: inside::looks(question, explanation),
            model: drawn.map(|(name, _)| (*name).to_owned()),
            models: explained.iter().map(|(name, _)| (*name).to_owned()).collect(),
            answerers: columns.into_iter().map(|(column, ..)| column).collect(),
        }
    }
}

fn candidates(example: &Example<'_>, columns: &[(Column, Vec<f32>, usize)]) -> Vec<Candidate> {
    let question = &example.question;
    let candidate = |(place, &word): (usize, &base::WordId)| Candidate {
        word: question.word(word).to_owned(),
        is_answer: example.answer == Some(place),
        scores: columns
            .iter()
            .map(|(_, scores, chosen)| {
                let text = inside::weight(*scores.get(place)?);
                Some(Score { text, is_chosen: *chosen == place })
            })
            .collect(),
    };
    question.candidates.iter().enumerate().map(candidate).collect()
}

/// The first of the highest scores.
fn best(scores: &[f32]) -> usize {
    (0..scores.len()).rev().max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0)
}
