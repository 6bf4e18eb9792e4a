//! CBT text ⇄ JSON lines ⇄ Parquet ⇄ the compact form.

use std::path::Path;

use questions::{EmptyFields, Format, WriteOptions, compact};
use toml::Table;

use crate::progress::during;
use crate::sets::{self, SetOptions};
use crate::{Error, Reporter, Result};

/// How [`convert()`] reads and writes.
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// The form to write; none: that of the output's ending.
    pub to: Option<Format>,
    /// Which questions are converted.
    pub set: SetOptions,
    /// The seed to draw placeholders from, if candidates are replaced by placeholders (Appendix D).
    pub anonymise: Option<u64>,
    /// Whether an output that exists is replaced.
    pub overwrite: bool,
}

/// Reads one form and writes another; returns how many questions there were.
///
/// # Errors
/// If the input can't be read, or the output exists or has the ending of another form.
pub fn convert(
    input: &Path,
    output: &Path,
    options: &ConvertOptions,
    reporter: &dyn Reporter,
) -> Result<usize> {
    let format = options.format(output)?;
    let (mut set, mut empty_fields) =
        sets::open_with_empty_fields(input, &options.set, &options.set.splits, reporter)?;
    if let Some(seed) = options.anonymise {
        set = questions::anonymise(&set, seed)?;
        empty_fields = EmptyFields::default();
    }
    let (overwrite, manifest) = (options.overwrite, options.manifest(input)?);
    let write_options = WriteOptions { overwrite, empty_fields, manifest };
    let write = || set.write(output, format, &write_options);
    during(reporter, "write", output.display().to_string(), write)?;
    Ok(set.len())
}

impl ConvertOptions {
    /// The form that is asked for, unless the ending of the output is that of another: it could not be read again.
    fn format(&self, output: &Path) -> Result<Format> {
        let of_ending = Format::of_output(output);
        match (self.to, of_ending) {
            (None, of_ending) => Ok(of_ending?),
            (Some(to), Ok(ending)) if ending != Format::Compact && ending != to => {
                let (output, to, ending) = (output.display(), to.code(), ending.code());
                let message = format!("expected `{ending}` for {output}, found `{to}`");
                Err(Error::InvalidOption { what: "form", message })
            }
            (Some(to), _) => Ok(to),
        }
    }

    /// What the builder of a compact form recorded, and what was done to it since.
    fn manifest(&self, input: &Path) -> Result<Table> {
        if !input.join(compact::MANIFEST).is_file() {
            return Ok(Table::new());
        }
        let mut manifest = compact::read_manifest(input)?.extra;
        let mut done = Table::new();
        if !self.set.splits.is_empty() {
            let splits: Vec<&str> = self.set.splits.iter().map(|split| split.code()).collect();
            done.insert("splits".into(), splits.into());
        }
        if let Some(class) = self.set.class {
            done.insert("class".into(), class.code().into());
        }
        if let Some(seed) = self.anonymise {
            done.insert("anonymised_with_seed".into(), seed.cast_signed().into());
        }
        if !done.is_empty() {
            manifest.insert("converted".into(), done.into());
        }
        Ok(manifest)
    }
}
