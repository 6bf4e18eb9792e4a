//! `goldilocks report PRED.jsonl…`: predictions, of whatever origin, in the paper's tables.

use std::path::PathBuf;

use anyhow::Result;
use evaluation::{Predictions, QuestionIndex};
use report::{Provenance, Report, Row, Run, TableKind};

use crate::cli::VERSION;
use crate::date::today;
use crate::progress::Progress;
use crate::sets::{self, Origin};

/// Options of `report`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Predictions files; a row is named after its file: memnn-window.jsonl is that row of the paper's tables
    #[arg(value_name = "PRED.jsonl", required = true)]
    predictions: Vec<PathBuf>,
    /// The question set that was answered
    #[arg(long, value_name = "SET")]
    questions: PathBuf,
    #[command(flatten)]
    origin: Origin,
    /// Tables to fill: table-2, validation, cnn, ablation, anonymised, windows, goldilocks, variants
    #[arg(long = "table", value_name = "TABLE", default_value = "table-2", value_parser = table)]
    tables: Vec<TableKind>,
    /// Seed that the predictions come from, for the table's notes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::seed())]
    seed: u64,
    /// Folder to write the report into
    #[arg(short, long, value_name = "DIR", default_value = "report")]
    output: PathBuf,
    /// Replace the report if it is there
    #[arg(long)]
    force: bool,
}

fn table(code: &str) -> Result<TableKind, String> {
    let known = || TableKind::ALL.map(TableKind::code).join(", ");
    TableKind::from_code(code).ok_or_else(|| format!("expected one of {}", known()))
}

/// Checks the predictions against the questions, writes the report, prints its tables.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    let read = |path: &PathBuf| Predictions::read(path);
    let files: Vec<Predictions> = options.predictions.iter().map(read).collect::<Result<_, _>>()?;
    let set = sets::open_answered(&options.questions, &options.origin, &[], progress)?;
    let index = QuestionIndex::new(&set, &files).select(options.origin.only());
    let row = |(path, file): (&PathBuf, &Predictions)| -> Result<Row<'_>> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let label = models::find(&name).map_or_else(|_| name.clone(), |entry| entry.row.to_owned());
        let predictions = index.check(file.clone())?;
        let runs = vec![Run { seed: options.seed, version: VERSION.to_owned(), predictions }];
        Ok(Row { name, label, settings: Vec::new(), runs, looked: Vec::new() })
    };
    let rows = options.predictions.iter().zip(&files).map(row).collect::<Result<_>>()?;
    let names: Vec<String> =
        options.predictions.iter().map(|path| path.display().to_string()).collect();
    let report = Report {
        title: "The Goldilocks Principle".to_owned(),
        tables: options.tables.clone(),
        statistics: false,
        rows,
        set: &set,
        provenance: Provenance {
            source: sets::source(&options.questions, &set),
            data_hash: sets::hash(&options.questions)?,
            version: VERSION.to_owned(),
            date: today(),
            commands: vec![format!(
                "goldilocks report {} --questions {}",
                names.join(" "),
                options.questions.display()
            )],
        },
    };
    let writing = progress.spinner("report", options.output.display().to_string());
    report::write(&report, &options.output, options.force)?;
    writing.finish_and_clear();
    super::print(format_args!("{}", report::text(&report)?))?;
    super::print(format_args!("\n{}\n", options.output.join("index.html").display()))
}
