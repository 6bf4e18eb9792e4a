//! What follows the tables: pairs of models, accuracy by book, by place and by frequency of the
//! answer, the questions that every model misses, the people who answered. Report and its first table → sections.

pub mod breakdowns;
pub mod missed;
pub mod pairs;
pub mod people;

use evaluation::{MatchedPredictions, Predictions};
use questions::Split;

use crate::charts::Chart;
use crate::tables::{Grid, Table, TableRow};
use crate::{Error, Report};

/// The seed of all bootstraps: a report of the same results has the same bytes.
pub const BOOTSTRAP_SEED: u64 = 1;

/// A picture and the same figures as a table.
#[derive(Debug)]
pub struct Section {
    /// The text above the chart and the grid.
    pub title: &'static str,
    /// What to look for in the picture.
    pub text: String,
    /// The figures as a drawing.
    pub chart: Chart,
    /// The same figures as a table.
    pub grid: Grid,
}

/// The rows of a table that models of ours answered, people left out.
fn models(table: &Table) -> impl Iterator<Item = (&TableRow, usize)> {
    table.rows.iter().filter(|row| !row.is_people).filter_map(|row| Some((row, row.ours?)))
}

/// The predictions of a row's first seed: pairs and details are about one run.
pub fn first_run<'r, 'a>(report: &'r Report<'a>, row: usize) -> &'r MatchedPredictions<'a> {
    &report.rows[row].runs[0].predictions
}

/// The predictions of some splits; none where there are none.
///
/// # Errors
/// [`Error::Evaluation`].
pub fn of_splits(
    run: &MatchedPredictions<'_>,
    splits: &[Split],
) -> Result<Option<Predictions>, Error> {
    let predictions = run.predictions();
    let is_wanted = |split: Option<Split>| split.is_some_and(|split| splits.contains(&split));
    let wanted: Vec<_> = predictions.iter().filter(|p| is_wanted(p.split)).cloned().collect();
    match wanted.len() {
        0 => Ok(None),
        _ => Ok(Some(Predictions::new(predictions.name(), wanted)?)),
    }
}
