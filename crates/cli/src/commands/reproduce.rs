//! `goldilocks reproduce [TABLE]`: build → train → answer → evaluate → report, for a table of the paper.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use goldilocks::Error;
use goldilocks::experiments::{
    self, Embedded, Experiment, ReproduceOptions, Reproduced, reproduce,
};
use goldilocks::report::Source;

use super::{duration, print};
use crate::args::{self, DeviceArgs, SkipArgs};
use crate::cli::program;
use crate::date::today;
use crate::progress::Progress;
use crate::terminal;

/// Options of `reproduce`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A table of the paper
    #[arg(
        default_value = "table-2",
        conflicts_with = "experiment",
        value_parser = PossibleValuesParser::new(experiments::names())
    )]
    table: String,
    /// The question set to learn from and to answer: folder or file [default: the embedded tales; for cnn and
    /// ablation, the embedded news]
    #[arg(long, value_name = "SET")]
    questions: Option<PathBuf>,
    /// Learn from this set, and answer the questions of --questions alone [default: one set for both]
    #[arg(long, value_name = "SET", requires = "questions")]
    train_on: Option<PathBuf>,
    /// Folder for everything that is made [default: reproduction/TABLE]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Make only these rows, separated by commas; `--show` lists them
    #[arg(long, value_name = "ROW", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave out these rows, separated by commas
    #[arg(long, value_name = "ROW", value_delimiter = ',', conflicts_with = "only")]
    skip: Vec<String>,
    /// A table of your own, as a TOML file
    #[arg(long, value_name = "FILE")]
    experiment: Option<PathBuf>,
    /// Print the TOML file of a table of the paper, and do nothing else
    #[arg(
        long,
        value_name = "TABLE",
        num_args = 0..=1,
        default_missing_value = "table-2",
        exclusive = true,
        value_parser = PossibleValuesParser::new(experiments::names())
    )]
    show: Option<String>,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    bad: SkipArgs,
    /// Accept results produced by other versions; the report lists them
    #[arg(long)]
    any_version: bool,
}

/// Runs what the table needs and prints it.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    if let Some(name) = &options.show {
        return print(format_args!("{}", experiments::source_of(name)?));
    }
    let started = Instant::now();
    let (name, experiment) = options.experiment()?;
    let folder = options.output.clone().unwrap_or_else(|| Path::new("reproduction").join(name));
    let reproducing = ReproduceOptions {
        questions: options.questions.clone(),
        train_on: options.train_on.clone(),
        only: options.only.clone(),
        skip: options.skip.clone(),
        skip_bad: options.bad.skip_bad,
        seed: options.seed,
        device: options.device.device,
        any_version: options.any_version,
        program: program(),
        date: today(),
        command: options.command(),
    };
    let embedded = match experiment.embedded {
        Embedded::Tales => "the embedded tales",
        Embedded::News => "the embedded news",
    };
    let data = options.questions.as_ref().map(|path| path.display().to_string());
    let (title, data, seed) =
        (&experiment.title, data.as_deref().unwrap_or(embedded), options.seed);
    let heading = format!("The Goldilocks Principle: {title}, on {data}, seed {seed}");
    progress.note(format_args!("{}", terminal::wrapped(&heading, terminal::width())));
    let reproduced = reproduce(&experiment, &folder, &reproducing, progress)?;
    progress.note(format_args!(""));
    print(format_args!("{}", reproduced.text))?;
    print_outputs(&folder, &reproduced, started, progress);
    if reproduced.left.is_empty() {
        Ok(())
    } else {
        progress.note(format_args!("Left: {}.", reproduced.left.join(", ")));
        Err(Error::Interrupted.into())
    }
}

/// The last lines: where the report is.
fn print_outputs(folder: &Path, reproduced: &Reproduced, started: Instant, progress: &Progress) {
    let real = match reproduced.source {
        Source::Tales => {
            "Small tales, wide intervals. The real questions: `goldilocks fetch cbt`, then `reproduce --questions SET`."
        }
        Source::News => {
            "Few articles, wide intervals. Real questions of CNN QA, or articles: `reproduce --questions SET`."
        }
        _ => "",
    };
    if !real.is_empty() {
        progress.note(format_args!("\n{}", terminal::wrapped(real, terminal::width()).trim_end()));
    }
    let seconds = started.elapsed().as_secs_f64();
    let verb = if reproduced.left.is_empty() { "Done" } else { "Stopped" };
    let page = folder.join("report/index.html");
    progress.note(format_args!("\n{}\n{verb} after {}.", page.display(), duration(seconds)));
}

impl Options {
    /// What is to be run, and its name.
    fn experiment(&self) -> Result<(String, Experiment)> {
        let Some(path) = &self.experiment else {
            return Ok((self.table.clone(), Experiment::named(&self.table)?));
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((stem, Experiment::read(path)?))
    }

    /// The command that makes the same report.
    fn command(&self) -> String {
        let flag = |flag: &str, path: &Option<PathBuf>| {
            path.as_ref().map_or(String::new(), |path| format!(" --{flag} {}", path.display()))
        };
        let set = flag("questions", &self.questions) + &flag("train-on", &self.train_on);
        let table = match &self.experiment {
            Some(path) => format!("--experiment {}", path.display()),
            None => self.table.clone(),
        };
        let rows = |flag: &str, rows: &[String]| {
            if rows.is_empty() { String::new() } else { format!(" --{flag} {}", rows.join(",")) }
        };
        let rows = rows("only", &self.only) + &rows("skip", &self.skip);
        format!("goldilocks reproduce {table}{set}{rows} --seed {}", self.seed)
    }
}
