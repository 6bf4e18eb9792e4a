//! Ensembles (CNN table, App. A): predictions of several models → the mean of their candidate
//! distributions.
//!
//! Scores may be log-probabilities, activations, probabilities or counts. Chosen: a file whose scores are
//! non-negative and sum to 1 in every line holds distributions already; any other is taken as
//! log-weights and goes through a softmax. It is decided for the file as a whole, so that one model
//! is never read in two ways. Probabilities of a whole vocabulary, which do not sum to 1 over the
//! candidates, should be written as logarithms.

use crate::aligned::align;
use crate::{Error, Prediction, Predictions};

/// How far from 1 the sum of a distribution may be, having been rounded in writing.
const ROUNDING: f64 = 1e-6;

/// How a model's scores become a distribution over the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scores {
    /// They are one.
    Distributions,
    /// By a softmax.
    LogWeights,
}

impl Scores {
    /// What the scores of a predictions file are.
    pub fn of(predictions: &Predictions) -> Self {
        let is_distribution = |prediction: &Prediction| {
            prediction.scores.iter().all(|&score| score >= 0.0)
                && (prediction.scores.iter().sum::<f64>() - 1.0).abs() <= ROUNDING
        };
        if predictions.iter().all(is_distribution) { Self::Distributions } else { Self::LogWeights }
    }

    /// The candidate distribution of one question.
    pub fn distribution(self, scores: &[f64]) -> Vec<f64> {
        match self {
            Self::Distributions => scores.to_vec(),
            Self::LogWeights => softmax(scores),
        }
    }
}

/// The mean of the candidate distributions of several models, as predictions under a new name;
/// ties are drawn from the seed.
///
/// # Errors
/// [`Error::OtherQuestions`] and [`Error::Line`] where they don't answer the same questions,
/// [`Error::Empty`] for no models.
pub fn mean(name: &str, models: &[&Predictions], seed: u64) -> Result<Predictions, Error> {
    let kinds: Vec<Scores> = models.iter().map(|model| Scores::of(model)).collect();
    let average = |row: Vec<&Prediction>| {
        let mut mean = vec![0.0; row[0].scores.len()];
        for (kind, prediction) in kinds.iter().zip(&row) {
            for (sum, share) in mean.iter_mut().zip(kind.distribution(&prediction.scores)) {
                *sum += share / models.len() as f64;
            }
        }
        row[0].rescored(mean, seed)
    };
    Predictions::new(name, align(models)?.into_iter().map(average).collect())
}

/// exp(score) / Σ exp(score).
pub(crate) fn softmax(scores: &[f64]) -> Vec<f64> {
    log_softmax(scores).into_iter().map(f64::exp).collect()
}

/// score − log Σ exp(score), shifted so that nothing overflows.
pub(crate) fn log_softmax(scores: &[f64]) -> Vec<f64> {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log_sum = scores.iter().map(|score| (score - best).exp()).sum::<f64>().ln();
    scores.iter().map(|score| score - best - log_sum).collect()
}
