//! The commands, one file each: what was typed → the library crates → what is printed.

pub mod answer;
pub mod bench;
pub mod build;
pub mod build_news;
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

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::Result;
use questions::{Split, WordClass};

use crate::failure::Failure;

pub use ::report::thousands;

/// A set to be like.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Like {
    /// The released Children's Book Test
    Cbt,
    /// CNN QA: news articles whose entities are anonymised
    Cnn,
}

/// Writes to stdout; a closed pipe is an error here, which `main` takes for success.
pub fn print(text: Arguments<'_>) -> Result<()> {
    Ok(std::io::stdout().lock().write_fmt(text)?)
}

/// Refuses an output file that is there already, or a folder in its place, before any work is done.
fn check_output(path: &Path, force: bool) -> Result<()> {
    match path.is_dir() {
        _ if path.exists() && !force => Err(Failure::OutputExists { path: path.to_owned() }.into()),
        true => Err(Failure::file(path)(ErrorKind::IsADirectory.into()).into()),
        false => Ok(()),
    }
}

/// Parses `KEY=VALUE`; a value that is not TOML is taken for a string, so that `per=token` needs no quotes.
fn setting(text: &str) -> Result<(String, toml::Value)> {
    let Some((key, value)) = text.split_once('=') else {
        let message = format!("expected `KEY=VALUE`, found `{text}`");
        return Err(Failure::Setting { what: "setting", message }.into());
    };
    let parsed = toml::from_str::<toml::Table>(&format!("value = {value}"));
    let value = parsed.ok().and_then(|mut table| table.remove("value"));
    Ok((key.trim().to_owned(), value.unwrap_or_else(|| text[key.len() + 1..].into())))
}

/// Parses a class as files name it, for clap.
pub fn word_class(code: &str) -> Result<WordClass, String> {
    WordClass::from_code(&code.to_ascii_uppercase())
        .ok_or_else(|| "expected NE, CN, V or P".to_owned())
}

/// Parses a split, for clap.
pub fn split(code: &str) -> Result<Split, String> {
    Split::from_code(code).ok_or_else(|| "expected train, valid or test".to_owned())
}

/// Parses a seed, for clap: what a manifest's TOML can hold.
pub fn seed() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(..=i64::MAX as u64)
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

    #[test]
    fn a_setting_needs_no_quotes() {
        assert_eq!(setting("per=token").unwrap(), ("per".into(), "token".into()));
        assert_eq!(setting("n_candidates=5").unwrap().1.as_integer(), Some(5));
        assert!(setting("per").is_err());
    }
}
