//! [`Config`]: everything about a reader that can be set.

use neural::{BlockShape, DecoderConfig, Method, TrainingConfig};
use serde::{Deserialize, Serialize};

/// The settings of a reader and of its training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Pieces of words that the tokenizer learns.
    pub pieces: usize,
    /// Blocks of the network.
    pub layers: usize,
    /// Numbers of the stream at a place.
    pub width: usize,
    /// Heads of attention.
    pub heads: usize,
    /// Numbers of a query, a key or a value.
    pub head_dim: usize,
    /// Hidden numbers of a place.
    pub feed_forward: usize,
    /// Pieces in a row of running text; a trained reader reads no longer texts.
    pub length: usize,
    /// Rows of a step.
    pub rows: usize,
    /// Steps of pretraining; without a number, as many as fit into the minutes.
    pub steps: Option<u64>,
    /// Minutes of pretraining, where there is no number of steps.
    pub minutes: f64,
    /// The learning rate of Muon.
    pub learning_rate: f64,
    /// The learning rate of AdamW, which follows embeddings and norms, in terms of that of Muon.
    pub adam_rate: f64,
    /// How fast parameters decay, times their learning rate.
    pub decay: f64,
    /// Steps in which the learning rate grows from 0.
    pub warm_up: u64,
    /// The share of steps after which it falls, in a straight line to a fiftieth.
    pub constant: f64,
    /// The probability that a number is dropped.
    pub dropout: f64,
    /// The share of steps after which some rows come from the set's own books alone.
    pub own_from: f64,
    /// The share of such rows.
    pub own: f64,
    /// Steps of fine-tuning on the set's questions; 0: none.
    pub tune_steps: u64,
    /// Rows of such a step.
    pub tune_rows: usize,
    /// Pieces in such a row.
    pub tune_length: usize,
    /// The learning rate of fine-tuning.
    pub tune_rate: f64,
    /// What sums of ln p are multiplied by before their softmax.
    pub tune_scale: f64,
    /// The share of the questions of each class that are learnt from.
    pub tune_verbs: f64,
    /// The same of prepositions.
    pub tune_prepositions: f64,
    /// How many of the validation questions of each class are answered at the end.
    pub valid: usize,
}

impl Config {
    /// The network for a number of pieces.
    pub fn network(&self, n_pieces: usize) -> DecoderConfig {
        let &Self { width, heads, head_dim, feed_forward, .. } = self;
        let block = BlockShape { width, heads, head_dim, feed_forward };
        DecoderConfig {
            n_pieces,
            layers: self.layers,
            block,
            has_head_norms: true,
            is_tied: true,
            rotary_base: ROTARY_BASE,
            dropout: self.dropout,
        }
    }

    /// How it is trained.
    pub fn training(&self, seed: u64) -> TrainingConfig {
        let method = Method::Muon { decay: self.decay, adam_rate: self.adam_rate };
        TrainingConfig { method, clip: 1.0, seed }
    }

    /// The learning rate of a step of pretraining, from 0.
    pub fn rate(&self, step: u64, steps: u64) -> f64 {
        /// What is left of it at the end.
        const FLOOR: f64 = 0.02;
        let warm = ((step + 1) as f64 / self.warm_up.max(1) as f64).min(1.0);
        let done = (step as f64 / steps.max(1) as f64 - self.constant) / (1.0 - self.constant);
        self.learning_rate * warm * (1.0 - (1.0 - FLOOR) * done.clamp(0.0, 1.0))
    }

    /// The step from which on some rows come from the set's own books.
    pub fn first_own(&self, steps: u64) -> u64 {
        (self.own_from * steps as f64).ceil() as u64
    }

    /// How many rows that are.
    pub fn n_own(&self) -> usize {
        (self.own * self.rows as f64).round() as usize
    }
}

/// The base of rotary positions.
pub const ROTARY_BASE: f64 = 10_000.0;

/// Settings small enough for a test.
#[cfg(test)]
pub(crate) fn tiny() -> Config {
    Config {
        pieces: 400,
        layers: 2,
        width: 32,
        heads: 2,
        head_dim: 16,
        feed_forward: 64,
        length: 64,
        rows: 4,
        steps: Some(12),
        minutes: 1.0,
        learning_rate: 0.01,
        adam_rate: 0.75,
        decay: 0.1,
        warm_up: 4,
        constant: 0.4,
        dropout: 0.05,
        own_from: 0.5,
        own: 0.25,
        tune_steps: 0,
        tune_rows: 2,
        tune_length: 512,
        tune_rate: 1e-3,
        tune_scale: 1.0,
        tune_verbs: 1.0,
        tune_prepositions: 1.0,
        valid: 20,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_grows_stays_and_falls_to_a_fiftieth() {
        let config = Config { warm_up: 10, learning_rate: 1.0, constant: 0.4, ..tiny() };
        let rates = [0, 4, 9, 40, 70, 100].map(|step| config.rate(step, 100));
        for (rate, expected) in rates.iter().zip([0.1, 0.5, 1.0, 1.0, 0.51, 0.02]) {
            assert!((rate - expected).abs() < 1e-9, "{rates:?}");
        }
    }

    #[test]
    fn some_rows_come_from_the_own_books_at_last() {
        let config = Config { rows: 64, own: 0.094, own_from: 0.6, ..tiny() };
        assert_eq!((config.first_own(101), config.n_own()), (61, 6));
    }
}
