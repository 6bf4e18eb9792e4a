//! The settings that the embedding models (§4.3) and the memory networks with soft attention (§3.2) share.

use serde::Deserialize;

use crate::contract::settings::Range;
use crate::learning::epochs::Schedule;
use crate::learning::options::Optimiser;
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

/// The setting for what an answer is distinguished from in training.
pub(crate) const AGAINST: Setting = Setting {
    name: "against",
    symbol: "",
    default: "dictionary",
    range: Range::Choice(&["dictionary", "candidates"]),
    word: None,
    doc: "What answers are learnt against: the whole dictionary (the paper's), or the question's candidates.",
};

/// The setting for how many words a mini-batch is learnt against.
pub(crate) const SAMPLES: Setting = Setting {
    name: "samples",
    symbol: "",
    default: "500",
    range: Range::Whole(1, 1_000_000),
    word: Some("all"),
    doc: "Words of the dictionary that an answer is learnt against, drawn for each mini-batch; `all`: exact.",
};

/// The setting for gradient clipping.
pub(crate) const CLIP: Setting = Setting {
    name: "clip",
    symbol: "",
    default: "1000",
    range: Range::Real(0.001, 1e9),
    word: None,
    doc: "Length at which a question's gradient by a state is cut off.",
};

/// The setting for how much of a word's frequency is taken back when answering.
pub(crate) const PRIOR: Setting = Setting {
    name: "prior",
    symbol: "",
    default: "0.5",
    range: Range::Real(0.0, 1.0),
    word: None,
    doc: "How much of the logarithm of a candidate's number of training answers is taken off its score.",
};

/// What an answer is distinguished from in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Against {
    Dictionary,
    Candidates,
}

/// The settings that all these models share, to be flattened into a model's `Config`.
#[derive(Deserialize)]
pub(crate) struct FitConfig {
    pub clip: f64,
    pub optimiser: Optimiser,
    pub against: Against,
    pub samples: Option<usize>,
    pub init: f64,
    pub prior: f64,
    pub weights: SavedAs,
    #[serde(flatten)]
    pub schedule: Schedule,
}

/// The settings of a model: p, its own settings, its step and prior, and the rest of [`FitConfig`].
macro_rules! settings {
    ($dim:literal, [$($own:expr),*], $learning_rate:literal, $against:literal, $prior:literal) => {
        &[
            $crate::Setting { default: $dim, ..$crate::learning::options::DIM },
            $($own,)*
            $crate::Setting { default: $learning_rate, ..$crate::learning::options::LEARNING_RATE },
            $crate::Setting { default: "5", ..$crate::learning::options::EPOCHS },
            $crate::learning::options::PATIENCE,
            $crate::Setting { default: "0.7", ..$crate::learning::options::DECAY },
            $crate::Setting { default: "32", ..$crate::learning::options::BATCH },
            $crate::learning::options::OPTIMISER,
            $crate::soft::settings::CLIP,
            $crate::Setting { default: $against, ..$crate::soft::settings::AGAINST },
            $crate::soft::settings::SAMPLES,
            $crate::learning::options::INIT,
            $crate::Setting { default: $prior, ..$crate::soft::settings::PRIOR },
            $crate::learning::options::WEIGHTS,
        ]
    };
}
pub(crate) use settings;
