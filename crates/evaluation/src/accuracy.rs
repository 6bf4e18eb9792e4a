//! Accuracy per class and in all with its Wilson 95 % interval: predictions → [`Results`].
//!
//! A tie among k best candidates counts 1/k. Scoring is strict: the predicted candidate must equal the
//! answer, case included. Splits are never pooled; questions whose answer is not known are counted
//! apart and never guessed.

use questions::Split;
use serde::{Serialize, Serializer};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::{ByClass, Error, Prediction, Predictions};

/// An accuracy with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Accuracy {
    /// The number of questions whose answer is known.
    pub n: usize,
    /// The share of them that is right, ties counted 1/k.
    pub accuracy: f64,
    /// The lower end of the Wilson interval.
    pub low: f64,
    /// The upper end of the Wilson interval.
    pub high: f64,
}

impl Accuracy {
    /// A share of n questions with the interval that n implies; also for published figures.
    ///
    /// # Panics
    /// If n is 0.
    pub fn new(accuracy: f64, n: usize) -> Self {
        let (low, high) = wilson(accuracy, n);
        Self { n, accuracy, low, high }
    }

    /// The mean of credits (1, 0, or 1/k for a tie); none where there are no credits.
    pub fn from_credits(credits: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (n, sum) = credits.into_iter().fold((0, 0.0), |(n, sum), credit| (n + 1, sum + credit));
        (n > 0).then(|| Self::new(sum / n as f64, n))
    }
}

/// The figures of one predictions file on one split; serialises as one element of `evaluate --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Results {
    /// The predictions' name: their path as it was given.
    pub predictions: String,
    /// The split; none where it is not known.
    #[serde(serialize_with = "split_code")]
    pub split: Option<Split>,
    /// The accuracy of each class and of all questions.
    pub classes: ByClass<Accuracy>,
    /// How many more questions there are whose answer is not known; they are in no figure.
    #[serde(skip_serializing_if = "is_zero")]
    pub without_answer: usize,
}

/// The results of a predictions file, one element a split.
///
/// # Errors
/// [`Error::NoAnswers`] where no answer of a split is known.
pub fn evaluate(predictions: &Predictions) -> Result<Vec<Results>, Error> {
    let of_split = |split| {
        let of_split: Vec<&Prediction> = predictions.of_split(split).collect();
        let classes = accuracies(&of_split).ok_or_else(|| Error::NoAnswers {
            name: predictions.name().to_owned(),
            split: split.map_or("unknown", Split::code),
            n: of_split.len(),
        })?;
        Ok(Results {
            predictions: predictions.name().to_owned(),
            split,
            without_answer: of_split.len() - classes.all.n,
            classes,
        })
    };
    predictions.splits().into_iter().map(of_split).collect()
}

/// The accuracy of each class and of all; none where no answer is known.
pub(crate) fn accuracies(predictions: &[&Prediction]) -> Option<ByClass<Accuracy>> {
    let accuracy = |of_class: &[&Prediction]| {
        Accuracy::from_credits(of_class.iter().filter_map(|prediction| prediction.credit()))
    };
    ByClass::of(predictions, |prediction| prediction.class, accuracy)
}

/// The Wilson interval of a share p of n at 95 % (Wilson 1927).
///
/// Chosen: p may stand for ties counted 1/k, which are not whole successes; the formula needs p and n only.
fn wilson(p: f64, n: usize) -> (f64, f64) {
    assert!(n > 0, "an interval needs questions");
    let (z, n) = (z95(), n as f64);
    // Wilson 1927: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n).
    let centre = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    // At p = 0 and p = 1 one end is exactly p; rounding must not push it past.
    (((centre - half) / scale).clamp(0.0, p), ((centre + half) / scale).clamp(p, 1.0))
}

/// The standard normal quantile of a two-sided 95 % interval, 1.95996…
fn z95() -> f64 {
    Normal::standard().inverse_cdf(0.975)
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

pub(crate) fn split_code<S: Serializer>(
    split: &Option<Split>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    split.map(Split::code).serialize(serializer)
}
