//! Tables of the paper as data, and the engine that fills them: [`Experiment`] → [`PlannedRow`]s → trained models →
//! predictions → a report.

mod engine;
mod estimate;
mod experiment;
mod loaded;
mod plan;
mod provenance;
mod reproduce;
mod results;

pub use engine::write_file;
pub use experiment::{Combination, Embedded, Experiment, names, source_of};
pub use plan::{Origin, PlannedRow};
pub(crate) use provenance::of_model;
pub use reproduce::{ReproduceOptions, Reproduced, reproduce};
