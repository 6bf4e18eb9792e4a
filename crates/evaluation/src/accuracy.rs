//! Accuracy per class and in all with its Wilson 95 % interval: predictions → [`Results`].
//!
//! A tie among k best candidates counts 1/k. Scoring is strict: the predicted candidate must equal the
//! answer, case included. Splits are never pooled; questions whose answer is not known are counted
//! separately and enter no figure.

use std::collections::BTreeMap;

use base::{ByClass, Split};
use serde::{Serialize, Serializer};

use crate::{Error, People, Prediction, Predictions, Tally};

/// The standard normal quantile of a two-sided 95 % interval: Φ(z) = 0.975.
const Z95: f64 = 1.959_963_984_540_054;

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
    /// A share of n questions with the interval that n implies; also for published figures. Without questions
    /// the interval is 0 to 1.
    pub fn new(accuracy: f64, n: usize) -> Self {
        let (low, high) = wilson(accuracy, n);
        Self { n, accuracy, low, high }
    }

    /// The mean of credits (1, 0, or 1/k for a tie); `None` without credits.
    pub fn from_credits(credits: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sum = Credits::default();
        credits.into_iter().for_each(|credit| sum.add(credit));
        sum.accuracy()
    }
}

/// How often each credit was given. Equal credits are counted, not added one by one: 500 tenths are 50 exactly, in any
/// order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Credits(BTreeMap<u64, usize>);

impl Credits {
    pub(crate) fn add(&mut self, credit: f64) {
        *self.0.entry(credit.to_bits()).or_default() += 1;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(&bits, n)| *self.0.entry(bits).or_default() += n);
    }

    /// The mean credit; none without credits.
    pub(crate) fn accuracy(&self) -> Option<Accuracy> {
        let n: usize = self.0.values().sum();
        let sum: f64 = self.0.iter().map(|(&bits, &n)| f64::from_bits(bits) * n as f64).sum();
        (n > 0).then(|| Accuracy::new(sum / n as f64, n))
    }
}

/// The figures of one predictions file on one split; serialises as one element of `evaluate --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Results {
    /// The predictions' name: their path as it was given.
    pub predictions: String,
    /// `None` where the split is not known.
    #[serde(serialize_with = "split_code")]
    pub split: Option<Split>,
    /// The accuracy of each class and of all questions.
    pub classes: ByClass<Accuracy>,
    /// How many more questions there are whose answer is not known; they enter no figure.
    #[serde(skip_serializing_if = "is_zero")]
    pub without_answer: usize,
    /// Times, persons and their agreement, if people answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<People>,
}

/// The results of a predictions file, one element per split.
///
/// # Errors
/// [`Error::NoAnswers`] where no answer of a split is known.
pub fn evaluate(predictions: &Predictions) -> Result<Vec<Results>, Error> {
    let mut tally = Tally::default();
    tally.add(predictions);
    let mut results = tally.results(predictions.name())?;
    for of_split in &mut results {
        let people = predictions.people().iter();
        of_split.people =
            People::of(people.filter(|answer| answer.prediction.split == of_split.split));
    }
    Ok(results)
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
/// Chosen: p may come from ties counted 1/k, which are not whole successes; the formula needs p and n only.
fn wilson(p: f64, n: usize) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let (z, n) = (Z95, n as f64);
    // Wilson 1927: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n).
    let centre = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    // At p = 0 and p = 1 one end is exactly p; rounding must not push it past.
    (((centre - half) / scale).max(0.0).min(p), ((centre + half) / scale).min(1.0).max(p))
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

#[cfg(test)]
mod tests {
    use base::WordClass;
    use base::seeds::{Streams, Use};
    use expect_test::expect;
    use rand::RngExt;

    use super::*;
    use crate::testing::{pointing_at, prediction, predictions};

    fn all(predictions: &Predictions) -> Accuracy {
        evaluate(predictions).unwrap()[0].classes.all
    }

    #[test]
    fn predictions_that_copy_the_answer_score_one() {
        let copied = predictions("copied", 500, |i| pointing_at(i * 7 % 10));
        assert_eq!(all(&copied).accuracy, 1.0);
        assert_eq!(all(&copied).high, 1.0);
    }

    #[test]
    fn equal_scores_score_a_tenth_exactly() {
        assert_eq!(all(&predictions("uniform", 500, |_| vec![0.25; 10])).accuracy, 0.1);
    }

    #[test]
    fn random_scores_score_a_tenth_within_their_interval() {
        let random = |i: usize| {
            let mut rng = Streams::new(1, Use::Test).get(i as u64);
            (0..10).map(|_| rng.random()).collect()
        };
        let accuracy = all(&predictions("random", 2_000, random));
        assert!(accuracy.low < 0.1 && 0.1 < accuracy.high, "{accuracy:?}");
    }

    #[test]
    fn the_draw_among_equal_scores_is_even_and_follows_the_seed() {
        let drawn = predictions("uniform", 2_000, |_| vec![0.0; 10]);
        let right = drawn.iter().filter(|prediction| prediction.is_right() == Some(true)).count();
        let accuracy = Accuracy::new(right as f64 / 2_000.0, 2_000);
        assert!(accuracy.low < 0.1 && 0.1 < accuracy.high, "{accuracy:?}");
        let moved = |p: &&Prediction| p.rescored(p.scores.clone(), 2).predicted != p.predicted;
        // Nine of ten draws fall elsewhere with another seed, give or take four deviations.
        let moved = drawn.iter().filter(moved).count();
        assert!((1_746..=1_854).contains(&moved), "{moved}");
    }

    #[test]
    fn a_tie_between_two_counts_half_and_being_beaten_nothing() {
        let tied = prediction("1", &[2.0, 2.0, 1.0], 0);
        assert_eq!(tied.credit(), Some(0.5));
        assert_eq!(prediction("2", &[2.0, 2.0, 1.0], 2).credit(), Some(0.0));
        let unknown = Prediction { answer: None, ..tied };
        assert_eq!((unknown.credit(), unknown.is_right()), (None, None));
    }

    #[test]
    fn the_interval_is_wilsons() {
        // Newcombe 1998, Two-sided confidence intervals for the single proportion, Table I, method 3.
        for (right, n, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let accuracy = Accuracy::new(f64::from(right) / n as f64, n);
            assert!((accuracy.low - low).abs() < 5e-5, "{accuracy:?}");
            assert!((accuracy.high - high).abs() < 5e-5, "{accuracy:?}");
        }
    }

    #[test]
    fn no_questions_say_nothing_about_accuracy() {
        let Accuracy { low, high, .. } = Accuracy::new(0.5, 0);
        assert_eq!((low, high), (0.0, 1.0));
        // A share that is none is the caller's mistake, and no reason to panic.
        let Accuracy { low, high, .. } = Accuracy::new(1.5, 3);
        assert!(low <= high);
    }

    #[test]
    fn results_serialise_to_the_layout_that_scripts_rely_on() {
        let mut rows: Vec<Prediction> =
            (0..5).map(|i| prediction(&i.to_string(), &[1.0, 0.0], usize::from(i == 0))).collect();
        rows[1].class = Some(WordClass::Verb);
        rows[2].class = None;
        rows[3].answer = None;
        rows[4].split = Some(Split::Test);
        let results = evaluate(&Predictions::new("p.jsonl", rows).unwrap()).unwrap();
        let text: Vec<String> =
            results.iter().map(|results| serde_json::to_string(results).unwrap()).collect();
        expect![[r#"
            {"predictions":"p.jsonl","split":"valid","classes":{"NE":{"n":1,"accuracy":0.0,"low":0.0,"high":0.7934506856227626},"V":{"n":1,"accuracy":1.0,"low":0.20654931437723742,"high":1.0},"all":{"n":3,"accuracy":0.6666666666666666,"low":0.20765960080204768,"high":0.9385080552796037}},"without_answer":1}
            {"predictions":"p.jsonl","split":"test","classes":{"NE":{"n":1,"accuracy":1.0,"low":0.20654931437723742,"high":1.0},"all":{"n":1,"accuracy":1.0,"low":0.20654931437723742,"high":1.0}}}"#]].assert_eq(&text.join("\n"));
    }

    #[test]
    fn without_classes_there_is_only_all() {
        let row = Prediction { class: None, split: None, ..prediction("1", &[1.0, 0.0], 0) };
        let results = evaluate(&Predictions::new("cnn", vec![row]).unwrap()).unwrap();
        assert_eq!(results[0].classes.iter().map(|(code, _)| code).collect::<Vec<_>>(), ["all"]);
        let json = serde_json::to_value(&results[0]).unwrap();
        assert_eq!(json["split"], serde_json::Value::Null);
    }

    #[test]
    fn a_split_without_a_known_answer_has_no_figure() {
        let row = Prediction { answer: None, ..prediction("1", &[1.0, 0.0], 0) };
        let error = evaluate(&Predictions::new("p.jsonl", vec![row]).unwrap()).unwrap_err();
        expect!["p.jsonl: none of the 1 questions of split `valid` has a known answer"]
            .assert_eq(&error.to_string());
        assert_eq!(error.remedy(), Some(base::Remedy::MatchToQuestions));
    }
}
