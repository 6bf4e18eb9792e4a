//! `goldilocks reproduce [TABLE]`: build → train → answer → evaluate → report, for a table of the paper.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use goldilocks::experiments::{Embedded, Experiment, ReproduceOptions, reproduce};
use goldilocks::report::Source;

use super::print;
use crate::args::{self, DeviceArgs, SkipArgs};
use crate::cli::program;
use crate::date::today;
use crate::progress::Progress;

/// Options of `reproduce`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A table of the paper: table-1, table-2, validation, cnn, ablation, anonymised, windows, goldilocks, variants
    #[arg(default_value = "table-2", conflicts_with = "experiment")]
    table: String,
    /// A question set: folder or file [default: the embedded tales; for cnn and ablation, the embedded news]
    #[arg(long, value_name = "SET")]
    data: Option<PathBuf>,
    /// Questions to answer in place of those of --data, which are then for training and choosing alone
    #[arg(long, value_name = "SET", requires = "data")]
    answer: Option<PathBuf>,
    /// Folder for everything that is made [default: reproduction/TABLE]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// A table of your own, as a TOML file
    #[arg(long, value_name = "FILE")]
    experiment: Option<PathBuf>,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    skip: SkipArgs,
    /// Accept results produced by other versions; the report lists them
    #[arg(long)]
    any_version: bool,
}

/// Runs what the table needs and prints it.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let started = Instant::now();
    let (name, experiment) = options.experiment()?;
    let folder = options.output.clone().unwrap_or_else(|| Path::new("reproduction").join(name));
    let reproducing = ReproduceOptions {
        data: options.data.clone(),
        answer: options.answer.clone(),
        skip_bad: options.skip.skip_bad,
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
    let data = options.data.as_ref().map(|path| path.display().to_string());
    let (title, data, seed) =
        (&experiment.title, data.as_deref().unwrap_or(embedded), options.seed);
    progress.note(format_args!("The Goldilocks Principle: {title}, on {data}, seed {seed}\n"));
    let reproduced = reproduce(&experiment, &folder, &reproducing, progress)?;
    progress.note(format_args!(""));
    print(format_args!("{}", reproduced.text))?;
    print_outputs(&folder, reproduced.source, started, progress);
    Ok(())
}

/// The last lines: where the report is.
fn print_outputs(folder: &Path, source: Source, started: Instant, progress: &Progress) {
    let real = match source {
        Source::Tales => {
            "Small tales, wide intervals. The real questions: `goldilocks fetch cbt`, then `reproduce --data SET`."
        }
        Source::News => {
            "Few articles, wide intervals. Real questions of CNN QA, or articles: `reproduce --data SET`."
        }
        _ => "",
    };
    if !real.is_empty() {
        progress.note(format_args!("\n{real}"));
    }
    progress.note(format_args!(
        "\n{}  pictures, pairs of models, the questions that all miss\nDone in {:.1} s.",
        folder.join("report/index.html").display(),
        started.elapsed().as_secs_f64(),
    ));
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
        let set = flag("data", &self.data) + &flag("answer", &self.answer);
        let table = match &self.experiment {
            Some(path) => format!("--experiment {}", path.display()),
            None => self.table.clone(),
        };
        format!("goldilocks reproduce {table}{set} --seed {}", self.seed)
    }
}
