//! Reports and reproductions.

use std::path::PathBuf;

use goldilocks::experiments::{self, Experiment, ReproduceOptions};
use goldilocks::report::TableKind;
use goldilocks::{ReportInputs, ReportRow, sets};
use pyo3::prelude::*;

use crate::errors::{exception, unknown};
use crate::figures::inner;
use crate::options::device;
use crate::predictions::{PredictionList, everything};
use crate::questions::QuestionList;
use crate::work::Work;

/// What a report shows, and where.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ReportArgs {
    names: Vec<String>,
    tables: Vec<String>,
    title: String,
    beside_paper: bool,
    seed: u64,
    folder: PathBuf,
    overwrite: bool,
}

/// Writes the paper's tables, with predictions of whatever origin in them, as a folder; returns them as text.
#[pyfunction]
pub fn report(
    py: Python<'_>,
    predictions: Vec<PyRef<'_, PredictionList>>,
    questions: &QuestionList,
    reporting: ReportArgs,
    work: Work,
) -> PyResult<String> {
    let table = |code: &String| match TableKind::from_code(code) {
        Some(table) => Ok(table),
        None => unknown(py, "table", code, &TableKind::ALL.map(TableKind::code)),
    };
    let tables = reporting.tables.iter().map(table).collect::<PyResult<Vec<_>>>()?;
    let row = |(name, predictions)| ReportRow { name, label: None, predictions };
    let rows = reporting.names.into_iter().zip(inner(&predictions)).map(row).collect();
    let (set, path) = (questions.own(py)?, questions.path().cloned());
    let ReportArgs { title, beside_paper, seed, folder, overwrite, .. } = reporting;
    work.run(py, move |reporter| {
        let source = match &path {
            Some(path) => sets::source(path, &set),
            None => sets::source_of_books(&set),
        };
        let inputs = ReportInputs {
            rows,
            set: &set,
            set_name: title,
            beside_paper,
            source,
            selection: everything(),
            tables,
            explained: Vec::new(),
            seed,
            program: cli::program(),
            date: cli::today(),
            command: "goldilocks_cbt.report".to_owned(),
        };
        inputs.write(&folder, overwrite, reporter)
    })
}

/// What is reproduced, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ReproduceArgs {
    experiment: Option<PathBuf>,
    questions: Option<PathBuf>,
    train_on: Option<PathBuf>,
    only: Vec<String>,
    skip: Vec<String>,
    seed: u64,
    device: String,
    any_version: bool,
}

/// Makes a table of the paper in a folder, and resumes; returns it as text.
#[pyfunction]
pub fn reproduce(
    py: Python<'_>,
    table: String,
    folder: PathBuf,
    reproducing: ReproduceArgs,
    work: Work,
) -> PyResult<String> {
    let experiment = match &reproducing.experiment {
        Some(path) => Experiment::read(path),
        None => Experiment::named(&table),
    };
    let experiment = experiment.map_err(|error| exception(py, error))?;
    let options = ReproduceOptions {
        questions: reproducing.questions,
        train_on: reproducing.train_on,
        only: reproducing.only,
        skip: reproducing.skip,
        skip_bad: false,
        seed: reproducing.seed,
        device: device(py, &reproducing.device)?,
        any_version: reproducing.any_version,
        program: cli::program(),
        date: cli::today(),
        command: format!("goldilocks_cbt.reproduce({table:?})"),
    };
    work.run(py, move |reporter| {
        Ok(experiments::reproduce(&experiment, &folder, &options, reporter)?.text)
    })
}
