//! Predictions, of whatever origin → the paper's tables.

mod try_book;

use std::path::{Path, PathBuf};

use ::report::language_models::{self, LanguageModelRow};
use ::report::{ExplainedQuestion, Provenance, Report, Row, Run, Source, TableKind};
use base::{Selection, Split};
use evaluation::{Predictions, QuestionIndex};
use questions::QuestionSet;

use crate::progress::during;
use crate::sets::{self, SetOptions};
use crate::{Program, Reporter, Result};

pub use try_book::{Tried, TryOptions, try_book};

/// Options of [`report()`].
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// Predictions files; a row is named after its file, `memnn-window.jsonl`, or else after the model that answered.
    pub predictions: Vec<PathBuf>,
    /// What files are called in the tables, in place of that.
    pub labels: Vec<(PathBuf, String)>,
    /// The question set that was answered.
    pub questions: PathBuf,
    /// Which questions of it.
    pub set: SetOptions,
    /// The tables to fill; if empty, the one of the split that was answered.
    pub tables: Vec<TableKind>,
    /// Whether the paper's rows and figures are wanted on questions that are not the paper's.
    pub beside_paper: bool,
    /// The seed that the predictions come from, for the notes of the table.
    pub seed: u64,
    /// The program that the notes name.
    pub program: Program,
    /// The date that the notes name.
    pub date: String,
    /// The command that makes the same report, for the notes.
    pub command: String,
}

/// Reads the files, and writes the report as [`ReportInputs::write`] does.
///
/// # Errors
/// If a file can't be read or does not fit the set, or the folder can't be written.
pub fn report(
    options: &ReportOptions,
    folder: &Path,
    overwrite: bool,
    reporter: &dyn Reporter,
) -> Result<String> {
    // Language models on servers have a section of their own, where a sample of the questions is enough.
    let (servers, trained) = of_servers(&options.predictions)?;
    let read = |path: &PathBuf| -> Result<_> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let label = options.labels.iter().find(|(of, _)| of == path);
        let label = label.map(|(_, label)| label.clone());
        Ok(ReportRow { name, label, predictions: Predictions::read(path)? })
    };
    let rows = trained.iter().map(read).collect::<Result<_>>()?;
    let set = sets::open_answered(&options.questions, &options.set, &[], reporter)?;
    let inputs = ReportInputs {
        rows,
        set_name: sets::name(&options.questions),
        beside_paper: options.beside_paper,
        source: sets::source(&options.questions, &set),
        set: &set,
        selection: options.set.selection(),
        tables: options.tables.clone(),
        explained: Vec::new(),
        seed: options.seed,
        program: options.program.clone(),
        date: options.date.clone(),
        command: options.command.clone(),
    };
    let mut text = inputs.write(folder, overwrite, reporter)?;
    if !servers.is_empty() {
        let section = language_models::section(&servers);
        crate::write_file(&folder.join(language_models::FILE), &section)?;
        text = text + "\n" + &section;
    }
    Ok(text)
}

/// The rows of language models on servers, and the other predictions files.
#[cfg(feature = "servers")]
fn of_servers(paths: &[PathBuf]) -> Result<(Vec<LanguageModelRow>, Vec<PathBuf>)> {
    let (mut rows, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        let Some((run, asked)) = crate::server::server_run(path)? else {
            others.push(path.clone());
            continue;
        };
        for results in evaluation::evaluate(&Predictions::read(path)?)? {
            rows.push(LanguageModelRow {
                model: match &run.server.file {
                    Some(file) => format!("{} ({file})", run.server.model),
                    None => run.server.model.clone(),
                },
                asked: asked.clone(),
                split: results.split.map_or("", base::Split::code).to_owned(),
                classes: results.classes,
            });
        }
    }
    Ok((rows, others))
}

#[cfg(not(feature = "servers"))]
fn of_servers(paths: &[PathBuf]) -> Result<(Vec<LanguageModelRow>, Vec<PathBuf>)> {
    Ok((Vec::new(), paths.to_vec()))
}

/// Predictions that a report is to show.
pub struct ReportRow {
    /// What they are called: `memnn-window` is that row of the paper's tables.
    pub name: String,
    /// What the tables call them in place of that.
    pub label: Option<String>,
    /// What was answered.
    pub predictions: Predictions,
}

/// What a report is made from, in memory.
pub struct ReportInputs<'a> {
    /// The rows of its tables.
    pub rows: Vec<ReportRow>,
    /// The question set that was answered.
    pub set: &'a QuestionSet,
    /// What it is called in titles.
    pub set_name: String,
    /// Whether the paper's rows and figures are wanted on questions that are not the paper's.
    pub beside_paper: bool,
    /// Where it comes from.
    pub source: Source,
    /// Which questions of it.
    pub selection: Selection,
    /// The tables to fill; if empty, the one of the split that was answered.
    pub tables: Vec<TableKind>,
    /// What models looked at in some questions.
    pub explained: Vec<ExplainedQuestion>,
    /// The seed that the predictions come from, for the notes of the table.
    pub seed: u64,
    /// The program that the notes name.
    pub program: Program,
    /// The date that the notes name.
    pub date: String,
    /// The command that makes the same report, for the notes.
    pub command: String,
}

impl ReportInputs<'_> {
    /// What a row is called: its own name if that is a row of the paper's; else the model that answered, unless others
    /// are of that model too.
    fn name_of<'r>(&self, row: &'r ReportRow) -> &'r str {
        let is_known = |name: &str| report::paper::label(name).is_some();
        let n_of = |model: &str| {
            let others = self
                .rows
                .iter()
                .filter(|other| other.predictions.model() == Some(model) || other.name == model);
            others.count()
        };
        let model = row.predictions.model().filter(|model| n_of(model) == 1);
        match model {
            Some(model) if !is_known(&row.name) => model,
            _ => &row.name,
        }
    }

    /// Checks the predictions against the questions, writes the report's folder and returns its tables as text.
    ///
    /// # Errors
    /// If predictions do not fit the set, or the folder can't be written.
    pub fn write(&self, folder: &Path, overwrite: bool, reporter: &dyn Reporter) -> Result<String> {
        let files: Vec<Predictions> = self.rows.iter().map(|row| row.predictions.clone()).collect();
        let index = QuestionIndex::new(self.set, &files).select(self.selection.clone());
        let version = self.program.to_string();
        let row = |(row, file): (&ReportRow, Predictions)| -> Result<Row<'_>> {
            let name = self.name_of(row);
            let label = row.label.as_deref().or_else(|| report::paper::label(name)).unwrap_or(name);
            let is_of = |question: &&ExplainedQuestion| question.model.as_deref() == Some(name);
            let predictions = index.check(file)?;
            let runs = vec![Run { seed: self.seed, version: version.clone(), predictions }];
            Ok(Row {
                // A file that was given a name of its own keeps it: it is no row of the paper's.
                paper_row: row.label.is_none().then(|| name.to_owned()),
                name: name.to_owned(),
                label: label.to_owned(),
                settings: Vec::new(),
                differs: None,
                runs,
                explained: self.explained.iter().filter(is_of).cloned().collect(),
                training: Vec::new(),
            })
        };
        let rows: Vec<Row<'_>> = self.rows.iter().zip(files).map(row).collect::<Result<_>>()?;
        let tables = match &self.tables[..] {
            [] => vec![table_of_answers(&rows)],
            tables => tables.to_vec(),
        };
        let report = Report {
            title: format!("Results on {}", self.set_name),
            set_name: self.set_name.clone(),
            beside_paper: self.beside_paper,
            tables,
            statistics: false,
            rows,
            set: self.set,
            provenance: Provenance {
                source: self.source,
                data_hash: self.set.fingerprint(),
                version: version.clone(),
                date: self.date.clone(),
                commands: vec![self.command.clone()],
            },
        };
        let write = || ::report::write(&report, folder, overwrite);
        during(reporter, "report", folder.display().to_string(), write)?;
        Ok(::report::text(&report, reporter.width())?)
    }
}

/// The validation table if validation questions were answered and no test questions, else Table 2.
fn table_of_answers(rows: &[Row<'_>]) -> TableKind {
    let runs = rows.iter().flat_map(|row| &row.runs);
    let splits: Vec<_> = runs.flat_map(|run| run.predictions.predictions().splits()).collect();
    match splits.contains(&Some(Split::Valid)) && !splits.contains(&Some(Split::Test)) {
        true => TableKind::Validation,
        false => TableKind::Table2,
    }
}
