//! Where models are right and wrong: accuracy by book, by place of the answer in the context, by
//! frequency of the answer in the training text; the questions that all models miss.
//!
//! Each gives the figures of one split, per class and in all, by a key that sorts as a reader expects.
//! Questions whose answer is not known are in none of them.

use std::collections::BTreeMap;
use std::fmt;

use questions::{Example, QuestionSet, Split};

use crate::accuracy::accuracies;
use crate::aligned::align;
use crate::{Accuracy, ByClass, Checked, Error, Prediction, Predictions};

/// Accuracies by a key.
pub type Breakdown<K> = BTreeMap<K, ByClass<Accuracy>>;

/// Accuracy by book; `None` holds the questions whose book is not known.
pub fn by_book(predictions: &Predictions, split: Option<Split>) -> Breakdown<Option<String>> {
    group(predictions.of_split(split).map(|prediction| (prediction.book.clone(), prediction)))
}

/// Accuracy by the last sentence of the context in which the answer stands, counted back from the query:
/// 1 is the sentence before it. `None` holds the answers that are not in the context.
pub fn by_position(checked: &Checked<'_>, split: Option<Split>) -> Breakdown<Option<usize>> {
    let of_split = checked.iter().filter(|(prediction, _)| prediction.split == split);
    group(of_split.filter_map(|(prediction, example)| {
        let answer = example.question.vocabulary.get(&prediction.candidates[prediction.answer?])?;
        let from_query = example.question.context.iter().rev();
        let place = from_query.zip(1..).find(|(sentence, _)| sentence.contains(&answer));
        Some((place.map(|(_, distance)| distance), prediction))
    }))
}

/// Accuracy by how often the answer stands in the training text.
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
    /// The bin of a count.
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
    /// Counts the training books of a set; none where it has no such text.
    pub fn of(set: &'a QuestionSet) -> Option<Self> {
        let mut counts = vec![0; set.vocabulary().len()];
        let books = set.books().iter().filter(|book| book.split == Some(Split::Train));
        let sentences = books.flat_map(|book| book.sentences.clone());
        sentences.flat_map(|s| set.sentence(s)).for_each(|word| counts[word.index()] += 1);
        counts.iter().any(|&count| count > 0).then_some(Self { set, counts })
    }

    /// How often a word stands there.
    pub fn count(&self, word: &str) -> u64 {
        self.set.vocabulary().get(word).map_or(0, |id| self.counts[id.index()])
    }
}

/// A question that no model has right.
#[derive(Clone, Debug)]
pub struct Missed<'a> {
    /// Its id.
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
pub fn missed_by_all<'a>(models: &[&Checked<'a>]) -> Result<Vec<Missed<'a>>, Error> {
    let Some(first) = models.first() else { return Ok(Vec::new()) };
    let predictions: Vec<&Predictions> = models.iter().map(|model| model.predictions()).collect();
    let rows = align(&predictions)?;
    let missed = rows
        .into_iter()
        .zip(first.iter())
        .filter(|(row, _)| row.iter().all(|prediction| prediction.is_right() == Some(false)));
    let chosen = |prediction: &&Prediction| prediction.candidates[prediction.predicted].clone();
    Ok(missed
        .map(|(row, (prediction, example))| Missed {
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
