//! The native half of the Python package `goldilocks_cbt`: the stages of the library `goldilocks`, with Python's objects
//! in and out. What users see is in `python/goldilocks_cbt/`.

mod answering;
mod arrow;
mod errors;
mod figures;
mod models;
mod options;
mod predictions;
mod question;
mod questions;
mod report;
mod servers;
mod shards;
mod state;
mod texts;
mod work;

use pyo3::prelude::*;

/// The stages, for the modules of the package; users import `goldilocks_cbt`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::answering::{answer, answer_by};
    #[pymodule_export]
    use crate::figures::{combine, compare, evaluate, evaluate_path, stats};
    #[pymodule_export]
    use crate::models::{ModelHandle, load, methods, train};
    #[pymodule_export]
    use crate::predictions::{PredictionList, read_predictions};
    #[pymodule_export]
    use crate::question::Question;
    #[pymodule_export]
    use crate::questions::{QuestionList, build, open_set};
    #[pymodule_export]
    use crate::report::{report, reproduce};
    #[pymodule_export]
    use crate::servers::{ServerHandle, connect};
    #[pymodule_export]
    use crate::shards::{PlanHandle, ShardsHandle, plan};
    #[pymodule_export]
    use crate::texts::{convert, run_program, tag};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::work::note_process();
        module.add("n_tales", goldilocks::corpus::tales::TALES.len())?;
        module.add("version", cli::program().to_string())
    }
}
