//! The picture of a table of accuracies: ours filled, the paper's hollow, people as a line across.

use evaluation::Accuracy;

use crate::charts::{Axis, Chart, ChartRow, Mark, Panel, Series, Shape};
use crate::number;
use crate::paper::PEOPLE_WITH_CONTEXT;
use crate::tables::{Figures, Table, TableRow};

/// One panel per column, one row per method.
pub fn picture(table: &Table) -> Chart {
    let rows: Vec<&TableRow> = table.rows.iter().filter(|row| !row.is_people).collect();
    let people =
        table.rows.iter().find(|row| row.paper_row.as_deref() == Some(PEOPLE_WITH_CONTEXT));
    let of_people = |column: usize| {
        let Figures { ours, paper, .. } = &people?.cells[column];
        ours.or(*paper).map(|accuracy| accuracy.accuracy)
    };
    let is_ours = people.is_some_and(|row| row.ours.is_some());
    let panel = |column: usize| Panel {
        title: table.heading(column),
        rule: of_people(column),
        marks: rows.iter().enumerate().flat_map(|(row, of)| marks(of, column, row)).collect(),
        counts: Vec::new(),
    };
    let starts_block = |row: usize| row > 0 && rows[row].block != rows[row - 1].block;
    let mut series =
        vec![Series { label: "ours, with its 95 % interval".into(), shape: Shape::Disc }];
    if table.shows_paper && rows.iter().any(|row| row.cells.iter().any(|c| c.paper.is_some())) {
        let label = "the paper’s; its interval shows where it is wider than the mark".into();
        series.push(Series { label, shape: Shape::Ring });
    }
    Chart {
        id: "picture",
        title: table.title(),
        description:
            "Accuracy of each method with its 95 % interval, one panel per column of the table; \
                      all figures are in the table below."
                .into(),
        axis: Axis::shares(),
        series,
        rule: people.map(|_| {
            format!(
                "people who read the context ({})",
                if is_ours { "ours" } else { "the paper’s" }
            )
        }),
        rows: (0..rows.len())
            .map(|row| ChartRow { label: rows[row].label.clone(), starts_block: starts_block(row) })
            .collect(),
        panels: (0..table.columns().len()).map(panel).collect(),
    }
}

fn marks(of: &TableRow, column: usize, row: usize) -> Vec<Mark> {
    let Figures { ours, paper, .. } = &of.cells[column];
    let figures = [(0, "ours", ours), (1, "the paper’s", paper)];
    let mark = |(series, whose, accuracy): (usize, &str, &Option<Accuracy>)| {
        let accuracy = accuracy.as_ref()?;
        let figure = number::share(accuracy.accuracy);
        let tip = format!("{}, {whose}: {figure} ({})", of.label, number::interval(accuracy));
        let Accuracy { accuracy: at, low, high, .. } = *accuracy;
        Some(Mark { row, series, at, low, high, tip })
    };
    figures.into_iter().filter_map(mark).collect()
}
