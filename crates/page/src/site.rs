//! The whole page: state, routes, and what holds for every request.
//!
//! Two doors. Annotators reach the pages of their study and nothing else. All other pages (exploring, looking
//! inside, the researcher's side) ask for the researcher's token where the store of studies is open or the
//! page can be reached from elsewhere than this machine; what has no route asks for it too.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::time::timeout;

use crate::catalogue::Catalogue;
use crate::keys::Key;
use crate::pages::{attention, enter, home, list, own, practice, question, research, test};
use crate::server::Limits;
use crate::store::Store;
use crate::study::{self, Study};
use crate::view::{self, Shell};
use crate::{Error, Result};

/// What the page is made of.
pub struct Site {
    /// What there is to explore.
    pub catalogue: Arc<Catalogue>,
    /// The file of studies, if one is served.
    pub store: Option<Store>,
    /// What the researcher shows to get in, where anybody else could come.
    pub token: Option<String>,
    /// What seals are made with.
    pub key: Key,
    /// Names by which the page may be called, besides `localhost` and addresses in digits.
    pub hosts: Vec<String>,
    /// What clients may use up.
    pub limits: Limits,
    /// The time in Unix seconds.
    pub now: fn() -> f64,
    /// Receives the errors that visitors do not see.
    pub on_error: fn(&Error),
    /// Studies that have been read.
    pub studies: Mutex<BTreeMap<i64, Arc<Study>>>,
}

/// The state of every handler.
pub type Shared = State<Arc<Site>>;
/// What a handler gives.
pub type Answer = Result<Response, PageError>;

/// Why a visitor does not get a page.
#[derive(Debug)]
pub enum PageError {
    /// There is no such page.
    NotFound,
    /// The request is not one of a page of ours.
    Forged,
    /// The request makes no sense.
    Malformed,
    /// Something is wrong here.
    Failed(Error),
}

impl From<Error> for PageError {
    fn from(error: Error) -> Self {
        match error {
            Error::NoStudy { .. } => Self::NotFound,
            error => Self::Failed(error),
        }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        match self {
            Self::NotFound => view::message(
                StatusCode::NOT_FOUND,
                "Not found",
                "There is no page at this address.",
            ),
            Self::Forged => view::message(
                StatusCode::FORBIDDEN,
                "Out of date",
                "This form is out of date, or was not sent from this page. Go back, reload the page, and try again.",
            ),
            Self::Malformed => view::message(
                StatusCode::BAD_REQUEST,
                "Not understood",
                "The request was not understood.",
            ),
            Self::Failed(error) => {
                let mut response = view::message(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "Something went wrong",
                    "Nothing that was confirmed is lost. Please try again in a moment.",
                );
                response.extensions_mut().insert(Arc::new(error));
                response
            }
        }
    }
}

impl Site {
    /// What every page of the researcher's side needs to know.
    pub fn shell(&self) -> Shell {
        Shell { has_studies: self.store.is_some() }
    }

    /// The store, where there is one.
    ///
    /// # Errors
    /// Not found, where there is none.
    pub fn store(&self) -> Result<&Store, PageError> {
        self.store.as_ref().ok_or(PageError::NotFound)
    }

    /// A study with its questions, read once.
    ///
    /// # Errors
    /// As [`study::study`].
    pub fn study(&self, store: &Store, id: i64) -> Result<Arc<Study>> {
        let mut studies = self.studies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(study) = studies.get(&id) {
            return Ok(Arc::clone(study));
        }
        let study = Arc::new(study::study(store, id)?);
        studies.insert(id, Arc::clone(&study));
        Ok(study)
    }

    /// The seal of a researcher's form, good for whoever has the cookie.
    pub fn form_seal(&self, headers: &HeaderMap) -> String {
        self.key.seal(&["form", cookie(headers, enter::COOKIE).unwrap_or_default()])
    }

    /// Whether a researcher's form carries its seal.
    ///
    /// # Errors
    /// Forged, where it does not.
    pub fn check_form(&self, headers: &HeaderMap, seal: &str) -> Result<(), PageError> {
        let texts = ["form", cookie(headers, enter::COOKIE).unwrap_or_default()];
        if self.key.has_sealed(&texts, seal) { Ok(()) } else { Err(PageError::Forged) }
    }
}

/// The routes of annotators, and those that require the token.
pub fn router(site: Arc<Site>) -> Router {
    let researcher = Router::new()
        .route("/", get(home::home))
        .route("/questions", get(list::list))
        .route("/questions/{id}", get(question::question))
        .route("/own", get(own::start).post(own::answer))
        .route("/studies", get(research::list).post(research::create))
        .route("/studies/{id}", get(research::study).post(research::change))
        .route("/studies/{id}/results", get(research::results))
        .route("/studies/{id}/export/{file}", get(research::export))
        .fallback(async || PageError::NotFound)
        .layer(from_fn_with_state(Arc::clone(&site), enter::require_researcher));
    Router::new()
        .route("/page.css", get(async || asset("text/css", &view::STYLE)))
        .route("/page.js", get(async || asset("text/javascript", &view::SCRIPT)))
        .route("/icon.svg", get(async || asset("image/svg+xml", report::ICON)))
        .route("/enter", get(enter::form).post(enter::enter))
        .route("/study/{code}", get(test::welcome).post(test::join))
        .route("/return/{token}", get(test::come_back))
        .route("/test", get(test::question).post(test::answer))
        .route("/test/undo", post(test::undo))
        .route("/test/pause", get(test::pause))
        .route("/test/practice", get(practice::practice).post(practice::solve))
        .route("/test/check", post(attention::check))
        .merge(researcher)
        .method_not_allowed_fallback(async || {
            view::message(StatusCode::METHOD_NOT_ALLOWED, "Refused", "That can’t be done here.")
        })
        .layer(from_fn_with_state(Arc::clone(&site), guard))
        .with_state(site)
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    let kind = format!("{kind}; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// What holds for every request and every response.
async fn guard(State(site): Shared, request: Request, next: Next) -> Response {
    let mut response = match admit(&site, request).await {
        Ok(request) => next.run(request).await,
        Err(refused) => refused,
    };
    if let Some(error) = response.extensions().get::<Arc<Error>>() {
        (site.on_error)(error);
    }
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The request with its body read, or why it is refused.
async fn admit(site: &Site, request: Request) -> Result<Request, Response> {
    let refuse = |status, text| view::message(status, "Refused", text);
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !is_ours(host, &site.hosts) {
        let text = "The page is not called by this name here.";
        return Err(refuse(StatusCode::MISDIRECTED_REQUEST, text));
    }
    if request.method() == Method::POST && !is_same_origin(headers, host) {
        return Err(PageError::Forged.into_response());
    }
    let (head, body) = request.into_parts();
    let declared = head.headers.get(header::CONTENT_LENGTH).and_then(|n| n.to_str().ok());
    let declared = declared.and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    let too_large = || refuse(StatusCode::PAYLOAD_TOO_LARGE, "That is too much text.");
    if declared > site.limits.body_bytes as u64 {
        return Err(too_large());
    }
    match timeout(site.limits.body, to_bytes(body, site.limits.body_bytes)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(head, Body::from(bytes))),
        Ok(Err(_)) => Err(too_large()),
        Err(_) => Err(refuse(StatusCode::REQUEST_TIMEOUT, "The request took too long.")),
    }
}

/// Whether the page may be called so. A name that an attacker's server has given to this machine (DNS
/// rebinding) is none of ours; an address in digits can't be given to another machine.
fn is_ours(host: &str, names: &[String]) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let digits = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    digits.parse::<std::net::IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || names.iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// Whether a form was sent from a page of ours, as far as the browser says.
fn is_same_origin(headers: &HeaderMap, host: &str) -> bool {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let origin = text(header::ORIGIN).map(|origin| {
        let origin = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host))
    });
    let site = text(HeaderName::from_static("sec-fetch-site"))
        .map(|site| matches!(site, "same-origin" | "none"));
    origin.unwrap_or(true) && site.unwrap_or(true)
}

/// Nothing from elsewhere, nothing inline, no frames, nothing kept.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Not `no-referrer`: with it browsers send forms with `Origin: null`.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The value of a cookie.
pub fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        values.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// A redirect after a form.
pub fn see_other(address: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, address.to_owned())]).into_response()
}

/// A redirect that gives the browser a cookie, which scripts can't read and other sites can't send.
pub fn with_cookie(address: &str, name: &str, value: &str, same_site: &str) -> Response {
    let cookie =
        format!("{name}={value}; Path=/; HttpOnly; SameSite={same_site}; Max-Age=31536000");
    let headers = [(header::LOCATION, address.to_owned()), (header::SET_COOKIE, cookie)];
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// Runs what takes a while without keeping others waiting.
pub async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PageError> + Send + 'static,
) -> Result<T, PageError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(stopped) => std::panic::resume_unwind(stopped.into_panic()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_answers_to_its_own_names_alone() {
        let names = ["reading.example".to_owned()];
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:1",
            "[::1]:8080",
            "192.168.1.7",
            "reading.example:80",
        ] {
            assert!(is_ours(host, &names), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example:8080",
            "[::1].evil",
            "evil.example:80:80",
        ] {
            assert!(!is_ours(host, &names), "{host}");
        }
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=1; researcher=abc"));
        headers.append(header::COOKIE, HeaderValue::from_static("annotator = x=y"));
        assert_eq!(cookie(&headers, "researcher"), Some("abc"));
        assert_eq!(cookie(&headers, "annotator"), Some("x=y"));
        assert_eq!(cookie(&headers, "none"), None);
    }
}
