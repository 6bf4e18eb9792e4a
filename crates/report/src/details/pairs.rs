//! Every model against the best one on the same questions: exact McNemar, clustered bootstrap, Holm.

use evaluation::{Comparison, PairedDifference, Resampling, compare};
use questions::Split;

use super::{BOOTSTRAP_SEED, Section, first_run, models, of_splits};
use crate::charts::{Axis, Chart, ChartRow, Mark, Panel, Series, Shape};
use crate::paper::PublishedColumn;
use crate::tables::{Cell, Grid, GridRow, Line, Table, TableRow, head};
use crate::{Error, Report, number};

/// Every model against the best one, on the same questions; none where there are fewer than two.
///
/// # Errors
/// [`Error::Evaluation`] where two models disagree about a question.
pub fn pairs(report: &Report<'_>, table: &Table) -> Result<Option<Section>, Error> {
    // A model that answered a part of the questions cannot be compared with the others.
    let rank = |row: &TableRow| {
        let ours = row.cells.iter().filter_map(|cell| cell.ours);
        (ours.map(|accuracy| accuracy.n).sum::<usize>(), row.mean())
    };
    let best = models(table).max_by(|(a, _), (b, _)| {
        let ((a_n, a_mean), (b_n, b_mean)) = (rank(a), rank(b));
        a_n.cmp(&b_n).then(a_mean.total_cmp(&b_mean))
    });
    let Some((best, best_row)) = best else { return Ok(None) };
    let splits: Vec<Split> = table.columns().iter().map(|column| column.split).collect();
    let second = of_splits(first_run(report, best_row), &splits)?;
    let mut compared: Vec<(&TableRow, Vec<Comparison>)> = Vec::new();
    let mut left_out = Vec::new();
    for (row, place) in models(table).filter(|(_, place)| *place != best_row) {
        let first = of_splits(first_run(report, place), &splits)?;
        match first
            .zip(second.as_ref())
            .map(|(first, second)| compare(&first, second, BOOTSTRAP_SEED))
        {
            Some(Ok(comparisons)) => compared.push((row, comparisons)),
            // A model that answers other questions has no pairs; the others still have.
            None | Some(Err(evaluation::Error::OtherQuestions { .. })) => {
                left_out.push(row.label.as_str())
            }
            Some(Err(error)) => return Err(error.into()),
        }
    }
    if compared.is_empty() {
        return Ok(None);
    }
    let mut section = paired_section(&compared, &best.label, table);
    if !left_out.is_empty() {
        let note =
            format!("Not compared, because they answer other questions: {}.", left_out.join(", "));
        section.grid.notes.push(note);
    }
    Ok(Some(section))
}

fn paired<'c>(
    comparisons: &'c [Comparison],
    column: &PublishedColumn,
) -> Option<&'c PairedDifference> {
    let of_split = comparisons.iter().find(|c| c.split == Some(column.split))?;
    of_split.classes.get(column.class)
}

fn paired_section(compared: &[(&TableRow, Vec<Comparison>)], best: &str, table: &Table) -> Section {
    let columns = table.columns();
    let ends = compared.iter().flat_map(|(_, comparisons)| {
        columns
            .iter()
            .filter_map(|column| paired(comparisons, column))
            .flat_map(|p| [p.low, p.high])
    });
    let panel = |(place, column): (usize, &PublishedColumn)| Panel {
        title: table.heading(place),
        rule: Some(0.0),
        marks: (0..compared.len())
            .filter_map(|row| {
                let PairedDifference { difference, low, high, .. } =
                    *paired(&compared[row].1, column)?;
                let tip = format!("{}: {}", compared[row].0.label, number::difference(difference));
                Some(Mark { row, series: 0, at: difference, low, high, tip })
            })
            .collect(),
        counts: Vec::new(),
    };
    let rows = compared.iter().enumerate().map(|(place, (row, comparisons))| GridRow {
        label: vec![row.label.clone()],
        cells: columns.iter().map(|column| paired_cell(paired(comparisons, column))).collect(),
        starts_block: place > 0 && compared[place - 1].0.block != row.block,
    });
    let rows: Vec<GridRow> = rows.collect();
    Section {
        title: "Pairs of models",
        text: format!(
            "Each model against the best on average, {best}, question by question: marks left of the line \
             are worse than it."
        ),
        chart: Chart {
            id: "pairs",
            title: format!("Accuracy of each model minus that of {best}"),
            description: "One panel per column of the table; the figures are in the table below."
                .into(),
            axis: Axis::differences(ends),
            series: vec![Series { label: "difference, 95 % interval".into(), shape: Shape::Disc }],
            rule: Some("no difference".into()),
            rows: rows
                .iter()
                .map(|row| ChartRow { label: row.label[0].clone(), starts_block: row.starts_block })
                .collect(),
            panels: columns.iter().enumerate().map(panel).collect(),
        },
        grid: Grid {
            title: format!("Difference from {best}"),
            head: head("Methods", columns),
            rows,
            foot: Vec::new(),
            settings: None,
            notes: paired_notes(compared),
        },
    }
}

fn paired_notes(compared: &[(&TableRow, Vec<Comparison>)]) -> Vec<String> {
    let books = compared.iter().flat_map(|(_, comparisons)| comparisons);
    let resampled = if books.clone().all(|c| c.resampled == Resampling::Books) {
        "The intervals resample books, then questions within them."
    } else {
        "Not every question’s book is known: the intervals resample questions and are too narrow."
    };
    let first = "First line: the difference, and p of McNemar’s exact test, after Holm’s correction over \
                 the classes where there are classes.";
    let second = format!("Second line: the difference’s 95 % bootstrap interval. {resampled}");
    let third =
        "Third line: how many questions only this model, and only the best model, has right.";
    vec![first.to_owned(), second, third.to_owned()]
}

fn paired_cell(paired: Option<&PairedDifference>) -> Cell {
    let Some(paired) = paired else { return Cell::single(Line::none(), None) };
    let interval = [paired.low, paired.high].map(number::difference).join(" to ");
    let p = number::p_value(paired.p_holm.unwrap_or(paired.p));
    let p = if p.starts_with('<') { format!("p {p}") } else { format!("p = {p}") };
    let discordant = format!("{} : {}", paired.only_first, paired.only_second);
    Cell {
        lines: vec![
            Line::new(number::difference(paired.difference), p),
            Line::new("", interval),
            Line::new("", discordant),
        ],
        value: Some(paired.difference),
        is_best: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::paper::TableKind;

    #[test]
    fn every_model_is_compared_with_the_best_one() {
        let set = fixture::set();
        let report = fixture::report(&set);
        let table = Table::of(&report, TableKind::Anonymised).unwrap();
        let section = pairs(&report, &table).unwrap().unwrap();
        assert_eq!(section.grid.title, "Difference from MemNNs (window mem.+self-sup.)");
        let rows = &section.grid.rows;
        assert_eq!(rows.len(), 2);
        // Named entities: right on one of two against two of two; they differ in one question, p = 1.
        let lines: Vec<(&str, &str)> =
            rows[0].cells[0].lines.iter().map(|l| (l.figure.as_str(), l.detail.as_str())).collect();
        assert_eq!((lines[0], lines[2]), (("−.500", "p = 1.000"), ("", "0 : 1")));
        let mark = &section.chart.panels[0].marks[0];
        assert_eq!((mark.row, mark.at), (0, -0.5));
        assert!(mark.low <= -0.5 && -0.5 <= mark.high);
    }

    #[test]
    fn a_model_that_answers_other_questions_is_named_and_left_out() {
        let (set, half) = (fixture::set(), fixture::set_of(1, questions::Split::Test));
        let mut report = fixture::report(&set);
        report.rows.push(fixture::row(&half, "half", |_| true));
        let table = Table::of(&report, TableKind::Anonymised).unwrap();
        let section = pairs(&report, &table).unwrap().unwrap();
        assert_eq!(section.grid.rows.len(), 2);
        let note = section.grid.notes.last().unwrap();
        assert_eq!(note, "Not compared, because they answer other questions: half.");
    }
}
