//! `goldilocks convert`: CBT text ⇄ JSON lines ⇄ Parquet ⇄ the compact form.

use std::path::PathBuf;

use anyhow::Result;
use questions::Format;

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
    /// Replace the candidates of each question by placeholders, drawn from this seed (Appendix D)
    #[arg(long, value_name = "SEED", num_args = 0..=1, default_missing_value = "1", value_parser = super::seed())]
    anonymise: Option<u64>,
    /// Replace the output if it is there
    #[arg(long)]
    force: bool,
}

fn format(code: &str) -> Result<Format, String> {
    Format::from_code(code).ok_or_else(|| "expected cbt, jsonl, parquet or compact".to_owned())
}

/// Reads one form, writes the other.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    let format = match options.to {
        Some(format) => format,
        None => Format::of_output(&options.output)?,
    };
    let mut set = sets::open(&options.input, &options.origin, &options.origin.on, progress)?;
    if let Some(seed) = options.anonymise {
        set = questions::anonymise(&set, seed);
    }
    let writing = progress.spinner("write", options.output.display().to_string());
    set.write(&options.output, format, options.force)?;
    writing.finish_and_clear();
    let questions = super::counted(set.len(), "question");
    super::print(format_args!("{questions} in {}\n", options.output.display()))
}
