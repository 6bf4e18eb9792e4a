//! Sets in shards: planned, built shard by shard by whoever likes, merged, then read, answered and counted in the same way.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use goldilocks::scale::{self, AnswerFolder, Plan, PlanOptions, SetParts, Shards};
use goldilocks::{AnswerProvenance, Error, SetOptions};
use pyo3::prelude::*;

use crate::errors::exception;
use crate::models::{ModelHandle, json};
use crate::options::AnswerArgs;
use crate::questions::{BuildArgs, QuestionList};
use crate::work::Work;

/// A set in shards that is to be built.
#[pyclass(frozen, module = "goldilocks_cbt._native")]
pub struct PlanHandle {
    plan: Arc<Plan>,
}

impl PlanHandle {
    fn new(plan: Plan) -> Self {
        Self { plan: Arc::new(plan) }
    }

    fn parts(&self, one_of: u64) -> goldilocks::Result<SetParts> {
        Ok(SetParts::open(self.plan.folder(), &cli::program())?.sampled(one_of))
    }
}

#[pymethods]
impl PlanHandle {
    /// The plan in a folder.
    #[staticmethod]
    fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        Work::brief().run(py, move |_| Plan::open(&folder)).map(Self::new)
    }

    /// The shards in their order: the split, the file below the folder, how many books.
    fn shards(&self) -> Vec<(&'static str, &str, usize)> {
        let shards = self.plan.shards().iter();
        shards.map(|s| (s.split.code(), s.file.as_str(), self.plan.books(s).len())).collect()
    }

    /// Builds a shard, unless it is there; returns its receipt as JSON, and whether it was there.
    fn build(
        &self,
        py: Python<'_>,
        shard: usize,
        overwrite: bool,
        work: Work,
    ) -> PyResult<(String, bool)> {
        let plan = self.plan.clone();
        work.run(py, move |reporter| {
            let built = scale::build_shard(&plan, shard, overwrite, &cli::program(), reporter)?;
            Ok((json(&built.receipt), built.was_there))
        })
    }

    /// Completes the set; returns what is in it as JSON.
    fn merge(&self, py: Python<'_>, work: Work) -> PyResult<String> {
        let plan = self.plan.clone();
        work.run(py, move |reporter| Ok(json(&scale::merge(&plan, &cli::program(), reporter)?)))
    }

    /// How many buckets the hashes of the set are in.
    fn buckets(&self, py: Python<'_>) -> PyResult<usize> {
        let parts = self.parts(1).map_err(|error| exception(py, error))?;
        Ok(parts.n_buckets())
    }

    /// Counts a shard for the report, unless that is done; returns whether it was.
    fn count(&self, py: Python<'_>, shard: usize, one_of: u64, work: Work) -> PyResult<bool> {
        let parts = self.parts(one_of).map_err(|error| exception(py, error))?;
        work.run(py, move |reporter| parts.part(shard, reporter))
    }

    /// Compares the hashes of a bucket for the report, unless that is done; returns whether it was.
    fn compare(&self, py: Python<'_>, bucket: usize, one_of: u64, work: Work) -> PyResult<bool> {
        let parts = self.parts(one_of).map_err(|error| exception(py, error))?;
        work.run(py, move |reporter| parts.bucket(bucket, reporter))
    }

    /// Counts what the books of a shard share, unless that is done; returns whether it was.
    fn verify(&self, py: Python<'_>, shard: usize, one_of: u64, work: Work) -> PyResult<bool> {
        let parts = self.parts(one_of).map_err(|error| exception(py, error))?;
        work.run(py, move |reporter| parts.verify(shard, reporter))
    }

    /// The report of the whole set as JSON.
    fn stats(&self, py: Python<'_>, one_of: u64, work: Work) -> PyResult<String> {
        let parts = self.parts(one_of).map_err(|error| exception(py, error))?;
        work.run(py, move |reporter| Ok(json(&parts.report(reporter)?)))
    }
}

/// How a set is cut into shards.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PlanArgs {
    folder: PathBuf,
    splits_by_hash: bool,
    shard_bytes: u64,
    overwrite: bool,
}

/// Plans a set in shards.
#[pyfunction]
pub fn plan(
    py: Python<'_>,
    building: BuildArgs,
    planning: PlanArgs,
    work: Work,
) -> PyResult<PlanHandle> {
    let PlanArgs { folder, splits_by_hash, shard_bytes, overwrite } = planning;
    let options = PlanOptions { build: building.options(py)?, splits_by_hash, shard_bytes };
    work.run(py, move |reporter| {
        scale::plan(&options, &folder, overwrite, &cli::program(), reporter)
    })
    .map(PlanHandle::new)
}

/// The shards of a set that is whole, to be read one at a time.
#[pyclass(frozen, module = "goldilocks_cbt._native")]
pub struct ShardsHandle {
    shards: Arc<Shards>,
}

#[pymethods]
impl ShardsHandle {
    /// The shards in a folder.
    #[staticmethod]
    fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let open = move |_: &dyn goldilocks::Reporter| {
            Shards::find(&folder)?.ok_or_else(|| {
                let message = format!("{}: expected a set in shards", folder.display());
                Error::InvalidOption { what: "shards", message }
            })
        };
        Ok(Self { shards: Arc::new(Work::brief().run(py, open)?) })
    }

    /// The split of each shard, in their order.
    fn splits(&self) -> Vec<&'static str> {
        self.shards.files().iter().map(|file| file.split.code()).collect()
    }

    /// Opens a shard, with the ids that its questions have in the whole set.
    fn read(&self, py: Python<'_>, shard: usize, work: Work) -> PyResult<QuestionList> {
        let shards = self.shards.clone();
        let path = shards.file(shard).map_err(|error| exception(py, error))?.path.clone();
        let open = move |reporter: &dyn goldilocks::Reporter| {
            shards.open(shard, &SetOptions::default(), reporter)
        };
        Ok(QuestionList::new(work.run(py, open)?, toml::Table::new(), Some(path)))
    }

    /// The file for the predictions of a shard, in a folder for one model or a function of some name; and whether it is
    /// there.
    fn predictions(
        &self,
        py: Python<'_>,
        shard: usize,
        model: Option<&ModelHandle>,
        answering: AnswerArgs,
    ) -> PyResult<(PathBuf, bool)> {
        let options = answering.options(py)?;
        let AnswerArgs { name, out, overwrite, .. } = answering;
        let (shards, model) = (self.shards.clone(), model.map(ModelHandle::parts));
        Work::brief().run(py, move |_| {
            let set = shards.identity().to_owned();
            let from = match model {
                Some((_, manifest)) => AnswerProvenance::new(&manifest.provenance, set, &options),
                None => AnswerProvenance::of_function(&name, set, &options),
            };
            let folder = out.unwrap_or_default();
            let path = AnswerFolder::open(&folder, &from, overwrite)?.file(shards.file(shard)?);
            let is_there = fs::exists(&path).map_err(Error::io(&path))?;
            Ok((path, is_there))
        })
    }
}
