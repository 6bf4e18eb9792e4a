//! [`Predictions`]: what a model, a person or another program answered, question by question.
//!
//! This is their file format, as other programs are told of it:
#![doc = include_str!("../predictions.md")]

use std::collections::HashMap;

use questions::{Example, Split, WordClass};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

use crate::{Error, HumanAnswer, LineProblem};

/// One answered question.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The question's id.
    pub id: String,
    /// The class of the missing word, where it is known.
    pub class: Option<WordClass>,
    /// The split, where it is known.
    pub split: Option<Split>,
    /// The book, where it is known.
    pub book: Option<String>,
    /// C, in the question's order.
    pub candidates: Vec<String>,
    /// One score a candidate, the higher the better.
    pub scores: Vec<f64>,
    /// a, as a place among the candidates, where it is known.
    pub answer: Option<usize>,
    /// The chosen candidate, as a place: one of those with the highest score.
    pub predicted: usize,
}

impl Prediction {
    /// The prediction for a question that a model has scored; a tie is drawn from the seed and the id.
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
        let answer = self.answer?;
        let best = best_score(&self.scores);
        let k = self.scores.iter().filter(|&&score| score == best).count();
        Some(if self.scores[answer] == best { 1.0 / k as f64 } else { 0.0 })
    }

    /// Whether the chosen candidate is the answer, a tie having been drawn.
    pub fn is_right(&self) -> Option<bool> {
        self.answer.map(|answer| answer == self.predicted)
    }

    /// Whether candidates, scores, answer and prediction fit together.
    pub(crate) fn check(&self) -> Result<(), LineProblem> {
        if self.candidates.len() < 2 {
            return Err(LineProblem::FewCandidates { found: self.candidates.len() });
        }
        let doubled = |place: &usize| self.candidates[..*place].contains(&self.candidates[*place]);
        if let Some(place) = (0..self.candidates.len()).find(doubled) {
            let candidate = self.candidates[place].clone();
            return Err(LineProblem::DoubledCandidate { candidate });
        }
        let (expected, found) = (self.candidates.len(), self.scores.len());
        if expected != found {
            return Err(LineProblem::ScoreCount { expected, found });
        }
        if let Some(score) = self.scores.iter().find(|score| !score.is_finite()) {
            return Err(LineProblem::ScoreNotFinite { found: score.to_string() });
        }
        let places = self.answer.into_iter().chain([self.predicted]);
        assert!(places.max() < Some(expected), "answer and prediction are places among candidates");
        let best = best_score(&self.scores);
        if self.scores[self.predicted] < best {
            let best_place = self.scores.iter().position(|&score| score == best);
            return Err(LineProblem::NotHighest {
                predicted: self.candidates[self.predicted].clone(),
                score: self.scores[self.predicted],
                best_candidate: self.candidates[best_place.expect("the best is one of them")]
                    .clone(),
                best,
            });
        }
        Ok(())
    }
}

/// Predictions by one model, in the order of their file, each question once.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    name: String,
    predictions: Vec<Prediction>,
    pub(crate) people: Vec<HumanAnswer>,
}

impl Predictions {
    /// Checked predictions under a name: the file's path, or the model's name before there is a file.
    ///
    /// # Errors
    /// [`Error::Line`] for the first prediction that does not hold together or is there twice,
    /// its place counted as a line; [`Error::Empty`] where there is none.
    ///
    /// # Panics
    /// If an answer or a prediction is no place among its candidates.
    pub fn new(name: impl Into<String>, predictions: Vec<Prediction>) -> Result<Self, Error> {
        let name = name.into();
        if predictions.is_empty() {
            return Err(Error::Empty { name });
        }
        // A question may stand in two splits of a set; within a split it is there once.
        let mut first_lines = HashMap::with_capacity(predictions.len());
        for (place, prediction) in predictions.iter().enumerate() {
            let line = place + 1;
            let key = (prediction.split, prediction.id.as_str());
            let problem = match first_lines.insert(key, line) {
                Some(first) => Err(LineProblem::DoubledId { id: prediction.id.clone(), first }),
                None => prediction.check(),
            };
            if let Err(problem) = problem {
                return Err(Error::Line { name, line, problem: problem.into() });
            }
        }
        Ok(Self { name, predictions, people: Vec::new() })
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

/// The place of the highest score; a tie is drawn from the seed and the question's id, so that it falls
/// the same way whatever else is in the file and in whatever order.
///
/// # Panics
/// If there is no score.
pub(crate) fn choose(scores: &[f64], id: &str, seed: u64) -> usize {
    let best = best_score(scores);
    let places: Vec<usize> = (0..scores.len()).filter(|&place| scores[place] == best).collect();
    match places[..] {
        [place] => place,
        // No score is the best where one is not a number; `Predictions::new` says so.
        [] => 0,
        _ => {
            let hash = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(id).finalize();
            places[ChaCha8Rng::from_seed(hash.into()).random_range(..places.len())]
        }
    }
}

fn best_score(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
