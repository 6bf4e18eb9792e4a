//! The commands, one file each: what was typed → the library → what is printed.

pub mod answer;
pub mod bench;
pub mod build;
pub mod combine;
pub mod compare;
pub mod convert;
pub mod evaluate;
pub mod explain;
pub mod fetch;
pub mod lm;
pub mod models;
pub mod report;
pub mod reproduce;
pub mod serve;
pub mod stats;
pub mod study;
pub mod tag;
pub mod train;
pub mod train_tagger;
pub mod tune;
mod tune_summary;

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::Result;
use goldilocks::Error;

pub use goldilocks::report::thousands;

/// Writes to stdout; a closed pipe is an error here, which `main` takes for success.
pub fn print(text: Arguments<'_>) -> Result<()> {
    Ok(std::io::stdout().lock().write_fmt(text)?)
}

/// Refuses an output file that exists, or a folder in its place, before any work is done.
fn check_output(path: &Path, force: bool) -> Result<()> {
    if path.exists() && !force {
        return Err(Error::Exists { path: path.to_owned() }.into());
    }
    if path.is_dir() {
        return Err(Error::io(path)(ErrorKind::IsADirectory.into()).into());
    }
    Ok(())
}

/// `1 book`, `1,204 books`.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_named_in_the_right_number() {
        assert_eq!(
            (counted(1, "book"), counted(1204, "book")),
            ("1 book".into(), "1,204 books".into())
        );
    }
}
