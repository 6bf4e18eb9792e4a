//! The researcher's door: a token, once; then a cookie.

use axum::Form;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::site::{Answer, Shared, Site, cookie, see_other, with_cookie};
use crate::view;

/// The researcher's cookie: the seal over the token, so that it is good for that token alone.
pub const COOKIE: &str = "goldilocks_researcher";

/// The token, typed or from the address that the program prints.
#[derive(Deserialize)]
pub struct TokenForm {
    #[serde(default)]
    token: String,
}

/// The form; with the right token in the address, the way in.
pub async fn form(State(site): Shared, Query(typed): Query<TokenForm>) -> Response {
    if typed.token.is_empty() {
        ask(&site, StatusCode::OK, "")
    } else {
        try_token(&site, &typed.token)
    }
}

/// Checks the token that was typed.
pub async fn enter(State(site): Shared, Form(typed): Form<TokenForm>) -> Answer {
    Ok(try_token(&site, &typed.token))
}

/// Lets nobody by without the cookie, where a token is asked for: a visitor is sent to the door, a form is refused.
pub async fn require_researcher(State(site): Shared, request: Request, next: Next) -> Response {
    if is_researcher(&site, request.headers()) {
        return next.run(request).await;
    }
    match *request.method() {
        Method::GET => see_other("/enter"),
        _ => ask(&site, StatusCode::UNAUTHORIZED, ""),
    }
}

fn is_researcher(site: &Site, headers: &HeaderMap) -> bool {
    let Some(token) = &site.token else { return true };
    cookie(headers, COOKIE)
        .is_some_and(|cookie| site.key.has_sealed(&["researcher", token], cookie))
}

fn try_token(site: &Site, typed: &str) -> Response {
    let Some(token) = &site.token else { return with_cookie("/", COOKIE, "", "Strict") };
    // Seals are compared in constant time; tokens are not.
    let seal = site.key.seal(&["researcher", typed.trim()]);
    if site.key.has_sealed(&["researcher", token], &seal) {
        with_cookie("/", COOKIE, &seal, "Strict")
    } else {
        ask(site, StatusCode::UNAUTHORIZED, "That is not the token.")
    }
}

fn ask(site: &Site, status: StatusCode, problem: &str) -> Response {
    let view = minijinja::context! { problem };
    view::page(status, "enter.html", site.shell(), view).into_response()
}
