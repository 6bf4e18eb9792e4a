//! `goldilocks convert`: CBT text ⇄ JSON lines ⇄ Parquet ⇄ the compact form.

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::ConvertOptions;
use goldilocks::questions::Format;

use crate::args::{self, SelectionArgs};
use crate::progress::Progress;

/// Options of `convert`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A question set: folder or file
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Where to write: .txt, .jsonl or .parquet; a folder is the compact form
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Form to write, where OUT's ending does not say: cbt (a folder in the released layout), jsonl, parquet, compact
    #[arg(long, value_name = "FORM", value_parser = format)]
    to: Option<Format>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Replace the candidates of each question by placeholders (Appendix D)
    #[arg(long)]
    anonymise: bool,
    /// Seed that the placeholders are drawn from
    #[arg(long, value_name = "N", default_value_t = 1, requires = "anonymise", value_parser = args::seed())]
    seed: u64,
    /// Overwrite existing output
    #[arg(long)]
    force: bool,
}

fn format(code: &str) -> Result<Format, String> {
    Format::from_code(code).ok_or_else(|| "expected cbt, jsonl, parquet or compact".to_owned())
}

/// Reads one form, writes the other.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let converting = ConvertOptions {
        to: options.to,
        set: options.selection.options(),
        anonymise: options.anonymise.then_some(options.seed),
        overwrite: options.force,
    };
    let n = goldilocks::convert(&options.input, &options.output, &converting, progress)?;
    let questions = super::counted(n, "question");
    super::print(format_args!("{questions} in {}\n", options.output.display()))
}
