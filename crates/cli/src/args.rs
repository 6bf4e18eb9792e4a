//! Options that several commands share, and the parsers of their values.

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use goldilocks::SetOptions;
use goldilocks::models::DeviceChoice;
use goldilocks::questions::{Split, WordClass};

use crate::failure::CliError;
use crate::interrupt::{self, OnInterrupt};
use crate::progress::Progress;

/// Which questions of a set are wanted, and what its files do not say.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct SelectionArgs {
    /// Class of the questions to work on [default: all]
    #[arg(long, value_name = "CLASS", value_parser = word_class(), ignore_case = true)]
    pub class: Option<WordClass>,
    /// Splits to work on, separated by commas [default: those that the command needs]
    #[arg(long = "split", value_name = "SPLIT", value_delimiter = ',', value_parser = split())]
    pub splits: Vec<Split>,
    /// Class of questions that do not state theirs
    #[arg(long, value_name = "CLASS", value_parser = word_class(), ignore_case = true)]
    pub default_class: Option<WordClass>,
    /// Split of questions that do not state theirs
    #[arg(long, value_name = "SPLIT", value_parser = split())]
    pub default_split: Option<Split>,
    #[command(flatten)]
    pub skip: SkipArgs,
}

impl SelectionArgs {
    /// The same as options of the library.
    pub fn options(&self) -> SetOptions {
        SetOptions {
            splits: self.splits.clone(),
            class: self.class,
            default_split: self.default_split,
            default_class: self.default_class,
            skip_bad: self.skip.skip_bad,
        }
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
    /// Where networks are computed; `auto` is a GPU if there is one
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = device())]
    pub device: DeviceChoice,
}

/// `--json`, of commands that print no table.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct JsonArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `--quiet`, of commands that show their progress.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct QuietArgs {
    /// Print nothing but results, warnings and errors
    #[arg(short, long)]
    quiet: bool,
}

impl QuietArgs {
    /// Decides what Ctrl-C does, and returns what shows the progress.
    pub fn start(self, on_interrupt: OnInterrupt) -> Result<Progress> {
        interrupt::install(on_interrupt)?;
        Ok(Progress::new(self.quiet))
    }
}

/// `--threads` and `--quiet`, of commands that work for longer than a moment.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct WorkArgs {
    /// Number of threads; the results are the same for any number [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    quiet: QuietArgs,
}

impl WorkArgs {
    /// Starts the threads; decides what Ctrl-C does; returns what shows the progress.
    pub fn start(self, on_interrupt: OnInterrupt) -> Result<Progress> {
        if let Some(threads) = self.threads {
            // The first command of a process decides: another one there keeps its threads.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads));
            let _ = pool.build_global();
        }
        self.quiet.start(on_interrupt)
    }
}

/// Parses a number of bytes, which may have a unit, for clap.
pub fn bytes(text: &str) -> std::result::Result<u64, String> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let unit = match &text[digits.len()..] {
        "" => Some(1),
        "K" => Some(1 << 10),
        "M" => Some(1 << 20),
        "G" => Some(1 << 30),
        _ => None,
    };
    let number = digits.parse::<u64>().ok().zip(unit).and_then(|(n, unit)| n.checked_mul(unit));
    number.filter(|&n| n > 0).ok_or_else(|| "expected a number such as 500K, 32M or 1G".to_owned())
}

/// Parses `KEY=VALUE`; a value that is not TOML is taken for a string, so that `per=token` needs no quotes.
pub fn setting(text: &str) -> Result<(String, toml::Value)> {
    let Some((key, value)) = text.split_once('=') else {
        let message = format!("expected `KEY=VALUE`, found `{text}`");
        return Err(CliError::Setting { what: "setting", message }.into());
    };
    let parsed = toml::from_str::<toml::Table>(&format!("value = {value}"));
    let value = parsed.ok().and_then(|mut table| table.remove("value"));
    Ok((key.trim().to_owned(), value.unwrap_or_else(|| text[key.len() + 1..].into())))
}

/// Parses a class as files name it, for clap.
pub fn word_class() -> impl TypedValueParser<Value = WordClass> {
    PossibleValuesParser::new(WordClass::ALL.map(WordClass::code)).map(|code| {
        WordClass::from_code(&code.to_ascii_uppercase()).expect("it is one of the possible values")
    })
}

/// Parses a split, for clap.
pub fn split() -> impl TypedValueParser<Value = Split> {
    PossibleValuesParser::new(Split::ALL.map(Split::code))
        .map(|code| Split::from_code(&code).expect("it is one of the possible values"))
}

/// Parses a device, for clap.
fn device() -> impl TypedValueParser<Value = DeviceChoice> {
    PossibleValuesParser::new(["auto", "cpu", "cuda"])
        .map(|name| name.parse().expect("it is one of the possible values"))
}

/// Parses a seed, for clap: what a manifest's TOML can hold.
pub fn seed() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(..=i64::MAX as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_may_have_a_unit() {
        assert_eq!(
            [bytes("7"), bytes("32M"), bytes("1G")].map(Result::unwrap),
            [7, 32 << 20, 1 << 30]
        );
        for wrong in ["", "M", "0", "1T", "1.5M", "-1", "99999999999G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_setting_needs_no_quotes() {
        assert_eq!(setting("per=token").unwrap(), ("per".into(), "token".into()));
        assert_eq!(setting("n_candidates=5").unwrap().1.as_integer(), Some(5));
        assert!(setting("per").is_err());
    }
}
