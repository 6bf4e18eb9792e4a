//! Options that several commands share, and the parsers of their values.

use anyhow::Result;
use goldilocks::SetOptions;
use goldilocks::models::DeviceChoice;
use goldilocks::questions::{Split, WordClass};

use crate::failure::Failure;

/// Which questions of a set are wanted, and what its files do not say.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct SelectionArgs {
    /// Class to work on; also assumed for questions that do not state theirs
    #[arg(long, value_name = "CLASS", value_parser = word_class)]
    pub class: Option<WordClass>,
    /// Splits to work on; also assumed for questions that do not state theirs
    #[arg(long, value_name = "SPLIT", value_delimiter = ',', value_parser = split)]
    pub on: Vec<Split>,
    #[command(flatten)]
    pub skip: SkipArgs,
}

impl SelectionArgs {
    /// For the library.
    pub fn options(&self) -> SetOptions {
        SetOptions { splits: self.on.clone(), class: self.class, skip_bad: self.skip.skip_bad }
    }
}

/// `--skip-bad`.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct SkipArgs {
    /// Skip malformed CNN QA questions and report how many
    #[arg(long)]
    pub skip_bad: bool,
}

/// `--device`.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct DeviceArgs {
    /// Where networks are computed: `auto` is a GPU if there is one
    #[arg(long, value_name = "auto|cpu|cuda", default_value = "auto")]
    pub device: DeviceChoice,
}

/// A set to be like.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Like {
    /// The released Children's Book Test
    Cbt,
    /// CNN QA: news articles whose entities are anonymised
    Cnn,
}

/// Parses `KEY=VALUE`; a value that is not TOML is taken for a string, so that `per=token` needs no quotes.
pub fn setting(text: &str) -> Result<(String, toml::Value)> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_needs_no_quotes() {
        assert_eq!(setting("per=token").unwrap(), ("per".into(), "token".into()));
        assert_eq!(setting("n_candidates=5").unwrap().1.as_integer(), Some(5));
        assert!(setting("per").is_err());
    }
}
