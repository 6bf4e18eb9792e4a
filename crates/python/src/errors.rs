//! The library's errors as Python's exceptions: the classes of `goldilocks_cbt._errors`, by kind.

use goldilocks::{Error, ErrorKind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The exception for an error of the library; what a Python scorer raised is raised again as it was.
pub fn exception(py: Python<'_>, error: Error) -> PyErr {
    let error = match error {
        Error::Scorer(raised) => match raised.downcast::<PyErr>() {
            Ok(raised) => return *raised,
            Err(other) => Error::Scorer(other),
        },
        error => error,
    };
    let kind = match error.kind() {
        ErrorKind::NotFound => "not_found",
        ErrorKind::UnknownName => "unknown_name",
        ErrorKind::Exists => "exists",
        ErrorKind::Io => "io",
        ErrorKind::Device => "device",
        ErrorKind::Interrupted => "interrupted",
        // Input that is malformed, and kinds that are new.
        _ => "invalid_input",
    };
    let hint = error.hint().map(|remedy| remedy.to_string());
    let of_kind = py
        .import("goldilocks_cbt._errors")
        .and_then(|module| module.getattr("of_kind"))
        .and_then(|of_kind| of_kind.call1((kind, message(&error), hint)));
    of_kind.map_or_else(|failure| failure, PyErr::from_value)
}

/// The error and its causes, each once: many messages end in their cause already.
fn message(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.ends_with(&words) {
            text = format!("{text}: {words}");
        }
        cause = error.source();
    }
    text
}

/// A value that no option can have.
pub fn unknown<T>(py: Python<'_>, what: &'static str, found: &str, known: &[&str]) -> PyResult<T> {
    let message = format!("expected one of `{}`, found `{found}`", known.join("`, `"));
    Err(exception(py, Error::InvalidOption { what, message }))
}

/// A value of the wrong type.
pub fn wrong_type(what: &str, expected: &str, found: &Bound<'_, PyAny>) -> PyErr {
    let found = found.get_type().name().map_or_else(|_| "something else".into(), |n| n.to_string());
    PyTypeError::new_err(format!("{what}: expected {expected}, found {found}"))
}
