//! The list of questions, with its filter.

use axum::extract::{Query, State};
use axum::http::StatusCode;
use minijinja::context;
use minijinja::value::Serde;
use questions::{Split, WordClass};
use serde::Serialize;

use super::question::{About, address_of};
use crate::catalogue::Catalogue;
use crate::filter::{Filter, LONGEST_SEARCH, Wanted};
use crate::site::{Answer, Shared, aside};
use crate::view;

/// How many questions a page of the list has.
const PER_PAGE: usize = 20;

/// The questions that are asked for, a page of them.
pub async fn list(State(site): Shared, Query(filter): Query<Filter>) -> Answer {
    aside(move || {
        let catalogue = &site.catalogue;
        let (number, loaded) = catalogue.set(&filter.set);
        let indices = filter.indices(catalogue);
        let pages = indices.len().div_ceil(PER_PAGE).max(1);
        let page = filter.page.parse::<usize>().unwrap_or(1).clamp(1, pages);
        let shown = indices.iter().skip((page - 1) * PER_PAGE).take(PER_PAGE).map(|&index| {
            let example = loaded.set.example(index);
            let judged = catalogue.judged(number, index);
            context! {
                id => address_of(&loaded.ids[index]),
                about => Serde(About::of(&example)),
                query => Serde(report::reading::query(&example.question)),
                n_right => judged.iter().filter(|(_, is_right)| *is_right).count(),
                n_judged => judged.len(),
            }
        });
        let other_page = |page: usize| Filter { page: page.to_string(), ..filter.clone() }.query();
        let view = context! {
            questions => shown.collect::<Vec<_>>(),
            first => (page - 1) * PER_PAGE + 1,
            n => report::thousands(indices.len()),
            page, pages,
            previous => (page > 1).then(|| other_page(page - 1)),
            next => (page < pages).then(|| other_page(page + 1)),
            query => Filter { page: String::new(), ..filter.clone() }.query(),
            choices => choices(catalogue, number),
            chips => Serde(chips(catalogue, number, &filter)),
            filter => Serde(&filter),
            longest_search => LONGEST_SEARCH,
        };
        Ok(view::page(StatusCode::OK, "questions.html", site.shell(), view))
    })
    .await
}

/// A model that can be asked to be right or wrong; each click goes one step on.
#[derive(Serialize)]
struct Chip {
    name: String,
    wanted: Wanted,
    /// The address with the next step: either, right, wrong, either.
    next: String,
}

fn chips(catalogue: &Catalogue, set: usize, filter: &Filter) -> Vec<Chip> {
    let ready = catalogue.ranked(set).into_iter().map(|index| &catalogue.answerers[index]);
    let chip = |answerer: &crate::catalogue::Answerer| {
        let wanted = filter.wanted(&answerer.key);
        let next = match wanted {
            Wanted::Any => Wanted::Right,
            Wanted::Right => Wanted::Wrong,
            Wanted::Wrong => Wanted::Any,
        };
        let next = filter.with(&answerer.key, next).query();
        Chip { name: answerer.name.clone(), wanted, next }
    };
    ready.filter(|answerer| answerer.is_ready(set)).map(chip).collect()
}

/// What can be chosen in the filter.
fn choices(catalogue: &Catalogue, set: usize) -> minijinja::Value {
    let loaded = &catalogue.sets[set];
    let books = loaded.books().into_iter().map(|book| {
        let name = &loaded.set.books()[book].name;
        (name.clone(), report::book_title(name))
    });
    context! {
        sets => catalogue.sets.iter().map(|set| set.name.clone()).collect::<Vec<_>>(),
        classes => Serde(WordClass::ALL.map(|class| (class.code(), class.label()))),
        splits => Serde(Split::ALL.map(Split::code)),
        books => Serde(books.collect::<Vec<_>>()),
        is_waiting => catalogue.is_waiting(set),
    }
}
