//! Books as tagged words, files from form to form, and the program itself.

use std::ffi::OsString;
use std::path::PathBuf;

use goldilocks::corpus::{Tagger, tokenise, tokenise_paragraphs};
use goldilocks::questions::Format;
use goldilocks::{ConvertOptions, SetOptions};
use pyo3::prelude::*;

use crate::errors::unknown;
use crate::options::SelectionArgs;
use crate::work::Work;

/// A word with its part of speech and entity class.
type Tagged = (String, &'static str, &'static str);

/// Splits a text into sentences and words, and tags these.
#[pyfunction]
pub fn tag(py: Python<'_>, text: String, as_released: bool) -> PyResult<Vec<Vec<Tagged>>> {
    Work::brief().run(py, move |_| {
        let sentences = if as_released { tokenise(&text) } else { tokenise_paragraphs(&text) };
        let tagged = Tagger::shipped().tag(sentences);
        let word =
            |word: goldilocks::corpus::Word| (word.text, word.pos.name(), word.entity.name());
        let sentence = |words: Vec<goldilocks::corpus::Word>| words.into_iter().map(word).collect();
        Ok(tagged.into_iter().map(sentence).collect())
    })
}

/// How files are converted.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ConvertArgs {
    to: Option<String>,
    anonymise: Option<u64>,
    skip_bad: bool,
    overwrite: bool,
}

/// Reads one form of question sets and writes another; returns how many questions there were.
#[pyfunction]
pub fn convert(
    py: Python<'_>,
    paths: (PathBuf, PathBuf),
    which: SelectionArgs,
    converting: ConvertArgs,
    work: Work,
) -> PyResult<usize> {
    let to = match converting.to.as_deref().map(|name| (name, Format::from_code(name))) {
        Some((name, None)) => {
            return unknown(py, "format", name, &Format::ALL.map(Format::code));
        }
        found => found.and_then(|(_, format)| format),
    };
    let selection = which.selection(py)?;
    let options = ConvertOptions {
        to,
        set: SetOptions {
            splits: selection.splits,
            class: selection.class,
            ..SetOptions::all(converting.skip_bad)
        },
        anonymise: converting.anonymise,
        overwrite: converting.overwrite,
    };
    work.run(py, move |reporter| goldilocks::convert(&paths.0, &paths.1, &options, reporter))
}

/// Runs the program `goldilocks`, of which the first argument is the name; returns its exit code.
#[pyfunction]
pub fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| cli::main_with(arguments))
}
