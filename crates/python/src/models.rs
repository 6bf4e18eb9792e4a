//! Models in Python: trained, loaded, saved, asked, pickled.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use goldilocks::models::{self, DeviceChoice, MODELS, Manifest, Model, Scores};
use goldilocks::{TrainOptions, TrainedModel, load_model, sets, train_to};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::exception;
use crate::options::device;
use crate::question::Question;
use crate::questions::QuestionList;
use crate::state::{self, Files};
use crate::work::Work;

/// A trained model with its manifest.
#[pyclass(frozen, module = "goldilocks_cbt._native")]
pub struct ModelHandle {
    model: Arc<dyn Model>,
    manifest: Manifest,
}

impl ModelHandle {
    /// The model and where it comes from.
    pub fn parts(&self) -> (Arc<dyn Model>, Manifest) {
        (self.model.clone(), self.manifest.clone())
    }

    fn trained(&self) -> TrainedModel {
        TrainedModel { model: self.model.clone(), manifest: self.manifest.clone() }
    }
}

#[pymethods]
impl ModelHandle {
    /// The name of its method.
    #[getter]
    fn name(&self) -> &str {
        &self.manifest.provenance.model
    }

    /// Its settings, defaults included.
    #[getter]
    fn settings(&self) -> BTreeMap<String, String> {
        self.manifest.provenance.settings.clone()
    }

    /// The seed that it was trained with.
    #[getter]
    fn seed(&self) -> u64 {
        self.manifest.provenance.seed
    }

    /// Saves it as a model folder.
    fn save(&self, py: Python<'_>, folder: PathBuf, overwrite: bool) -> PyResult<()> {
        let trained = self.trained();
        Work::brief().run(py, move |_| trained.save(&folder, overwrite))
    }

    /// The scores of the candidates of one question.
    fn score(&self, py: Python<'_>, question: &Question) -> PyResult<Vec<f32>> {
        let ((set, index), model) = (question.place(), self.model.clone());
        let set = set.clone();
        Work::brief().run(py, move |_| {
            let mut scores = Scores::default();
            model.scorer(set.vocabulary()).score(&[set.example(index).question], &mut scores)?;
            Ok(scores.get(0).to_vec())
        })
    }

    /// Explains the answer to one question: text, SVG, HTML and JSON.
    fn explain(
        &self,
        py: Python<'_>,
        question: &Question,
        seed: u64,
    ) -> PyResult<(String, String, String, String)> {
        let ((set, index), model) = (question.place(), self.model.clone());
        let (set, name) = (set.clone(), self.name().to_owned());
        Work::brief().run(py, move |_| {
            let looked = goldilocks::explain(&name, &model, &set, index, seed)?;
            Ok((looked.text(80), looked.svg(), looked.html(), json(&looked)))
        })
    }

    /// All that a pickle needs.
    fn state(&self, py: Python<'_>) -> PyResult<Files> {
        let trained = self.trained();
        Work::brief().run(py, move |_| state::written(|folder| trained.save(folder, false)))
    }

    /// The model of a pickle.
    #[staticmethod]
    fn of_state(py: Python<'_>, files: Files) -> PyResult<Self> {
        Work::brief().run(py, move |reporter| {
            let load = |folder: &std::path::Path| load_model(folder, DeviceChoice::Auto, reporter);
            let (model, manifest) = state::read(&files, load)?;
            Ok(Self { model, manifest })
        })
    }
}

/// How a model is trained.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct TrainArgs {
    settings: Vec<String>,
    seed: u64,
    device: String,
    out: Option<PathBuf>,
    overwrite: bool,
}

/// Trains a model on a set, and saves it if `out` is given.
#[pyfunction]
pub fn train(
    py: Python<'_>,
    name: &str,
    questions: &QuestionList,
    teaching: TrainArgs,
    work: Work,
) -> PyResult<ModelHandle> {
    let settings = teaching.settings.iter().map(String::as_str);
    let options = TrainOptions::new(name, settings).map_err(|error| exception(py, error))?;
    let options = TrainOptions {
        seed: teaching.seed,
        device: device(py, &teaching.device)?,
        program: cli::program(),
        ..options
    };
    let TrainArgs { out, overwrite, .. } = teaching;
    if let Some(folder) = &out {
        models::check_place(folder, overwrite).map_err(|error| exception(py, error.into()))?;
    }
    let set = questions.own(py)?;
    let trained = work.run(py, move |reporter| {
        let data = set.fingerprint_of(&sets::LEARNT_FROM);
        let options = TrainOptions { data, ..options };
        match out {
            Some(folder) => train_to(&folder, overwrite, &set, &options, reporter),
            None => goldilocks::train(&set, &options, reporter),
        }
    })?;
    Ok(ModelHandle { model: trained.model, manifest: trained.manifest })
}

/// Loads a model from its folder.
#[pyfunction]
pub fn load(py: Python<'_>, folder: PathBuf, on: &str, work: Work) -> PyResult<ModelHandle> {
    let device = device(py, on)?;
    let (model, manifest) = work.run(py, move |reporter| load_model(&folder, device, reporter))?;
    Ok(ModelHandle { model, manifest })
}

/// A method of the paper, for JSON.
#[derive(Serialize)]
struct Method {
    name: &'static str,
    section: &'static str,
    summary: &'static str,
    settings: BTreeMap<&'static str, Setting>,
}

#[derive(Serialize)]
struct Setting {
    default: &'static str,
    meaning: &'static str,
    expected: String,
}

/// The methods that can be trained, as JSON.
#[pyfunction]
pub fn methods() -> String {
    let setting = |setting: &models::Setting| {
        let expected = setting.expected();
        (setting.name, Setting { default: setting.default, meaning: setting.doc, expected })
    };
    let method = |method: &models::Method| Method {
        name: method.name,
        section: method.section,
        summary: method.summary,
        settings: method.settings.iter().map(setting).collect(),
    };
    json(&MODELS.iter().map(method).collect::<Vec<_>>())
}

/// Figures and lists, for `json.loads`.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts, numbers and lists have a form in JSON")
}
