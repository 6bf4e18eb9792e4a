//! What can be set about self-supervised window memories (§3.3), for all variants.

use numerics::Real;
use serde::Deserialize;

use crate::learning::epochs::Schedule;
use crate::learning::options::{
    BATCH, DECAY, DIM, EPOCHS, INIT, LEARNING_RATE, OPTIMISER, Optimiser, PATIENCE, WEIGHTS,
};
use crate::learning::weights_file::SavedAs;
use crate::memories::windows::{
    ENCODING, Encoding, Layout, MAX_MEMORIES, MemoryUnit, WINDOW, with_middle,
};
use crate::selfsup::loss::UpdateRule;
use crate::selfsup::support::{SUPPORT, Support};
use crate::words::dictionary::Dictionary;
use crate::{Result, Setting, Settings};

/// For the variants with windows of candidates and with all windows.
pub(crate) const OF_WINDOWS: &[Setting] = &[
    DIM,
    WINDOW,
    ENCODING,
    Setting::choice("unit", "windows", &["windows", "sentences"]).symbol("s").doc(
        "What is remembered of a mention: the window around it, or its sentence as a bag of words.",
    ),
    MAX_MEMORIES,
    Setting::flag("time", "true").doc("Whether a memory's place in the passage adds to its score."),
    Setting::real("time_scale", "2.2", -100.0..=100.0)
        .doc("What its place adds to the score of the last memory."),
    Setting::flag("soft_weighting", "true")
        .doc("Whether all windows of a candidate count when answering, or the best one alone."),
    Setting::choice("update", "softmax", &["softmax", "when-wrong"])
        .doc("Learn from every question, or only where the best memory is not the supporting one."),
    SUPPORT,
    INIT,
    LEARNING_RATE.with_default("0.03"),
    EPOCHS.with_default("6"),
    PATIENCE,
    DECAY.with_default("0.7"),
    BATCH,
    OPTIMISER,
    WEIGHTS,
];

const NEGATIVES: Setting = Setting::whole("negatives", "64", 1..=10_000)
    .doc("Words of the dictionary that the answer is compared with, drawn by their frequency.");

const SAMPLE: Setting = Setting::whole("sample", "200000", 1..=1_000_000_000)
    .or("all")
    .doc("Words of the running text that are predicted per epoch, drawn again for each epoch.");

/// For the variant that compares the answer with all words.
pub(crate) const OF_TARGETS: &[Setting] =
    &Setting::join::<{ OF_WINDOWS.len() + 1 }>(&[OF_WINDOWS, &[NEGATIVES]]);

/// For the variant that predicts every word of the books.
pub(crate) const OF_LM: &[Setting] =
    &Setting::join::<{ OF_TARGETS.len() + 1 }>(&[OF_TARGETS, &[SAMPLE]]);

/// The values of the settings of all variants.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Config {
    pub dim: usize,
    window: usize,
    encoding: Encoding,
    unit: MemoryUnit,
    max_memories: Option<usize>,
    time: bool,
    time_scale: f64,
    pub soft_weighting: bool,
    pub update: UpdateRule,
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
    /// with many and with few memories have equal weight.
    pub fn add_time<R: Real>(&self, scores: &mut [R]) {
        if self.time {
            let unit = self.time_scale / scores.len() as f64;
            for (place, score) in scores.iter_mut().enumerate() {
                *score += R::from_f64(unit * (place + 1) as f64);
            }
        }
    }
}
