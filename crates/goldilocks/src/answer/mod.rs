//! A model, or any function that scores, and questions → predictions, in memory or in a file that grows as they come.

mod journal;
mod order;
mod provenance;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use evaluation::{Prediction, Predictions};
use models::{CutContexts, Model};
use questions::{Control, Question, QuestionSet, Split};

use self::journal::Journal;
pub(crate) use self::order::questions_of;
use self::order::{Order, by_passage};
pub use self::provenance::{AnswerProvenance, answered_by};
use crate::progress::check_cancelled;
use crate::{Error, Event, Reporter, Result, Warning};

/// Options of [`answer()`].
#[derive(Clone, Debug)]
pub struct AnswerOptions {
    /// The splits whose questions are answered; none: all, and questions of no split.
    pub splits: Vec<Split>,
    /// What is taken away from the questions first.
    pub controls: Vec<Control>,
    /// Seed of draws between equal scores.
    pub seed: u64,
    /// At most this many questions of each split and class, drawn by the seed; none: all.
    pub sample: Option<usize>,
}

impl Default for AnswerOptions {
    fn default() -> Self {
        Self { splits: Vec::new(), controls: Vec::new(), seed: 1, sample: None }
    }
}

/// Scores the questions at some indices of a set, after the controls: one list per question, one finite score per
/// candidate. For models that are not ours, such as one in another language.
pub type ScoreFunction<'a> = dyn FnMut(&[usize]) -> Result<Vec<Vec<f64>>> + 'a;

/// What answers: one of our models, or a function with the number of questions that it gets at a time.
enum Answerer<'a, 'f> {
    Model(&'a Arc<dyn Model>),
    Function(&'a mut ScoreFunction<'f>, NonZeroUsize),
}

impl Answerer<'_, '_> {
    /// The order in which the questions are answered.
    fn order(&self, set: &QuestionSet, options: &AnswerOptions) -> Order {
        let questions = questions_of(set, options);
        match self {
            Self::Model(model) if model.remembers_contexts() => by_passage(set, questions),
            _ => Order::of_file(questions),
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
    answer_all(Answerer::Model(model), set, options, Resume::all(), reporter)
}

/// Answers the questions of a set by a function, some at a time.
///
/// # Errors
/// Those of the function; [`Error::WrongScores`].
pub fn answer_by(
    score: &mut ScoreFunction<'_>,
    batch_size: NonZeroUsize,
    set: &QuestionSet,
    options: &AnswerOptions,
    reporter: &dyn Reporter,
) -> Result<Vec<Prediction>> {
    answer_all(Answerer::Function(score, batch_size), set, options, Resume::all(), reporter)
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
    /// Who answered.
    model: Option<String>,
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
        Ok(Self { output, reporter, journal, predictions: Vec::new(), model: None })
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
        self.answer_from(Answerer::Model(model), set, options, provenance)
    }

    /// Answers them by a function, some at a time.
    ///
    /// # Errors
    /// Those of [`answer_by()`]; or if the file can't be written. What was answered is kept.
    #[expect(clippy::too_many_arguments, reason = "what answers, and what is answered")]
    pub fn answer_by(
        &mut self,
        score: &mut ScoreFunction<'_>,
        batch_size: NonZeroUsize,
        set: &QuestionSet,
        options: &AnswerOptions,
        provenance: &AnswerProvenance,
    ) -> Result<()> {
        self.answer_from(Answerer::Function(score, batch_size), set, options, provenance)
    }

    fn answer_from(
        &mut self,
        answerer: Answerer<'_, '_>,
        set: &QuestionSet,
        options: &AnswerOptions,
        provenance: &AnswerProvenance,
    ) -> Result<()> {
        let answered = match &mut self.journal {
            None => answer_all(answerer, set, options, Resume::all(), self.reporter)?,
            Some(journal) => {
                let done = journal.resume(provenance, &answerer.order(set, options).questions)?;
                let resume = Resume { done, journal: Some(journal) };
                answer_all(answerer, set, options, resume, self.reporter)?
            }
        };
        self.predictions.extend(answered);
        self.model = Some(answered_by(&provenance.model.model, &options.controls));
        Ok(())
    }

    /// Puts the file in its place; returns the predictions.
    ///
    /// # Errors
    /// If there is no prediction, or the file can't be written.
    pub fn finish(self) -> Result<Predictions> {
        self.finish_with(|_, prediction| prediction, |_| Ok(()))
    }

    /// The same, with predictions changed before they are written, and files next to them written first.
    pub(crate) fn finish_with(
        self,
        change: impl Fn(usize, Prediction) -> Prediction,
        write_companions: impl FnOnce(&Predictions) -> Result<()>,
    ) -> Result<Predictions> {
        let predictions = self.predictions.into_iter().enumerate();
        let predictions =
            predictions.map(|(place, prediction)| change(place, prediction)).collect();
        let name = self.output.display().to_string();
        let predictions = Predictions::new(name, predictions)?.by_model(self.model);
        write_companions(&predictions)?;
        predictions.write(self.output)?;
        self.journal.map_or(Ok(()), Journal::remove)?;
        Ok(predictions)
    }
}

/// Predictions of an earlier run, and the journal that the others are written to as they come.
struct Resume<'a> {
    done: Vec<Prediction>,
    journal: Option<&'a mut Journal>,
}

impl Resume<'_> {
    /// Nothing is done, and nothing is written.
    fn all() -> Self {
        Self { done: Vec::new(), journal: None }
    }
}

/// Answers the questions after those that are done; returns the predictions of all.
fn answer_all(
    answerer: Answerer<'_, '_>,
    set: &QuestionSet,
    options: &AnswerOptions,
    resume: Resume<'_>,
    reporter: &dyn Reporter,
) -> Result<Vec<Prediction>> {
    let Order { questions, places } = answerer.order(set, options);
    reporter.report(Event::Begin {
        stage: "answer",
        what: String::new(),
        steps: Some(questions.len()),
    });
    reporter.report(Event::Step { n: resume.done.len(), what: None });
    if let Answerer::Model(model) = answerer {
        warn_of_known_books(model, set, options, reporter);
    }
    let Resume { done: predictions, journal } = resume;
    let mut run = AnswerRun { set, options, questions, predictions, journal, reporter };
    let result = match answerer {
        Answerer::Model(model) => run.answer_on_any_device(model),
        Answerer::Function(score, batch_size) => run.answer_by(score, batch_size.get()),
    };
    reporter.report(Event::End);
    let mut answered: Vec<(usize, Prediction)> = places.into_iter().zip(run.predictions).collect();
    answered.sort_unstable_by_key(|(place, _)| *place);
    result.map(|()| answered.into_iter().map(|(_, prediction)| prediction).collect())
}

/// Warns of books that the model has learnt from.
fn warn_of_known_books(
    model: &Arc<dyn Model>,
    set: &QuestionSet,
    options: &AnswerOptions,
    reporter: &dyn Reporter,
) {
    let books = model.known_books(set, &options.splits);
    if !books.is_empty() {
        let books = books.into_iter().map(|name| name.map(str::to_owned)).collect();
        reporter.report(Event::Warning(Warning::KnownBooks { books }));
    }
}

/// The questions of a set, and the answers to the first of them.
struct AnswerRun<'a> {
    set: &'a QuestionSet,
    options: &'a AnswerOptions,
    questions: Vec<(usize, String)>,
    predictions: Vec<Prediction>,
    journal: Option<&'a mut Journal>,
    reporter: &'a dyn Reporter,
}

impl AnswerRun<'_> {
    /// Answers with a model; the processor does what is left where a device fails.
    fn answer_on_any_device(&mut self, model: &Arc<dyn Model>) -> Result<()> {
        match self.answer(model) {
            Err(Error::Models(error @ models::Error::Device(_))) => {
                let Some(model) = model.clone().on_cpu() else { return Err(error.into()) };
                let error = error.to_string();
                self.reporter.report(Event::Warning(Warning::DeviceFailed { error }));
                self.answer(&model)
            }
            result => result,
        }
    }

    fn answer(&mut self, model: &Arc<dyn Model>) -> Result<()> {
        let scorer = model.clone().scorer(self.set.vocabulary());
        let cut_before = model.cut_contexts();
        let mut first = self.first_to_score(scorer.batch_size());
        let (set, controls) = (self.set, &self.options.controls[..]);
        let mut failed = None;
        let indices = self.indices_from(first);
        let result = models::score_all(scorer, set, &indices, controls, &mut |batch, scores| {
            let scores = scores.iter().map(|list| list.iter().copied().map(f64::from).collect());
            let taken = self.take(first, scores);
            first += batch.len();
            taken.map_err(|error| {
                failed = Some(error);
                models::Error::sink("the predictions were not taken")
            })
        });
        let CutContexts { contexts, sentences } = model.cut_contexts();
        if contexts > cut_before.contexts {
            let contexts = contexts - cut_before.contexts;
            let sentences = sentences - cut_before.sentences;
            self.reporter.report(Event::Warning(Warning::ContextsCut { contexts, sentences }));
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(result?),
        }
    }

    fn answer_by(&mut self, score: &mut ScoreFunction<'_>, batch_size: usize) -> Result<()> {
        let mut first = self.first_to_score(batch_size);
        for batch in self.indices_from(first).chunks(batch_size) {
            check_cancelled(self.reporter)?;
            let scores = score(batch)?;
            let questions: Vec<Question<'_>> =
                batch.iter().map(|&index| self.set.example(index).question).collect();
            models::check_scores(&questions, scores.iter().map(Vec::as_slice))
                .map_err(Error::WrongScores)?;
            self.take(first, scores.into_iter())?;
            first += batch.len();
        }
        Ok(())
    }

    /// Where to begin if questions are scored this many at a time. A network's last digits depend on the batch: one
    /// that a kill cut is scored whole again.
    fn first_to_score(&self, batch_size: usize) -> usize {
        let n_done = self.predictions.len();
        let is_done = n_done == self.questions.len();
        n_done - if is_done { 0 } else { n_done % batch_size.max(1) }
    }

    fn indices_from(&self, first: usize) -> Vec<usize> {
        self.questions[first..].iter().map(|(index, _)| *index).collect()
    }

    /// Takes the scores of the questions from `first` on. Answers that are there stay as they are.
    fn take(&mut self, first: usize, scores: impl Iterator<Item = Vec<f64>>) -> Result<()> {
        let n_done = self.predictions.len();
        for scores in scores.skip(n_done - first) {
            let (index, id) = self.questions[self.predictions.len()].clone();
            let example = self.set.example(index);
            self.predictions.push(Prediction::of(&example, id, scores, self.options.seed));
        }
        let new = &self.predictions[n_done..];
        self.reporter.report(Event::Step { n: new.len(), what: None });
        self.journal.as_mut().map_or(Ok(()), |journal| journal.append(new))?;
        check_cancelled(self.reporter)
    }
}

#[cfg(test)]
mod tests {
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

    /// Prefers the first candidate, batch by batch; fails when it is asked for more questions.
    fn first_of(set: &QuestionSet, left: &mut usize, batch: &[usize]) -> Result<Vec<Vec<f64>>> {
        *left = left.checked_sub(batch.len()).ok_or_else(|| Error::Scorer("tired".into()))?;
        let n_candidates = |&index: &usize| set.example(index).question.candidates.len();
        Ok(batch
            .iter()
            .map(|index| (0..n_candidates(index)).map(|n| -(n as f64)).collect())
            .collect())
    }

    #[test]
    fn a_function_that_fails_is_asked_for_the_rest_alone() {
        let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("first.jsonl");
        let (options, batch_size) = (AnswerOptions::default(), NonZeroUsize::new(16).unwrap());
        let from = AnswerProvenance::of_function("first", set.fingerprint(), &options);
        let answer = |left: &mut usize| {
            let mut file = AnswerFile::open(&output, &|_| ())?;
            let mut score = |batch: &[usize]| first_of(&set, left, batch);
            file.answer_by(&mut score, batch_size, &set, &options, &from)?;
            file.finish()
        };
        assert_eq!(answer(&mut 40).unwrap_err().to_string(), "tired");
        assert!(!output.exists());
        let mut left = set.len() - 32;
        let predictions = answer(&mut left).unwrap();
        assert_eq!((left, predictions.len()), (0, set.len()));
        assert!(predictions.iter().all(|prediction| prediction.predicted == 0));
        let mut left = set.len();
        let mut score = |batch: &[usize]| first_of(&set, &mut left, batch);
        let at_once = answer_by(&mut score, batch_size, &set, &options, &|_| ()).unwrap();
        assert!(predictions.iter().eq(&at_once));
    }

    #[test]
    fn scores_of_a_function_are_checked_and_what_was_answered_is_kept() {
        let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
        type Change = fn(&mut Vec<Vec<f64>>);
        let wrong: [(&str, Change); 3] = [
            ("expected 8 lists of scores, one per question, found 7", |lists| _ = lists.pop()),
            ("expected 10 scores, one per candidate, found 9", |lists| _ = lists[7].pop()),
            ("is NaN: expected a finite number", |lists| lists[7][3] = f64::NAN),
        ];
        for (expected, spoil) in wrong {
            let folder = tempfile::tempdir().unwrap();
            let output = folder.path().join("wrong.jsonl");
            let (options, mut n_calls) = (AnswerOptions::default(), 0);
            let from = AnswerProvenance::of_function("wrong", set.fingerprint(), &options);
            let mut score = |batch: &[usize]| {
                let mut lists = first_of(&set, &mut batch.len(), batch)?;
                n_calls += 1;
                if n_calls == 3 {
                    spoil(&mut lists);
                }
                Ok(lists)
            };
            let mut file = AnswerFile::open(&output, &|_| ()).unwrap();
            let batch_size = NonZeroUsize::new(8).unwrap();
            let error = file.answer_by(&mut score, batch_size, &set, &options, &from).unwrap_err();
            assert!(error.to_string().ends_with(expected), "{error}");
            assert!(error.hint().is_some());
            let kept = std::fs::read_to_string(folder.path().join("wrong.jsonl.partial")).unwrap();
            assert_eq!(kept.lines().count(), 1 + 2 * 8);
        }
    }
}
