//! Settings that learners of several families share.

use serde::Deserialize;

use crate::Setting;

pub(crate) const LEARNING_RATE: Setting = Setting::real("learning_rate", "0.01", 0.0..=1000.0)
    .symbol("λ")
    .doc("Step of stochastic gradient descent in the first epoch.");

pub(crate) const EPOCHS: Setting = Setting::whole("epochs", "10", 1..=10_000)
    .doc("The greatest number of passes over the training questions, or the training books.");

pub(crate) const PATIENCE: Setting = Setting::whole("patience", "2", 1..=10_000)
    .doc("Training ends after this many epochs without improvement on validation.");

pub(crate) const DECAY: Setting = Setting::real("decay", "1", 0.0..=1.0)
    .doc("The factor by which the learning rate is multiplied after each epoch.");

pub(crate) const BATCH: Setting = Setting::whole("batch", "64", 1..=65_536)
    .doc("Questions per mini-batch: they are learnt from together, on the same weights.");

pub(crate) const DIM: Setting =
    Setting::whole("dim", "300", 1..=4096).symbol("p").doc("Length of an embedding.");

pub(crate) const INIT: Setting =
    Setting::real("init", "0.05", 0.0..=10.0).doc("Standard deviation of the initial weights.");

pub(crate) const OPTIMISER: Setting =
    Setting::choice("optimiser", "adagrad", &["sgd", "adagrad"]).doc(
        "Plain steps (the paper's), or Adagrad: smaller steps the more the row of a word has moved.",
    );

pub(crate) const WEIGHTS: Setting = Setting::choice("weights", "f32", &["f32", "f16", "i8"])
    .doc("Number format of the saved weights: four, two or one byte each.");

/// The values of [`OPTIMISER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Optimiser {
    Sgd,
    Adagrad,
}
