//! What can be set about language networks (§4.4, Appendix A): how they learn, and the words that they know.

use neural::{Initial, Method, Sampler, Text, TrainingConfig};
use serde::Deserialize;

use crate::Setting;
use crate::contract::settings::Range;
use crate::learning::checkpoint::Epoch;
use crate::learning::epochs::Schedule;
use crate::learning::weights_file::SavedAs;

/// The setting p.
pub(crate) const DIM: Setting = Setting {
    name: "dim",
    symbol: "p",
    default: "512",
    range: Range::Whole(1, 4096),
    word: None,
    doc: "Numbers in an embedding and in a hidden state.",
};
/// The setting for how the rate shrinks.
pub(crate) const SCHEDULE: Setting = Setting {
    name: "schedule",
    symbol: "",
    default: "plateau",
    range: Range::Choice(&["plateau", "cosine"]),
    word: None,
    doc: "When the learning rate shrinks: after each epoch that is not better on validation, or along a \
          cosine to 0 over all epochs.",
};
/// The setting for how much it shrinks.
pub(crate) const SHRINK: Setting = Setting {
    name: "shrink",
    symbol: "",
    default: "2",
    range: Range::Real(1.0, 1000.0),
    word: None,
    doc: "What the learning rate is divided by on a plateau.",
};
/// The setting for the optimiser.
pub(crate) const OPTIMISER: Setting = Setting {
    name: "optimiser",
    symbol: "",
    default: "sgd",
    range: Range::Choice(&["sgd", "adam"]),
    word: None,
    doc: "Stochastic gradient descent, or AdamW.",
};
/// The setting of AdamW.
pub(crate) const WEIGHT_DECAY: Setting = Setting {
    name: "weight_decay",
    symbol: "",
    default: "0.01",
    range: Range::Real(0.0, 10.0),
    word: None,
    doc: "How fast weights decay under AdamW, times the learning rate.",
};
/// The setting of AdamW for small gradients.
pub(crate) const EPSILON: Setting = Setting {
    name: "epsilon",
    symbol: "",
    default: "1e-8",
    range: Range::Real(1e-12, 1e6),
    word: None,
    doc: "Where gradients are far smaller than this, the steps of AdamW are too; with 0 they would all be of \
          one size.",
};
/// The setting for clipping.
pub(crate) const CLIP: Setting = Setting {
    name: "clip",
    symbol: "",
    default: "5",
    range: Range::Real(1e-6, 1e6),
    word: None,
    doc: "The greatest norm of a gradient; a longer one is shortened.",
};
/// The setting for the first weights.
pub(crate) const INITIAL: Setting = Setting {
    name: "initial",
    symbol: "",
    default: "0.08",
    range: Range::Real(0.0, 10.0),
    word: None,
    doc: "First weights are drawn uniformly from minus to plus this.",
};
/// The setting for dropout.
pub(crate) const DROPOUT: Setting = Setting {
    name: "dropout",
    symbol: "",
    default: "0",
    range: Range::Real(0.0, 0.99),
    word: None,
    doc: "The share of the numbers of embeddings and outputs that are set to 0 in a step of training.",
};
/// The setting for tied weights.
pub(crate) const TIED: Setting = Setting {
    name: "tied",
    symbol: "",
    default: "false",
    range: Range::Flag,
    word: None,
    doc: "Whether the output layer's weights are the embeddings.",
};
/// The setting for the softmax.
pub(crate) const SAMPLES: Setting = Setting {
    name: "samples",
    symbol: "",
    default: "all",
    range: Range::Whole(1, 10_000_000),
    word: Some("all"),
    doc: "Words of the lexicon that a step is learnt against, never fewer than it has words to predict: makes training \
          on a processor faster.",
};

/// What all language networks can be set to, to be flattened into a model's `Config`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Recipe {
    pub dim: usize,
    pub dropout: f64,
    initial: f64,
    samples: Option<usize>,
    pub learning_rate: f64,
    pub epochs: usize,
    pub patience: usize,
    schedule: Shrinking,
    shrink: f64,
    optimiser: Optimiser,
    weight_decay: f64,
    epsilon: f64,
    clip: f64,
    pub min_count: usize,
    pub lowercase: bool,
    pub weights: SavedAs,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shrinking {
    Plateau,
    Cosine,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Optimiser {
    Sgd,
    Adam,
}

impl Recipe {
    /// How first weights are drawn, with a kind of distribution.
    pub fn initial(&self, kind: fn(f64) -> Initial) -> Initial {
        kind(self.initial)
    }

    /// How weights follow their gradient, with all random numbers from a seed.
    pub fn training(&self, seed: u64) -> TrainingConfig {
        let method = match self.optimiser {
            Optimiser::Sgd => Method::Sgd,
            Optimiser::Adam => Method::Adam { decay: self.weight_decay, epsilon: self.epsilon },
        };
        TrainingConfig { method, clip: self.clip, seed }
    }

    /// Draws words for a softmax over samples, if it is to be one.
    pub fn sampler(&self, text: &Text, n_words: usize, seed: u64) -> Option<Sampler> {
        self.samples.map(|size| Sampler::new(&text.counts(n_words), size, seed))
    }

    /// The schedule of the training loop, with `batch` pieces of text per mini-batch.
    pub fn schedule(&self, batch: usize) -> Schedule {
        let Self { learning_rate, epochs, patience, .. } = *self;
        Schedule { learning_rate, epochs, patience, decay: 1.0, batch }
    }

    /// The rate after some epochs and this share of the next.
    pub fn rate(&self, past: &[Epoch], share: f64) -> f64 {
        match self.schedule {
            // Appendix A, «learning rate shrinking factor»: λ is divided after each epoch without progress.
            Shrinking::Plateau => {
                (0..n_plateaus(past)).fold(self.learning_rate, |rate, _| rate / self.shrink)
            }
            Shrinking::Cosine => {
                let share = (past.len() as f64 + share) / self.epochs as f64;
                self.learning_rate * (1.0 + (std::f64::consts::PI * share).cos()) / 2.0
            }
        }
    }
}

/// How many epochs were not better on validation than all before them.
fn n_plateaus(past: &[Epoch]) -> usize {
    let mut lowest = f64::INFINITY;
    let losses = past.iter().filter_map(|epoch| epoch.valid.loss);
    losses
        .filter(|&loss| {
            let is_plateau = loss >= lowest;
            lowest = lowest.min(loss);
            is_plateau
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learning::epochs::Validation;

    fn recipe(schedule: &str) -> Recipe {
        let text = format!(
            "dim = 4\ndropout = 0\ninitial = 0.1\nlearning_rate = 0.5\nepochs = 4\npatience = 2\nschedule = '{schedule}'\nshrink = 2\n\
             optimiser = 'sgd'\nweight_decay = 0\nepsilon = 1e-8\nclip = 5\nmin_count = 2\nlowercase = false\nweights = 'f32'"
        );
        toml::from_str(&text).unwrap()
    }

    fn after(losses: &[f64]) -> Vec<Epoch> {
        let valid = |&loss: &f64| Validation { loss: Some(loss), accuracy: None };
        losses.iter().map(|loss| Epoch { loss: 0.0, valid: valid(loss) }).collect()
    }

    #[test]
    fn on_a_plateau_the_rate_is_halved() {
        let rate = |losses: &[f64]| recipe("plateau").rate(&after(losses), 0.5);
        assert_eq!(rate(&[]), 0.5);
        assert_eq!(rate(&[5.0, 4.0, 3.0]), 0.5);
        assert_eq!(rate(&[5.0, 4.0, 4.5]), 0.25);
        // 4.2 is better than the epoch before it, but not than the best.
        assert_eq!(rate(&[5.0, 4.0, 4.5, 4.2]), 0.125);
        assert_eq!(rate(&[5.0, 4.0, 4.5, 3.9, 3.8]), 0.25);
    }

    #[test]
    fn along_a_cosine_the_rate_falls_to_0() {
        let rate = |n, share| recipe("cosine").rate(&after(&vec![1.0; n]), share);
        assert_eq!(rate(0, 0.0), 0.5);
        assert!((rate(2, 0.0) - 0.25).abs() < 1e-15);
        // cos(3π/4) = −√½.
        assert!((rate(2, 1.0) - 0.25 * (1.0 - 0.5f64.sqrt())).abs() < 1e-15);
        assert!(rate(3, 1.0).abs() < 1e-15);
    }
}
