//! Predictions in Python.

use std::path::PathBuf;
use std::sync::Arc;

use goldilocks::evaluation::arrow::Batches;
use goldilocks::evaluation::{Prediction, Predictions};
use goldilocks::questions::{Split, WordClass};
use goldilocks::{Error, base};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::errors::exception;
use crate::options::SelectionArgs;
use crate::work::Work;

/// What a model answered, question by question.
#[pyclass(frozen, module = "goldilocks_cbt._native")]
pub struct PredictionList {
    predictions: Arc<Predictions>,
}

impl PredictionList {
    /// Wraps predictions of the library.
    pub fn new(predictions: Predictions) -> Self {
        Self { predictions: Arc::new(predictions) }
    }

    /// The selected predictions, as the library has them.
    pub fn inner(&self) -> Predictions {
        (*self.predictions).clone()
    }
}

#[pymethods]
impl PredictionList {
    fn __len__(&self) -> usize {
        self.predictions.len()
    }

    /// What they are called: the model's name, or the path of their file.
    #[getter]
    fn name(&self) -> &str {
        self.predictions.name()
    }

    /// The prediction at a place.
    fn prediction<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyDict>> {
        let found = self.predictions.iter().nth(place);
        row(py, found.ok_or_else(|| PyIndexError::new_err("no such prediction"))?)
    }

    /// The predictions for some questions.
    fn filter(&self, py: Python<'_>, which: SelectionArgs) -> PyResult<Self> {
        let selection = which.selection(py)?;
        let selected = self.inner().select(&selection);
        Ok(Self::new(selected.map_err(|error| exception(py, error.into()))?))
    }

    /// The same predictions under another name.
    fn named(&self, py: Python<'_>, name: String) -> PyResult<Self> {
        let predictions = self.predictions.iter().cloned().collect();
        let named = Predictions::new(name, predictions);
        Ok(Self::new(named.map_err(|error| exception(py, error.into()))?))
    }

    /// The lines of their file.
    fn text(&self) -> String {
        self.predictions.to_text()
    }

    /// Predictions from the lines of a file.
    #[staticmethod]
    fn of_text(py: Python<'_>, name: &str, text: &str) -> PyResult<Self> {
        let read = Predictions::from_text(name, text);
        Ok(Self::new(read.map_err(|error| exception(py, error.into()))?))
    }

    /// Writes them as JSON lines.
    fn write(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
        if path.exists() && !overwrite {
            return Err(exception(py, Error::Exists { path }));
        }
        let predictions = self.predictions.clone();
        Work::brief().run(py, move |_| Ok(predictions.write(&path)?))
    }

    /// A stream of Arrow record batches.
    fn arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        crate::arrow::capsule(py, Batches::new(self.predictions.clone()))
    }
}

fn row<'py>(py: Python<'py>, prediction: &Prediction) -> PyResult<Bound<'py, PyDict>> {
    let word = |place: usize| prediction.candidates[place].as_str();
    let row = PyDict::new(py);
    row.set_item("id", &prediction.id)?;
    row.set_item("class", prediction.class.map(WordClass::code))?;
    row.set_item("split", prediction.split.map(Split::code))?;
    row.set_item("book", prediction.book.as_deref())?;
    row.set_item("candidates", &prediction.candidates)?;
    row.set_item("scores", &prediction.scores)?;
    row.set_item("answer", prediction.answer.map(word))?;
    row.set_item("predicted", word(prediction.predicted))?;
    Ok(row)
}

/// Reads a predictions file.
#[pyfunction]
pub fn read_predictions(py: Python<'_>, path: PathBuf) -> PyResult<PredictionList> {
    let read = Work::brief().run(py, move |_| Ok(Predictions::read(&path)?))?;
    Ok(PredictionList::new(read))
}

/// All questions, for what selects none.
pub fn everything() -> base::Selection {
    base::Selection { splits: Vec::new(), class: None }
}
