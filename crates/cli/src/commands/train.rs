//! `goldilocks train MODEL SET`: questions → a model folder.

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::questions::{self, Split};
use goldilocks::{Error, SetOptions, TrainOptions, models, sets, train_to};

use crate::args::{self, DeviceArgs, SkipArgs};
use crate::cli::program;
use crate::progress::Progress;
use crate::stdio;

/// Options of `train`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A name that `goldilocks models` lists
    model: String,
    /// A question set: folder or file; `-` is standard input, in JSON lines
    #[arg(value_name = "SET")]
    set: PathBuf,
    /// Folder to write the model into
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Change a setting; `goldilocks models MODEL` lists them
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    skip: SkipArgs,
    /// Overwrite an existing model
    #[arg(long)]
    force: bool,
}

/// Trains on the training split, tunes on the validation split, saves. The same command resumes a training that was
/// stopped.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let settings = options.settings.iter().map(String::as_str);
    let training = TrainOptions::new(&options.model, settings)?;
    models::check_place(&options.output, options.force).map_err(Error::from)?;
    let all = SetOptions::all(options.skip.skip_bad);
    let path = stdio::input(&options.set, "jsonl")?;
    let open = |splits: &[Split]| sets::open(&path, &all, splits, progress);
    // A set that is all test will do for a model that learns nothing; any other model names what it lacks.
    let set = open(&[Split::Train, Split::Valid]).or_else(|error| match error {
        Error::Questions(questions::Error::Empty { .. }) => open(&[]),
        _ => Err(error),
    })?;
    let training = TrainOptions {
        seed: options.seed,
        device: options.device.device,
        data: set.fingerprint_of(&sets::LEARNT_FROM),
        program: program(),
        ..training
    };
    progress.show_epochs();
    train_to(&options.output, options.force, &set, &training, progress)?;
    progress.summary(format_args!("{}\n", options.output.display()))
}
