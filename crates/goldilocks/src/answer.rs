//! A model and questions → predictions.

use std::path::Path;

use evaluation::{Prediction, Predictions};
use models::Model;
use questions::{Control, QuestionSet, Split};

use crate::{Event, Reporter, Result, Warning};

/// How [`answer()`] answers.
#[derive(Clone, Debug)]
pub struct AnswerOptions {
    /// The splits whose questions are answered; none: all, and questions of no split.
    pub splits: Vec<Split>,
    /// What is taken away from the questions first.
    pub controls: Vec<Control>,
    /// Seed of draws between equal scores.
    pub seed: u64,
}

impl Default for AnswerOptions {
    fn default() -> Self {
        Self { splits: Vec::new(), controls: Vec::new(), seed: 1 }
    }
}

/// Answers the questions of a set.
///
/// # Errors
/// If a score is not finite, or a device fails and the processor can't do the rest.
pub fn answer(
    model: &dyn Model,
    set: &QuestionSet,
    options: &AnswerOptions,
    reporter: &dyn Reporter,
) -> Result<Vec<Prediction>> {
    let splits = Split::ALL.map(Some).into_iter().chain([None]);
    let wanted = splits.filter(|split| {
        split.is_none_or(|split| options.splits.is_empty() || options.splits.contains(&split))
    });
    let ids: Vec<(usize, String)> = wanted.flat_map(|split| set.ids(split)).collect();
    let indices: Vec<usize> = ids.iter().map(|(index, _)| *index).collect();
    let steps = Some(indices.len());
    let begin = || reporter.report(Event::Begin { stage: "answer", what: String::new(), steps });
    begin();
    let score = |model: &dyn Model| {
        let done = |n| reporter.report(Event::Step { n, what: None });
        models::score_all(model, set, &indices, &options.controls, &done)
    };
    let scores = score(model).or_else(|error| match (&error, model.on_processor()) {
        (models::Error::Device(_), Some(model)) => {
            let error = error.to_string();
            reporter.report(Event::Warning(Warning::DeviceFailed { error }));
            reporter.report(Event::End);
            begin();
            score(&*model)
        }
        _ => Err(error),
    });
    reporter.report(Event::End);
    let predict = |((index, id), scores): ((usize, String), Vec<f32>)| {
        let scores = scores.into_iter().map(f64::from).collect();
        Prediction::of(&set.example(index), id, scores, options.seed)
    };
    Ok(ids.into_iter().zip(scores?).map(predict).collect())
}

/// Writes a predictions file.
///
/// # Errors
/// If there is no prediction, or the file can't be written.
pub fn write_predictions(path: &Path, predictions: Vec<Prediction>) -> Result<()> {
    Ok(Predictions::new(path.display().to_string(), predictions)?.write(path)?)
}
