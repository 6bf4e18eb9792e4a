//! One question: how everybody ranks the candidates, and what a model looked at (Figure 2).

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use base::Vocabulary;
use corpus::detokenise;
use minijinja::context;
use minijinja::value::Serde;
use questions::{BLANK_WORD, Example, Explanation, Question, Split, WordClass};
use report::ExplainedQuestion;
use report::reading::{Reading, query_tokens};
use serde::Serialize;

use crate::catalogue::{Answerer, Catalogue};
use crate::filter::Filter;
use crate::site::{Answer, PageError, Shared, aside};
use crate::view;

/// The longest title of a page in characters.
const LONGEST_TITLE: usize = 80;

/// The question with an id.
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
            let here = loaded.index(&id).map(|index| (number, index));
            let elsewhere = || {
                catalogue.sets.iter().enumerate().find_map(|(n, set)| Some((n, set.index(&id)?)))
            };
            here.or_else(elsewhere)
        };
        let (number, index) = found().ok_or(PageError::NotFound)?;
        let loaded = &catalogue.sets[number];
        let example = loaded.set.example(index);
        let indices = filter.indices(catalogue);
        let at = indices.iter().position(|&other| other == index);
        let neighbour = |at: Option<usize>| {
            at.and_then(|at| indices.get(at)).map(|&index| address_of(&loaded.ids[index]))
        };
        let answered = AnsweredQuestion::of(
            catalogue,
            (loaded.set.vocabulary(), &example),
            &filter.model,
            Some((number, index)),
        );
        let switch = |model: &(String, String)| {
            (model.1.clone(), Filter { model: model.0.clone(), ..filter.clone() }.query())
        };
        let learnt = catalogue.answerers.iter().filter(|a| a.has_learnt(loaded, index));
        let view = context! {
            switches => Serde(answered.models.iter().map(switch).collect::<Vec<_>>()),
            permanent => address_of(&id),
            title => words_of(&example.question),
            set => loaded.name.clone(),
            about => Serde(About::of(&example)),
            learnt => learnt.map(|answerer| answerer.name.clone()).collect::<Vec<_>>(),
            answered => Serde(answered),
            previous => neighbour(at.and_then(|at| at.checked_sub(1))),
            next => neighbour(at.map(|at| at + 1)),
            list => Filter { model: String::new(), ..filter.clone() }.query(),
            query => filter.query(),
        };
        Ok(view::page(StatusCode::OK, "question.html", site.shell(), view))
    })
    .await
}

/// An id within an address, where `#` has a meaning of its own.
pub fn address_of(id: &str) -> String {
    id.replace('#', ".")
}

/// The query in words, with a line for the gap; cut off where it is too long for a title.
fn words_of(question: &Question<'_>) -> String {
    let text = detokenise::text(&query_tokens(question)).replace(BLANK_WORD, "____");
    match text.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Class, split and book of a question.
#[derive(Serialize)]
pub struct About {
    class: Option<&'static str>,
    split: Option<&'static str>,
    book: Option<String>,
    is_training: bool,
}

impl About {
    /// What is known about a question.
    pub fn of(example: &Example<'_>) -> Self {
        Self {
            class: example.class.map(WordClass::label),
            split: example.split.map(Split::code),
            book: example.book.map(report::book_title),
            is_training: example.split == Some(Split::Train),
        }
    }
}

/// A question with everybody's ranks, and what one model looked at.
#[derive(Serialize)]
pub struct AnsweredQuestion {
    /// The story, with the boxes of one model.
    pub reading: Reading,
    candidates: Vec<Candidate>,
    columns: Vec<Column>,
    /// The key and the name of the model whose windows are drawn.
    model: Option<(String, String)>,
    /// The models whose windows can be drawn, the best first.
    pub models: Vec<(String, String)>,
}

#[derive(Serialize)]
struct Candidate {
    word: String,
    is_answer: bool,
    ranks: Vec<Option<Rank>>,
}

/// Ranks can be compared across models, raw scores cannot: 1 is the best, and equals share the better rank.
#[derive(Serialize)]
struct Rank {
    rank: usize,
    score: String,
    is_chosen: bool,
}

#[derive(Serialize)]
struct Column {
    name: String,
    label: String,
    is_right: Option<bool>,
    has_learnt: bool,
}

/// What one answerer makes of a question.
struct Answered<'a> {
    answerer: &'a Answerer,
    scores: Vec<f32>,
    chosen: usize,
    explanation: Explanation,
}

impl AnsweredQuestion {
    /// Asks everybody. `stored` is the set and index of a question whose answers may be known.
    pub fn of(
        catalogue: &Catalogue,
        (words, example): (&Arc<Vocabulary>, &Example<'_>),
        model: &str,
        stored: Option<(usize, usize)>,
    ) -> Self {
        let ask = |index: usize| {
            let answerer = &catalogue.answerers[index];
            let asked = answerer.ask(stored.map(|(set, _)| set), words, &example.question);
            let known = stored.and_then(|(set, index)| answerer.answered(set, index));
            let (scores, chosen) = match (&asked, known) {
                (_, Some(known)) => (known.scores.clone(), known.chosen),
                (Some((scores, _)), None) => (scores.clone(), best(scores)),
                (None, None) => return None,
            };
            let explanation = asked.map(|(_, explanation)| explanation).unwrap_or_default();
            Some(Answered { answerer, scores, chosen, explanation })
        };
        let ranked = catalogue.ranked(stored.map_or(0, |(set, _)| set));
        let answered: Vec<Answered<'_>> = ranked.into_iter().filter_map(ask).collect();
        let explained =
            || answered.iter().filter(|answered| !answered.explanation.spans.is_empty());
        let drawn = explained().find(|answered| answered.answerer.key == model);
        let drawn = drawn.or_else(|| explained().next());
        let named = |answered: &Answered<'_>| {
            (answered.answerer.key.clone(), answered.answerer.name.clone())
        };
        let column = |answered: &Answered<'_>| Column {
            name: answered.answerer.name.clone(),
            label: answered.answerer.label.clone(),
            is_right: example.answer.map(|answer| answer == answered.chosen),
            has_learnt: stored.is_some_and(|(set, index)| {
                answered.answerer.has_learnt(&catalogue.sets[set], index)
            }),
        };
        Self {
            reading: reading(example, drawn),
            candidates: candidates(example, &answered),
            columns: answered.iter().map(column).collect(),
            model: drawn.map(named),
            models: explained().map(named).collect(),
        }
    }
}

impl AnsweredQuestion {
    /// Takes the story out, for a page that draws it itself; legend and list of windows stay.
    pub fn take_story(&mut self) -> Reading {
        let Reading { context, query, .. } = &mut self.reading;
        Reading {
            context: std::mem::take(context),
            query: std::mem::take(query),
            legend: Vec::new(),
            windows: Vec::new(),
            n_unlisted: 0,
            candidates: Vec::new(),
            verdict: String::new(),
        }
    }
}

/// The question with the boxes of what a model looked at, or with none.
fn reading(example: &Example<'_>, drawn: Option<&Answered<'_>>) -> Reading {
    let question = &example.question;
    let texts = |words: &[base::WordId]| -> Vec<String> {
        words.iter().map(|&word| question.word(word).to_owned()).collect()
    };
    let candidates = texts(question.candidates);
    let scores = drawn.map(|answered| answered.scores.iter().copied().map(f64::from).collect());
    ExplainedQuestion {
        model: None,
        id: String::new(),
        class: example.class,
        split: example.split,
        book: example.book.map(str::to_owned),
        context: question.context.iter().map(texts).collect(),
        query: query_tokens(question).into_iter().map(str::to_owned).collect(),
        scores: scores.unwrap_or_else(|| vec![0.0; candidates.len()]),
        answer: example.answer,
        predicted: drawn.map_or(0, |answered| answered.chosen),
        explanation: drawn.map(|answered| answered.explanation.clone()).unwrap_or_default(),
        candidates,
    }
    .reading()
}

fn candidates(example: &Example<'_>, answered: &[Answered<'_>]) -> Vec<Candidate> {
    let question = &example.question;
    let candidate = |(index, &word): (usize, &base::WordId)| Candidate {
        word: question.word(word).to_owned(),
        is_answer: example.answer == Some(index),
        ranks: answered
            .iter()
            .map(|Answered { scores, chosen, .. }| {
                let score = *scores.get(index)?;
                Some(Rank {
                    rank: 1 + scores.iter().filter(|&&other| other > score).count(),
                    score: report::weight(score.into()),
                    is_chosen: *chosen == index,
                })
            })
            .collect(),
    };
    question.candidates.iter().enumerate().map(candidate).collect()
}

/// The first of the highest scores.
fn best(scores: &[f32]) -> usize {
    (0..scores.len()).rev().max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0)
}
