//! The settings that learners of several families share; a method may give them another default.

use serde::Deserialize;

use crate::Setting;
use crate::contract::settings::Range;

/// The setting λ; models differ in its default.
pub(crate) const LEARNING_RATE: Setting = Setting {
    name: "learning_rate",
    symbol: "λ",
    default: "0.01",
    range: Range::Real(0.0, 1000.0),
    word: None,
    doc: "Step of stochastic gradient descent in the first epoch.",
};

/// The setting for how long to train.
pub(crate) const EPOCHS: Setting = Setting {
    name: "epochs",
    symbol: "",
    default: "10",
    range: Range::Whole(1, 10_000),
    word: None,
    doc: "How often the training questions, or the training books, are seen at most.",
};

/// The setting for when to give up.
pub(crate) const PATIENCE: Setting = Setting {
    name: "patience",
    symbol: "",
    default: "2",
    range: Range::Whole(1, 10_000),
    word: None,
    doc: "Training ends after this many epochs that are not better on validation.",
};

/// The setting for how the step shrinks.
pub(crate) const DECAY: Setting = Setting {
    name: "decay",
    symbol: "",
    default: "1",
    range: Range::Real(0.0, 1.0),
    word: None,
    doc: "What the learning rate is multiplied with after each epoch.",
};

/// The setting for how many questions share a step.
pub(crate) const BATCH: Setting = Setting {
    name: "batch",
    symbol: "",
    default: "64",
    range: Range::Whole(1, 65_536),
    word: None,
    doc: "Questions that are learnt from at the same time, on the same weights.",
};

/// The setting for p.
pub(crate) const DIM: Setting = Setting {
    name: "dim",
    symbol: "p",
    default: "300",
    range: Range::Whole(1, 4096),
    word: None,
    doc: "Length of an embedding.",
};

/// The setting for the weights to start from.
pub(crate) const INIT: Setting = Setting {
    name: "init",
    symbol: "",
    default: "0.05",
    range: Range::Real(0.0, 10.0),
    word: None,
    doc: "Standard deviation of the weights before training.",
};

/// The setting for how far a gradient is followed.
pub(crate) const OPTIMISER: Setting = Setting {
    name: "optimiser",
    symbol: "",
    default: "adagrad",
    range: Range::Choice(&["sgd", "adagrad"]),
    word: None,
    doc: "Steps as large as the gradient (the paper's), or smaller the more a word's row has moved.",
};

/// The setting for how weights are saved.
pub(crate) const WEIGHTS: Setting = Setting {
    name: "weights",
    symbol: "",
    default: "f32",
    range: Range::Choice(&["f32", "f16", "i8"]),
    word: None,
    doc: "How a number is saved: in four bytes, two, or one.",
};

/// What [`OPTIMISER`] chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Optimiser {
    Sgd,
    Adagrad,
}
