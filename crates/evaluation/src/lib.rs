//! Predictions in, honest figures out (§4 and §5): accuracy with its interval, pairs of models,
//! ensembles, people.
//!
//! Everything here reads [`Predictions`], never a model: an ensemble, a person, another program and
//! the paper's own figures  enter a table by the same door.
//!
//! | module | input → output |
//! |---|---|
//! | [`predictions`] | JSON lines ⇄ [`Predictions`] |
//! | [`accuracy`] | predictions → [`Results`]: accuracy per class with its Wilson interval |

pub mod accuracy;
mod by_class;
mod error;
pub mod predictions;

pub use accuracy::{Accuracy, Results, evaluate};
pub use by_class::ByClass;
pub use error::{Error, LineProblem};
pub use predictions::{Prediction, Predictions};
