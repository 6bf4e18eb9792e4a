//! The settings that the embedding models (§4.3) and the memory networks with soft attention (§3.2) share.

use serde::Deserialize;

use crate::learning::epochs::Schedule;
use crate::learning::options::{
    BATCH, DECAY, EPOCHS, INIT, LEARNING_RATE, OPTIMISER, Optimiser, PATIENCE, WEIGHTS,
};
use crate::learning::weights_file::SavedAs;
use crate::{Setting, sources};

/// What these models depend on, for [`crate::Method::sources`].
pub(crate) const SOURCES: &[&str] = &[
    sources::TRAINING,
    sources::MEMORIES,
    sources::SOFT,
    numerics::SPARSE_SOURCES,
    base::seeds::SOURCES,
];

/// The number of [`shared`] settings.
pub(crate) const N_SHARED: usize = 12;

/// The settings that all these models share, with the step, whose default differs between them.
pub(crate) const fn shared(learning_rate: &'static str) -> [Setting; N_SHARED] {
    [
        LEARNING_RATE.with_default(learning_rate),
        EPOCHS.with_default("5"),
        PATIENCE,
        DECAY.with_default("0.7"),
        BATCH.with_default("32"),
        OPTIMISER,
        Setting::real("clip", "1000", 0.001..=1e9)
            .doc("Length at which the gradient of a question with respect to a state is clipped."),
        Setting::choice("against", "dictionary", &["dictionary", "candidates"]).doc(
            "What the softmax of the loss is over: the whole dictionary (the paper's), or the candidates.",
        ),
        Setting::whole("samples", "500", 1..=1_000_000).or("all").doc(
            "Words of the dictionary that an answer is learnt against, drawn per mini-batch; `all`: exact.",
        ),
        INIT,
        Setting::real("prior", "0", 0.0..=1.0).doc(
            "Share of the logarithm of a candidate's number of training answers that its score loses.",
        ),
        WEIGHTS,
    ]
}

/// The values of `against`: the words that an answer is learnt against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Loss {
    Dictionary,
    Candidates,
}

/// The values of the [`shared`] settings, to be flattened into a model's `Config`.
#[derive(Deserialize)]
pub(crate) struct FitConfig {
    pub clip: f64,
    pub optimiser: Optimiser,
    #[serde(rename = "against")]
    pub loss: Loss,
    pub samples: Option<usize>,
    pub init: f64,
    pub prior: f64,
    pub weights: SavedAs,
    #[serde(flatten)]
    pub schedule: Schedule,
}
