//! A model and questions → predictions, in memory or in a file that grows as they come.

mod journal;

use std::path::Path;
use std::sync::Arc;

use evaluation::{Prediction, Predictions};
use models::{Model, Provenance};
use questions::{Control, QuestionSet, Split};
use serde::{Deserialize, Serialize};

use self::journal::Journal;
use crate::progress::check_cancelled;
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

/// What predictions were made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerProvenance {
    /// The content of the questions, [`QuestionSet::fingerprint`].
    pub questions: String,
    /// The splits that were answered; none: all.
    pub splits: Vec<Split>,
    /// What was taken away from the questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<String>,
    /// Seed of draws between equal scores; as text, since TOML has no numbers above 2⁶³.
    pub seed: String,
    /// The model that answered.
    pub model: Provenance,
}

impl AnswerProvenance {
    /// What the predictions of a model for a set are made from.
    pub fn new(model: &Provenance, questions: String, options: &AnswerOptions) -> Self {
        Self {
            questions,
            splits: options.splits.clone(),
            controls: options.controls.iter().map(|control| format!("{control:?}")).collect(),
            seed: options.seed.to_string(),
            model: model.clone(),
        }
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
    let rest = Rest { done: Vec::new(), sink: &mut |_| Ok(()) };
    answer_rest(model, set, options, rest, reporter)
}

/// A predictions file that is being answered.
///
/// Predictions are appended to `FILE.partial` batch by batch, after a line that says what they are made from. Whoever
/// opens the same file for the same answers resumes after the last whole line; [`Self::finish`] puts the file in its
/// place.
pub struct AnswerFile<'a> {
    output: &'a Path,
    reporter: &'a dyn Reporter,
    journal: Option<Journal>,
    predictions: Vec<Prediction>,
}

impl<'a> AnswerFile<'a> {
    /// Opens the file, with what an earlier run has left of it.
    ///
    /// # Errors
    /// If it can't be read or written.
    pub fn open(output: &'a Path, reporter: &'a dyn Reporter) -> Result<Self> {
        // There is nothing next to a device or a pipe.
        let is_file = !output.exists() || output.is_file();
        let journal = if is_file { Some(Journal::open(output)?) } else { None };
        Ok(Self { output, reporter, journal, predictions: Vec::new() })
    }

    /// Answers the questions of a set, those that an earlier run did not answer.
    ///
    /// # Errors
    /// Those of [`answer()`]; or if the file can't be written. What was answered is kept.
    pub fn answer(
        &mut self,
        model: &Arc<dyn Model>,
        set: &QuestionSet,
        options: &AnswerOptions,
        provenance: &AnswerProvenance,
    ) -> Result<()> {
        let Some(journal) = &mut self.journal else {
            self.predictions.extend(answer(model, set, options, self.reporter)?);
            return Ok(());
        };
        let done = journal.resume(provenance, &questions_of(set, options))?;
        let rest = Rest { done, sink: &mut |batch: &[Prediction]| journal.append(batch) };
        self.predictions.extend(answer_rest(model, set, options, rest, self.reporter)?);
        Ok(())
    }

    /// Puts the file in its place; returns the predictions.
    ///
    /// # Errors
    /// If there is no prediction, or the file can't be written.
    pub fn finish(self) -> Result<Predictions> {
        let predictions = Predictions::new(self.output.display().to_string(), self.predictions)?;
        predictions.write(self.output)?;
        self.journal.map_or(Ok(()), Journal::remove)?;
        Ok(predictions)
    }
}

/// The questions to answer, with their ids, in the order of the file.
fn questions_of(set: &QuestionSet, options: &AnswerOptions) -> Vec<(usize, String)> {
    let splits = Split::ALL.map(Some).into_iter().chain([None]);
    let wanted = splits.filter(|split| {
        split.is_none_or(|split| options.splits.is_empty() || options.splits.contains(&split))
    });
    wanted.flat_map(|split| set.ids(split)).collect()
}

/// Predictions of an earlier run, and who gets the others, batch by batch, in order.
struct Rest<'a> {
    done: Vec<Prediction>,
    sink: &'a mut dyn FnMut(&[Prediction]) -> Result<()>,
}

/// Answers the questions after those that are done; returns the predictions of all.
fn answer_rest(
    model: &Arc<dyn Model>,
    set: &QuestionSet,
    options: &AnswerOptions,
    rest: Rest<'_>,
    reporter: &dyn Reporter,
) -> Result<Vec<Prediction>> {
    let Rest { done: mut predictions, sink } = rest;
    let ids = questions_of(set, options);
    let indices: Vec<usize> = ids.iter().map(|(index, _)| *index).collect();
    let steps = Some(indices.len());
    reporter.report(Event::Begin { stage: "answer", what: String::new(), steps });
    reporter.report(Event::Step { n: predictions.len(), what: None });
    let mut failed = None;
    let mut score = |model: &Arc<dyn Model>, predictions: &mut Vec<Prediction>| {
        let scorer = model.clone().scorer(set.vocabulary());
        // A network's last digits depend on the batch: one that a kill cut is scored whole again.
        let n_done = predictions.len();
        let n_cut = if n_done < indices.len() { n_done % scorer.batch_size().max(1) } else { 0 };
        let mut n_scored = n_done - n_cut;
        let rest = &indices[n_scored..];
        models::score_all(scorer, set, rest, &options.controls, &mut |_, scores| {
            let n_done = predictions.len();
            let n_known = n_done - n_scored;
            n_scored += scores.len();
            for scores in scores.iter().skip(n_known) {
                let (index, id) = ids[predictions.len()].clone();
                let scores = scores.iter().copied().map(f64::from).collect();
                predictions.push(Prediction::of(&set.example(index), id, scores, options.seed));
            }
            reporter.report(Event::Step { n: predictions.len() - n_done, what: None });
            sink(&predictions[n_done..]).and_then(|()| check_cancelled(reporter)).map_err(|error| {
                failed = Some(error);
                models::Error::File { path: "".into(), reason: std::io::ErrorKind::Other.into() }
            })
        })
    };
    let mut result = score(model, &mut predictions);
    if let Err(error @ models::Error::Device(_)) = &result
        && let Some(model) = model.clone().on_cpu()
    {
        let error = error.to_string();
        reporter.report(Event::Warning(Warning::DeviceFailed { error }));
        result = score(&model, &mut predictions);
    }
    reporter.report(Event::End);
    match (failed, result) {
        (Some(error), _) => Err(error),
        (None, result) => Ok(result.map(|()| predictions)?),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use base::Vocabulary;
    use models::{Concurrency, Scorer, Scores};
    use questions::Question;

    use super::*;
    use crate::questions_from_text;

    /// Counts the questions that it scores, two at a time; its device is lost after a few.
    #[derive(Clone)]
    struct Counting {
        lost_after: usize,
        n_scored: Arc<AtomicUsize>,
        on_cpu: Option<Arc<Counting>>,
    }

    impl Model for Counting {
        fn scorer(self: Arc<Self>, _: &Arc<Vocabulary>) -> Box<dyn Scorer> {
            Box::new((*self).clone())
        }

        fn save(&self, _: &Path) -> models::Result<()> {
            Ok(())
        }

        fn on_cpu(self: Arc<Self>) -> Option<Arc<dyn Model>> {
            self.on_cpu.clone().map(|model| model as Arc<dyn Model>)
        }
    }

    impl Scorer for Counting {
        fn concurrency(&self) -> Concurrency {
            Concurrency::InFlight(NonZeroUsize::MIN)
        }

        fn batch_size(&self) -> usize {
            2
        }

        fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> models::Result<()> {
            if self.n_scored.load(Ordering::SeqCst) >= self.lost_after {
                let (device, reason) = ("GPU 0".to_owned(), "fell off the bus".to_owned());
                return Err(numerics::Error::DeviceLost { device, reason }.into());
            }
            self.n_scored.fetch_add(questions.len(), Ordering::SeqCst);
            questions.iter().for_each(|question| scores.push(vec![0.0; question.candidates.len()]));
            Ok(())
        }

        fn fork(&self) -> Box<dyn Scorer> {
            Box::new(self.clone())
        }
    }

    #[test]
    fn after_a_device_failed_the_cpu_answers_what_is_left_and_nothing_twice() {
        let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
        let counting = |lost_after, on_cpu| {
            Arc::new(Counting { lost_after, n_scored: Arc::default(), on_cpu })
        };
        let cpu = counting(usize::MAX, None);
        let gpu = counting(6, Some(cpu.clone()));
        let model: Arc<dyn Model> = gpu.clone();
        let warnings = Mutex::new(Vec::new());
        let listen = |event| {
            if let Event::Warning(warning) = event {
                warnings.lock().unwrap().push(warning);
            }
        };
        let predictions = answer(&model, &set, &AnswerOptions::default(), &listen).unwrap();
        assert_eq!(predictions.len(), set.len());
        assert_eq!(gpu.n_scored.load(Ordering::SeqCst), 6);
        assert_eq!(cpu.n_scored.load(Ordering::SeqCst), set.len() - 6);
        assert!(matches!(warnings.lock().unwrap()[..], [Warning::DeviceFailed { .. }]));
    }
}
