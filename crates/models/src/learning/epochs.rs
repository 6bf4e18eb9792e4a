//! The training loop of all learners: epochs of mini-batches, shuffled or in the order of the text → the
//! weights of the best epoch on the validation part.
//!
//! After each epoch the weights and what has happened so far are written to [`Training::checkpoints`],
//! then the epoch is reported. A run that is killed resumes after the last epoch that it reported and ends
//! with the same bytes: every random number comes from the seed and the number of the epoch.

use base::seeds::{Streams, Use};
use numerics::Table;
use rand::seq::SliceRandom;
use serde::Deserialize;

use crate::learning::checkpoint::{Checkpoints, Record};
use crate::{EpochRecord, Error, Event, Result, Settings, Training, TrainingCurve};

/// How often per epoch progress is reported.
const N_REPORTS: usize = 200;

/// The settings of [`crate::learning::options`] as a model's `Config` holds them, to be flattened into it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Schedule {
    pub learning_rate: f64,
    pub epochs: usize,
    pub patience: usize,
    pub decay: f64,
    pub batch: usize,
}

/// Something with weights that learns from one mini-batch after the other.
pub(crate) trait Learner {
    /// How many questions there are to learn from.
    fn n_questions(&self) -> usize;

    /// How many of them, drawn again each time, make an epoch: all unless the learner says otherwise.
    fn n_per_epoch(&self) -> usize {
        self.n_questions()
    }

    /// Whether each epoch has an order of its own; running text is read as it is.
    fn is_shuffled(&self) -> bool {
        true
    }

    /// How much some questions count in the mean of losses: the words to be predicted in running text.
    fn n_targets(&self, questions: &[u32]) -> usize {
        questions.len()
    }

    /// What [`Self::n_targets`] counts: `questions`, `words`.
    fn unit(&self) -> &'static str {
        "questions"
    }

    /// The step of gradient descent after some epochs and this share of the next.
    fn learning_rate(&self, schedule: &Schedule, past: &[EpochRecord], _share: f64) -> f64 {
        // One factor after the other: `powi` may differ from machine to machine.
        past.iter().fold(schedule.learning_rate, |rate, _| rate * schedule.decay)
    }

    /// Learns from a mini-batch; returns the sum of the losses before the step.
    ///
    /// # Errors
    /// If the device that computes it fails.
    fn step(&mut self, batch: &MiniBatch<'_>) -> Result<f64>;

    /// How well it does on the validation part.
    ///
    /// # Errors
    /// If the device that computes it fails.
    fn validate(&mut self) -> Result<Validation>;

    /// All that it has learnt, by name, in a fixed order.
    fn tables(&mut self) -> Vec<(&str, &mut Table<f32>)>;

    /// Brings what it has learnt into the tables, if that lives on a device.
    ///
    /// # Errors
    /// If the device fails.
    fn download(&mut self) -> Result<()> {
        Ok(())
    }

    /// Takes over tables that were changed from outside.
    ///
    /// # Errors
    /// If the device fails.
    fn upload(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Questions to learn from at the same time.
pub(crate) struct MiniBatch<'a> {
    /// From 0 to [`Learner::n_questions`].
    pub questions: &'a [u32],
    /// The step of gradient descent.
    pub learning_rate: f64,
    /// From 1: with the seed and the question, where a learner's own chance comes from.
    pub epoch: usize,
}

/// How well a learner does on the validation part; none where that is not known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Validation {
    /// Mean loss per word of the text.
    pub loss: Option<f64>,
    /// Share of questions answered rightly.
    pub accuracy: Option<f64>,
}

/// Trains a learner, which ends with the weights of its best epoch; returns how the epochs went.
///
/// # Errors
/// [`Error::Diverged`], [`Error::Interrupted`], and if a checkpoint can't be written.
pub(crate) fn run(
    learner: &mut impl Learner,
    schedule: &Schedule,
    settings: &Settings,
    training: &Training<'_>,
) -> Result<TrainingCurve> {
    let checkpoints =
        training.checkpoints.map(|folder| Checkpoints::new(folder, settings, training));
    let mut record = Record::default();
    // The tables of the best epoch, unless that is the last one.
    let mut best: Option<Vec<Table<f32>>> = None;
    if let Some(checkpoints) = &checkpoints {
        (record, best) = checkpoints.resume(&mut learner.tables(), training.reporter)?;
        learner.upload()?;
    }
    while record.epochs.len() < schedule.epochs && record.n_since_best() < schedule.patience {
        if best.is_none() && !record.epochs.is_empty() {
            best = Some(learner.tables().into_iter().map(|(_, table)| table.clone()).collect());
        }
        let (loss, per_second) = one_epoch(learner, schedule, &record.epochs, settings, training)?;
        learner.download()?;
        record.push(loss, learner.validate()?);
        if record.n_since_best() == 0 {
            best = None;
        }
        if let Some(checkpoints) = &checkpoints {
            checkpoints.write(&record, &learner.tables())?;
        }
        training.reporter.report(Event::Epoch {
            record: record.epochs.last().expect("an epoch is over").clone(),
            epochs: schedule.epochs,
            per_second,
            unit: learner.unit(),
        });
    }
    if let Some(best) = best {
        for ((_, table), best) in learner.tables().into_iter().zip(best) {
            *table = best;
        }
        learner.upload()?;
    }
    Ok(TrainingCurve { epochs: record.epochs })
}

/// Returns the mean loss, and what was learnt from per second.
fn one_epoch(
    learner: &mut impl Learner,
    schedule: &Schedule,
    past: &[EpochRecord],
    settings: &Settings,
    training: &Training<'_>,
) -> Result<(f64, Option<f64>)> {
    let (epoch, epochs, unit) = (past.len() + 1, schedule.epochs, learner.unit());
    let started = training.reporter.seconds();
    let order = order(learner, epoch, training.seed);
    let total = learner.n_targets(&order);
    let n_steps = order.len().div_ceil(schedule.batch);
    let (mut sum, mut done) = (0.0, 0);
    let report =
        |done| training.reporter.report(Event::Progress { epoch, epochs, done, total, unit });
    report(0);
    for (step, questions) in order.chunks(schedule.batch).enumerate() {
        // Whoever stops it may want to know how far it was.
        training.check_cancelled().inspect_err(|_| report(done))?;
        let learning_rate = learner.learning_rate(schedule, past, step as f64 / n_steps as f64);
        let loss = learner.step(&MiniBatch { questions, learning_rate, epoch })?;
        let n_targets = learner.n_targets(questions);
        if !loss.is_finite() {
            let (model, loss) = (settings.model(), loss / n_targets as f64);
            return Err(Error::Diverged { model, epoch, step: step + 1, loss, learning_rate });
        }
        sum += loss;
        let shown = done * N_REPORTS / total.max(1);
        done += n_targets;
        if done * N_REPORTS / total.max(1) > shown {
            report(done);
        }
    }
    let seconds = training.reporter.seconds().zip(started).map(|(ended, started)| ended - started);
    let per_second = seconds.filter(|&s| s > 0.0).map(|seconds| total as f64 / seconds);
    Ok((sum / total.max(1) as f64, per_second))
}

/// What is learnt from in an epoch, in order.
fn order(learner: &impl Learner, epoch: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..learner.n_questions() as u32).collect();
    if learner.is_shuffled() {
        order.shuffle(&mut Streams::new(seed, Use::EpochOrder).get(epoch as u64));
        order.truncate(learner.n_per_epoch());
    }
    order
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use questions::{QuestionSet, Split};

    use super::*;
    use crate::Setting;
    use crate::fixture::{TestQuestion, set_of};
    use crate::learning::options::{BATCH, DECAY, EPOCHS, LEARNING_RATE, PATIENCE};
    use crate::{MODELS, Method, Reporter};

    const SETTINGS: &[Setting] = &[LEARNING_RATE, EPOCHS, PATIENCE, DECAY, BATCH];

    fn method() -> Method {
        Method { name: "sum", settings: SETTINGS, sources: &[], ..MODELS[0] }
    }

    /// Adds up question numbers times the step; is given an accuracy for each epoch.
    struct Sum {
        weights: Table<f32>,
        accuracies: &'static [f64],
        n_epochs: Mutex<usize>,
        seen: Vec<Vec<u32>>,
    }

    impl Sum {
        fn new(accuracies: &'static [f64]) -> Self {
            Self { weights: Table::zeros(1, 1), accuracies, n_epochs: Mutex::new(0), seen: vec![] }
        }
    }

    impl Learner for Sum {
        fn n_questions(&self) -> usize {
            5
        }
        fn step(&mut self, batch: &MiniBatch<'_>) -> Result<f64> {
            let sum: u32 = batch.questions.iter().sum();
            self.weights.row_mut(0)[0] += sum as f32 * batch.learning_rate as f32;
            self.seen.push(batch.questions.to_vec());
            *self.n_epochs.lock().unwrap() = batch.epoch;
            let diverges = batch.learning_rate > 100.0 && self.seen.len() == 3;
            Ok(if diverges { f64::NAN } else { f64::from(sum) })
        }
        fn validate(&mut self) -> Result<Validation> {
            let accuracy = self.accuracies.get(*self.n_epochs.lock().unwrap() - 1).copied();
            Ok(Validation { loss: None, accuracy })
        }
        fn tables(&mut self) -> Vec<(&str, &mut Table<f32>)> {
            vec![("weights", &mut self.weights)]
        }
    }

    fn set() -> QuestionSet {
        set_of(&[TestQuestion {
            context: vec!["a fox"],
            query: "the XXXXX",
            candidates: &["fox", "hen"],
            answer: Some(0),
            split: Split::Train,
        }])
    }

    fn trained(learner: &mut Sum, texts: &[&str], training: &Training<'_>) -> Result<()> {
        let settings = Settings::from_text(&method(), texts.iter().copied())?;
        run(learner, &settings.config(), &settings, training).map(|_| ())
    }

    /// Each epoch adds 0 + 1 + 2 + 3 + 4 = 10 times the step.
    #[test]
    fn the_best_epoch_is_kept_and_patience_ends_the_training() {
        let set = set();
        let training = Training::new(&set, 1, &|_| ());
        let cases: [(&'static [f64], usize, f32); 4] = [
            // Best in the second epoch, two epochs of patience.
            (&[0.2, 0.5, 0.5, 0.4, 0.9], 4, 20.0),
            (&[0.2, 0.5, 0.1, 0.6, 0.1, 0.1], 6, 40.0),
            (&[0.5], 10, 100.0),
            // Without validation the last epoch is the best.
            (&[], 10, 100.0),
        ];
        for (accuracies, n_epochs, weight) in cases {
            let mut learner = Sum::new(accuracies);
            trained(&mut learner, &["batch=2", "learning_rate=1"], &training).unwrap();
            assert_eq!(
                (*learner.n_epochs.lock().unwrap(), learner.weights.values()[0]),
                (n_epochs, weight)
            );
            assert_eq!(learner.seen[..3].iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
            assert_ne!(learner.seen[..3], learner.seen[3..6]);
        }
        let mut learner = Sum::new(&[]);
        trained(&mut learner, &["epochs=3", "decay=0.5", "learning_rate=1"], &training).unwrap();
        assert_eq!(learner.weights.values()[0], 10.0 + 5.0 + 2.5);
    }

    #[test]
    fn divergence_names_the_step_and_the_setting() {
        let set = set();
        let training = Training::new(&set, 1, &|_| ());
        let error =
            trained(&mut Sum::new(&[]), &["batch=2", "learning_rate=200"], &training).unwrap_err();
        expect_test::expect![[r#"
            `sum` diverged in epoch 1, step 3: the mean loss is NaN with `learning_rate=200`
            set `learning_rate` to 50"#]]
        .assert_eq(&format!("{error}\n{}", error.remedy().unwrap()));
    }

    /// Cancels the training at the end of an epoch.
    #[derive(Default)]
    struct Impatient(AtomicBool);

    impl Reporter for Impatient {
        fn report(&self, event: Event) {
            if let Event::Epoch { .. } = event {
                self.0.store(true, Ordering::SeqCst);
            }
        }

        fn is_cancelled(&self) -> bool {
            self.0.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn a_cancelled_training_stops_before_the_next_mini_batch_and_resumes() {
        let (set, folder) = (set(), tempfile::tempdir().unwrap());
        let impatient = Impatient::default();
        let mut training = Training::new(&set, 1, &impatient);
        training.checkpoints = Some(folder.path());
        let mut learner = Sum::new(&[]);
        let texts = ["batch=2", "learning_rate=1", "epochs=3"];
        let error = trained(&mut learner, &texts, &training).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
        assert_eq!(learner.seen.len(), 3);
        training.reporter = &|_| ();
        let mut resumed = Sum::new(&[]);
        trained(&mut resumed, &texts, &training).unwrap();
        assert_eq!((resumed.seen.len(), resumed.weights.values()[0]), (6, 30.0));
    }

    #[test]
    fn a_run_killed_at_any_epoch_ends_as_if_it_had_not_been() {
        let set = set();
        let accuracies = &[0.2, 0.5, 0.5, 0.4, 0.9];
        let epochs = ["epochs=1", "epochs=2", "epochs=3", "epochs=4"];
        for killed_after in 1..=epochs.len() {
            let folder = tempfile::tempdir().unwrap();
            let copy = tempfile::tempdir().unwrap();
            let keep = |event: Event| {
                if matches!(event, Event::Epoch { record, .. } if record.epoch == killed_after) {
                    for file in std::fs::read_dir(folder.path()).unwrap() {
                        let file = file.unwrap();
                        std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
                    }
                }
            };
            let mut training = Training::new(&set, 1, &keep);
            training.checkpoints = Some(folder.path());
            let mut whole = Sum::new(accuracies);
            trained(&mut whole, &["learning_rate=1"], &training).unwrap();
            let mut training = Training::new(&set, 1, &|_| ());
            training.checkpoints = Some(copy.path());
            let mut resumed = Sum::new(accuracies);
            trained(&mut resumed, &["learning_rate=1"], &training).unwrap();
            assert_eq!(resumed.weights, whole.weights);
            assert_eq!(resumed.seen, whole.seen[killed_after..]);
        }
    }

    /// Sets of the same shape, whose words have the same numbers, are distinguished by spelling and by context; and so
    /// is the code of the learner.
    #[test]
    fn checkpoints_of_other_words_contexts_or_code_are_left_aside() {
        let set_with = |context, candidate| {
            set_of(&[TestQuestion {
                context: vec![context],
                query: "the XXXXX",
                candidates: &[candidate, "hen"],
                answer: Some(0),
                split: Split::Train,
            }])
        };
        let first = set_with("a fox", "fox");
        for (other, code, expected) in [
            (set_with("a fox", "fox"), &[][..], None),
            (set_with("a owl", "owl"), &[], Some("data")),
            (set_with("fox a", "fox"), &[], Some("data")),
            (set_with("a fox", "fox"), &["another"], Some("code")),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let warnings = Mutex::new(String::new());
            let note = |event: Event| {
                if let Event::Warning(text) = event {
                    *warnings.lock().unwrap() += &text;
                }
            };
            let mut training = Training::new(&first, 1, &note);
            training.checkpoints = Some(folder.path());
            trained(&mut Sum::new(&[]), &["epochs=2"], &training).unwrap();
            let mut training = Training::new(&other, 1, &note);
            training.checkpoints = Some(folder.path());
            let method = Method { sources: code, ..method() };
            let settings = Settings::from_text(&method, ["epochs=2"]).unwrap();
            run(&mut Sum::new(&[]), &settings.config(), &settings, &training).unwrap();
            let warned = warnings.into_inner().unwrap();
            let what = expected.map_or(String::new(), |what| format!("({what}: expected "));
            assert_eq!(warned.is_empty(), expected.is_none(), "{warned}");
            assert!(warned.contains(&what), "{warned}");
        }
    }

    #[test]
    fn checkpoints_of_another_training_are_left_aside_with_a_warning() {
        let set = set();
        let folder = tempfile::tempdir().unwrap();
        let warnings = Mutex::new(0);
        let count = |event: Event| {
            *warnings.lock().unwrap() += usize::from(matches!(event, Event::Warning(_)));
        };
        let mut training = Training::new(&set, 1, &count);
        training.checkpoints = Some(folder.path());
        for (texts, seed, n_warnings) in [
            (&["epochs=2"], 1, 0),
            (&["epochs=2"], 1, 0),
            (&["epochs=3"], 1, 1),
            (&["epochs=3"], 2, 2),
        ] {
            training.seed = seed;
            trained(&mut Sum::new(&[]), texts, &training).unwrap();
            assert_eq!(*warnings.lock().unwrap(), n_warnings);
        }
    }
}
