//! The commands, one file each: what was typed → the library → what is printed.

pub mod answer;
pub mod bench;
pub mod build;
pub mod build_news;
pub mod combine;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod evaluate;
pub mod explain;
pub mod export;
pub mod fetch;
pub mod lm;
pub mod man;
pub mod models;
pub mod plan;
pub mod probe;
pub mod report;
pub mod reproduce;
pub mod serve;
pub mod stats;
pub mod study;
pub mod tag;
pub mod train;
pub mod train_tagger;
pub mod try_book;
pub mod tune;
mod tune_summary;

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::Result;
use goldilocks::Error;

pub use goldilocks::report::thousands;

use crate::failure::CliError;

/// Writes to stdout; a closed pipe is an error here, which `main` takes for success.
pub fn print(text: Arguments<'_>) -> Result<()> {
    Ok(std::io::stdout().lock().write_fmt(text)?)
}

/// Refuses an output file that exists, or a folder in its place, before any work is done.
fn check_output(path: &Path, force: bool) -> Result<()> {
    if path.is_dir() && force {
        return Err(Error::io(path)(ErrorKind::IsADirectory.into()).into());
    }
    // A device or a pipe is there to be written to.
    if (path.is_file() || path.is_dir()) && !force {
        return Err(Error::Exists { path: path.to_owned() }.into());
    }
    Ok(())
}

/// The task of a Slurm array that a worker is.
const SLURM_TASK: &str = "SLURM_ARRAY_TASK_ID";

/// The number of the shard, or of what else a worker is for: the one that was typed, or that of its task.
#[expect(clippy::disallowed_methods, reason = "the program reads the environment")]
fn shard_number(what: &'static str, typed: Option<usize>) -> Result<usize> {
    if let Some(number) = typed {
        return Ok(number);
    }
    let found = std::env::var(SLURM_TASK).unwrap_or_default();
    found.parse().map_err(|_| {
        let message = format!("expected a number, or one in {SLURM_TASK}, found `{found}`");
        CliError::Setting { what, message }.into()
    })
}

/// `1 book`, `1,204 books`.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// A time in the unit that suits it: `0.4 s`, `38 s`, `6 min`, `9 h`, `3 days`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        ..9.95 => format!("{seconds:.1} s"),
        ..99.5 => format!("{seconds:.0} s"),
        ..5_970.0 => format!("{:.0} min", seconds / 60.0),
        ..171_000.0 => format!("{:.0} h", seconds / 3_600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_in_the_unit_that_suits_it() {
        let times = [0.04, 9.94, 38.2, 100.0, 360.0, 9.0 * 3_600.0, 3.2 * 86_400.0];
        assert_eq!(
            times.map(duration),
            ["0.0 s", "9.9 s", "38 s", "2 min", "6 min", "9 h", "3 days"]
        );
    }

    #[test]
    fn what_is_counted_is_named_in_the_right_number() {
        assert_eq!(
            (counted(1, "book"), counted(1204, "book")),
            ("1 book".into(), "1,204 books".into())
        );
    }
}
