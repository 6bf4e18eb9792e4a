//! `goldilocks train MODEL SET`: questions → a model folder.

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::models::TrainingCurve;
use goldilocks::questions::{self, Split};
use goldilocks::{Error, READER, ReaderOptions, ReaderRun, SetOptions, TrainOptions};
use goldilocks::{models, sets, train_reader, train_to};

use crate::args::{self, DeviceArgs, SkipArgs};
use crate::cli::program;
use crate::failure::CliError;
use crate::interrupt;
use crate::progress::Progress;
use crate::stdio;

/// Options of `train`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A name that `goldilocks models` lists, or `reader`
    model: String,
    /// A question set: folder or file; `-` is standard input, in JSON lines
    #[arg(value_name = "SET", required_unless_present = "resume")]
    set: Option<PathBuf>,
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
    #[command(flatten)]
    reader: ReaderArgs,
}

/// The heading of options that only a reader has.
const READER_OPTIONS: &str = "Options of `train reader`";

/// Options of `train reader` alone.
#[derive(clap::Args, Debug)]
struct ReaderArgs {
    /// Further books to learn from: files, folders, or lists of files (.list)
    #[arg(help_heading = READER_OPTIONS, long, value_name = "BOOKS", num_args = 1..)]
    text: Vec<PathBuf>,
    /// Leave out further books that share text with validation or test books
    #[arg(help_heading = READER_OPTIONS, long)]
    skip_leaks: bool,
    /// Stop after this long (0: once all text is prepared); the same command resumes
    #[arg(help_heading = READER_OPTIONS, long, value_name = "MINUTES", value_parser = minutes)]
    stop_after: Option<f64>,
    /// Minutes from one checkpoint to the next
    #[arg(help_heading = READER_OPTIONS, long, value_name = "MINUTES", default_value = "5", value_parser = minutes)]
    save_every: f64,
    /// Resume from the files next to the output, without SET or --text
    #[arg(help_heading = READER_OPTIONS, long, conflicts_with = "set")]
    resume: bool,
}

/// Parses a time in minutes.
fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes| (0.0..=1e6).contains(minutes));
    minutes.ok_or_else(|| "expected a number of minutes from 0".to_owned())
}

/// Trains on the training split, tunes on the validation split, saves. The same command resumes a training that was
/// stopped.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    if options.model == READER {
        return run_reader(options, progress);
    }
    let settings = options.settings.iter().map(String::as_str);
    let training = TrainOptions::new(&options.model, settings)?;
    models::check_place(&options.output, options.force).map_err(Error::from)?;
    let all = SetOptions::all(options.skip.skip_bad);
    let path = stdio::input(set_of(options)?, "jsonl")?;
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
    if let Some(kept) = TrainingCurve::read(&options.output).map_err(Error::from)?.and_then(kept) {
        progress.note(format_args!("{kept}"));
    }
    progress.summary(format_args!("{}\n", options.output.display()))
}

/// Which epoch the model is from, if not from the last one.
fn kept(curve: TrainingCurve) -> Option<String> {
    let (best, last) = (curve.best()?.epoch, curve.epochs.last()?.epoch);
    let text = || format!("epoch {best} is kept: no later one was better on the validation split");
    (best < last).then(text)
}

/// The set, which only a reader can do without.
fn set_of(options: &Options) -> Result<&PathBuf> {
    options.set.as_ref().ok_or_else(|| {
        let message = format!("`{}` needs a SET: only `{READER}` resumes without", options.model);
        CliError::Setting { what: "--resume", message }.into()
    })
}

/// Trains a Transformer on running text and questions.
fn run_reader(options: &Options, progress: &Progress) -> Result<()> {
    let ReaderArgs { text, skip_leaks, stop_after, save_every, .. } = &options.reader;
    let training = ReaderOptions {
        seed: options.seed,
        device: options.device.device,
        text: text.clone(),
        skip_leaks: *skip_leaks,
        stop_after: *stop_after,
        save_every: *save_every,
        overwrite: options.force,
        program: program(),
        ..ReaderOptions::new(options.settings.iter().map(String::as_str))?
    };
    let all = SetOptions::all(options.skip.skip_bad);
    let open = |path: &PathBuf| -> Result<_> {
        Ok(sets::open(&stdio::input(path, "jsonl")?, &all, &[], progress)?)
    };
    let set = options.set.as_ref().map(open).transpose()?;
    match train_reader(&options.output, set.as_ref(), &training, progress)? {
        ReaderRun::Done => progress.summary(format_args!("{}\n", options.output.display())),
        ReaderRun::Stopped => {
            progress.note(format_args!("{}", interrupt::RESUMES));
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use goldilocks::models::EpochRecord;

    use super::*;

    #[test]
    fn the_epoch_that_is_kept_is_named_unless_it_is_the_last() {
        let epoch = |(index, best): (usize, bool)| {
            let (valid_loss, valid_accuracy) = (None, Some(0.5));
            EpochRecord { epoch: index + 1, loss: 1.0, valid_loss, valid_accuracy, best }
        };
        let kept = |best: &[bool]| {
            kept(TrainingCurve { epochs: best.iter().copied().enumerate().map(epoch).collect() })
        };
        assert_eq!(kept(&[true, true]), None);
        let said = kept(&[true, true, false, false]).unwrap();
        assert_eq!(said, "epoch 2 is kept: no later one was better on the validation split");
    }
}
