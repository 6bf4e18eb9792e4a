//! Predictions → figures, and what is in a set, as JSON.

use std::path::PathBuf;
use std::sync::Arc;

use goldilocks::evaluation::{self, Predictions};
use goldilocks::questions::{QuestionSet, WordClass};
use goldilocks::{FittedWeights, SetOptions, combine_by_class, combine_predictions, sets};
use pyo3::prelude::*;

use crate::models::json;
use crate::options::SelectionArgs;
use crate::predictions::PredictionList;
use crate::questions::QuestionList;
use crate::work::Work;

/// A set to check predictions against, if there is one.
fn set_of(
    py: Python<'_>,
    questions: Option<PyRef<'_, QuestionList>>,
) -> PyResult<Option<Arc<QuestionSet>>> {
    questions.map(|questions| questions.own(py)).transpose()
}

/// The predictions of several lists, as the library has them.
pub fn inner(files: &[PyRef<'_, PredictionList>]) -> Vec<Predictions> {
    files.iter().map(|file| file.inner()).collect()
}

/// Accuracy of each class with its interval: for each of the predictions, the results of each split.
#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    predictions: Vec<PyRef<'_, PredictionList>>,
    questions: Option<PyRef<'_, QuestionList>>,
    which: SelectionArgs,
    work: Work,
) -> PyResult<String> {
    let (files, set, selection) =
        (inner(&predictions), set_of(py, questions)?, which.selection(py)?);
    work.run(py, move |_| {
        let files = sets::select_predictions(files, set.as_deref(), &selection)?;
        let results = files.iter().map(evaluation::evaluate).collect::<Result<Vec<_>, _>>()?;
        Ok(json(&results))
    })
}

/// The same for a predictions file, or for a folder of them, which is read file by file.
#[pyfunction]
pub fn evaluate_path(
    py: Python<'_>,
    predictions: PathBuf,
    questions: Option<PathBuf>,
    which: SelectionArgs,
    work: Work,
) -> PyResult<String> {
    let selection = which.selection(py)?;
    let options =
        SetOptions { splits: selection.splits, class: selection.class, ..SetOptions::default() };
    work.run(py, move |reporter| {
        let results =
            goldilocks::evaluate(&[predictions], questions.as_deref(), &options, reporter)?;
        Ok(json(&results))
    })
}

/// How much better one model is than another, split by split.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    predictions: (PyRef<'_, PredictionList>, PyRef<'_, PredictionList>),
    which: SelectionArgs,
    seed: u64,
    work: Work,
) -> PyResult<String> {
    let files = vec![predictions.0.inner(), predictions.1.inner()];
    let selection = which.selection(py)?;
    work.run(py, move |_| {
        let files = sets::select_predictions(files, None, &selection)?;
        Ok(json(&evaluation::compare(&files[0], &files[1], seed)?))
    })
}

/// The weights that were fitted, with the class that they are for.
type ClassWeights = Vec<(Option<&'static str>, Vec<f64>)>;

/// Several models as one: the mean of some predictions or, where there are others to fit on, by weights, for each class
/// by itself if so wished; and those.
#[pyfunction]
pub fn combine(
    py: Python<'_>,
    name: String,
    predictions: (Vec<PyRef<'_, PredictionList>>, Vec<PyRef<'_, PredictionList>>),
    how: (bool, u64),
    work: Work,
) -> PyResult<(PredictionList, ClassWeights)> {
    let (models, fit) = (inner(&predictions.0), inner(&predictions.1));
    let (by_class, seed) = how;
    work.run(py, move |_| {
        let combined = match by_class {
            true => combine_by_class(&name, &models, &fit, seed)?,
            false => combine_predictions(&name, &models, &fit, seed)?,
        };
        let weights = |fitted: FittedWeights| (fitted.class.map(WordClass::code), fitted.weights);
        let weights = combined.fitted.into_iter().map(weights).collect();
        Ok((PredictionList::new(combined.predictions), weights))
    })
}

/// Table 1 of a set, and what leaks from split to split.
#[pyfunction]
pub fn stats(py: Python<'_>, questions: &QuestionList, work: Work) -> PyResult<String> {
    let set = questions.own(py)?;
    work.run(py, move |reporter| Ok(json(&goldilocks::stats(&set, reporter))))
}
