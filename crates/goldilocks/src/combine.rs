//! Predictions of several models → one: by the mean of their distributions or by fitted weights; and candidates that
//! occur in the query left out (§5.1, «excluding co-occurrences»).

use std::path::PathBuf;

use base::Selection;
use evaluation::{Predictions, QuestionIndex};
use questions::QuestionSet;

use crate::sets::{self, SetOptions};
use crate::{Reporter, Result};

/// What [`combine()`] combines and how.
#[derive(Clone, Debug)]
pub struct CombineOptions {
    /// Predictions of one or several models on the same questions.
    pub predictions: Vec<PathBuf>,
    /// Validation predictions of the same models in the same order, to fit one weight per model on; none: the mean.
    pub fit: Vec<PathBuf>,
    /// Whether candidates that occur in the query are left out; needs `questions`.
    pub exclude_cooccurrences: bool,
    /// The set that was answered, to check the files and fill in what they leave out.
    pub questions: Option<PathBuf>,
    /// Which questions of it.
    pub set: SetOptions,
    /// Seed of draws between equal scores.
    pub seed: u64,
}

/// What came of it.
#[derive(Debug)]
pub struct Combination {
    /// The answers of all as one.
    pub predictions: Predictions,
    /// The names of the models that were combined.
    pub models: Vec<String>,
    /// The weights that were fitted, if any were.
    pub fitted: Option<FittedWeights>,
}

/// Weights that were fitted on validation predictions.
#[derive(Debug)]
pub struct FittedWeights {
    /// One weight per model, in their order.
    pub weights: Vec<f64>,
    /// How many questions they were fitted on.
    pub n_questions: usize,
    /// How many of those were answered here, by weights fitted without their fold.
    pub n_cross_fitted: usize,
    /// How many folds there were.
    pub folds: usize,
}

/// Combines predictions; the result is called `name`.
///
/// # Errors
/// If a file can't be read or does not fit the set, or the files are not about the same questions.
pub fn combine(
    name: &str,
    options: &CombineOptions,
    reporter: &dyn Reporter,
) -> Result<Combination> {
    let (questions, selection) = (options.questions.as_deref(), options.set.selection());
    let read = |paths: &[PathBuf], selection: &Selection| {
        sets::read_predictions(paths, questions, &options.set, selection, reporter)
    };
    let files = read(&options.predictions, &selection)?;
    // The splits select what is combined: weights are fitted on others.
    let fit = read(&options.fit, &Selection { splits: Vec::new(), ..selection.clone() })?;
    let mut combination = combine_predictions(name, &files, &fit, options.seed)?;
    if let (true, Some(path)) = (options.exclude_cooccurrences, questions) {
        let answered = sets::answered_splits(std::slice::from_ref(&combination.predictions));
        let set = sets::open_answered(path, &options.set, &answered, reporter)?;
        combination.exclude_cooccurrences(name, &set, selection, options.seed)?;
    }
    Ok(combination)
}

/// Combines predictions on the same questions: by the mean of their distributions or, where there are validation
/// predictions of the same models in the same order, by weights that are fitted on those.
///
/// # Errors
/// If they are not about the same questions.
pub fn combine_predictions(
    name: &str,
    models: &[Predictions],
    fit: &[Predictions],
    seed: u64,
) -> Result<Combination> {
    let names = models.iter().map(|model| model.name().to_owned()).collect();
    let (models, fit): (Vec<_>, Vec<_>) = (models.iter().collect(), fit.iter().collect());
    let (predictions, fitted) = if fit.is_empty() {
        (evaluation::ensemble::mean(name, &models, seed)?, None)
    } else {
        let combined = evaluation::combine(name, &models, &fit, seed)?;
        let fitted = FittedWeights {
            weights: combined.weights,
            n_questions: combined.n_fitted,
            n_cross_fitted: combined.n_cross_fitted,
            folds: combined.folds,
        };
        (combined.predictions, Some(fitted))
    };
    Ok(Combination { predictions, models: names, fitted })
}

impl Combination {
    /// Leaves out candidates that occur in the query (§5.1); `selection` are the questions of the set that were
    /// answered.
    ///
    /// # Errors
    /// If the predictions do not fit the set.
    pub fn exclude_cooccurrences(
        &mut self,
        name: &str,
        set: &QuestionSet,
        selection: Selection,
        seed: u64,
    ) -> Result<()> {
        let index = QuestionIndex::new(set, std::slice::from_ref(&self.predictions));
        let checked = index.select(selection).check(self.predictions.clone())?;
        self.predictions = evaluation::exclude_cooccurrences(name, &checked, seed)?;
        Ok(())
    }
}
