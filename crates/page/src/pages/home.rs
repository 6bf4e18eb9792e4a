//! The first page: how everybody does, a hard question, and ways into the rest.

use axum::extract::State;
use axum::http::StatusCode;
use minijinja::context;
use minijinja::value::Serde;
use questions::{Split, WordClass};
use report::reading::Sentence;
use serde::Serialize;

use super::question::address_of;
use crate::catalogue::{Catalogue, Results, Standing};
use crate::filter::{Filter, Wanted};
use crate::site::{Answer, Shared, aside};
use crate::view;

/// The first page: sets, models, accuracies, hard questions.
pub async fn home(State(site): Shared) -> Answer {
    aside(move || {
        let catalogue = &site.catalogue;
        // Any question will do, another one at each visit.
        let chance = ((site.now)() * 1000.0) as usize;
        let sets = (0..catalogue.sets.len()).map(|set| SetView::of(catalogue, set, chance));
        let has_answerers = !catalogue.answerers.is_empty();
        let view = context! { sets => Serde(sets.collect::<Vec<_>>()), has_answerers };
        Ok(view::page(StatusCode::OK, "home.html", site.shell(), view))
    })
    .await
}

/// A set and how everybody does on it.
#[derive(Serialize)]
struct SetView {
    name: String,
    query: String,
    n: String,
    books: usize,
    is_waiting: bool,
    split: Option<&'static str>,
    classes: Vec<Column>,
    rows: Vec<Row>,
    hard: Option<HardQuestion>,
}

#[derive(Serialize)]
struct Column {
    label: &'static str,
    n: String,
}

#[derive(Serialize)]
struct Row {
    label: String,
    name: String,
    cells: Vec<Option<Cell>>,
}

#[derive(Serialize)]
struct Cell {
    accuracy: String,
    interval: String,
    is_best: bool,
    /// The address of the questions that it has wrong.
    wrong: String,
}

#[derive(Serialize)]
struct HardQuestion {
    address: String,
    query: Sentence,
    n_right: usize,
    n_judged: usize,
}

impl SetView {
    fn of(catalogue: &Catalogue, set: usize, chance: usize) -> Self {
        let loaded = &catalogue.sets[set];
        let filter = Filter { set: loaded.name.clone(), ..Filter::default() };
        catalogue.with_results(set, |results| {
            let classes = classes(results);
            let best = |class| {
                let figures = results.standings.iter().filter_map(|s| s.accuracy.get(class));
                figures.map(|figure| figure.accuracy).fold(0.0, f64::max)
            };
            let row = |standing: &Standing| {
                let answerer = &catalogue.answerers[standing.answerer];
                let cell = |&class: &Option<WordClass>| {
                    let accuracy = standing.accuracy.get(class)?;
                    let wrong = Filter {
                        class: class.map_or("", WordClass::code).to_owned(),
                        split: results.split.map_or("", Split::code).to_owned(),
                        ..filter.with(&answerer.key, Wanted::Wrong)
                    };
                    Some(Cell {
                        accuracy: report::share(accuracy.accuracy),
                        interval: report::interval(accuracy),
                        is_best: accuracy.accuracy == best(class),
                        wrong: wrong.query(),
                    })
                };
                Row {
                    label: answerer.label.clone(),
                    name: answerer.name.clone(),
                    cells: classes.iter().map(cell).collect(),
                }
            };
            let column = |&class: &Option<WordClass>| {
                let n = results.standings.iter().filter_map(|s| s.accuracy.get(class));
                let n = n.map(|accuracy| accuracy.n).max().unwrap_or(0);
                Column {
                    label: class.map_or("All questions", WordClass::label),
                    n: report::thousands(n),
                }
            };
            Self {
                name: loaded.name.clone(),
                query: filter.query(),
                n: report::thousands(loaded.set.len()),
                books: loaded.books().len(),
                is_waiting: catalogue.is_waiting(set),
                split: results.split.map(Split::code),
                rows: results.standings.iter().map(row).collect(),
                classes: classes.iter().map(column).collect(),
                hard: hard(catalogue, set, results, chance),
            }
        })
    }
}

/// The classes that somebody has answered, or all questions where they have no class.
fn classes(results: &Results) -> Vec<Option<WordClass>> {
    let has = |class: &WordClass| {
        results.standings.iter().any(|standing| standing.accuracy.classes.contains_key(class))
    };
    let classes: Vec<_> = WordClass::ALL.into_iter().filter(has).map(Some).collect();
    if classes.is_empty() { vec![None] } else { classes }
}

fn hard(
    catalogue: &Catalogue,
    set: usize,
    results: &Results,
    chance: usize,
) -> Option<HardQuestion> {
    let index = *results.hard.get(chance.checked_rem(results.hard.len())?)?;
    let loaded = &catalogue.sets[set];
    let judged = catalogue.judged(set, index);
    let query = Filter { set: loaded.name.clone(), ..Filter::default() }.query();
    Some(HardQuestion {
        address: format!("/questions/{}?{query}", address_of(&loaded.ids[index])),
        query: report::reading::query(&loaded.set.example(index).question),
        n_right: judged.iter().filter(|(_, is_right)| *is_right).count(),
        n_judged: judged.len(),
    })
}
