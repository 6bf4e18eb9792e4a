//! A model and questions → predictions.

use std::path::Path;
use std::sync::Arc;

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
    model: &Arc<dyn Model>,
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
    reporter.report(Event::Begin { stage: "answer", what: String::new(), steps });
    let mut predictions = Vec::with_capacity(ids.len());
    let score = |model: &Arc<dyn Model>, predictions: &mut Vec<Prediction>| {
        let scorer = model.clone().scorer(set.vocabulary());
        let rest = &indices[predictions.len()..];
        models::score_all(scorer, set, rest, &options.controls, &mut |_, scores| {
            for scores in scores.iter() {
                let (index, id) = ids[predictions.len()].clone();
                let scores = scores.iter().copied().map(f64::from).collect();
                predictions.push(Prediction::of(&set.example(index), id, scores, options.seed));
            }
            reporter.report(Event::Step { n: scores.len(), what: None });
            Ok(())
        })
    };
    let mut done = score(model, &mut predictions);
    if let Err(error @ models::Error::Device(_)) = &done
        && let Some(model) = model.clone().on_cpu()
    {
        let error = error.to_string();
        reporter.report(Event::Warning(Warning::DeviceFailed { error }));
        done = score(&model, &mut predictions);
    }
    reporter.report(Event::End);
    done?;
    Ok(predictions)
}

/// Writes a predictions file.
///
/// # Errors
/// If there is no prediction, or the file can't be written.
pub fn write_predictions(path: &Path, predictions: Vec<Prediction>) -> Result<()> {
    Ok(Predictions::new(path.display().to_string(), predictions)?.write(path)?)
}
