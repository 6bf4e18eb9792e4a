//! `goldilocks report PRED.jsonl…`: predictions, of whatever origin, in the paper's tables.

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::ReportOptions;
use goldilocks::report::TableKind;

use crate::args::{self, SelectionArgs};
use crate::cli::program;
use crate::date::today;
use crate::failure::CliError;
use crate::progress::Progress;

/// Options of `report`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Predictions files; a row is named after its file if that is a row of the paper's tables (memnn-window.jsonl), else
    /// after the model that answered
    #[arg(value_name = "PRED.jsonl", required = true)]
    predictions: Vec<PathBuf>,
    /// The question set that was answered
    #[arg(long, value_name = "SET")]
    questions: PathBuf,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Tables to fill: table-2, validation, cnn, ablation, anonymised, windows, goldilocks, variants
    #[arg(long = "table", value_name = "TABLE", default_value = "table-2", value_parser = table)]
    tables: Vec<TableKind>,
    /// What the tables call a file; may be given several times
    #[arg(long = "label", value_name = "FILE=NAME", value_parser = label)]
    labels: Vec<(PathBuf, String)>,
    /// Show the paper's rows and figures too, on questions that are not the paper's
    #[arg(long)]
    beside_paper: bool,
    /// Seed that the predictions come from, for the table's notes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
    /// Folder to write the report into
    #[arg(short, long, value_name = "DIR", default_value = "report")]
    output: PathBuf,
    /// Overwrite an existing report
    #[arg(long)]
    force: bool,
}

fn label(text: &str) -> Result<(PathBuf, String), String> {
    let parts = text.rsplit_once('=').filter(|(file, name)| !file.is_empty() && !name.is_empty());
    let (file, name) = parts.ok_or("expected FILE=NAME")?;
    Ok((file.into(), name.to_owned()))
}

fn table(code: &str) -> Result<TableKind, String> {
    let known = || TableKind::ALL.map(TableKind::code).join(", ");
    TableKind::from_code(code).ok_or_else(|| format!("expected one of {}", known()))
}

/// Checks the predictions against the questions, writes the report, prints its tables.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let names: Vec<String> =
        options.predictions.iter().map(|path| path.display().to_string()).collect();
    let set = options.questions.display();
    let unknown = options.labels.iter().find(|(file, _)| !options.predictions.contains(file));
    if let Some((file, _)) = unknown {
        let message = format!("`{}` is not one of the predictions files", file.display());
        return Err(CliError::Setting { what: "--label", message }.into());
    }
    let report = ReportOptions {
        predictions: options.predictions.clone(),
        labels: options.labels.clone(),
        questions: options.questions.clone(),
        set: options.selection.options(),
        tables: options.tables.clone(),
        beside_paper: options.beside_paper,
        seed: options.seed,
        program: program(),
        date: today(),
        command: format!("goldilocks report {} --questions {set}", names.join(" ")),
    };
    let text = goldilocks::report(&report, &options.output, options.force, progress)?;
    super::print(format_args!("{text}"))?;
    super::print(format_args!("\n{}\n", options.output.join("index.html").display()))
}
