//! Ensembles (CNN table, App. A): predictions of several models → the mean of their candidate
//! distributions.
//!
//! Scores may be log-probabilities, activations, probabilities or counts. Chosen: a file whose scores are
//! non-negative and sum to 1 in every line holds distributions already; any other is taken as
//! log-weights and goes through a softmax. This is decided for the file as a whole, so that one model
//! is never read in two ways. Probabilities of a whole vocabulary, which do not sum to 1 over the
//! candidates, should be written as logarithms.

use crate::aligned::align;
use crate::{Error, Prediction, Predictions};

/// How far from 1 the sum of a distribution may be, having been rounded in writing.
const ROUNDING: f64 = 1e-6;

/// How a model's scores become a distribution over the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scores {
    /// They are shares that sum to 1 already.
    Distributions,
    /// They are logarithms, which a softmax turns into shares.
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
/// ties are broken by the seed.
///
/// # Errors
/// [`Error::OtherQuestions`] and [`Error::Line`] where they do not answer the same questions,
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::prediction;

    fn one_question(scores: &[f64]) -> Predictions {
        Predictions::new("one", vec![prediction("1", scores, 0)]).unwrap()
    }

    #[test]
    fn distributions_stay_and_log_weights_go_through_a_softmax() {
        assert_eq!(Scores::of(&one_question(&[0.25, 0.75])), Scores::Distributions);
        assert_eq!(Scores::of(&one_question(&[0.25, 0.7])), Scores::LogWeights);
        assert_eq!(Scores::of(&one_question(&[-0.5, 1.5])), Scores::LogWeights);
        // Counts that happen to sum to 1 in one question do not make the file one of distributions.
        let counts = vec![prediction("1", &[0.0, 1.0], 0), prediction("2", &[3.0, 1.0], 0)];
        assert_eq!(Scores::of(&Predictions::new("counts", counts).unwrap()), Scores::LogWeights);
    }

    #[test]
    fn the_mean_is_over_distributions_not_scores() {
        // Shares (.2, .8) and softmax(log 3, 0) = (.75, .25): mean (.475, .525).
        let (first, second) = (one_question(&[0.2, 0.8]), one_question(&[3.0_f64.ln(), 0.0]));
        let mean = mean("both", &[&first, &second], 1).unwrap();
        let prediction = mean.iter().next().unwrap();
        assert!((prediction.scores[0] - 0.475).abs() < 1e-12, "{prediction:?}");
        assert!((prediction.scores[1] - 0.525).abs() < 1e-12, "{prediction:?}");
        assert_eq!((prediction.predicted, mean.name()), (1, "both"));
    }

    #[test]
    fn no_models_are_no_ensemble() {
        assert!(matches!(mean("none", &[], 1), Err(Error::Empty { .. })));
    }

    proptest! {
        #[test]
        fn a_softmax_sums_to_one_whatever_the_scores(
            scores in prop::collection::vec(-1e300..1e300_f64, 2..12),
        ) {
            let shares = softmax(&scores);
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!(shares.iter().all(|share| share.is_finite()));
        }
    }
}
