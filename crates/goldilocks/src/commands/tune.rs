//! `goldilocks tune MODEL`: a grid of settings, each trained and measured on the validation split.
//!
//! ```text
//! DIR/trials.jsonl    one line a trial: settings, seed, share of the training questions, accuracies
//! ```
//!
//! The file is written whole after each trial, and trials that it holds are not run again. The test split is not read.

mod summary;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use evaluation::Predictions;
use models::{Entry, Settings, Training};
use questions::{QuestionSet, Split, WordClass};
use serde::{Deserialize, Serialize};

use self::summary::Summary;
use super::answer::Answering;
use super::print;
use crate::cli::VERSION;
use crate::device::DeviceOption;
use crate::display::Display;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::reproduction::write_file;
use crate::sets::{self, Origin};

/// Options of `tune`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A name that `goldilocks models` lists
    model: String,
    /// A question set: folder or file
    #[arg(long, value_name = "SET")]
    data: PathBuf,
    /// Folder for the results; trials that are in it already are not run again
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Values of a setting to try; several make a grid
    #[arg(long, value_name = "KEY=V1,V2,…", required = true)]
    grid: Vec<String>,
    /// Change a setting for all trials
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Train trials on this share of the training questions, drawn from the seed, and of each training book,
    /// from its beginning
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = share)]
    fraction: f64,
    /// Train the best setting from so many seeds, on all training questions and whole books
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// First seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::seed())]
    seed: u64,
    #[command(flatten)]
    device: DeviceOption,
    /// Leave out bad questions of CNN QA, counted, instead of stopping at the first
    #[arg(long)]
    skip_bad: bool,
    /// Count trials that other versions of the program ran
    #[arg(long)]
    any_version: bool,
    /// For programs
    #[arg(long)]
    json: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "expected a share above 0, up to 1".to_owned())
}

/// A training to be tried: all that its outcome depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Trial {
    version: String,
    data: String,
    model: String,
    settings: BTreeMap<String, String>,
    seed: u64,
    fraction: f64,
}

/// A trial that is over: a line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Outcome {
    #[serde(flatten)]
    trial: Trial,
    /// Accuracy on the validation questions of each class, and of all; empty where training failed.
    valid: BTreeMap<String, f64>,
    /// The mean over the classes, or over all where there is no class.
    mean: Option<f64>,
    /// Why there are no figures.
    error: Option<String>,
    seconds: f64,
}

/// The outcomes in their folder.
struct Tuning<'a> {
    options: &'a Options,
    entry: &'static Entry,
    set: QuestionSet,
    data: String,
    outcomes: Vec<Outcome>,
    progress: Progress,
}

/// Tries the grid, then the best setting from several seeds; prints both.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    let entry = models::find(&options.model)?;
    let grid = options.grid()?;
    let settings = |texts: &Vec<String>| {
        let all = options.settings.iter().chain(texts).map(String::as_str);
        Ok(Settings::from_text(entry, all)?)
    };
    let points: Vec<Settings> = combinations(&grid).iter().map(settings).collect::<Result<_>>()?;
    let is_other = questions::compact::read_manifest(&options.output).is_ok();
    if is_other || options.output.join("model.toml").exists() {
        return Err(Failure::OutputExists { path: options.output.clone() }.into());
    }
    let outcomes = read(&options.file())?;
    let origin = Origin { skip_bad: options.skip_bad, ..Origin::default() };
    let set = sets::open(&options.data, &origin, &[Split::Train, Split::Valid], progress)?;
    let data = sets::hash(&options.data)?;
    let mut tuning = Tuning { options, entry, set, data, outcomes, progress };

    let trials: Vec<(&Settings, u64)> = points.iter().map(|point| (point, options.seed)).collect();
    let tried = tuning.run_all(&trials, options.fraction)?;
    let Some(best) = best(&tried) else {
        let error = tried.iter().find_map(|outcome| outcome.error.clone()).unwrap_or_default();
        return Err(Failure::Setting { what: "no trial succeeded", message: error }.into());
    };
    let seeds: Vec<(&Settings, u64)> =
        (0..options.seeds).map(|number| (&points[best], options.seed + number)).collect();
    let of_seeds = if options.seeds > 1 { tuning.run_all(&seeds, 1.0)? } else { Vec::new() };
    let summary = Summary {
        options,
        keys: grid.into_iter().map(|(key, _)| key).collect(),
        tried,
        best,
        of_seeds,
    };
    print(format_args!("{}", if options.json { summary.json()? } else { summary.text() }))
}

impl Options {
    fn file(&self) -> PathBuf {
        self.output.join("trials.jsonl")
    }

    /// The keys with their values, in the order in which they were typed.
    fn grid(&self) -> Result<Vec<(String, Vec<String>)>> {
        let parse = |text: &String| {
            let (key, values) = text.split_once('=').filter(|(_, values)| !values.is_empty())?;
            Some((key.trim().to_owned(), values.split(',').map(|v| v.trim().to_owned()).collect()))
        };
        let malformed = |text: &String| {
            let message = format!("expected `KEY=V1,V2,…`, found `{text}`");
            Failure::Setting { what: "grid", message }.into()
        };
        self.grid.iter().map(|text| parse(text).ok_or_else(|| malformed(text))).collect()
    }
}

/// Every choice of one value a key, as `KEY=VALUE` texts; the last key changes fastest.
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
fn read(path: &Path) -> Result<Vec<Outcome>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).map_err(Failure::file(path))?;
    let damaged = |error: serde_json::Error| Failure::Damaged {
        path: path.to_owned(),
        message: error.to_string(),
    };
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>().map_err(damaged)?)
}

/// The place of the best outcome, the first of equals.
fn best(outcomes: &[Outcome]) -> Option<usize> {
    let means = outcomes.iter().enumerate().filter_map(|(place, o)| Some((place, o.mean?)));
    means.rev().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place)
}

impl Tuning<'_> {
    /// The outcomes of trials, those of earlier runs as they are.
    fn run_all(&mut self, trials: &[(&Settings, u64)], fraction: f64) -> Result<Vec<Outcome>> {
        let bar = self.progress.steps("tune", trials.len() as u64);
        let mut outcomes = Vec::with_capacity(trials.len());
        for (settings, seed) in trials {
            let trial = Trial {
                version: VERSION.to_owned(),
                data: self.data.clone(),
                model: self.entry.name.to_owned(),
                settings: settings.texts().map(|(key, value)| (key.to_owned(), value)).collect(),
                seed: *seed,
                fraction,
            };
            let outcome = match self.earlier(&trial) {
                Some(outcome) => outcome.clone(),
                None => {
                    let outcome = self.run(settings, trial, &bar)?;
                    self.outcomes.push(outcome.clone());
                    self.write()?;
                    outcome
                }
            };
            outcomes.push(outcome);
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(outcomes)
    }

    fn earlier(&self, trial: &Trial) -> Option<&Outcome> {
        let is_same = |outcome: &&Outcome| {
            let version = match self.options.any_version {
                true => &outcome.trial.version,
                false => &trial.version,
            };
            outcome.trial == Trial { version: version.clone(), ..trial.clone() }
        };
        self.outcomes.iter().find(is_same)
    }

    fn run(
        &self,
        settings: &Settings,
        trial: Trial,
        bar: &indicatif::ProgressBar,
    ) -> Result<Outcome> {
        let started = Instant::now();
        let display = Display::new(self.entry.name, bar, self.progress);
        let report = |event| display.show(event);
        let mut training = Training::new(&self.set, trial.seed, &report);
        training.device = self.options.device.device;
        training.train = training.train.sample(trial.fraction, self.options.seed);
        // A trial that is killed goes on; only one runs at a time.
        let checkpoints = self.options.output.join("checkpoints");
        training.checkpoints = Some(checkpoints.as_path()).filter(|_| self.entry.learns);
        let (valid, error) = match (self.entry.train)(settings, &training) {
            Ok(model) => {
                let answering = Answering { controls: Vec::new(), seed: trial.seed };
                let quiet = Progress { quiet: true };
                let predictions = answering.answer(&*model, &self.set, &[Split::Valid], quiet)?;
                let results = evaluation::evaluate(&Predictions::new("valid", predictions)?)?;
                let results = results.into_iter().find(|of| of.split == Some(Split::Valid));
                (results.map(|of| of.classes.map(|share| share.accuracy)), None)
            }
            // A rate that diverges is a result of the grid, not its end.
            Err(error @ models::Error::Diverged { .. }) => (None, Some(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        if checkpoints.exists() {
            fs::remove_dir_all(&checkpoints).map_err(Failure::file(&checkpoints))?;
        }
        let mean = valid.as_ref().map(|valid| valid.mean_over(&WordClass::ALL));
        let by_code = valid.iter().flat_map(|valid| valid.iter());
        let valid = by_code.map(|(code, &share)| (code.to_owned(), share)).collect();
        Ok(Outcome { trial, valid, mean, error, seconds: started.elapsed().as_secs_f64() })
    }

    fn write(&self) -> Result<()> {
        let lines =
            self.outcomes.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        write_file(&self.options.file(), &(lines.join("\n") + "\n"))
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
        let outcome = |mean| Outcome {
            trial: Trial {
                version: String::new(),
                data: String::new(),
                model: String::new(),
                settings: BTreeMap::new(),
                seed: 1,
                fraction: 1.0,
            },
            valid: BTreeMap::new(),
            mean,
            error: None,
            seconds: 0.0,
        };
        assert_eq!(best(&[None, Some(0.4), Some(0.5), Some(0.5)].map(outcome)), Some(2));
        assert_eq!(best(&[None].map(outcome)), None);
    }
}
