//! Predictions, of whatever origin → the paper's tables.

use std::path::{Path, PathBuf};

use ::report::{Provenance, Report, Row, Run, TableKind};
use evaluation::{Predictions, QuestionIndex};

use crate::progress::during;
use crate::sets::{self, SetOptions};
use crate::{Program, Reporter, Result};

/// What [`report()`] shows.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// Predictions files; a row is named after its file: `memnn-window.jsonl` is that row of the paper's tables.
    pub predictions: Vec<PathBuf>,
    /// The question set that was answered.
    pub questions: PathBuf,
    /// Which questions of it.
    pub set: SetOptions,
    /// The tables to fill.
    pub tables: Vec<TableKind>,
    /// The seed that the predictions come from, for the notes of the table.
    pub seed: u64,
    /// The program that the notes name.
    pub program: Program,
    /// The date that the notes name.
    pub date: String,
    /// The command that makes the same report, for the notes.
    pub command: String,
}

/// Checks the predictions against the questions, writes the report's folder and returns its tables as text.
///
/// # Errors
/// If a file can't be read or does not fit the set, or the folder can't be written.
pub fn report(
    options: &ReportOptions,
    folder: &Path,
    overwrite: bool,
    reporter: &dyn Reporter,
) -> Result<String> {
    let read = |path: &PathBuf| Predictions::read(path);
    let files: Vec<Predictions> = options.predictions.iter().map(read).collect::<Result<_, _>>()?;
    let set = sets::open_answered(&options.questions, &options.set, &[], reporter)?;
    let index = QuestionIndex::new(&set, &files).select(options.set.selection());
    let version = options.program.to_string();
    let row = |(path, file): (&PathBuf, &Predictions)| -> Result<Row<'_>> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let label = report::paper::label(&name).unwrap_or(&name).to_owned();
        let predictions = index.check(file.clone())?;
        let runs = vec![Run { seed: options.seed, version: version.clone(), predictions }];
        Ok(Row {
            paper_row: Some(name.clone()),
            name,
            label,
            settings: Vec::new(),
            runs,
            explained: Vec::new(),
        })
    };
    let report = Report {
        title: "The Goldilocks Principle".to_owned(),
        tables: options.tables.clone(),
        statistics: false,
        rows: options.predictions.iter().zip(&files).map(row).collect::<Result<_>>()?,
        set: &set,
        provenance: Provenance {
            source: sets::source(&options.questions, &set),
            data_hash: set.fingerprint(),
            version: version.clone(),
            date: options.date.clone(),
            commands: vec![options.command.clone()],
        },
    };
    let write = || ::report::write(&report, folder, overwrite);
    during(reporter, "report", folder.display().to_string(), write)?;
    Ok(::report::text(&report)?)
}
