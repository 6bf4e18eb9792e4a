//! Where models are right and wrong: accuracy by book, by position of the answer in the context, by
//! frequency of the answer in the training text; the questions that all models miss.
//!
//! Each gives the figures of one split, per class and in all, by a key that sorts as a reader expects.
//! Questions whose answer is not known are in none of them.

use std::collections::BTreeMap;
use std::fmt;

use base::{ByClass, Split};
use questions::{Example, QuestionSet};

use crate::accuracy::accuracies;
use crate::aligned::align;
use crate::{Accuracy, Error, MatchedPredictions, Prediction, Predictions};

/// Accuracies by a key.
pub type Breakdown<K> = BTreeMap<K, ByClass<Accuracy>>;

/// Accuracy by book; `None` holds the questions whose book is not known.
pub fn by_book(predictions: &Predictions, split: Option<Split>) -> Breakdown<Option<String>> {
    group(predictions.of_split(split).map(|prediction| (prediction.book.clone(), prediction)))
}

/// Accuracy by the last sentence of the context that contains the answer, counted back from the query:
/// 1 is the sentence before it. `None` holds the answers that are not in the context.
pub fn by_position(
    matched: &MatchedPredictions<'_>,
    split: Option<Split>,
) -> Breakdown<Option<usize>> {
    let of_split = matched.iter().filter(|(prediction, _)| prediction.split == split);
    group(of_split.filter_map(|(prediction, example)| {
        let answer = example.question.candidates[prediction.answer?];
        let from_query = example.question.context.iter().rev();
        let nearest = from_query.zip(1..).find(|(sentence, _)| sentence.contains(&answer));
        Some((nearest.map(|(_, distance)| distance), prediction))
    }))
}

/// Accuracy by how often the answer occurs in the training text.
pub fn by_frequency(
    predictions: &Predictions,
    split: Option<Split>,
    training: &TrainingText<'_>,
) -> Breakdown<Frequency> {
    group(predictions.of_split(split).filter_map(|prediction| {
        let answer = &prediction.candidates[prediction.answer?];
        Some((Frequency::of(training.count(answer)), prediction))
    }))
}

/// How often a word occurs, to the power of ten: 0, 1 to 9, 10 to 99, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frequency {
    /// The number of digits of the count; 0 for a word that does not occur.
    digits: u32,
}

impl Frequency {
    /// The bin that a count falls into.
    pub fn of(count: u64) -> Self {
        Self { digits: count.checked_ilog10().map_or(0, |power| power + 1) }
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.digits {
            0 => write!(f, "0"),
            digits => write!(f, "{}–{}", 10_u64.pow(digits - 1), 10_u64.pow(digits) - 1),
        }
    }
}

/// Word counts of the running text of a set's training books, case kept.
#[derive(Debug)]
pub struct TrainingText<'a> {
    set: &'a QuestionSet,
    counts: Vec<u64>,
}

impl<'a> TrainingText<'a> {
    /// Counts the words of a set's training books; `None` where it has no such text.
    pub fn of(set: &'a QuestionSet) -> Option<Self> {
        let mut counts = vec![0; set.vocabulary().len()];
        let books = set.books().iter().filter(|book| book.split == Some(Split::Train));
        let sentences = books.flat_map(|book| book.sentences.clone());
        sentences.flat_map(|s| set.sentence(s)).for_each(|word| counts[word.index()] += 1);
        counts.iter().any(|&count| count > 0).then_some(Self { set, counts })
    }

    /// How often a word occurs.
    pub fn count(&self, word: &str) -> u64 {
        self.set.vocabulary().get(word).map_or(0, |id| self.counts[id.index()])
    }
}

/// A question that no model answered correctly.
#[derive(Clone, Debug)]
pub struct MissedQuestion<'a> {
    /// The id that predictions have for the question.
    pub id: String,
    /// The question and its answer.
    pub example: Example<'a>,
    /// What each model chose instead, in the models' order.
    pub predicted: Vec<String>,
}

/// The questions whose answer no model predicted, in the order of the first model's file.
///
/// # Errors
/// [`Error::OtherQuestions`] where the models answer different questions.
pub fn missed_by_all<'a>(
    models: &[&MatchedPredictions<'a>],
) -> Result<Vec<MissedQuestion<'a>>, Error> {
    let Some(first) = models.first() else { return Ok(Vec::new()) };
    let predictions: Vec<&Predictions> = models.iter().map(|model| model.predictions()).collect();
    let rows = align(&predictions)?;
    let missed = rows
        .into_iter()
        .zip(first.iter())
        .filter(|(row, _)| row.iter().all(|prediction| prediction.is_right() == Some(false)));
    let chosen = |prediction: &&Prediction| prediction.candidates[prediction.predicted].clone();
    Ok(missed
        .map(|(row, (prediction, example))| MissedQuestion {
            id: prediction.id.clone(),
            example,
            predicted: row.iter().map(chosen).collect(),
        })
        .collect())
}

fn group<'p, K: Ord>(keyed: impl Iterator<Item = (K, &'p Prediction)>) -> Breakdown<K> {
    let mut groups: BTreeMap<K, Vec<&Prediction>> = BTreeMap::new();
    keyed.for_each(|(key, prediction)| groups.entry(key).or_default().push(prediction));
    let figures = groups.into_iter().filter_map(|(key, group)| Some((key, accuracies(&group)?)));
    figures.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_against;
    use crate::testing::{question_set, valid_predictions};

    const VALID: Option<Split> = Some(Split::Valid);

    fn share(figures: &ByClass<Accuracy>) -> (usize, f64) {
        (figures.all.n, figures.all.accuracy)
    }

    #[test]
    fn questions_are_grouped_by_book() {
        let set = question_set();
        let predictions = valid_predictions(&set, [[1.0, 0.0], [0.0, 1.0]]);
        let books = by_book(&predictions, VALID);
        assert_eq!(books.len(), 1);
        assert_eq!(share(&books[&Some("Fen".to_owned())]), (2, 0.5));
        assert!(by_book(&predictions, Some(Split::Test)).is_empty());
    }

    #[test]
    fn the_answer_is_sought_from_the_query_backwards() {
        let set = question_set();
        let predictions = valid_predictions(&set, [[1.0, 0.0], [0.0, 1.0]]);
        let matched = check_against(predictions, &set).unwrap();
        let positions = by_position(&matched, VALID);
        // `door` is in the last sentence, `Goose` in the third last.
        let shares: Vec<_> = positions.iter().map(|(place, f)| (*place, share(f))).collect();
        assert_eq!(shares, [(Some(1), (1, 1.0)), (Some(3), (1, 0.0))]);
    }

    #[test]
    fn training_counts_keep_case_and_bins_are_powers_of_ten() {
        let set = question_set();
        let training = TrainingText::of(&set).unwrap();
        assert_eq!(
            ["goose", "Goose", "door", "owl"].map(|word| training.count(word)),
            [4, 3, 0, 0]
        );
        let predictions = valid_predictions(&set, [[1.0, 0.0], [0.0, 1.0]]);
        let bins = by_frequency(&predictions, VALID, &training);
        let shares: Vec<_> = bins.iter().map(|(bin, f)| (bin.to_string(), share(f))).collect();
        assert_eq!(shares, [("0".to_owned(), (1, 1.0)), ("1–9".to_owned(), (1, 0.0))]);
        let labels = [9, 10, 99, 100, 12_345].map(|count| Frequency::of(count).to_string());
        assert_eq!(labels, ["1–9", "10–99", "10–99", "100–999", "10000–99999"]);
        assert!(TrainingText::of(&QuestionSet::default()).is_none());
    }

    #[test]
    fn a_question_is_missed_by_all_only_if_no_model_has_it() {
        let set = question_set();
        let check = |scores| check_against(valid_predictions(&set, scores), &set).unwrap();
        let (first, second) = (check([[0.0, 1.0], [0.0, 1.0]]), check([[1.0, 0.0], [0.0, 1.0]]));
        let missed = missed_by_all(&[&first, &second]).unwrap();
        assert_eq!(missed.len(), 1);
        assert_eq!(missed[0].predicted, ["jug", "jug"]);
        assert_eq!(missed[0].example.answer, Some(0));
        assert_eq!(missed_by_all(&[&first]).unwrap().len(), 2);
        assert!(missed_by_all(&[]).unwrap().is_empty());
    }
}
