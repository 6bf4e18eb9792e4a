//! `goldilocks convert`: CBT text ⇄ JSON lines ⇄ Parquet ⇄ the compact form.

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::ConvertOptions;
use goldilocks::questions::Format;

use crate::args::{self, SelectionArgs};
use crate::failure::{CliError, warn};
use crate::progress::Progress;
use crate::stdio;

/// Options of `convert`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A question set: folder or file; `-` is standard input, in JSON lines
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Where to write: .txt, .jsonl or .parquet; a folder is the compact form; `-` is standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Form to write, where OUT's ending does not say: cbt (a folder in the released layout), jsonl, parquet, compact, hf
    /// (the Hugging Face hub's layout, for `datasets.load_dataset`), lm-eval (tasks of lm-evaluation-harness)
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
    Format::from_code(code)
        .ok_or_else(|| "expected cbt, jsonl, parquet, compact, hf or lm-eval".to_owned())
}

/// Reads one form, writes the other.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let converting = ConvertOptions {
        to: options.to,
        set: options.selection.options(),
        anonymise: options.anonymise.then_some(options.seed),
        overwrite: options.force,
    };
    let input = stdio::input(&options.input, "jsonl")?;
    let output = stdio::Output::new(&options.output, options.ending()?)?;
    let n = goldilocks::convert(&input, output.path(), &converting, progress)?;
    let is_text = options.output.extension().is_some_and(|ending| ending == "txt");
    if options.to == Some(Format::Cbt) || options.to.is_none() && is_text {
        warn(format_args!(
            "the CBT's text has no place for class, split and book: .jsonl and .parquet keep them"
        ));
    }
    let questions = super::counted(n, "question");
    let name = output.name();
    output.finish(progress, format_args!("{questions} in {name}\n"))
}

impl Options {
    /// The ending of what goes to standard output, which takes the forms of one file.
    fn ending(&self) -> Result<&'static str> {
        match self.to {
            Some(Format::Cbt) => Ok("txt"),
            Some(Format::Parquet) => Ok("parquet"),
            Some(form @ (Format::Compact | Format::LmEval | Format::HuggingFace))
                if stdio::is_dash(&self.output) =>
            {
                let message = format!(
                    "{} is a folder: expected cbt, jsonl or parquet for standard output",
                    form.code()
                );
                Err(CliError::Setting { what: "form", message }.into())
            }
            _ => Ok("jsonl"),
        }
    }
}
