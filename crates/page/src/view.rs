//! Pages: a template and what it shows → HTML. Every text that comes from outside is escaped by the templates.

use std::sync::LazyLock;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("assets/", $name)))),*]
    };
}

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    let templates = templates![
        "annotator.html",
        "attention.html",
        "base.html",
        "end.html",
        "enter.html",
        "home.html",
        "join.html",
        "message.html",
        "own.html",
        "pause.html",
        "practice.html",
        "question.html",
        "questions.html",
        "results.html",
        "scores.html",
        "studies.html",
        "study.html",
        "test.html",
    ];
    let shared = [("reading.html", report::reading::TEMPLATE)];
    for (name, text) in templates.into_iter().chain(shared) {
        environment.add_template(name, text).expect("the templates parse");
    }
    environment
});

/// The style sheet: that of all pages of the project, and what the served ones have more.
pub static STYLE: LazyLock<String> =
    LazyLock::new(|| [report::STYLE, include_str!("assets/page.css")].concat());
/// The script; every page does its work without it.
pub static SCRIPT: LazyLock<String> =
    LazyLock::new(|| [include_str!("assets/page.js"), report::reading::SCRIPT].concat());

/// What a visitor may see of the rest of the page.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Shell {
    /// Whether there is a store of studies.
    pub has_studies: bool,
}

/// Renders a template as a response.
pub fn page(status: StatusCode, name: &str, shell: Shell, view: impl Serialize) -> Response {
    let template = TEMPLATES.get_template(name).expect("the template is listed above");
    let html = template
        .render(context! { shell => Serde(shell), view => Serde(view) })
        .expect("the template renders for every view");
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response()
}

/// A page that says something and nothing else.
pub fn message(status: StatusCode, title: &str, text: &str) -> Response {
    page(status, "message.html", Shell { has_studies: false }, context! { title, text })
}
