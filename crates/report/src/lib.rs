//! Results in, the paper's tables out (§5, Appendices B to E): ours and the published figures, as text
//! for the terminal, Markdown, LaTeX, CSV and one self-contained HTML page.
//!
//! ```text
//! Report ─tables─▶ Table ─layout─▶ Grid ─┬─ text, Markdown, LaTeX (formats)
//!    │                └─ CSV              └─ HTML, with pictures and details (page)
//!    └─ every figure comes from `evaluation`, every published one from `paper`
//! ```
//!
//! Same report, same bytes: there is no clock, and the bootstrap draws from a fixed seed.

mod charts;
mod details;
mod error;
mod explained;
mod files;
mod formats;
pub mod language_models;
mod number;
mod page;
pub mod paper;
pub mod reading;
mod side_by_side;
mod tables;

#[cfg(test)]
mod fixture;

use std::path::{Path, PathBuf};

use evaluation::MatchedPredictions;
use questions::{QuestionSet, Statistics};

pub use error::Error;
pub use explained::ExplainedQuestion;
use files::{FileKind, PAGE, TABLE_1};
use formats::{csv, latex, markdown, text};
pub use number::{count as thousands, difference, interval, share, weight};
pub use page::{ICON, STYLE};
pub use paper::TableKind;
pub use reading::book_title;
pub use side_by_side::{TableForm, side_by_side};
pub use tables::statistics::table_1;
use tables::{Grid, Table, statistics};

/// Everything that a report is made from.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The heading of the page.
    pub title: String,
    /// What the question set is called in titles: `the tales`, `my-books`.
    pub set_name: String,
    /// Whether the paper's rows and figures are wanted on questions that are not the paper's.
    pub beside_paper: bool,
    /// The tables to print; the pictures and details are about the first.
    pub tables: Vec<TableKind>,
    /// Whether Table 1, the statistics of the set, is wanted.
    pub statistics: bool,
    /// Ours, in the order in which rows beyond the paper's are printed.
    pub rows: Vec<Row<'a>>,
    /// The questions, for passages and for the frequency of answers.
    pub set: &'a QuestionSet,
    /// What the figures were made from.
    pub provenance: Provenance,
}

/// A model, an ensemble, people or another program.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The model's name: `memnn-window-selfsup`; `humans-query` and `humans-context-query` for people.
    pub name: String,
    /// The id of the row of the paper that it reproduces ([`paper`]); none for a row beyond the paper's. On the
    /// Goldilocks curve, its place: `goldilocks/positions/5`, `goldilocks/bag/sentences`.
    pub paper_row: Option<String>,
    /// What a row beyond the paper's is called; the paper's rows keep the paper's labels.
    pub label: String,
    /// The settings that were not left at their defaults, as text.
    pub settings: Vec<(String, String)>,
    /// In words, where the recipe is not the paper's: every table marks such a row, and counts apart how often it
    /// agrees with the paper.
    pub differs: Option<String>,
    /// One run per seed; figures of several seeds are means.
    pub runs: Vec<Run<'a>>,
    /// What it looked at in some questions (Figure 2), where it is known.
    pub explained: Vec<ExplainedQuestion>,
    /// How its training went, where that is known: the first seed's.
    pub training: Vec<Epoch>,
}

/// Loss and validation of one epoch of training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// Counted from 1.
    pub number: usize,
    /// Mean loss on what was learnt from.
    pub loss: f64,
    /// Accuracy on the validation questions, if it was measured.
    pub valid_accuracy: Option<f64>,
    /// Mean loss on the validation text, if it was measured.
    pub valid_loss: Option<f64>,
    /// Whether it is the epoch whose weights the model has.
    pub is_kept: bool,
}

/// The answers of one trained model.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The seed that it was trained or drawn from.
    pub seed: u64,
    /// The version of the program that made it.
    pub version: String,
    /// Its predictions, all splits together, fitted to the question set.
    pub predictions: MatchedPredictions<'a>,
}

/// What a reader needs to trace the figures.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// Which questions were answered.
    pub source: Source,
    /// The hash of the question set.
    pub data_hash: String,
    /// The program's version and commit.
    pub version: String,
    /// The day of the run, as the caller writes it.
    pub date: String,
    /// The commands that made it, in order.
    pub commands: Vec<String>,
}

/// Which questions were answered: it decides whether a difference from the paper means anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The released files of the data set.
    Released,
    /// The paper's books, with questions built again from them.
    Rebuilt,
    /// The embedded tales: another, much smaller test.
    Tales,
    /// Other books than the paper's.
    Other,
    /// Some of the released questions of CNN QA.
    Sample,
    /// Questions like those of CNN QA, made from news articles.
    Made,
    /// The same, made from the embedded articles.
    News,
}

impl Source {
    /// The name of the source in tables.
    pub fn label(self) -> &'static str {
        ["released", "rebuilt", "tales", "other books", "sample", "made from articles", "news"]
            [self as usize]
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::Released => "Questions: the files that the paper’s authors released.",
            Self::Rebuilt => {
                "Questions: built again from the paper’s books, not the released ones."
            }
            Self::Tales => {
                "Questions: from the embedded tales, a much smaller test than the paper’s."
            }
            Self::Other => "Questions: from other books than the paper’s.",
            Self::Sample => {
                "Questions: a small sample of the released ones; note how wide the intervals are."
            }
            Self::Made => "Questions: made from news articles, not the released ones.",
            Self::News => {
                "Questions: made from the embedded articles, a much smaller test than the paper’s."
            }
        }
    }

    /// Whether the paper's figures are about the same kind of questions.
    fn is_comparable(self) -> bool {
        matches!(self, Self::Released | Self::Rebuilt | Self::Sample)
    }
}

/// The tables for a terminal of a width: plain text, no colour.
///
/// # Errors
/// [`Error::Evaluation`] where predictions give no figure.
pub fn text(report: &Report<'_>, width: usize) -> Result<String, Error> {
    let grids = grids_of(report, &tables_of(report)?);
    let written: Vec<String> = grids.iter().map(|(_, grid)| text::write(grid, width)).collect();
    Ok(written.join("\n"))
}

/// Writes `index.html` and each table as `.md`, `.tex` and `.csv` into a folder and returns their paths.
///
/// # Errors
/// [`Error::Exists`] where a report is there already and `overwrite` is not set; [`Error::ForeignFolder`] where
/// the folder holds anything else; [`Error::File`]; [`Error::Evaluation`] where predictions give no figure.
pub fn write(report: &Report<'_>, folder: &Path, overwrite: bool) -> Result<Vec<PathBuf>, Error> {
    let tables = tables_of(report)?;
    let grids = grids_of(report, &tables);
    let mut files = vec![(PAGE.to_owned(), page::write(report, &tables, &grids)?)];
    let has_curve = |name: &str| {
        tables.iter().any(|table| table.kind.code() == name && charts::Curve::of(table).is_some())
    };
    for (name, grid) in &grids {
        let picture = if has_curve(name) {
            markdown::picture(grid, &FileKind::CurveSvg.file_name(name))
        } else {
            String::new()
        };
        files.push((FileKind::Markdown.file_name(name), picture + &markdown::write(grid)));
        files.push((FileKind::Latex.file_name(name), latex::write(grid)));
    }
    if report.statistics {
        let statistics = Statistics::of(report.set);
        files.push((FileKind::Csv.file_name(TABLE_1), statistics::csv(&statistics)));
    }
    for table in &tables {
        let code = table.kind.code();
        files.push((FileKind::Csv.file_name(code), csv::write(table)));
        if let Some(curve) = charts::Curve::of(table) {
            files.push((FileKind::CurveSvg.file_name(code), curve.file()));
            files.push((FileKind::CurveLatex.file_name(code), curve.latex()));
        }
    }
    files::write_all(folder, &files, overwrite)
}

/// The tables of accuracies, in the report's order.
fn tables_of(report: &Report<'_>) -> Result<Vec<Table>, Error> {
    report.tables.iter().map(|&kind| Table::of(report, kind)).collect()
}

/// Every table as it is printed, with its file name, Table 1 first.
fn grids_of(report: &Report<'_>, tables: &[Table]) -> Vec<(&'static str, Grid)> {
    let table_1 = || statistics::grid(&Statistics::of(report.set), &report.provenance);
    let table_1 = report.statistics.then(|| (TABLE_1, table_1()));
    let tables = tables.iter().map(|table| (table.kind.code(), tables::grid(table)));
    table_1.into_iter().chain(tables).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_the_page_and_three_files_a_table_the_same_twice() {
        let set = fixture::set();
        let report = fixture::report(&set);
        let folder = tempfile::tempdir().unwrap();
        let paths = write(&report, folder.path(), false).unwrap();
        let names: Vec<_> =
            paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["index.html", "anonymised.md", "anonymised.tex", "anonymised.csv"]);
        let read = || paths.iter().map(|path| std::fs::read(path).unwrap()).collect::<Vec<_>>();
        let first = read();
        write(&report, folder.path(), true).unwrap();
        assert_eq!(read(), first);
    }

    #[test]
    fn the_terminal_shows_ours_alone_on_the_tales() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        assert!(text(&report, 100).unwrap().contains("  paper"));
        report.provenance.source = Source::Tales;
        let text = text(&report, 100).unwrap();
        assert!(!text.contains("  paper") && !text.contains("not run"), "{text}");
        assert!(text.contains("Not comparable with the paper: different questions."), "{text}");
        assert!(text.contains("MemNNs (window mem.)"), "{text}");
    }
}
