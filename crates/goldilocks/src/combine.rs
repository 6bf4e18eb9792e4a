//! Predictions of several models → one: by the mean of their distributions or by fitted weights; and candidates that
//! occur in the query left out (§5.1, «excluding co-occurrences»).

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use base::{Selection, WordClass};
use evaluation::{Prediction, Predictions, QuestionIndex};
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
    /// Whether each class has weights of its own.
    pub by_class: bool,
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
    /// The weights that were fitted: none, those of all questions, or those of each class.
    pub fitted: Vec<FittedWeights>,
}

/// Weights that were fitted on validation predictions.
#[derive(Debug)]
pub struct FittedWeights {
    /// The class of the questions, where each has weights of its own.
    pub class: Option<WordClass>,
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
    let mut combination = match options.by_class {
        true => combine_by_class(name, &files, &fit, options.seed)?,
        false => combine_predictions(name, &files, &fit, options.seed)?,
    };
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
        (evaluation::ensemble::mean(name, &models, seed)?, Vec::new())
    } else {
        let combined = evaluation::combine(name, &models, &fit, seed)?;
        let fitted = FittedWeights {
            class: None,
            weights: combined.weights,
            n_questions: combined.n_fitted,
            n_cross_fitted: combined.n_cross_fitted,
            folds: combined.folds,
        };
        (combined.predictions, vec![fitted])
    };
    Ok(Combination { predictions, models: names, fitted })
}

/// The same for the questions of each class, with weights of its own.
///
/// # Errors
/// As [`combine_predictions`], for the questions of any class.
pub fn combine_by_class(
    name: &str,
    models: &[Predictions],
    fit: &[Predictions],
    seed: u64,
) -> Result<Combination> {
    let asked = || models.iter().take(1).flat_map(Predictions::iter);
    let classes: BTreeSet<Option<WordClass>> = asked().map(|row| row.class).collect();
    let mut rows: HashMap<String, Prediction> = HashMap::new();
    let mut fitted = Vec::new();
    for class in classes {
        let of_class = |all: &[Predictions]| -> Result<Vec<Predictions>> {
            let of_model = |model: &Predictions| {
                let kept = model.iter().filter(|row| row.class == class).cloned().collect();
                Ok(Predictions::new(model.name(), kept)?)
            };
            all.iter().map(of_model).collect()
        };
        let combined = combine_predictions(name, &of_class(models)?, &of_class(fit)?, seed)?;
        rows.extend(combined.predictions.iter().map(|row| (row.id.clone(), row.clone())));
        fitted.extend(combined.fitted.into_iter().map(|it| FittedWeights { class, ..it }));
    }
    let predictions = asked().filter_map(|row| rows.remove(&row.id)).collect();
    let predictions = Predictions::new(name, predictions)?;
    let models = models.iter().map(|model| model.name().to_owned()).collect();
    Ok(Combination { predictions, models, fitted })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Questions of two classes with two candidates, the first of which is right; how far the model prefers it.
    fn predictions(split: &str, margins: [f64; 2]) -> Predictions {
        let line = |(number, class): (usize, &str)| {
            let margin = margins[usize::from(class == "V")] * (1.0 + number as f64 / 7.0);
            // Where a model knows nothing, chance decides.
            let sign = if margin.abs() < 1.0 && number % 3 == 0 { -1.0 } else { 1.0 };
            format!(
                "{{\"format\":1,\"id\":\"{split}{class}{number}\",\"class\":\"{class}\",\"candidates\":\
                 [\"fox\",\"hen\"],\"scores\":[{},0],\"answer\":\"fox\",\"predicted\":\"{}\"}}\n",
                sign * margin,
                if sign * margin > 0.0 { "fox" } else { "hen" }
            )
        };
        let questions = (0..20).flat_map(|number| [(number, "V"), (number, "NE")]);
        Predictions::from_text("some", &questions.map(line).collect::<String>()).unwrap()
    }

    #[test]
    fn each_class_has_weights_of_its_own_and_questions_stay_in_their_order() {
        // One knows names, the other verbs, and each is sure of the wrong word where it knows nothing.
        let models = |split| [predictions(split, [2.0, -0.9]), predictions(split, [-0.9, 2.0])];
        let (valid, test) = (models("valid"), models("test"));
        let combined = combine_by_class("both", &test, &valid, 1).unwrap();
        let ids = |of: &Predictions| of.iter().map(|row| row.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&combined.predictions), ids(&test[0]));
        assert!(combined.predictions.iter().all(|row| row.is_right() == Some(true)));
        let [names, verbs] = &combined.fitted[..] else { panic!("{:?}", combined.fitted) };
        assert_eq!(
            (names.class, verbs.class, names.n_questions),
            (Some(WordClass::NamedEntity), Some(WordClass::Verb), 20)
        );
        assert!(names.weights[0] > names.weights[1] && verbs.weights[1] > verbs.weights[0]);
        assert_eq!(combine_predictions("both", &test, &valid, 1).unwrap().fitted.len(), 1);
    }
}
