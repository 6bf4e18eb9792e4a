//! What can be set about language networks (§4.4, Appendix A): how they learn, and the words that they know.

use neural::{Initial, Method, Sampler, Text, TrainingConfig};
use serde::Deserialize;

use crate::learning::epochs::Schedule;
use crate::learning::options;
use crate::learning::weights_file::SavedAs;
use crate::words::lexicon::{LOWERCASE, MIN_COUNT};
use crate::{EpochRecord, Setting};

/// The number of settings in [`shared`].
pub(crate) const N_SHARED: usize = 15;

/// The defaults of [`shared`] settings in which the networks differ.
#[derive(Clone, Copy)]
pub(crate) struct Defaults {
    pub dim: &'static str,
    pub learning_rate: &'static str,
    pub shrink: &'static str,
    pub epochs: &'static str,
    pub patience: &'static str,
    pub clip: &'static str,
    pub lowercase: &'static str,
}

/// The settings that all language networks share.
pub(crate) const fn shared(defaults: Defaults) -> [Setting; N_SHARED] {
    [
        Setting::whole("dim", defaults.dim, 1..=4096)
            .symbol("p")
            .doc("Length of an embedding and of a hidden state."),
        options::LEARNING_RATE.with_default(defaults.learning_rate),
        Setting::choice("schedule", "plateau", &["plateau", "cosine"]).doc(
            "When the learning rate falls: after each epoch without improvement on validation, or along a \
             cosine to 0 over all epochs.",
        ),
        Setting::real("shrink", defaults.shrink, 1.0..=1000.0)
            .doc("The number that the learning rate is divided by on a plateau."),
        options::EPOCHS.with_default(defaults.epochs),
        options::PATIENCE.with_default(defaults.patience),
        Setting::choice("optimiser", "sgd", &["sgd", "adam"])
            .doc("Stochastic gradient descent, or AdamW."),
        Setting::real("weight_decay", "0.01", 0.0..=10.0)
            .doc("Weight decay of AdamW, times the learning rate."),
        Setting::real("epsilon", "1e-8", 1e-12..=1e6).symbol("ε").doc(
            "Added to the denominator of AdamW: the steps of gradients far smaller than this are small too.",
        ),
        Setting::real("clip", defaults.clip, 1e-6..=1e6)
            .doc("The greatest norm of a gradient; a longer one is scaled down to it."),
        Setting::real("dropout", "0", 0.0..=0.99)
            .doc("Share of the numbers in embeddings and outputs that a training step sets to 0."),
        Setting::whole("samples", "all", 1..=10_000_000).or("all").doc(
            "Words that the softmax of a training step is over, at least those to predict: fewer than `all` \
             make training on a processor faster.",
        ),
        MIN_COUNT,
        LOWERCASE.with_default(defaults.lowercase),
        options::WEIGHTS,
    ]
}

/// The values of the [`shared`] settings and of `initial`, to be flattened into a model's `Config`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct NetworkConfig {
    pub dim: usize,
    pub dropout: f64,
    initial: f64,
    samples: Option<usize>,
    pub learning_rate: f64,
    pub epochs: usize,
    pub patience: usize,
    schedule: RateSchedule,
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
enum RateSchedule {
    Plateau,
    Cosine,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Optimiser {
    Sgd,
    Adam,
}

impl NetworkConfig {
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
    pub fn rate(&self, past: &[EpochRecord], share: f64) -> f64 {
        match self.schedule {
            // Appendix A, «learning rate shrinking factor»: λ is divided after each epoch without progress.
            RateSchedule::Plateau => {
                (0..n_plateaus(past)).fold(self.learning_rate, |rate, _| rate / self.shrink)
            }
            RateSchedule::Cosine => {
                let share = (past.len() as f64 + share) / self.epochs as f64;
                self.learning_rate * (1.0 + (std::f64::consts::PI * share).cos()) / 2.0
            }
        }
    }
}

/// How many epochs were not better on validation than all before them.
fn n_plateaus(past: &[EpochRecord]) -> usize {
    let mut lowest = f64::INFINITY;
    let losses = past.iter().filter_map(|epoch| epoch.valid_loss);
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

    fn config(schedule: &str) -> NetworkConfig {
        let text = format!(
            "dim = 4\ndropout = 0\ninitial = 0.1\nlearning_rate = 0.5\nepochs = 4\npatience = 2\nschedule = '{schedule}'\nshrink = 2\n\
             optimiser = 'sgd'\nweight_decay = 0\nepsilon = 1e-8\nclip = 5\nmin_count = 2\nlowercase = false\nweights = 'f32'"
        );
        toml::from_str(&text).unwrap()
    }

    fn after(losses: &[f64]) -> Vec<EpochRecord> {
        let record = |(epoch, &valid_loss): (usize, &f64)| {
            let valid_loss = Some(valid_loss);
            EpochRecord { epoch, loss: 0.0, valid_loss, valid_accuracy: None, best: true }
        };
        (1..).zip(losses).map(record).collect()
    }

    #[test]
    fn on_a_plateau_the_rate_is_halved() {
        let rate = |losses: &[f64]| config("plateau").rate(&after(losses), 0.5);
        assert_eq!(rate(&[]), 0.5);
        assert_eq!(rate(&[5.0, 4.0, 3.0]), 0.5);
        assert_eq!(rate(&[5.0, 4.0, 4.5]), 0.25);
        // 4.2 is better than the epoch before it, but not than the best.
        assert_eq!(rate(&[5.0, 4.0, 4.5, 4.2]), 0.125);
        assert_eq!(rate(&[5.0, 4.0, 4.5, 3.9, 3.8]), 0.25);
    }

    #[test]
    fn along_a_cosine_the_rate_falls_to_0() {
        let rate = |n, share| config("cosine").rate(&after(&vec![1.0; n]), share);
        assert_eq!(rate(0, 0.0), 0.5);
        assert!((rate(2, 0.0) - 0.25).abs() < 1e-15);
        // cos(3π/4) = −√½.
        assert!((rate(2, 1.0) - 0.25 * (1.0 - 0.5f64.sqrt())).abs() < 1e-15);
        assert!(rate(3, 1.0).abs() < 1e-15);
    }
}
