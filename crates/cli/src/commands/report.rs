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
    /// Tables to fill: table-2, validation, cnn, ablation, anonymised, windows, goldilocks, variants [default: table-2;
    /// validation if no test question was answered]
    #[arg(long = "table", value_name = "TABLE", value_parser = table)]
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
        command: options.command(),
    };
    let text = goldilocks::report(&report, &options.output, options.force, progress)?;
    super::print(format_args!("{text}"))?;
    super::print(format_args!("\n{}\n", options.output.join("index.html").display()))
}

impl Options {
    /// The command that makes the same report.
    fn command(&self) -> String {
        let SelectionArgs { class, splits, default_class, default_split, skip } = &self.selection;
        let mut command = "goldilocks report".to_owned();
        for path in &self.predictions {
            command += &format!(" {}", path.display());
        }
        let mut flag = |flag: &str, value: String| command += &format!(" --{flag} {value}");
        flag("questions", self.questions.display().to_string());
        class.iter().for_each(|class| flag("class", class.code().to_owned()));
        splits.iter().for_each(|split| flag("split", split.code().to_owned()));
        default_class.iter().for_each(|class| flag("default-class", class.code().to_owned()));
        default_split.iter().for_each(|split| flag("default-split", split.code().to_owned()));
        self.tables.iter().for_each(|table| flag("table", table.code().to_owned()));
        for (file, name) in &self.labels {
            flag("label", format!("\"{}={name}\"", file.display()));
        }
        let switches = [("skip-bad", skip.skip_bad), ("beside-paper", self.beside_paper)];
        for (switch, _) in switches.into_iter().filter(|(_, is_on)| *is_on) {
            command += &format!(" --{switch}");
        }
        if self.seed == 1 { command } else { command + &format!(" --seed {}", self.seed) }
    }
}
