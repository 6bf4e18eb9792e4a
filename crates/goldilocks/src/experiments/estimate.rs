//! How long rows will take: a learner is tried for a moment on this machine, and stopped.

use std::collections::BTreeSet;
use std::sync::Mutex;

use models::{DeviceChoice, Event};
use questions::QuestionSet;

use super::PlannedRow;
use super::engine::Engine;
use crate::{Reporter, Result};

/// How long a learner is tried, in seconds, after it has got ready.
const TRIAL: f64 = 1.5;

/// Seconds that one training of a row will take: the time to get ready, and all epochs at the speed of its first steps.
/// None for a method that does not learn by epochs, and for a listener without a clock.
///
/// # Errors
/// If the learner fails, or the listener cancels the work.
pub fn seconds_to_train(
    row: &PlannedRow,
    set: &QuestionSet,
    seed: u64,
    device: DeviceChoice,
    reporter: &dyn Reporter,
) -> Result<Option<f64>> {
    let Some((started, (method, settings))) = reporter.seconds().zip(row.origin.learner()) else {
        return Ok(None);
    };
    let trial = Trial { reporter, steps: Mutex::default() };
    let mut training = models::Training::new(set, seed, &trial);
    training.device = device;
    let result = (method.train)(settings, &training);
    crate::progress::check_cancelled(reporter)?;
    match result {
        // It was done before its time was up.
        Ok(_) => return Ok(reporter.seconds().map(|ended| ended - started)),
        Err(models::Error::Interrupted) => {}
        Err(error) => return Err(error.into()),
    }
    let steps = trial.steps.into_inner().expect("no listener panics");
    let (Some(first), Some(last)) = (steps.first, steps.last) else { return Ok(None) };
    if last.done <= first.done {
        return Ok(None);
    }
    let per_second = (last.done - first.done) as f64 / (last.at - first.at).max(1e-3);
    let all = (last.epochs * last.total) as f64;
    Ok(Some(first.at - started + all / per_second))
}

/// Learners in the order in which they are to be made, with the seconds that each will take. On embedded data, where all
/// of them take a moment, nothing is estimated.
pub(super) fn in_order_of_time<'p>(
    engine: &Engine<'_>,
    mut learners: Vec<&'p PlannedRow>,
    reporter: &dyn Reporter,
) -> Result<Vec<(&'p PlannedRow, Option<f64>)>> {
    if engine.options.questions.is_none() {
        learners.sort_by_key(|row| row.origin.learner().map(|(method, _)| method.cost));
        return Ok(learners.into_iter().map(|row| (row, None)).collect());
    }
    let mut counted = BTreeSet::new();
    let mut estimated = Vec::new();
    for row in learners {
        let mut to_train = engine.to_train(row);
        to_train.retain(|name| counted.insert(name.clone()));
        let seconds = match to_train.len() {
            0 => None,
            n => engine.seconds_to_train(row)?.map(|seconds| seconds * n as f64),
        };
        estimated.push((row, seconds));
    }
    estimated.sort_by(|(_, a), (_, b)| a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0)));
    let rows = estimated.iter().filter_map(|(row, seconds)| Some((row.name.clone(), (*seconds)?)));
    let rows: Vec<(String, f64)> = rows.collect();
    if !rows.is_empty() {
        reporter.report(crate::Event::Estimated { rows });
    }
    Ok(estimated)
}

/// Listens to the first steps of a training, then stops it.
struct Trial<'a> {
    reporter: &'a dyn Reporter,
    steps: Mutex<Steps>,
}

#[derive(Default)]
struct Steps {
    first: Option<Step>,
    last: Option<Step>,
}

/// How far a training is, and when.
#[derive(Clone, Copy)]
struct Step {
    at: f64,
    done: usize,
    total: usize,
    epochs: usize,
}

impl models::Reporter for Trial<'_> {
    fn report(&self, event: Event) {
        let (Event::Progress { epoch, epochs, done, total, .. }, Some(at)) =
            (event, self.reporter.seconds())
        else {
            return;
        };
        let done = (epoch - 1) * total + done;
        let mut steps = self.steps.lock().expect("no listener panics");
        steps.last = Some(Step { at, done, total, epochs });
        steps.first = steps.first.or(steps.last);
    }

    fn is_cancelled(&self) -> bool {
        let first = self.steps.lock().expect("no listener panics").first;
        let is_over =
            first.zip(self.reporter.seconds()).is_some_and(|(first, now)| now - first.at > TRIAL);
        is_over || self.reporter.is_cancelled()
    }

    fn seconds(&self) -> Option<f64> {
        self.reporter.seconds()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::experiments::Experiment;

    /// A clock that advances by a hundredth of a second each time it is read.
    #[derive(Default)]
    struct Ticking(AtomicU64);

    impl Reporter for Ticking {
        fn report(&self, _: crate::Event) {}

        fn seconds(&self) -> Option<f64> {
            Some(self.0.fetch_add(1, Ordering::SeqCst) as f64 / 100.0)
        }
    }

    #[test]
    fn a_trial_is_short_and_tells_the_time_of_all_epochs() {
        let set = crate::build(&crate::BuildOptions::default(), &|_| ()).unwrap().set;
        let seconds = |epochs: usize| {
            let text = format!(
                "title = 'x'\n[[rows]]\nmodel = 'memnn-window-selfsup'\n\
                 settings = {{ dim = 2, epochs = {epochs} }}\n"
            );
            let row = Experiment::from_text(&text).unwrap().plan(false).unwrap().remove(0);
            let clock = Ticking::default();
            let found = seconds_to_train(&row, &set, 1, DeviceChoice::Cpu, &clock).unwrap();
            let n_ticks = clock.0.into_inner();
            assert!(n_ticks < 1_000, "{n_ticks} ticks for {epochs} epochs");
            found.unwrap()
        };
        let [short, long] = [1_000, 2_000].map(seconds);
        assert!((1.9..2.1).contains(&(long / short)), "{short} {long}");
        let text = "title = 'x'\n[[rows]]\nmodel = 'word-distance'\n";
        let row = Experiment::from_text(text).unwrap().plan(false).unwrap().remove(0);
        let clock = Ticking::default();
        assert_eq!(seconds_to_train(&row, &set, 1, DeviceChoice::Cpu, &clock).unwrap(), None);
    }
}
