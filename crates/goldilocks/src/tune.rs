//! A grid of settings, each trained and measured on the validation split.
//!
//! ```text
//! DIR/trials.jsonl    one line per trial: settings, seed, share of the training questions, accuracies
//! ```
//!
//! The file is written whole after each trial, and trials that it holds are not run again. The test split is not read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use evaluation::{ByClass, Predictions};
use models::{DeviceChoice, Method, Provenance, Settings, Training};
use questions::{QuestionSet, Split, WordClass};
use serde::{Deserialize, Serialize};

use crate::experiments::{of_model, write_file};
use crate::progress::{ModelReporter, check_cancelled};
use crate::sets::{self, SetOptions};
use crate::{AnswerOptions, Error, Event, Program, Reporter, Result, answer};

/// Options of [`tune()`].
#[derive(Clone, Debug)]
pub struct TuneOptions {
    /// The name of the method that is trained.
    pub model: String,
    /// The question set; its test split is not read.
    pub questions: PathBuf,
    /// Whether malformed questions are skipped.
    pub skip_bad: bool,
    /// The settings to try with their values: every combination of them is a trial.
    pub grid: Vec<(String, Vec<String>)>,
    /// Settings of all trials, as `KEY=VALUE`.
    pub settings: Vec<String>,
    /// The share of the training questions, drawn from the seed, and of each book, from its beginning.
    pub fraction: f64,
    /// From how many seeds the best setting is trained, on all training questions and whole books.
    pub seeds: u64,
    /// Trials use this one; the best setting is trained from it and those after it.
    pub seed: u64,
    /// The device on which networks are trained.
    pub device: DeviceChoice,
    /// Whether trials of other versions of the code count.
    pub any_version: bool,
    /// The program that trials are recorded for.
    pub program: Program,
    /// A clock in seconds, for the time that trials take.
    pub clock: fn() -> f64,
}

/// A training to be tried: all that its outcome depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The model, its data, settings and seed.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The share of the training questions.
    pub fraction: f64,
}

/// A trial that is over: a line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialOutcome {
    /// The settings that were tried.
    #[serde(flatten)]
    pub trial: Trial,
    /// Accuracy on the validation questions of each class, and of all; empty where training failed.
    pub valid: BTreeMap<String, f64>,
    /// The mean over the classes, or over all where there is no class.
    pub mean: Option<f64>,
    /// Why there are no figures.
    pub error: Option<String>,
    /// How long it took.
    pub seconds: f64,
}

/// The outcome of [`tune()`].
#[derive(Clone, Debug)]
pub struct Tuning {
    /// The trials of the grid.
    pub tried: Vec<TrialOutcome>,
    /// The index of the best of them.
    pub best: usize,
    /// The best from several seeds, if that was asked for.
    pub of_seeds: Vec<TrialOutcome>,
}

/// The outcomes in their folder.
struct Trials<'a> {
    options: &'a TuneOptions,
    folder: &'a Path,
    entry: &'static Method,
    set: QuestionSet,
    data: String,
    outcomes: Vec<TrialOutcome>,
    reporter: &'a dyn Reporter,
}

/// Tries the grid, then the best setting from several seeds. Trials that the folder holds are not run again.
///
/// # Errors
/// If a setting does not exist, the set can't be read, the folder is something else's, or no trial succeeds.
pub fn tune(options: &TuneOptions, folder: &Path, reporter: &dyn Reporter) -> Result<Tuning> {
    let entry = models::find(&options.model)?;
    let settings = |texts: &Vec<String>| {
        let all = options.settings.iter().chain(texts).map(String::as_str);
        Ok(Settings::from_text(entry, all)?)
    };
    let points = combinations(&options.grid);
    let points: Vec<Settings> = points.iter().map(settings).collect::<Result<_>>()?;
    let is_other = questions::compact::read_manifest(folder).is_ok();
    if is_other || folder.join("model.toml").exists() {
        return Err(Error::Exists { path: folder.to_owned() });
    }
    let outcomes = read(&folder.join(TRIALS))?;
    let all = SetOptions::all(options.skip_bad);
    let set = sets::open(&options.questions, &all, &[Split::Train, Split::Valid], reporter)?;
    let data = set.fingerprint_of(&sets::LEARNT_FROM);
    let mut trials = Trials { options, folder, entry, set, data, outcomes, reporter };

    let grid: Vec<(&Settings, u64)> = points.iter().map(|point| (point, options.seed)).collect();
    let tried = trials.run_all(&grid, options.fraction)?;
    let Some(best) = best(&tried) else {
        let error = tried.iter().find_map(|outcome| outcome.error.clone()).unwrap_or_default();
        return Err(Error::NoTrialSucceeded { error });
    };
    let seeds: Vec<(&Settings, u64)> =
        (0..options.seeds).map(|number| (&points[best], options.seed + number)).collect();
    let of_seeds = if options.seeds > 1 { trials.run_all(&seeds, 1.0)? } else { Vec::new() };
    Ok(Tuning { tried, best, of_seeds })
}

const TRIALS: &str = "trials.jsonl";

/// Every choice of one value per key, as `KEY=VALUE` texts; the last key changes fastest.
fn combinations(grid: &[(String, Vec<String>)]) -> Vec<Vec<String>> {
    grid.iter().fold(vec![Vec::new()], |points, (key, values)| {
        let with = |point: &Vec<String>| -> Vec<Vec<String>> {
            let add = |value: &String| [point.clone(), vec![format!("{key}={value}")]].concat();
            values.iter().map(add).collect()
        };
        points.iter().flat_map(with).collect()
    })
}

/// The trials of earlier runs.
fn read(path: &Path) -> Result<Vec<TrialOutcome>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).map_err(Error::io(path))?;
    let damaged = |error: serde_json::Error| Error::Corrupt {
        path: path.to_owned(),
        message: error.to_string(),
    };
    text.lines().map(serde_json::from_str).collect::<Result<_, _>>().map_err(damaged)
}

/// The index of the best outcome, the first of equals.
fn best(outcomes: &[TrialOutcome]) -> Option<usize> {
    let means = outcomes.iter().enumerate().filter_map(|(index, o)| Some((index, o.mean?)));
    means.rev().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
}

impl Trials<'_> {
    /// The outcomes of trials, those of earlier runs as they are.
    fn run_all(&mut self, trials: &[(&Settings, u64)], fraction: f64) -> Result<Vec<TrialOutcome>> {
        let steps = Some(trials.len());
        self.reporter.report(Event::Begin { stage: "tune", what: String::new(), steps });
        let mut outcomes = Vec::with_capacity(trials.len());
        for (settings, seed) in trials {
            check_cancelled(self.reporter)?;
            let mut provenance = Provenance::new(settings, self.data.clone(), *seed);
            let code = provenance.program.code;
            provenance.program = Program { code, ..self.options.program.clone() };
            let trial = Trial { provenance, fraction };
            let outcome = match self.earlier(&trial) {
                Some(outcome) => outcome.clone(),
                None => {
                    let outcome = self.run(settings, trial)?;
                    self.outcomes.push(outcome.clone());
                    self.write()?;
                    outcome
                }
            };
            outcomes.push(outcome);
            self.reporter.report(Event::Step { n: 1, what: None });
        }
        self.reporter.report(Event::End);
        Ok(outcomes)
    }

    fn earlier(&self, trial: &Trial) -> Option<&TrialOutcome> {
        let is_same = |outcome: &&TrialOutcome| {
            let (expected, found) = (&trial.provenance, &outcome.trial.provenance);
            outcome.trial.fraction == trial.fraction
                && of_model(expected, found, self.options.any_version).is_none()
        };
        self.outcomes.iter().find(is_same)
    }

    fn run(&self, settings: &Settings, trial: Trial) -> Result<TrialOutcome> {
        let started = (self.options.clock)();
        let report = ModelReporter::new(self.entry.name, self.reporter);
        let mut training = Training::new(&self.set, trial.provenance.seed, &report);
        training.device = self.options.device;
        training.train = training.train.sample(trial.fraction, self.options.seed);
        // A trial that is killed resumes; only one runs at a time.
        let checkpoints = self.folder.join("checkpoints");
        training.checkpoints = Some(checkpoints.as_path()).filter(|_| self.entry.trains_by_epochs);
        let (valid, error) = match (self.entry.train)(settings, &training) {
            Ok(model) => (self.accuracies(&model, trial.provenance.seed)?, None),
            // A rate that diverges is a result of the grid, not its end.
            Err(error @ models::Error::Diverged { .. }) => (None, Some(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        if checkpoints.exists() {
            fs::remove_dir_all(&checkpoints).map_err(Error::io(&checkpoints))?;
        }
        let mean = valid.as_ref().map(|valid| valid.mean_over(&WordClass::ALL));
        let by_code = valid.iter().flat_map(ByClass::iter);
        let valid = by_code.map(|(code, &share)| (code.to_owned(), share)).collect();
        Ok(TrialOutcome { trial, valid, mean, error, seconds: (self.options.clock)() - started })
    }

    /// The accuracies on the validation split.
    fn accuracies(
        &self,
        model: &std::sync::Arc<dyn models::Model>,
        seed: u64,
    ) -> Result<Option<ByClass<f64>>> {
        let options =
            AnswerOptions { splits: vec![Split::Valid], seed, ..AnswerOptions::default() };
        let predictions = answer(model, &self.set, &options, &|_| ())?;
        let results = evaluation::evaluate(&Predictions::new("valid", predictions)?)?;
        let results = results.into_iter().find(|of| of.split == Some(Split::Valid));
        Ok(results.map(|of| of.classes.map(|share| share.accuracy)))
    }

    fn write(&self) -> Result<()> {
        let line = |outcome| serde_json::to_string(outcome).expect("an outcome has a form in JSON");
        let lines: Vec<String> = self.outcomes.iter().map(line).collect();
        write_file(&self.folder.join(TRIALS), &(lines.join("\n") + "\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_every_choice_with_the_last_key_fastest() {
        let grid = [("a", vec!["1", "2"]), ("b", vec!["x", "y"])]
            .map(|(key, values)| (key.to_owned(), values.into_iter().map(str::to_owned).collect()));
        let points: Vec<String> = combinations(&grid).iter().map(|point| point.join(" ")).collect();
        assert_eq!(points, ["a=1 b=x", "a=1 b=y", "a=2 b=x", "a=2 b=y"]);
    }

    #[test]
    fn the_best_is_the_first_of_equals_and_never_a_failed_one() {
        let method = models::find("word-distance").unwrap();
        let provenance = Provenance::new(&Settings::from_text(method, []).unwrap(), "d", 1);
        let outcome = |mean| TrialOutcome {
            trial: Trial { provenance: provenance.clone(), fraction: 1.0 },
            valid: BTreeMap::new(),
            mean,
            error: None,
            seconds: 0.0,
        };
        assert_eq!(best(&[None, Some(0.4), Some(0.5), Some(0.5)].map(outcome)), Some(2));
        assert_eq!(best(&[None].map(outcome)), None);
    }
}
