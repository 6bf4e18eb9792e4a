//! The researcher's side: make a study, watch it, take its answers away.

use axum::Form;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use evaluation::Results;
use minijinja::context;
use minijinja::value::Serde;
use questions::{Split, WordClass};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::keys::token;
use crate::site::{Answer, PageError, Shared, Site, aside, see_other};
use crate::study::{self, Mode, Settings};
use crate::view;

/// A new study as it was typed.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct NewStudy {
    seal: String,
    name: String,
    set: String,
    split: String,
    modes: String,
    sample: String,
    annotators: String,
    shared: String,
    times: String,
    seed: String,
    consent: String,
    /// `yes` or nothing.
    practice: String,
    check_every: String,
    completion_code: String,
    return_to: String,
}

/// What is to be done with a study.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Change {
    seal: String,
    /// `open`, `close` or `release`.
    action: String,
    annotator: i64,
}

/// All studies, and the form for a new one.
pub async fn list(State(site): Shared, headers: HeaderMap) -> Answer {
    show_list(&site, &headers, "")
}

fn show_list(site: &Site, headers: &HeaderMap, problem: &str) -> Answer {
    let view = context! {
        studies => Serde(study::list(site.store()?)?),
        sets => site.catalogue.sets.iter().map(|set| set.name.clone()).collect::<Vec<_>>(),
        defaults => Serde(Settings::default()),
        problem,
        seal => site.form_seal(headers),
    };
    Ok(view::page(StatusCode::OK, "studies.html", site.shell(), view))
}

/// Creates a study from the form.
pub async fn create(State(site): Shared, headers: HeaderMap, Form(form): Form<NewStudy>) -> Answer {
    site.check_form(&headers, &form.seal)?;
    site.store()?;
    aside(move || {
        let made = settings(&form).and_then(|settings| {
            let (_, loaded) = site.catalogue.set(&form.set);
            let deal = study::deal(&loaded.set, &settings)?;
            let store = site.store.as_ref().expect("asked for above");
            study::create(store, &settings, &deal, token()?, (site.now)())
        });
        match made {
            Ok(id) => Ok(see_other(&format!("/studies/{id}"))),
            Err(error @ (Error::Setting { .. } | Error::TooFewQuestions { .. })) => {
                show_list(&site, &headers, &error.to_string())
            }
            Err(error) => Err(error.into()),
        }
    })
    .await
}

fn settings(form: &NewStudy) -> Result<Settings, Error> {
    let default = Settings::default();
    let number = |key, typed: &str, default: usize| match typed.trim() {
        "" => Ok(default),
        typed => typed.parse().map_err(|_| Error::Setting {
            key,
            expected: "a whole number".to_owned(),
            found: typed.to_owned(),
        }),
    };
    let sample = number("questions of each class", &form.sample, 0)?;
    let name = form.name.trim();
    Ok(Settings {
        name: if name.is_empty() { default.name } else { name.chars().take(120).collect() },
        split: Split::from_code(&form.split).unwrap_or(default.split),
        sample: (!form.sample.trim().is_empty()).then_some(sample),
        modes: Mode::from_code(&form.modes).map_or(default.modes, |mode| vec![mode]),
        every_mode: form.modes == "every",
        annotators: number("annotators", &form.annotators, default.annotators)?,
        shared: number("shared", &form.shared, default.shared)?,
        times: number("times", &form.times, default.times)?,
        seed: number("seed", &form.seed, default.seed as usize)? as u64,
        consent: form.consent.trim().to_owned(),
        practice: form.practice == "yes",
        check_every: number("attention checks", &form.check_every, 0)?,
        completion_code: form.completion_code.trim().to_owned(),
        return_to: form.return_to.trim().to_owned(),
    })
}

/// One study: its address, its people and how far they are.
pub async fn study(State(site): Shared, Path(id): Path<i64>, headers: HeaderMap) -> Answer {
    let store = site.store()?;
    let listed = study::list(store)?.into_iter().find(|study| study.id == id);
    let listed = listed.ok_or(PageError::NotFound)?;
    let study = site.study(store, id)?;
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let now = (site.now)();
    let people = study::progress(store, id)?.into_iter().map(|person| {
        let ago = person.last.map(|last| ago(now - last));
        context! { person => Serde(person), ago }
    });
    let view = context! {
        address => format!("http://{host}/study/{}", study.code),
        questions => study.questions.len(),
        settings => Serde(&study.settings),
        modes => study.settings.modes.iter().map(|mode| mode.label()).collect::<Vec<_>>(),
        files => study.settings.modes.iter().map(|mode| mode.file()).collect::<Vec<_>>(),
        people => people.collect::<Vec<_>>(),
        study => Serde(listed),
        seal => site.form_seal(&headers),
    };
    Ok(view::page(StatusCode::OK, "study.html", site.shell(), view))
}

/// How long ago, roughly.
fn ago(seconds: f64) -> String {
    let counted = |n: f64, noun: &str| {
        format!("{n:.0} {noun}{} ago", if n.round() == 1.0 { "" } else { "s" })
    };
    match seconds {
        s if s < 60.0 => "just now".to_owned(),
        s if s < 3_600.0 => counted(s / 60.0, "minute"),
        s if s < 86_400.0 => counted(s / 3_600.0, "hour"),
        s => counted(s / 86_400.0, "day"),
    }
}

/// Opens or closes a study, or takes back what somebody has not answered.
pub async fn change(
    State(site): Shared,
    Path(id): Path<i64>,
    headers: HeaderMap,
    Form(form): Form<Change>,
) -> Answer {
    site.check_form(&headers, &form.seal)?;
    let store = site.store()?;
    match form.action.as_str() {
        "open" => study::close_or_open(store, id, true).await?,
        "close" => study::close_or_open(store, id, false).await?,
        "release" => study::release(store, id, form.annotator).await?,
        _ => return Err(PageError::Malformed),
    }
    Ok(see_other(&format!("/studies/{id}")))
}

/// The «Humans» rows so far.
pub async fn results(State(site): Shared, Path(id): Path<i64>) -> Answer {
    aside(move || {
        let store = site.store()?;
        let study = site.study(store, id)?;
        let mut modes = Vec::new();
        for (mode, predictions) in study::by_mode(store, &study)? {
            for results in evaluation::evaluate(&predictions).map_err(Error::from)? {
                modes.push(ModeResults::of(mode, &results));
            }
        }
        let view = context! { name => study.settings.name.clone(), id, modes => Serde(modes) };
        Ok(view::page(StatusCode::OK, "results.html", site.shell(), view))
    })
    .await
}

#[derive(Serialize)]
struct ModeResults {
    label: &'static str,
    classes: Vec<Figure>,
    people: Vec<Figure>,
    answers: usize,
    median: String,
    agreement: Option<String>,
}

#[derive(Serialize)]
struct Figure {
    label: String,
    n: usize,
    accuracy: String,
    interval: String,
    median: String,
}

impl ModeResults {
    fn of(mode: Mode, results: &Results) -> Self {
        let figure = |label: &str, accuracy: &evaluation::Accuracy, median: String| Figure {
            label: label.to_owned(),
            n: accuracy.n,
            accuracy: report::share(accuracy.accuracy),
            interval: report::interval(accuracy),
            median,
        };
        let people = results.people.as_ref();
        let seconds = |seconds: f64| format!("{seconds:.1} s");
        let persons = people.into_iter().flat_map(|people| &people.persons);
        let agreement = people.and_then(|people| people.agreement).map(|a| {
            let [kappa, low, high] = [a.kappa, a.low, a.high].map(report::weight);
            format!(
                "On {} shared questions {} of {} pairs agree; free-marginal κ is {kappa} ({low} to {high}).",
                a.questions,
                report::share(a.share),
                a.pairs,
            )
        });
        Self {
            label: mode.label(),
            classes: results
                .classes
                .iter()
                .map(|(code, accuracy)| {
                    let label = WordClass::from_code(code).map_or("All", WordClass::label);
                    figure(label, accuracy, String::new())
                })
                .collect(),
            people: persons
                .filter_map(|person| {
                    Some(figure(
                        &person.annotator,
                        &person.accuracy?,
                        seconds(person.median_seconds),
                    ))
                })
                .collect(),
            answers: people.map_or(0, |people| people.answers),
            median: people.map_or(String::new(), |people| seconds(people.median_seconds)),
            agreement,
        }
    }
}

/// The answers of a mode as a predictions file.
pub async fn export(State(site): Shared, Path((id, file)): Path<(i64, String)>) -> Answer {
    aside(move || {
        let store = site.store()?;
        let study = site.study(store, id)?;
        let wanted =
            study::by_mode(store, &study)?.into_iter().find(|(mode, _)| mode.file() == file);
        let (mode, predictions) = wanted.ok_or(PageError::NotFound)?;
        let attachment = format!("attachment; filename=\"{}\"", mode.file());
        let headers = [
            (header::CONTENT_TYPE, "application/jsonl; charset=utf-8".to_owned()),
            (header::CONTENT_DISPOSITION, attachment),
        ];
        let response: Response = (headers, predictions.to_text()).into_response();
        Ok(response)
    })
    .await
}
