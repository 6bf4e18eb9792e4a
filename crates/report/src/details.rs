//! What follows the tables: pairs of models, accuracy by book, by place and by frequency of the
//! answer, the questions that every model misses, the people who answered. Report and its first table → sections.

pub mod breakdowns;
pub mod missed;
pub mod pairs;
pub mod people;

use evaluation::MatchedPredictions;

use crate::Report;
use crate::chart::Chart;
use crate::grid::Grid;
use crate::table::{Table, TableRow};

/// A picture and the same figures as a table.
#[derive(Debug)]
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// What the reader looks at.
    pub text: String,
    /// The picture.
    pub chart: Chart,
    /// The figures.
    pub grid: Grid,
}

/// The rows of a table that models of ours answered, people left out.
fn models(table: &Table) -> impl Iterator<Item = (&TableRow, usize)> {
    table.rows.iter().filter(|row| !row.is_people).filter_map(|row| Some((row, row.ours?)))
}

/// The predictions of a row's first seed: pairs and details are about one run.
fn first_run<'r, 'a>(report: &'r Report<'a>, row: usize) -> &'r MatchedPredictions<'a> {
    &report.rows[row].runs[0].predictions
}
