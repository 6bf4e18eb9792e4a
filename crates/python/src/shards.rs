//! Sets in shards: planned, built shard by shard by whoever likes, merged.

use std::path::PathBuf;
use std::sync::Arc;

use goldilocks::scale::{self, Plan, PlanOptions};
use pyo3::prelude::*;

use crate::models::json;
use crate::questions::BuildArgs;
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
