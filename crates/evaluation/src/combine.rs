//! Fitted combinations: predictions of several models → softmax regression with one weight per model.
//!
//! p(c) ∝ exp(Σ_m w_m · log p_m(c)), with p_m the model's candidate distribution, as in [`crate::ensemble`],
//! mixed with a little of the uniform one. The weights have the highest likelihood on validation predictions.
//! A question that is among those is combined with weights that were fitted without its fold (cross-fitting),
//! so that validation figures are honest too. The folds are books where all are known, else ten folds by id.

mod newton;

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest, Sha256};

use self::newton::LabelledQuestion;
use crate::aligned::align;
use crate::ensemble::{Scores, log_softmax};
use crate::{Error, Prediction, Predictions};

/// The highest number of folds, and of fits.
const MAX_FOLDS: usize = 10;

/// The share of the uniform distribution in each model's: a model that is sure and wrong can be outvoted.
/// Any from 0.0003 to 0.05 does as well on validation.
const UNIFORM: f64 = 0.01;

/// Combined predictions and how they were made.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// The combination, with log-probabilities as scores.
    pub predictions: Predictions,
    /// One weight per model, fitted on all validation questions.
    pub weights: Vec<f64>,
    /// The number of questions that weights were fitted on.
    pub n_fitted: usize,
    /// The number of predictions of questions that were fitted on, which come from weights fitted
    /// without their fold.
    pub n_cross_fitted: usize,
    /// The number of folds.
    pub folds: usize,
}

/// Combines models with weights fitted on `fit`, the same models' predictions in the same order; ties
/// are drawn from the seed.
///
/// # Errors
/// [`Error::FitCount`] for more or fewer predictions to fit on than models, [`Error::OtherQuestions`]
/// and [`Error::Line`] where they do not answer the same questions, [`Error::NothingToFit`] where no answer
/// to fit on is known.
pub fn combine(
    name: &str,
    models: &[&Predictions],
    fit: &[&Predictions],
    seed: u64,
) -> Result<Combination, Error> {
    if models.len() != fit.len() {
        return Err(Error::FitCount { expected: models.len(), found: fit.len() });
    }
    let kinds: Vec<Scores> = models.iter().zip(fit).map(|(m, f)| kind_of(m, f)).collect();
    let fit_data = FitData::new(&kinds, fit)?;
    let weights = fit_data.weights(None);
    let held_out: Vec<Vec<f64>> =
        (0..fit_data.n_folds).map(|f| fit_data.weights(Some(f))).collect();
    let mut n_cross_fitted = 0;
    let combined = align(models)?.into_iter().map(|row| {
        // The id alone decides: a question that is in two splits was fitted on in either.
        let fold = fit_data.fold_of.get(row[0].id.as_str());
        n_cross_fitted += usize::from(fold.is_some());
        let weights = fold.map_or(&weights, |&fold| &held_out[fold]);
        let log_probs = log_softmax(&newton::activations(weights, &features(&kinds, &row)));
        row[0].rescored(log_probs, seed)
    });
    let predictions = Predictions::new(name, combined.collect())?;
    let (n_fitted, folds) = (fit_data.questions.len(), fit_data.n_folds);
    Ok(Combination { predictions, weights, n_fitted, n_cross_fitted, folds })
}

/// The validation questions with known answers, in folds.
struct FitData<'a> {
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

impl<'a> FitData<'a> {
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
                Err(Error::NothingToFit { name, n })
            }
            _ => Ok(Self { questions, n_models: fit.len(), n_folds, fold_of: fold_of.collect() }),
        }
    }

    /// One weight per model, fitted on all folds but the one that is held out.
    fn weights(&self, held_out: Option<usize>) -> Vec<f64> {
        let kept = self.questions.iter().filter(|question| Some(question.fold) != held_out);
        let kept =
            kept.map(|question| LabelledQuestion { rows: &question.rows, answer: question.answer });
        newton::fit(&kept.collect::<Vec<_>>(), self.n_models)
    }
}

/// The number of folds, and the fold of each question: its book's, or its id's.
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

/// A feature row per candidate: the logarithm of its share in each model's mixed distribution.
fn features(kinds: &[Scores], row: &[&Prediction]) -> Vec<Vec<f64>> {
    let by_model: Vec<Vec<f64>> = kinds
        .iter()
        .zip(row)
        .map(|(kind, prediction)| {
            let shares: Vec<f64> = match kind {
                Scores::LogWeights => {
                    log_softmax(&prediction.scores).iter().map(|l| l.exp()).collect()
                }
                Scores::Distributions => prediction.scores.clone(),
            };
            let uniform = UNIFORM / shares.len() as f64;
            shares.iter().map(|share| ((1.0 - UNIFORM) * share + uniform).ln()).collect()
        })
        .collect();
    let n_candidates = row[0].candidates.len();
    (0..n_candidates).map(|c| by_model.iter().map(|model| model[c]).collect()).collect()
}

/// A model's scores are read in one way, whichever of its files they are in.
fn kind_of(model: &Predictions, fit: &Predictions) -> Scores {
    match (Scores::of(model), Scores::of(fit)) {
        (Scores::Distributions, Scores::Distributions) => Scores::Distributions,
        _ => Scores::LogWeights,
    }
}

#[cfg(test)]
mod tests {
    use base::seeds::{Use, generator};
    use expect_test::expect;
    use rand::RngExt;

    use super::*;
    use crate::evaluate;
    use crate::testing::{draw, prediction};

    /// Two models whose log-weights make up the answer's: 2 · first + 1 · second.
    fn models(prefix: &str, n: usize, n_books: usize) -> [Predictions; 2] {
        let mut rng = generator(11, Use::Test, &[]);
        let mut rows = [Vec::new(), Vec::new()];
        for i in 0..n {
            let scores: [Vec<f64>; 2] =
                std::array::from_fn(|_| (0..6).map(|_| rng.random_range(-1.5..1.5)).collect());
            let sums: Vec<f64> = (0..6).map(|c| 2.0 * scores[0][c] + scores[1][c]).collect();
            let answer = draw(&log_softmax(&sums), &mut rng);
            let book = (n_books > 0).then(|| format!("book {}", i % n_books));
            for (rows, scores) in rows.iter_mut().zip(scores) {
                let row = prediction(&format!("{prefix} {i}"), &scores, answer);
                rows.push(Prediction { book: book.clone(), ..row });
            }
        }
        let [first, second] = rows;
        [Predictions::new("first", first).unwrap(), Predictions::new("second", second).unwrap()]
    }

    fn accuracy(predictions: &Predictions) -> f64 {
        evaluate(predictions).unwrap()[0].classes.all.accuracy
    }

    #[test]
    fn weights_are_found_and_the_combination_beats_its_parts() {
        let (valid, test) = (models("valid", 4_000, 0), models("test", 1_000, 0));
        let (valid, test) = ([&valid[0], &valid[1]], [&test[0], &test[1]]);
        let combined = combine("combined", &test, &valid, 1).unwrap();
        assert!((combined.weights[0] - 2.0).abs() < 0.15, "{:?}", combined.weights);
        assert!((combined.weights[1] - 1.0).abs() < 0.15, "{:?}", combined.weights);
        assert_eq!((combined.n_fitted, combined.n_cross_fitted), (4_000, 0));
        assert!(accuracy(&combined.predictions) > accuracy(test[0]).max(accuracy(test[1])));
        let ids = |predictions: &Predictions| {
            predictions.iter().map(|p| p.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&combined.predictions), ids(test[0]));
        let mass: f64 =
            combined.predictions.iter().next().unwrap().scores.iter().map(|s| s.exp()).sum();
        assert!((mass - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_part_is_scored_with_the_weights_of_the_others() {
        let valid = models("valid", 300, 3);
        let fit = [&valid[0], &valid[1]];
        let combined = combine("combined", &fit, &fit, 1).unwrap();
        assert_eq!((combined.n_cross_fitted, combined.folds), (300, 3));
        // FitData by hand without the third book gives its questions the same scores.
        let without = |predictions: &Predictions| {
            let kept = predictions.iter().filter(|p| p.book.as_deref() != Some("book 2"));
            Predictions::new("kept", kept.cloned().collect()).unwrap()
        };
        let kept = [without(fit[0]), without(fit[1])];
        let by_hand = combine("by hand", &fit, &[&kept[0], &kept[1]], 1).unwrap();
        for (a, b) in combined.predictions.iter().zip(by_hand.predictions.iter()).skip(2).step_by(3)
        {
            assert_eq!(a.scores, b.scores);
        }
        assert_ne!(combined.weights, by_hand.weights);
    }

    #[test]
    fn without_books_ids_make_ten_parts_and_twins_stay_together() {
        let rows = |ids: &[&str]| -> Vec<Prediction> {
            ids.iter().map(|id| prediction(id, &[1.0, 0.0], 0)).collect()
        };
        let ids: Vec<String> = (0..200).map(|i| i.to_string()).collect();
        let rows_of_ids = rows(&ids.iter().map(String::as_str).collect::<Vec<_>>());
        let (n_folds, mut parts) =
            folds(&rows_of_ids.iter().map(|row| vec![row]).collect::<Vec<_>>());
        parts.sort_unstable();
        parts.dedup();
        assert_eq!((n_folds, parts.len()), (10, 10));
        let twins = rows(&["0123", "0123#2"]);
        let (_, parts) = folds(&twins.iter().map(|row| vec![row]).collect::<Vec<_>>());
        assert_eq!(parts[0], parts[1]);
    }

    #[test]
    fn a_share_of_zero_can_be_outvoted() {
        let shares = prediction("1", &[0.0, 1.0], 0);
        let rows = features(&[Scores::Distributions], &[&shares]);
        assert_eq!(rows, [[(UNIFORM / 2.0).ln()], [(1.0 - UNIFORM / 2.0).ln()]]);
    }

    #[test]
    fn models_and_fits_must_pair_up_and_answers_be_known() {
        let valid = models("valid", 5, 0);
        let error = combine("x", &[&valid[0], &valid[1]], &[&valid[0]], 1).unwrap_err();
        let unknown = valid[0].iter().map(|p| Prediction { answer: None, ..p.clone() });
        let unknown = Predictions::new("unknown.jsonl", unknown.collect()).unwrap();
        let no_answers = combine("x", &[&valid[0]], &[&unknown], 1).unwrap_err();
        let text = [error, no_answers].map(|e| format!("{e}\nhint: {}\n", e.remedy().unwrap()));
        expect![[r#"
            weights: expected 2 predictions to fit on, one per model, found 1
            hint: name the models' validation predictions in the same order
            unknown.jsonl: none of the 5 questions to fit weights on has a known answer
            hint: weights are fitted on questions whose lines have an `answer`
        "#]]
        .assert_eq(&text.concat());
    }
}
