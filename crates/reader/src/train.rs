//! [`train`]: steps on running text, then on questions, from the last checkpoint to the end or until the time is up.

use std::path::Path;

use neural::{Batch, Decoder, Tables, Trainer};
use numerics::device::NO_TARGET;

use crate::prepare::Prepared;
use crate::rows::{Mixture, Rows, push_row};
use crate::score::{self, Accuracy};
use crate::working::{CurvePoint, Phase, State};
use crate::{Compute, Config, Error, Event, Progress, Reporter, Result, tune};

/// How long one run may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Minutes after which this run writes its checkpoint and stops, to be resumed.
    pub stop_after: Option<f64>,
    /// Minutes from one checkpoint to the next.
    pub save_every: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { stop_after: None, save_every: 5.0 }
    }
}

/// What a run has come to.
pub enum Outcome {
    /// The training is over.
    Done(Trained),
    /// The time is up: the same call goes on.
    Stopped {
        /// Steps done of this phase.
        step: u64,
        /// Of how many, if that is known.
        steps: Option<u64>,
    },
}

/// A trained reader.
pub struct Trained {
    /// Its weights.
    pub weights: Tables,
    /// How the loss fell.
    pub curve: Vec<CurvePoint>,
    /// Steps of pretraining.
    pub steps: u64,
    /// The share of validation questions that it answers rightly, if there are any.
    pub valid: Option<Accuracy>,
}

/// Where a training is and how it goes.
pub struct Place<'a> {
    /// The working folder, in which everything was prepared.
    pub folder: &'a Path,
    /// The device that it learns on.
    pub compute: &'a Compute,
    /// How long this run may take.
    pub budget: Budget,
    /// Receives how far it is.
    pub reporter: &'a dyn Reporter,
}

/// A run of a training.
pub(crate) struct Run<'a> {
    pub prepared: &'a Prepared,
    pub folder: &'a Path,
    pub compute: &'a Compute,
    pub state: State,
    budget: Budget,
    reporter: &'a dyn Reporter,
    started: Option<f64>,
    saved: Option<f64>,
    report: Since,
}

/// What happened since the last report.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    seconds: Option<f64>,
    loss: f64,
    n: u64,
    pieces: u64,
    steps: u64,
}

/// Trains a reader, from its last checkpoint if there is one.
///
/// # Errors
/// If there is too little text, another training is in the folder, the device fails, or training diverges.
pub fn train(
    prepared: &Prepared,
    config: &Config,
    seed: u64,
    Place { folder, compute, budget, reporter }: Place<'_>,
) -> Result<Outcome> {
    prepared.check_settings(folder, config)?;
    let of = [crate::SOURCES, neural::SOURCES, numerics::SOURCES, &prepared.hash()].concat();
    let mut state = State::new(config, seed, base::hash::sha256(of.as_bytes()));
    let mut tables = None;
    if let Some((found, written)) = state.resume(folder)? {
        (state, tables) = (found, Some(written));
    }
    let started = reporter.seconds();
    let (saved, report) = (started, Since { seconds: started, ..Since::default() });
    let mut run =
        Run { prepared, folder, compute, state, budget, reporter, started, saved, report };
    if run.state.phase == Phase::Pretrain {
        match run.pretrain(tables.as_ref())? {
            Some(weights) => tables = Some(weights),
            None => return Ok(run.stopped()),
        }
    }
    if run.state.phase == Phase::Tune {
        match tune::tune(&mut run, tables.as_ref())? {
            Some(weights) => tables = Some(weights),
            None => return Ok(run.stopped()),
        }
    }
    let weights = tables.unwrap_or_default();
    let valid = score::valid(&run, &weights)?;
    let State { curve, steps, .. } = run.state;
    Ok(Outcome::Done(Trained { weights, curve, steps: steps.unwrap_or(0), valid }))
}

/// Steps before speed is measured: a GPU compiles and captures in the first.
const BEFORE_MEASURING: u64 = 10;
/// Steps in which speed is measured.
const MEASURED: u64 = 20;
/// Points of a curve.
const POINTS: u64 = 20;
/// Seconds from one report to the next.
const REPORT: f64 = 10.0;
/// Reports of a phase, where there is no clock.
const REPORTS: u64 = 20;

/// A step to be taken.
pub(crate) struct Step<B> {
    pub batch: B,
    pub rate: f64,
    /// How much the sum of its losses counts in their mean.
    pub n: u64,
    /// Pieces that it reads.
    pub pieces: u64,
}

type AnyTrainer<B> = dyn Trainer<Batch = B>;

impl Run<'_> {
    fn stopped(&self) -> Outcome {
        Outcome::Stopped { step: self.state.step, steps: self.state.steps }
    }

    pub fn note(&self, text: String) {
        self.reporter.report(Event::Note(text));
    }

    /// Pretrains to the end, and returns the weights; none if the time is up.
    fn pretrain(&mut self, tables: Option<&Tables>) -> Result<Option<Tables>> {
        let (config, seed, prepared) = (self.state.config.clone(), self.state.seed, self.prepared);
        let network = Decoder::new(config.network(prepared.pieces.len()));
        let mut trainer = self.compute.trainer(network, config.training(seed), None)?;
        if let Some(tables) = tables {
            trainer.restore(tables)?;
        }
        let valid = valid_batch(prepared.held_out(), &config);
        let rows = |text, name| Rows::new(text, config.length, seed, name);
        let mut mixture = Mixture {
            all: rows(prepared.all(), "all")?,
            own: rows(prepared.own(), "own")?,
            rows: config.rows,
            own_from: u64::MAX,
            n_own: 0,
        };
        if self.state.steps.is_none() && self.started.is_none() {
            return Err(Error::NoClock);
        }
        let next = |step: u64, steps: Option<u64>| {
            // Until the number of steps is known, they are as those of a long training begin.
            let steps = steps.unwrap_or(u64::MAX);
            mixture.own_from = config.first_own(steps);
            mixture.n_own = config.n_own();
            let batch = mixture.batch(step);
            let n = batch.targets.iter().filter(|&&target| target != NO_TARGET).count() as u64;
            let pieces = batch.pieces.len() as u64;
            Step { batch, rate: config.rate(step, steps), n, pieces }
        };
        let point = |run: &mut Self, trainer: &mut AnyTrainer<Batch>| {
            let (step, steps) = (run.state.step, run.state.steps);
            let is_point = steps
                .is_some_and(|steps| step == steps || step.is_multiple_of((steps / POINTS).max(1)));
            if is_point { run.point(trainer, valid.as_ref()) } else { Ok(()) }
        };
        let weights = self.run_steps("pretrain", &mut *trainer, next, point)?;
        if let Some(weights) = &weights {
            (self.state.phase, self.state.step) = (Phase::Tune, 0);
            self.save(weights)?;
        }
        Ok(weights)
    }

    /// Takes the steps of a phase that are left; returns the weights, or none if the time is up.
    pub fn run_steps<B>(
        &mut self,
        phase: &'static str,
        trainer: &mut AnyTrainer<B>,
        mut next: impl FnMut(u64, Option<u64>) -> Step<B>,
        mut after: impl FnMut(&mut Self, &mut AnyTrainer<B>) -> Result<()>,
    ) -> Result<Option<Tables>> {
        let (first, mut measured_from) = (self.state.step, None);
        self.report = Since { seconds: self.reporter.seconds(), ..Since::default() };
        loop {
            let steps = self.steps_of(phase);
            if steps.is_some_and(|steps| self.state.step >= steps) {
                return Ok(Some(trainer.weights()?));
            }
            let Step { batch, rate, n, pieces } = next(self.state.step, steps);
            let loss = trainer.step(&batch, rate)?;
            if !loss.is_finite() {
                return Err(Error::Diverged { step: self.state.step, loss });
            }
            self.state.step += 1;
            self.state.sum = (self.state.sum.0 + loss, self.state.sum.1 + n);
            self.report.add(loss, n, pieces);
            if steps.is_none() {
                self.measure(self.state.step - first, &mut measured_from);
            }
            after(self, trainer)?;
            self.show(phase);
            let is_over = self.steps_of(phase).is_some_and(|steps| self.state.step >= steps);
            if !is_over && self.is_time_to_stop() {
                self.save(&trainer.checkpoint()?)?;
                return Ok(None);
            }
            if !is_over && self.is_time_to_save() {
                self.save(&trainer.checkpoint()?)?;
            }
        }
    }

    fn steps_of(&self, phase: &str) -> Option<u64> {
        if phase == "tune" { Some(self.state.config.tune_steps) } else { self.state.steps }
    }

    /// Measures how fast the first steps of this run are, and sets the number of all.
    fn measure(&mut self, done: u64, from: &mut Option<f64>) {
        let Some(now) = self.reporter.seconds() else { return };
        if done == BEFORE_MEASURING {
            *from = Some(now);
        }
        if let (Some(from), true) = (*from, done == BEFORE_MEASURING + MEASURED) {
            let each = ((now - from) / MEASURED as f64).max(1e-6);
            let left = self.state.config.minutes * 60.0 - (now - self.started.unwrap_or(now));
            let steps = self.state.step + (left.max(0.0) / each) as u64;
            self.state.steps = Some(steps.max(self.state.step + 1));
            self.note(format!("{steps} steps of {:.1} ms", 1e3 * each));
        }
    }

    /// Adds a point to the curve.
    fn point(&mut self, trainer: &mut AnyTrainer<Batch>, valid: Option<&Batch>) -> Result<()> {
        let (sum, n) = std::mem::take(&mut self.state.sum);
        let loss = sum / n.max(1) as f64;
        let of_batch = |batch: &Batch| -> Result<f64> {
            let n = batch.targets.iter().filter(|&&target| target != NO_TARGET).count();
            Ok(trainer.loss(batch)? / n as f64)
        };
        let valid = valid.map(of_batch).transpose()?;
        let State { step, ref config, .. } = self.state;
        let pieces = step * (config.rows * config.length) as u64;
        self.state.curve.push(CurvePoint { step, pieces, loss, valid });
        let on_valid = valid.map(|loss| format!(", on validation books {loss:.3}"));
        self.note(format!("step {step}: loss {loss:.3}{}", on_valid.unwrap_or_default()));
        Ok(())
    }

    pub fn save(&mut self, tables: &Tables) -> Result<()> {
        self.state.write(self.folder, tables)?;
        self.saved = self.reporter.seconds();
        Ok(())
    }

    fn is_time_to_save(&self) -> bool {
        let since = self.reporter.seconds().zip(self.saved).map(|(now, saved)| now - saved);
        since.is_some_and(|seconds| seconds > 60.0 * self.budget.save_every)
    }

    fn is_time_to_stop(&self) -> bool {
        let since = self.reporter.seconds().zip(self.started).map(|(now, started)| now - started);
        let is_up = since
            .zip(self.budget.stop_after)
            .is_some_and(|(seconds, minutes)| seconds > 60.0 * minutes);
        is_up || self.reporter.is_cancelled()
    }

    /// Reports how far a phase is, now and then.
    fn show(&mut self, phase: &'static str) {
        let now = self.reporter.seconds();
        let elapsed = now.zip(self.report.seconds).map(|(now, then)| now - then);
        let steps = self.steps_of(phase);
        let is_due = match elapsed {
            Some(seconds) => seconds >= REPORT,
            None => steps.is_some_and(|n| self.state.step.is_multiple_of((n / REPORTS).max(1))),
        };
        if !is_due {
            return;
        }
        let Since { loss, n, pieces, steps: done, .. } = self.report;
        let left = steps.zip(elapsed).map(|(steps, seconds)| {
            steps.saturating_sub(self.state.step) as f64 * seconds / done.max(1) as f64
        });
        self.reporter.report(Event::Progress(Progress {
            phase,
            step: self.state.step,
            steps,
            loss: loss / n.max(1) as f64,
            per_second: elapsed.map(|seconds| pieces as f64 / seconds),
            left,
        }));
        self.report = Since { seconds: now, ..Since::default() };
    }
}

impl Since {
    fn add(&mut self, loss: f64, n: u64, pieces: u64) {
        self.loss += loss;
        self.n += n;
        self.pieces += pieces;
        self.steps += 1;
    }
}

/// The first rows of the validation books; none if they are too short.
fn valid_batch(text: &[u16], config: &Config) -> Option<Batch> {
    let rows = (text.len() / config.length).min(config.rows);
    let mut batch = Batch::default();
    text.chunks_exact(config.length).take(rows).for_each(|row| push_row(row, &mut batch));
    (batch.rows > 0).then_some(batch)
}
