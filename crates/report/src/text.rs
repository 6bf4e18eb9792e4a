//! A [`Grid`] for the terminal: columns of spaces, readable without colour; `*` marks the best.

use crate::grid::{Grid, GridRow};

/// A printed table as plain text.
pub fn write(grid: &Grid) -> String {
    let widths = Widths::of(grid);
    let rule = "─".repeat(widths.total());
    let mut lines = vec![grid.title.clone(), String::new(), widths.row(&grid.head), rule.clone()];
    for row in &grid.rows {
        if row.starts_block {
            lines.push(String::new());
        }
        lines.extend((0..row.height()).map(|index| widths.row(&texts(row, index, &widths))));
    }
    if !grid.foot.is_empty() {
        lines.extend([rule, widths.row(&grid.foot)]);
    }
    lines.push(String::new());
    lines.extend(grid.notes.iter().cloned());
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

struct Widths {
    columns: Vec<usize>,
    /// The figures' own width in each column but the first.
    figures: Vec<usize>,
}

impl Widths {
    fn of(grid: &Grid) -> Self {
        let lines = |column: usize| {
            grid.rows.iter().flat_map(move |row| row.cells[column].lines.iter())
        };
        let n = grid.head.len() - 1;
        let figures = (0..n).map(|c| lines(c).map(|line| width(&line.figure)).max().unwrap_or(0));
        let mut widths = Self { columns: Vec::new(), figures: figures.collect() };
        let rows = grid.rows.iter();
        let texts: Vec<Vec<String>> = rows
            .flat_map(|row| (0..row.height()).map(|i| texts(row, i, &widths)).collect::<Vec<_>>())
            .chain([grid.head.clone(), grid.foot.clone()])
            .collect();
        let widest = |column: usize| {
            texts.iter().filter_map(|row| row.get(column)).map(|text| width(text)).max()
        };
        widths.columns = (0..=n).map(|column| widest(column).unwrap_or(0)).collect();
        widths
    }

    fn total(&self) -> usize {
        self.columns.iter().sum::<usize>() + 2 * (self.columns.len() - 1)
    }

    fn row(&self, texts: &[String]) -> String {
        let padded: Vec<String> =
            texts.iter().zip(&self.columns).map(|(text, &width)| format!("{text:<width$}")).collect();
        padded.join("  ")
    }
}

/// One line of a row, a text for each column.
fn texts(row: &GridRow, index: usize, widths: &Widths) -> Vec<String> {
    let cells = row.cells.iter().zip(&widths.figures).map(|(cell, &width)| {
        let line = cell.line(index);
        let best = if cell.is_best && index == 0 { '*' } else { ' ' };
        format!("{:>width$}{best}{}", line.figure, line.detail).trim_end().to_owned()
    });
    [row.label_line(index).to_owned()].into_iter().chain(cells).collect()
}

fn width(text: &str) -> usize {
    text.chars().count()
}
