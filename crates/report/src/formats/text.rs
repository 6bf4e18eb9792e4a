//! A [`Grid`] for the terminal: columns of spaces, as wide as the terminal at most, readable without colour; `*` marks
//! the best.

use base::WordClass;

use crate::tables::{ACCURACY, Cell, Grid, GridRow, Line};

/// Labels are wrapped to a quarter of the width at least, and never to less than is needed up to here.
const MIN_LABEL: usize = 24;

/// A printed table as plain text. In a narrow terminal intervals go below their figures; if that does not do, they are
/// left out.
pub fn write(grid: &Grid, width: usize) -> String {
    let fits = |grid: &Grid| Widths::of(grid, width).total() <= width;
    if fits(grid) {
        return lay_out(grid, Widths::of(grid, width), width);
    }
    let below = with_codes(&details_below(grid));
    let narrow = if fits(&below) { below } else { with_codes(&without_details(grid)) };
    lay_out(&narrow, Widths { is_flush_right: true, ..Widths::of(&narrow, width) }, width)
}

fn lay_out(grid: &Grid, widths: Widths, width: usize) -> String {
    let label_width = widths.columns[0];
    let rule = "─".repeat(widths.total());
    let mut lines = wrap(&grid.title, width);
    lines.extend([String::new(), widths.row(&indented(&grid.head)), rule.clone()]);
    for row in &grid.rows {
        if row.starts_block {
            lines.push(String::new());
        }
        for index in 0..row.height() {
            let mut texts = texts(row, index, &widths);
            if characters(&texts[0]) > label_width {
                let mut label = wrap(&texts[0], label_width);
                texts[0] = label.pop().expect("a label that is too long has words");
                lines.extend(label);
            }
            lines.push(widths.row(&texts));
        }
    }
    if !grid.foot.is_empty() {
        lines.extend([rule, widths.row(&indented(&grid.foot))]);
    }
    lines.push(String::new());
    let note_width = widths.total().max(80).min(width);
    lines.extend(grid.all_notes().flat_map(|note| wrap(note, note_width)));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Each interval or difference on a line of its own below its figure.
fn details_below(grid: &Grid) -> Grid {
    let below = |line: &Line| [Line::new(&line.figure, ""), Line::new(&line.detail, "")];
    changed(grid, |cell| cell.lines.iter().flat_map(below).collect(), true)
}

/// Figures alone.
fn without_details(grid: &Grid) -> Grid {
    let mut grid = changed(
        grid,
        |cell| cell.lines.iter().map(|line| Line::new(&line.figure, "")).collect(),
        false,
    );
    // Notes about what is not shown.
    grid.notes.retain(|note| !note.starts_with('±'));
    for note in grid.notes.iter_mut().filter(|note| note.starts_with(ACCURACY)) {
        *note = "Accuracy; its 95 % interval needs a wider terminal.".to_owned();
    }
    grid
}

fn changed(grid: &Grid, lines: impl Fn(&Cell) -> Vec<Line>, doubles: bool) -> Grid {
    let row = |row: &GridRow| {
        let cells = row.cells.iter().map(|cell| Cell { lines: lines(cell), ..cell.clone() });
        let label = row
            .label
            .iter()
            .flat_map(|line| std::iter::once(line.clone()).chain(doubles.then(String::new)));
        GridRow { label: label.collect(), cells: cells.collect(), starts_block: row.starts_block }
    };
    Grid { rows: grid.rows.iter().map(row).collect(), ..grid.clone() }
}

/// Classes by their codes, counts of questions without a word about it.
fn with_codes(grid: &Grid) -> Grid {
    let code = |head: &String| {
        let class = WordClass::ALL.into_iter().find(|class| class.label() == head);
        class.map_or_else(|| head.clone(), |class| class.code().to_owned())
    };
    let count = |text: &String| text.strip_prefix("n = ").unwrap_or(text).to_owned();
    Grid {
        head: grid.head.iter().map(code).collect(),
        foot: grid.foot.iter().map(count).collect(),
        ..grid.clone()
    }
}

struct Widths {
    columns: Vec<usize>,
    /// The figures' own width in each column but the first.
    figures: Vec<usize>,
    /// Whether all columns but the first are flush right.
    is_flush_right: bool,
}

impl Widths {
    fn of(grid: &Grid, width: usize) -> Self {
        let lines =
            |column: usize| grid.rows.iter().flat_map(move |row| row.cells[column].lines.iter());
        let n = grid.head.len() - 1;
        let figures =
            (0..n).map(|c| lines(c).map(|line| characters(&line.figure)).max().unwrap_or(0));
        let mut widths =
            Self { columns: Vec::new(), figures: figures.collect(), is_flush_right: false };
        let rows = grid.rows.iter();
        let texts: Vec<Vec<String>> = rows
            .flat_map(|row| (0..row.height()).map(|i| texts(row, i, &widths)).collect::<Vec<_>>())
            .chain([indented(&grid.head), indented(&grid.foot)])
            .collect();
        let widest = |column: usize| {
            texts.iter().filter_map(|row| row.get(column)).map(|text| characters(text)).max()
        };
        widths.columns = (0..=n).map(|column| widest(column).unwrap_or(0)).collect();
        let too_wide = widths.total().saturating_sub(width);
        let label = &mut widths.columns[0];
        *label = (*label).min(MIN_LABEL.min(width / 4).max(label.saturating_sub(too_wide)));
        widths
    }

    fn total(&self) -> usize {
        self.columns.iter().sum::<usize>() + self.columns.len() - 1
    }

    fn row(&self, texts: &[String]) -> String {
        let padded: Vec<String> = texts
            .iter()
            .zip(&self.columns)
            .enumerate()
            .map(|(column, (text, &width))| match self.is_flush_right && column > 0 {
                true => format!("{text:>width$}"),
                false => format!("{text:<width$}"),
            })
            .collect();
        padded.join(" ")
    }
}

/// One line of a row, a text for each column.
fn texts(row: &GridRow, index: usize, widths: &Widths) -> Vec<String> {
    let cells = row.cells.iter().zip(&widths.figures).map(|(cell, &width)| {
        let line = cell.line(index);
        let best = if cell.is_best && index == 0 { '*' } else { ' ' };
        if widths.is_flush_right {
            return format!("{best}{}", line.figure);
        }
        format!("{best}{:>width$} {}", line.figure, line.detail).trim_end().to_owned()
    });
    [row.label_line(index).to_owned()].into_iter().chain(cells).collect()
}

/// Headings are above the figures, not above the mark of the best.
fn indented(texts: &[String]) -> Vec<String> {
    let indent = |(place, text): (usize, &String)| {
        if place == 0 { text.clone() } else { format!(" {text}") }
    };
    texts.iter().enumerate().map(indent).collect()
}

/// Breaks a text into lines of at most `width` characters, broken between words, and within those that are longer.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if characters(line) + 1 + characters(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => {
                let letters: Vec<char> = word.chars().collect();
                lines.extend(letters.chunks(width).map(String::from_iter));
            }
        }
    }
    lines
}

fn characters(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::tables::{Cell, Line};
    use crate::{fixture, grids_of, tables_of};

    #[test]
    fn long_labels_and_long_words_are_broken() {
        let wide = Line::new(".500", "x".repeat(69));
        let row = |label: &str| GridRow {
            label: vec![label.to_owned(), "  paper".to_owned()],
            cells: vec![Cell { lines: vec![wide.clone(), wide.clone()], ..Cell::default() }],
            starts_block: false,
        };
        let rows = vec![row("A label of more words than there is room for")];
        let head = vec!["Methods".to_owned(), "Figure".to_owned()];
        let text = write(&Grid { title: "Table".to_owned(), head, rows, ..Grid::default() }, 100);
        let lines: Vec<&str> = text.lines().skip(4).take(3).collect();
        assert_eq!(lines[0], "A label of more words");
        assert!(lines[1].starts_with("than there is room for    .500 xxx"));
        assert!(lines[2].starts_with("  paper                   .500 xxx"));
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
    }

    #[test]
    fn a_narrow_terminal_gets_intervals_below_figures_and_a_narrower_one_none() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        report.rows.truncate(2);
        let (_, grid) = grids_of(&report, &tables_of(&report).unwrap()).remove(0);
        for width in [64, 80] {
            let text = write(&grid, width);
            assert!(text.lines().all(|line| characters(line) <= width), "{text}");
            assert!(text.contains(".095–.905") && text.contains("Accuracy with its"), "{text}");
        }
        expect![[r#"
            Appendix D: Effects of anonymising entities in CBT

            Methods                    NE          CN           V          P
            ────────────────────────────────────────────────────────────────
            MemNNs (window
            mem.) [a]                .500        .500        .500      *.500
                                .095–.905   .095–.905   .095–.905  .095–.905
              paper                  .493        .554        .692       .674
                                    +.007       −.054       −.192      −.174
            MemNNs (window
            mem.+self-sup.)        *1.000      *1.000      *1.000      *.500
                               .342–1.000  .342–1.000  .342–1.000  .095–.905
              paper                  .666        .630        .690       .703
                                    +.334       +.370       +.310      −.203
            ────────────────────────────────────────────────────────────────
            questions                   2           2           2          2

            Questions: built again from the paper’s books, not the released
            ones.
            Accuracy with its 95 % interval; below it the paper’s figure and
            ours minus the paper’s, ≠ where the 95 % interval of that
            difference does not contain 0.
            The best model of each column is marked.
            [a] Not by the paper’s recipe: p 20.
            4 of 4 figures by the paper’s recipe do not differ significantly
            from the paper’s; 0 are higher, 0 lower. 4 of 4 figures of
            marked rows do not differ significantly from the paper’s; 0 are
            higher, 0 lower.
            Settings other than the defaults: memnn-window (dim=20).
            Seed 1, goldilocks 0.1.0, data 0123abcd, 2026-05-01.
        "#]]
        .assert_eq(&write(&grid, 64));
        let text = write(&grid, 40);
        assert!(text.lines().all(|line| characters(line) <= 40), "{text}");
        assert!(!text.contains(".095–.905") && text.contains("Accuracy; its"), "{text}");
    }

    #[test]
    fn a_table_in_the_terminal_is_aligned_and_needs_no_colour() {
        let set = fixture::set();
        let report = fixture::report(&set);
        let (_, grid) = grids_of(&report, &tables_of(&report).unwrap()).remove(0);
        expect![[r#"
            Appendix D: Effects of anonymising entities in CBT

            Methods                         Named Entities    Common Nouns      Verbs             Prepositions
            ────────────────────────────────────────────────────────────────────────────────────────────────────
            MemNNs (window mem.) [a]         .500 .095–.905    .500 .095–.905    .500 .095–.905  *.500 .095–.905
              paper                          .493 +.007        .554 −.054        .692 −.192       .674 −.174
            MemNNs (window mem.+self-sup.) *1.000 .342–1.000 *1.000 .342–1.000 *1.000 .342–1.000 *.500 .095–.905
              paper                          .666 +.334        .630 +.370        .690 +.310       .703 −.203

            ours & <more>                    .000 .000–.658    .000 .000–.658    .000 .000–.658   .000 .000–.658
            ────────────────────────────────────────────────────────────────────────────────────────────────────
            questions                       n = 2             n = 2             n = 2             n = 2

            Questions: built again from the paper’s books, not the released ones.
            Accuracy with its 95 % interval; below it the paper’s figure and ours minus the paper’s, ≠ where the
            95 % interval of that difference does not contain 0.
            The best model of each column is marked.
            [a] Not by the paper’s recipe: p 20.
            4 of 4 figures by the paper’s recipe do not differ significantly from the paper’s; 0 are higher, 0
            lower. 4 of 4 figures of marked rows do not differ significantly from the paper’s; 0 are higher, 0
            lower.
            Settings other than the defaults: memnn-window (dim=20).
            Seed 1, goldilocks 0.1.0, data 0123abcd, 2026-05-01.
        "#]].assert_eq(&write(&grid, 100));
    }
}
