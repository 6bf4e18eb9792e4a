//! What can be set about self-supervised window memories (§3.3), for all variants.

use numerics::Real;
use serde::Deserialize;

use crate::learning::epochs::Schedule;
use crate::learning::options::{
    BATCH, DECAY, DIM, EPOCHS, INIT, LEARNING_RATE, OPTIMISER, Optimiser, PATIENCE, WEIGHTS,
};
use crate::learning::weights_file::SavedAs;
use crate::memories::windows::{
    ENCODING, Encoding, Layout, MAX_MEMORIES, Unit, WINDOW, with_middle,
};
use crate::selfsup::loss::Rule;
use crate::selfsup::support::{SUPPORT, Support};
use crate::words::dictionary::Dictionary;
use crate::{Range, Result, Setting, Settings};

/// The settings of a variant: those of all, then its own.
macro_rules! settings {
    ($($own:expr),*) => {
        &[
            DIM,
            WINDOW,
            ENCODING,
            Setting {
                name: "unit",
                symbol: "s",
                default: "windows",
                range: Range::Choice(&["windows", "sentences"]),
                word: None,
                doc: "What is remembered of a mention: the window around it, or its sentence as a bag of words.",
            },
            MAX_MEMORIES,
            Setting {
                name: "time",
                symbol: "",
                default: "true",
                range: Range::Flag,
                word: None,
                doc: "Whether a memory's place in the passage adds to its score.",
            },
            Setting {
                name: "time_scale",
                symbol: "",
                default: "2.2",
                range: Range::Real(-100.0, 100.0),
                word: None,
                doc: "What the place of the last memory adds to its score.",
            },
            Setting {
                name: "soft_weighting",
                symbol: "",
                default: "true",
                range: Range::Flag,
                word: None,
                doc: "Whether all windows of a candidate speak for it when answering, or the best one.",
            },
            Setting {
                name: "update",
                symbol: "",
                default: "softmax",
                range: Range::Choice(&["softmax", "when-wrong"]),
                word: None,
                doc: "Learn from every question, or only where the best memory is not the supporting one.",
            },
            SUPPORT,
            INIT,
            Setting { default: "0.03", ..LEARNING_RATE },
            Setting { default: "6", ..EPOCHS },
            PATIENCE,
            Setting { default: "0.7", ..DECAY },
            BATCH,
            OPTIMISER,
            WEIGHTS,
            $($own),*
        ]
    };
}

/// For windows of candidates and for all windows.
pub(crate) const OF_WINDOWS: &[Setting] = settings!();

const NEGATIVES: Setting = Setting {
    name: "negatives",
    symbol: "",
    default: "64",
    range: Range::Whole(1, 10_000),
    word: None,
    doc: "Words of the dictionary that the answer is compared with, drawn by their frequency.",
};

/// For all targets.
pub(crate) const OF_TARGETS: &[Setting] = settings!(NEGATIVES);

/// For the language model.
pub(crate) const OF_LM: &[Setting] = settings!(
    NEGATIVES,
    Setting {
        name: "sample",
        symbol: "",
        default: "200000",
        range: Range::Whole(1, 1_000_000_000),
        word: Some("all"),
        doc: "Words of the running text that are asked for in an epoch, drawn anew each time.",
    }
);

/// The settings, typed.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Config {
    pub dim: usize,
    window: usize,
    encoding: Encoding,
    unit: Unit,
    max_memories: Option<usize>,
    time: bool,
    time_scale: f64,
    pub soft_weighting: bool,
    pub update: Rule,
    pub support: Support,
    pub init: f64,
    pub optimiser: Optimiser,
    pub weights: SavedAs,
    #[serde(flatten)]
    pub schedule: Schedule,
    #[serde(default)]
    pub negatives: usize,
    pub sample: Option<usize>,
}

impl Config {
    /// The typed settings.
    ///
    /// # Errors
    /// If the window has no middle.
    pub fn new(settings: &Settings) -> Result<Self> {
        let config: Self = settings.config();
        with_middle(config.window)?;
        Ok(config)
    }

    /// How questions are laid out in memory.
    pub fn layout(&self, dictionary: &Dictionary) -> Layout {
        Layout {
            window: self.window,
            encoding: self.encoding,
            unit: self.unit,
            max_memories: self.max_memories,
            dictionary_rows: dictionary.n_rows(),
        }
    }

    // §3.1: «a scalar value which indicates the position in the passage, ranging from 1 to the number of
    // memories. An additional parameter […] scales the importance of this feature.»
    /// Adds the time feature. Chosen: the place is divided by the number of memories, so that passages
    /// with many and with few memories count alike.
    pub fn add_time<R: Real>(&self, scores: &mut [R]) {
        if self.time {
            let unit = self.time_scale / scores.len() as f64;
            for (place, score) in scores.iter_mut().enumerate() {
                *score += R::from_f64(unit * (place + 1) as f64);
            }
        }
    }
}
