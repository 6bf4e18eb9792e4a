//! [`Predictions`]: what a model, a person or another program answered, question by question.
//!
//! The rest of this page documents their file format for other programs.
#![doc = include_str!("../predictions.md")]

use std::collections::HashMap;
use std::hash::Hash;

use base::seeds::{Use, generator};
use base::{Split, WordClass};
use questions::Example;
use rand::RngExt;

use crate::{Error, HumanAnswer, LineError};

/// A question as a model, a person or another program answered it.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The id of the question in its set.
    pub id: String,
    /// The class of the missing word, where it is known.
    pub class: Option<WordClass>,
    /// The split, where it is known.
    pub split: Option<Split>,
    /// The book, where it is known.
    pub book: Option<String>,
    /// C, in the question's order.
    pub candidates: Vec<String>,
    /// One score per candidate, the higher the better.
    pub scores: Vec<f64>,
    /// The index of a in the candidates, where it is known.
    pub answer: Option<usize>,
    /// The index of the chosen candidate, one of those with the highest score.
    pub predicted: usize,
}

impl Prediction {
    /// The prediction for a question that a model has scored; a tie is broken by the seed and the id.
    pub fn of(example: &Example<'_>, id: String, scores: Vec<f64>, seed: u64) -> Self {
        let question = &example.question;
        Self {
            class: example.class,
            split: example.split,
            book: example.book.map(str::to_owned),
            candidates: question.candidates.iter().map(|&c| question.word(c).to_owned()).collect(),
            answer: example.answer,
            predicted: choose(&scores, &id, seed),
            id,
            scores,
        }
    }

    /// The same question with other scores.
    pub fn rescored(&self, scores: Vec<f64>, seed: u64) -> Self {
        let predicted = choose(&scores, &self.id, seed);
        Self { scores, predicted, ..self.clone() }
    }

    /// The share of the question that counts as right: 1/k if the answer is among the k best.
    pub fn credit(&self) -> Option<f64> {
        let answer = self.answer.filter(|&answer| answer < self.scores.len())?;
        Some(base::credit(&self.scores, answer))
    }

    /// Returns whether the chosen candidate is the answer, after a tie was broken.
    pub fn is_right(&self) -> Option<bool> {
        self.answer.map(|answer| answer == self.predicted)
    }

    /// Checks that candidates, scores, answer and prediction are consistent.
    pub(crate) fn check(&self) -> Result<(), LineError> {
        let n_candidates = self.candidates.len();
        if n_candidates < 2 {
            return Err(LineError::FewCandidates { found: n_candidates });
        }
        let is_duplicate =
            |index: &usize| self.candidates[..*index].contains(&self.candidates[*index]);
        if let Some(index) = (0..n_candidates).find(is_duplicate) {
            return Err(LineError::DuplicateCandidate {
                candidate: self.candidates[index].clone(),
            });
        }
        if n_candidates != self.scores.len() {
            return Err(LineError::ScoreCount { expected: n_candidates, found: self.scores.len() });
        }
        if let Some(score) = self.scores.iter().find(|score| !score.is_finite()) {
            return Err(LineError::ScoreNotFinite { found: score.to_string() });
        }
        for (key, index) in [("answer", self.answer), ("predicted", Some(self.predicted))] {
            if let Some(index) = index.filter(|&index| index >= n_candidates) {
                return Err(LineError::IndexOutOfRange { key, index, n_candidates });
            }
        }
        let best = best_score(&self.scores);
        if self.scores[self.predicted] < best {
            let best_index = self.scores.iter().position(|&score| score == best);
            return Err(LineError::NotHighest {
                predicted: self.candidates[self.predicted].clone(),
                score: self.scores[self.predicted],
                best_candidate: self.candidates[best_index.unwrap_or_default()].clone(),
                best,
            });
        }
        Ok(())
    }
}

/// Predictions by one model, in the order of their file, each question once.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    pub(crate) name: String,
    pub(crate) model: Option<String>,
    pub(crate) predictions: Vec<Prediction>,
    pub(crate) people: Vec<HumanAnswer>,
}

impl Predictions {
    /// Checks predictions and gives them a name: the file's path, or the model's name before there is a file.
    ///
    /// # Errors
    /// [`Error::Line`] for the first prediction that is inconsistent or a duplicate,
    /// numbered like a line, from 1; [`Error::Empty`] where there is none.
    pub fn new(name: impl Into<String>, predictions: Vec<Prediction>) -> Result<Self, Error> {
        let name = name.into();
        if predictions.is_empty() {
            return Err(Error::Empty { name });
        }
        // A question may be in two splits of a set; within a split it is there once.
        let keyed = predictions.iter().map(|row| ((row.split, row.id.as_str()), row));
        check_lines(&name, keyed)?;
        Ok(Self { name, model: None, predictions, people: Vec::new() })
    }

    /// The same, with the name of the model that answered.
    #[must_use]
    pub fn by_model(self, model: Option<String>) -> Self {
        Self { model, ..self }
    }

    /// The name of the model that answered, such as `memnn-window`, where all lines of the file agree on it.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The path they were read from, as it was given, or the name they got.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many questions are answered; at least one.
    #[expect(clippy::len_without_is_empty, reason = "they are never empty")]
    pub fn len(&self) -> usize {
        self.predictions.len()
    }

    /// The answers that people gave one by one, where these are people's predictions.
    pub fn people(&self) -> &[HumanAnswer] {
        &self.people
    }

    /// In the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, Prediction> {
        self.predictions.iter()
    }

    /// The splits that occur, unknown first, then train, valid, test.
    pub fn splits(&self) -> Vec<Option<Split>> {
        let mut splits: Vec<_> = self.iter().map(|prediction| prediction.split).collect();
        splits.sort_unstable();
        splits.dedup();
        splits
    }

    /// The predictions of one split, in the order of the file.
    pub fn of_split(&self, split: Option<Split>) -> impl Iterator<Item = &Prediction> {
        self.iter().filter(move |prediction| prediction.split == split)
    }
}

/// Checks each line by itself, and that no two have the same key.
pub(crate) fn check_lines<'a, K: Eq + Hash>(
    name: &str,
    keyed: impl Iterator<Item = (K, &'a Prediction)>,
) -> Result<(), Error> {
    let mut first_lines = HashMap::new();
    for (line, (key, prediction)) in (1..).zip(keyed) {
        let checked = match first_lines.insert(key, line) {
            Some(first) => Err(LineError::DuplicateId { id: prediction.id.clone(), first }),
            None => prediction.check(),
        };
        checked.map_err(|error| Error::Line {
            name: name.to_owned(),
            line,
            error: error.into(),
        })?;
    }
    Ok(())
}

/// The index of the highest score. A tie is broken by the seed and the question's id, so that it falls
/// the same way whatever else is in the file and in whatever order.
///
/// Where a score is not a number, the result is 0 and [`Predictions::new`] reports the score.
pub(crate) fn choose(scores: &[f64], id: &str, seed: u64) -> usize {
    let best = best_score(scores);
    let indices: Vec<usize> = (0..scores.len()).filter(|&index| scores[index] == best).collect();
    match indices[..] {
        [] => 0,
        [index] => index,
        _ => indices[generator(seed, Use::Ties, &[id]).random_range(..indices.len())],
    }
}

fn best_score(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::prediction;

    #[test]
    fn an_index_that_is_out_of_range_is_an_error_not_a_panic() {
        let good = prediction("1", &[1.0, 0.0], 0);
        let unanswerable = Prediction { answer: Some(2), ..good.clone() };
        assert_eq!(unanswerable.credit(), None);
        for (row, key) in
            [(unanswerable, "answer"), (Prediction { predicted: 2, ..good }, "predicted")]
        {
            let error = Predictions::new("mine", vec![row]).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "mine:1: `{key}`: expected an index below 2, the number of candidates, found 2"
                )
            );
        }
    }
}
