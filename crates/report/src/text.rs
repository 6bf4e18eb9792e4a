//! A [`Grid`] for the terminal: columns of spaces, readable without colour; `*` marks the best.

use crate::grid::{Grid, GridRow};

/// A printed table as plain text.
pub fn write(grid: &Grid) -> String {
    let widths = Widths::of(grid);
    let rule = "─".repeat(widths.total());
    let mut lines =
        vec![grid.title.clone(), String::new(), widths.row(&indented(&grid.head)), rule.clone()];
    for row in &grid.rows {
        if row.starts_block {
            lines.push(String::new());
        }
        lines.extend((0..row.height()).map(|index| widths.row(&texts(row, index, &widths))));
    }
    if !grid.foot.is_empty() {
        lines.extend([rule, widths.row(&indented(&grid.foot))]);
    }
    lines.push(String::new());
    let is_marked = grid.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.is_best);
    let best = is_marked.then(|| "* The best model of its column.".to_owned());
    let notes = grid.notes.iter().cloned().chain(best);
    lines.extend(notes.flat_map(|note| wrap(&note, widths.total().max(80))));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

struct Widths {
    columns: Vec<usize>,
    /// The figures' own width in each column but the first.
    figures: Vec<usize>,
}

impl Widths {
    fn of(grid: &Grid) -> Self {
        let lines =
            |column: usize| grid.rows.iter().flat_map(move |row| row.cells[column].lines.iter());
        let n = grid.head.len() - 1;
        let figures = (0..n).map(|c| lines(c).map(|line| width(&line.figure)).max().unwrap_or(0));
        let mut widths = Self { columns: Vec::new(), figures: figures.collect() };
        let rows = grid.rows.iter();
        let texts: Vec<Vec<String>> = rows
            .flat_map(|row| (0..row.height()).map(|i| texts(row, i, &widths)).collect::<Vec<_>>())
            .chain([indented(&grid.head), indented(&grid.foot)])
            .collect();
        let widest = |column: usize| {
            texts.iter().filter_map(|row| row.get(column)).map(|text| width(text)).max()
        };
        widths.columns = (0..=n).map(|column| widest(column).unwrap_or(0)).collect();
        widths
    }

    fn total(&self) -> usize {
        self.columns.iter().sum::<usize>() + self.columns.len() - 1
    }

    fn row(&self, texts: &[String]) -> String {
        let padded: Vec<String> = texts
            .iter()
            .zip(&self.columns)
            .map(|(text, &width)| format!("{text:<width$}"))
            .collect();
        padded.join(" ")
    }
}

/// One line of a row, a text for each column.
fn texts(row: &GridRow, index: usize, widths: &Widths) -> Vec<String> {
    let cells = row.cells.iter().zip(&widths.figures).map(|(cell, &width)| {
        let line = cell.line(index);
        let best = if cell.is_best && index == 0 { '*' } else { ' ' };
        format!("{best}{:>width$} {}", line.figure, line.detail).trim_end().to_owned()
    });
    [row.label_line(index).to_owned()].into_iter().chain(cells).collect()
}

/// Headings stand over the figures, not over the mark of the best.
fn indented(texts: &[String]) -> Vec<String> {
    let indent = |(place, text): (usize, &String)| {
        if place == 0 { text.clone() } else { format!(" {text}") }
    };
    texts.iter().enumerate().map(indent).collect()
}

/// Text in lines of at most so many characters, broken between words.
pub fn wrap(text: &str, characters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= characters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::{fixture, grids, tables};

    #[test]
    fn a_table_in_the_terminal_is_aligned_and_needs_no_colour() {
        let set = fixture::set();
        let report = fixture::report(&set);
        let (_, grid) = grids(&report, &tables(&report).unwrap(), true).remove(0);
        expect![[r#"
            Appendix D: Effects of anonymising entities in CBT

            Methods                                Named Entities    Common Nouns      Verbs             Prepositions
            ───────────────────────────────────────────────────────────────────────────────────────────────────────────
            MemNNs (word mem.)                         –                 –                 –                –
              paper                                 .431              .562              .798             .764
            MemNNs (window mem.)                    .500 .095–.905    .500 .095–.905    .500 .095–.905  *.500 .095–.905
              paper                                 .493 +.007        .554 −.054        .692 −.192       .674 −.174
            MemNNs (sentence mem.+PE)                  –                 –                 –                –
              paper                                 .318              .305              .502             .326
            MemNNs (window mem.+self-sup.)        *1.000 .342–1.000 *1.000 .342–1.000 *1.000 .342–1.000 *.500 .095–.905
              paper                                 .666 +.334        .630 +.370        .690 +.310       .703 −.203

            ANONYMIZED MemNNs (window +self-sup.)      –                 –                 –                –
              paper                                 .581              .473              .474             .522

            ours & <more>                           .000 .000–.658    .000 .000–.658    .000 .000–.658   .000 .000–.658
            ───────────────────────────────────────────────────────────────────────────────────────────────────────────
            questions                              n = 2             n = 2             n = 2             n = 2

            Questions: rebuilt from the paper’s books, not the released ones.
            Accuracy with its 95 % interval; below it the paper’s figure and ours minus the paper’s, ≠ where the 95 %
            interval of that difference does not hold 0.
            Settings other than the defaults: memnn-window (dim=20).
            –: a row of the paper that has not been run.
            Seed 1, goldilocks 0.1.0, data 0123abcd, 1 May 2026.
            * The best model of its column.
        "#]].assert_eq(&write(&grid));
    }
}
