//! `goldilocks convert`: CBT text ⇄ JSON lines ⇄ Parquet ⇄ the compact form.

use std::path::PathBuf;

use anyhow::Result;
use questions::{Format, compact};
use toml::Table;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::sets::{self, Origin};

/// Options of `convert`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A question set: folder or file
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Where to write: .txt, .jsonl or .parquet; a folder is the compact form
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Form to write, where OUT's ending does not tell: cbt (a folder in the released layout), jsonl, parquet, compact
    #[arg(long, value_name = "FORM", value_parser = format)]
    to: Option<Format>,
    #[command(flatten)]
    origin: Origin,
    /// Replace the candidates of each question by placeholders (Appendix D)
    #[arg(long)]
    anonymise: bool,
    /// Seed that the placeholders are drawn from
    #[arg(long, value_name = "N", default_value_t = 1, requires = "anonymise", value_parser = super::seed())]
    seed: u64,
    /// Replace the output if it is there
    #[arg(long)]
    force: bool,
}

fn format(code: &str) -> Result<Format, String> {
    Format::from_code(code).ok_or_else(|| "expected cbt, jsonl, parquet or compact".to_owned())
}

/// Reads one form, writes the other.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    let format = options.format()?;
    let mut set = sets::open(&options.input, &options.origin, &options.origin.on, progress)?;
    if options.anonymise {
        set = questions::anonymise(&set, options.seed);
    }
    let writing = progress.spinner("write", options.output.display().to_string());
    match format {
        Format::Compact => {
            compact::write(&set, &options.output, options.manifest()?, options.force)?;
        }
        _ => set.write(&options.output, format, options.force)?,
    }
    writing.finish_and_clear();
    let questions = super::counted(set.len(), "question");
    super::print(format_args!("{questions} in {}\n", options.output.display()))
}

impl Options {
    /// `--to`, unless the ending of the output says another form: it could not be read again.
    fn format(&self) -> Result<Format> {
        let of_ending = Format::of_output(&self.output);
        match (self.to, of_ending) {
            (None, of_ending) => Ok(of_ending?),
            (Some(to), Ok(ending)) if ending != Format::Compact && ending != to => {
                let (output, to, ending) = (self.output.display(), to.code(), ending.code());
                let message = format!("expected `{ending}` for {output}, found `{to}`");
                Err(Failure::Setting { what: "--to", message }.into())
            }
            (Some(to), _) => Ok(to),
        }
    }

    /// What the maker of a compact form said of it, and what was done to it since.
    fn manifest(&self) -> Result<Table> {
        if !self.input.join(compact::MANIFEST).is_file() {
            return Ok(Table::new());
        }
        let mut manifest = compact::read_manifest(&self.input)?;
        manifest.remove("set");
        let mut done = Table::new();
        if !self.origin.on.is_empty() {
            let splits: Vec<&str> = self.origin.on.iter().map(|split| split.code()).collect();
            done.insert("on".into(), splits.into());
        }
        if let Some(class) = self.origin.class {
            done.insert("class".into(), class.code().into());
        }
        if self.anonymise {
            done.insert("anonymised_with_seed".into(), i64::try_from(self.seed)?.into());
        }
        if !done.is_empty() {
            manifest.insert("converted".into(), done.into());
        }
        Ok(manifest)
    }
}
