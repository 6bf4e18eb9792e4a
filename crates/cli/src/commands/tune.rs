//! `goldilocks tune MODEL SET`: a grid of settings, each trained and measured on the validation split.

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::TuneOptions;

use super::tune_summary::Summary;
use crate::args::{self, DeviceArgs, SkipArgs};
use crate::cli::program;
use crate::date::unix_seconds;
use crate::failure::CliError;
use crate::progress::Progress;
use crate::stdio;

/// Options of `tune`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A name that `goldilocks models` lists
    model: String,
    /// A question set: folder or file; `-` is standard input, in JSON lines
    #[arg(value_name = "SET")]
    set: PathBuf,
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
    /// Train the best setting from N seeds, on all training questions and whole books
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// First seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    skip: SkipArgs,
    /// Accept trials of other versions
    #[arg(long)]
    any_version: bool,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "expected a share above 0, up to 1".to_owned())
}

/// Tries the grid, then the best setting from several seeds; prints both.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tuning = TuneOptions {
        model: options.model.clone(),
        questions: stdio::input(&options.set, "jsonl")?,
        skip_bad: options.skip.skip_bad,
        grid: options.grid()?,
        settings: options.settings.clone(),
        fraction: options.fraction,
        seeds: options.seeds,
        seed: options.seed,
        device: options.device.device,
        any_version: options.any_version,
        program: program(),
        clock: unix_seconds,
    };
    let tuned = goldilocks::tune(&tuning, &options.output, progress)?;
    let summary = Summary { options: &tuning, tuned: &tuned };
    super::print(format_args!("{}", if options.json { summary.json()? } else { summary.text() }))
}

impl Options {
    /// The keys with their values, in the order in which they were typed.
    fn grid(&self) -> Result<Vec<(String, Vec<String>)>> {
        let parse = |text: &String| {
            let (key, values) = text.split_once('=').filter(|(_, values)| !values.is_empty())?;
            Some((key.trim().to_owned(), values.split(',').map(|v| v.trim().to_owned()).collect()))
        };
        let malformed = |text: &String| {
            let message = format!("expected `KEY=V1,V2,…`, found `{text}`");
            CliError::Setting { what: "grid", message }.into()
        };
        self.grid.iter().map(|text| parse(text).ok_or_else(|| malformed(text))).collect()
    }
}
