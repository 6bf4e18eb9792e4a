//! Options as Python writes them → the library's.

use std::num::NonZeroUsize;

use goldilocks::base::Selection;
use goldilocks::models::DeviceChoice;
use goldilocks::questions::{Control, Split, WordClass};
use goldilocks::{AnswerOptions, Error};
use pyo3::prelude::*;

use crate::errors::{exception, unknown};

/// Which questions are selected; an empty list selects all.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SelectionArgs {
    splits: Vec<String>,
    classes: Vec<String>,
}

impl SelectionArgs {
    /// The splits that are named.
    pub fn splits(&self, py: Python<'_>) -> PyResult<Vec<Split>> {
        let known = Split::ALL.map(Split::code);
        let parse = |name: &String| match Split::from_code(name) {
            Some(split) => Ok(split),
            None => unknown(py, "split", name, &known),
        };
        self.splits.iter().map(parse).collect()
    }

    /// The classes that are named.
    pub fn classes(&self, py: Python<'_>) -> PyResult<Vec<WordClass>> {
        let known = WordClass::ALL.map(WordClass::code);
        let parse = |name: &String| match WordClass::from_code(name) {
            Some(class) => Ok(class),
            None => unknown(py, "word class", name, &known),
        };
        self.classes.iter().map(parse).collect()
    }

    /// The selection for figures, which are about one class or all.
    pub fn selection(&self, py: Python<'_>) -> PyResult<Selection> {
        Ok(Selection { splits: self.splits(py)?, class: self.classes(py)?.first().copied() })
    }
}

/// How questions are answered.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct AnswerArgs {
    splits: Vec<String>,
    controls: Vec<(String, Option<usize>)>,
    sample: Option<usize>,
    /// Seed of draws between equal scores, of samples and of controls.
    pub seed: u64,
    /// The name of the predictions.
    pub name: String,
    /// The file to which they are written, batch by batch.
    pub out: Option<std::path::PathBuf>,
    /// Whether that file may be replaced.
    pub overwrite: bool,
}

impl AnswerArgs {
    /// Parses the names of splits and controls.
    pub fn options(&self, py: Python<'_>) -> PyResult<AnswerOptions> {
        let which = SelectionArgs { splits: self.splits.clone(), classes: Vec::new() };
        let controls = self.controls.iter().map(|(name, k)| self.control(py, name, *k));
        Ok(AnswerOptions {
            splits: which.splits(py)?,
            controls: controls.collect::<PyResult<_>>()?,
            seed: self.seed,
            sample: self.sample,
        })
    }

    fn control(&self, py: Python<'_>, name: &str, k: Option<usize>) -> PyResult<Control> {
        const KNOWN: [&str; 5] = [
            "query_only",
            "context_only",
            "last_sentences",
            "shuffle_sentences",
            "rename_entities",
        ];
        let seed = self.seed;
        match (name, k) {
            ("query_only", None) => Ok(Control::QueryOnly),
            ("context_only", None) => Ok(Control::ContextOnly),
            ("last_sentences", Some(k)) => Ok(Control::LastSentences(k)),
            ("shuffle_sentences", None) => Ok(Control::ShuffledSentences { seed }),
            ("rename_entities", None) => Ok(Control::RenamedEntities { seed }),
            (name, _) => unknown(py, "control", name, &KNOWN),
        }
    }

    /// Fails if the output is there and not to be replaced.
    pub fn check_output(&self, py: Python<'_>) -> PyResult<()> {
        match self.out.as_ref().filter(|path| path.exists() && !self.overwrite) {
            Some(path) => Err(exception(py, Error::Exists { path: path.clone() })),
            None => Ok(()),
        }
    }
}

/// A device by its name.
pub fn device(py: Python<'_>, name: &str) -> PyResult<DeviceChoice> {
    let message = format!("expected `auto`, `cpu` or `cuda`, found `{name}`");
    name.parse().map_err(|_| exception(py, Error::InvalidOption { what: "device", message }))
}

/// A number of at least one.
pub fn positive(py: Python<'_>, what: &'static str, number: usize) -> PyResult<NonZeroUsize> {
    NonZeroUsize::new(number).ok_or_else(|| {
        let message = "expected 1 or more, found 0".to_owned();
        exception(py, Error::InvalidOption { what, message })
    })
}
