//! Fitted combinations: predictions of several models → softmax regression with one weight a model.
//!
//! p(c) ∝ exp(Σ_m w_m · log p_m(c)), with p_m the model's candidate distribution ([`Scores`]). The weights
//! are those of highest likelihood on validation predictions. A question that is among those is
//! combined with weights that were fitted without its part of them (cross-fitting), so that validation
//! figures are honest too. The parts are books where all are known, else ten parts by id.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest, Sha256};

use crate::aligned::align;
use crate::ensemble::{Scores, log_softmax};
use crate::newton::{self, Labelled};
use crate::{Error, Prediction, Predictions};

/// At most so many parts, and so many fits.
const MAX_FOLDS: usize = 10;

/// Stands for the logarithm of 0: a model that excludes a candidate can be outvoted.
const SMALLEST_SHARE: f64 = 1e-10;

/// Combined predictions and how they came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Combined {
    /// The combination, with log-probabilities as scores.
    pub predictions: Predictions,
    /// One weight a model, fitted on all validation questions.
    pub weights: Vec<f64>,
    /// How many questions were fitted on.
    pub n_fitted: usize,
    /// How many predictions are of questions that were fitted on, and so come from weights fitted
    /// without their part.
    pub n_cross_fitted: usize,
    /// How many such parts there are.
    pub folds: usize,
}

/// Combines models with weights fitted on `fit`, the same models' predictions in the same order; ties
/// are drawn from the seed.
///
/// # Errors
/// [`Error::FitCount`] for more or fewer predictions to fit on than models, [`Error::OtherQuestions`]
/// and [`Error::Line`] where they don't answer the same questions, [`Error::NoAnswers`] where no answer
/// to fit on is known.
pub fn combine(
    name: &str,
    models: &[&Predictions],
    fit: &[&Predictions],
    seed: u64,
) -> Result<Combined, Error> {
    if models.len() != fit.len() {
        return Err(Error::FitCount { expected: models.len(), found: fit.len() });
    }
    let kinds: Vec<Scores> = models.iter().zip(fit).map(|(m, f)| kind_of(m, f)).collect();
    let fitting = Fitting::new(&kinds, fit)?;
    let weights = fitting.weights(None);
    let held_out: Vec<Vec<f64>> = (0..fitting.n_folds).map(|f| fitting.weights(Some(f))).collect();
    let mut n_cross_fitted = 0;
    let combined = align(models)?.into_iter().map(|row| {
        let fold = fitting.fold_of.get(row[0].id.as_str());
        n_cross_fitted += usize::from(fold.is_some());
        let weights = fold.map_or(&weights, |&fold| &held_out[fold]);
        let log_probs = log_softmax(&newton::activations(weights, &features(&kinds, &row)));
        row[0].rescored(log_probs, seed)
    });
    let predictions = Predictions::new(name, combined.collect())?;
    let (n_fitted, folds) = (fitting.questions.len(), fitting.n_folds);
    Ok(Combined { predictions, weights, n_fitted, n_cross_fitted, folds })
}

/// The validation questions with known answers, in parts.
struct Fitting<'a> {
    questions: Vec<FitQuestion>,
    n_models: usize,
    n_folds: usize,
    fold_of: HashMap<&'a str, usize>,
}

struct FitQuestion {
    rows: Vec<Vec<f64>>,
    answer: usize,
    fold: usize,
}

impl<'a> Fitting<'a> {
    fn new(kinds: &[Scores], fit: &[&'a Predictions]) -> Result<Self, Error> {
        let rows = align(fit)?;
        let (n_folds, folds) = folds(&rows);
        let fold_of = rows.iter().map(|row| row[0].id.as_str()).zip(folds.iter().copied());
        let labelled = rows.iter().zip(&folds).filter_map(|(row, &fold)| {
            Some(FitQuestion { answer: row[0].answer?, rows: features(kinds, row), fold })
        });
        let questions: Vec<FitQuestion> = labelled.collect();
        match fit.first() {
            Some(first) if questions.is_empty() => {
                let (name, n) = (first.name().to_owned(), first.len());
                Err(Error::NoAnswers { name, split: "valid", n })
            }
            _ => Ok(Self { questions, n_models: fit.len(), n_folds, fold_of: fold_of.collect() }),
        }
    }

    /// One weight a model, fitted on all parts but the one that is held out.
    fn weights(&self, held_out: Option<usize>) -> Vec<f64> {
        let kept = self.questions.iter().filter(|question| Some(question.fold) != held_out);
        let kept = kept.map(|question| Labelled { rows: &question.rows, answer: question.answer });
        newton::fit(&kept.collect::<Vec<_>>(), self.n_models)
    }
}

/// The number of parts, and the part of each question: its book's, or its id's.
fn folds(rows: &[Vec<&Prediction>]) -> (usize, Vec<usize>) {
    let books: Option<BTreeSet<&str>> = rows.iter().map(|row| row[0].book.as_deref()).collect();
    if let Some(books) = books.filter(|books| books.len() > 1) {
        let n_folds = books.len().min(MAX_FOLDS);
        let fold_of: HashMap<&str, usize> = books.into_iter().zip((0..n_folds).cycle()).collect();
        let fold = |row: &Vec<&Prediction>| fold_of[row[0].book.as_deref().expect("all known")];
        return (n_folds, rows.iter().map(fold).collect());
    }
    let fold = |row: &Vec<&Prediction>| {
        // Twins (`#2`) stay together with their first.
        let id = row[0].id.split('#').next().unwrap_or_default();
        usize::from(Sha256::digest(id)[0]) % MAX_FOLDS
    };
    (MAX_FOLDS, rows.iter().map(fold).collect())
}

/// A feature row for each candidate: the logarithm of its share in each model's distribution.
fn features(kinds: &[Scores], row: &[&Prediction]) -> Vec<Vec<f64>> {
    let by_model: Vec<Vec<f64>> = kinds
        .iter()
        .zip(row)
        .map(|(kind, prediction)| match kind {
            Scores::LogWeights => log_softmax(&prediction.scores),
            Scores::Distributions => {
                prediction.scores.iter().map(|share| share.max(SMALLEST_SHARE).ln()).collect()
            }
        })
        .collect();
    let n_candidates = row[0].candidates.len();
    (0..n_candidates).map(|c| by_model.iter().map(|model| model[c]).collect()).collect()
}

/// A model's scores are read in one way, whichever of its files they stand in.
fn kind_of(model: &Predictions, fit: &Predictions) -> Scores {
    match (Scores::of(model), Scores::of(fit)) {
        (Scores::Distributions, Scores::Distributions) => Scores::Distributions,
        _ => Scores::LogWeights,
    }
}
