//! Questions answered: by a model of ours, or by a Python function.

use std::sync::Arc;

use goldilocks::evaluation::Predictions;
use goldilocks::questions::Control;
use goldilocks::{AnswerFile, AnswerProvenance, Error, answered_by};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::{exception, wrong_type};
use crate::models::ModelHandle;
use crate::options::{AnswerArgs, positive};
use crate::predictions::PredictionList;
use crate::question::Question;
use crate::questions::QuestionList;
use crate::work::{Work, raised};

/// Answers questions with a model.
#[pyfunction]
pub fn answer(
    py: Python<'_>,
    model: &ModelHandle,
    questions: &QuestionList,
    answering: AnswerArgs,
    work: Work,
) -> PyResult<PredictionList> {
    answering.check_output(py)?;
    let options = answering.options(py)?;
    let (set, (model, manifest)) = (questions.own(py)?, model.parts());
    let AnswerArgs { name, out, .. } = answering;
    let predictions = work.run(py, move |reporter| match out {
        None => {
            let answered = goldilocks::answer(&model, &set, &options, reporter)?;
            let by = answered_by(&manifest.provenance.model, &options.controls);
            Ok(Predictions::new(name, answered)?.by_model(Some(by)))
        }
        Some(path) => {
            let mut file = AnswerFile::open(&path, reporter)?;
            let from = AnswerProvenance::new(&manifest.provenance, set.fingerprint(), &options);
            file.answer(&model, &set, &options, &from)?;
            file.finish()
        }
    })?;
    Ok(PredictionList::new(predictions))
}

/// Answers questions by a function, some at a time, on the calling thread.
#[pyfunction]
pub fn answer_by(
    scorer: Bound<'_, PyAny>,
    questions: &QuestionList,
    batch_size: usize,
    answering: AnswerArgs,
    work: Work,
) -> PyResult<PredictionList> {
    let py = scorer.py();
    answering.check_output(py)?;
    let batch_size = positive(py, "batch size", batch_size)?;
    let options = answering.options(py)?;
    let set = questions.own(py)?;
    let counted = set.clone();
    let needs_fingerprint = answering.out.is_some();
    let fingerprint = work.run(py, move |_| {
        if !counted.is_empty() {
            counted.id(0);
        }
        Ok(if needs_fingerprint { counted.fingerprint() } else { String::new() })
    })?;
    let controls: Arc<[Control]> = options.controls.clone().into();
    let listener = work.listener();
    let mut score = |indices: &[usize]| {
        let scores = || {
            work.look(py, &listener)?;
            let asked = |&index: &usize| Question::asked(set.clone(), index, controls.clone());
            let batch = PyList::new(py, indices.iter().map(asked).collect::<Vec<_>>())?;
            lists(&scorer.call1((batch,))?)
        };
        scores().map_err(raised)
    };
    let AnswerArgs { name, out, .. } = answering;
    let answered = match out {
        None => goldilocks::answer_by(&mut score, batch_size, &set, &options, &listener).and_then(
            |predictions| {
                let by = answered_by(&name, &options.controls);
                Ok(Predictions::new(name, predictions)?.by_model(Some(by)))
            },
        ),
        Some(path) => AnswerFile::open(&path, &listener).and_then(|mut file| {
            let from = AnswerProvenance::of_function(&name, fingerprint, &options);
            file.answer_by(&mut score, batch_size, &set, &options, &from)?;
            file.finish()
        }),
    };
    work.look(py, &listener)?;
    Ok(PredictionList::new(answered.map_err(|error: Error| exception(py, error))?))
}

/// What a scorer returned: lists of lists, or an array with two dimensions.
fn lists(scores: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<f64>>> {
    let scores = as_list(scores)?;
    let Ok(rows) = scores.try_iter() else {
        return Err(wrong_type(
            "what the scorer returned",
            "a list with a list per question",
            &scores,
        ));
    };
    let row = |(place, row): (usize, PyResult<Bound<'_, PyAny>>)| {
        let row = as_list(&row?)?;
        let numbers = row.extract::<Vec<f64>>();
        numbers.map_err(|_| {
            let what = format!("scores of question {} of the batch", place + 1);
            wrong_type(&what, "a list of numbers", &row)
        })
    };
    rows.enumerate().map(row).collect()
}

/// Arrays of numpy, torch and others as lists.
fn as_list<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match array.getattr_opt("tolist")? {
        Some(tolist) => tolist.call0(),
        None => Ok(array.clone()),
    }
}
