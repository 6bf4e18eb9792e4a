//! Table 1: the statistics of a question set next to the paper's.

use questions::{Split, Statistics, Totals};

use super::grid::{Cell, Grid, GridRow, Line};
use super::layout;
use crate::formats::{csv, text};
use crate::paper::{TABLE_1, TABLE_1_VOCABULARY};
use crate::{Provenance, number};

const SPLITS: [&str; Split::ALL.len()] = ["Training", "Validation", "Test"];
const VOCABULARY: &str = "Vocabulary size";

/// A row of Table 1: its label and its figure in a column.
type Row = (&'static str, fn(&Totals) -> Option<f64>);

/// The rows that have a figure for each split.
const ROWS: [Row; 5] = [
    ("Number of books", |totals| totals.books.map(|n| n as f64)),
    ("Number of questions (context+query)", |totals| Some(totals.questions as f64)),
    ("Average words in contexts", |totals| Some(totals.context_words)),
    ("Average words in queries", |totals| Some(totals.query_words)),
    ("Distinct candidates", |totals| Some(totals.distinct_candidates as f64)),
];

/// Ours for a split, where the set has it.
fn totals(statistics: &Statistics, split: Option<Split>) -> Option<&Totals> {
    statistics.splits.iter().find(|of| of.split == split).map(|of| &of.all)
}

/// Table 1 of a set for a terminal of a width, with the paper's figures if the set has classes as the CBT has.
pub fn table_1(statistics: &Statistics, width: usize) -> String {
    let splits: Vec<Option<Split>> = statistics.splits.iter().map(|of| of.split).collect();
    let has_classes = statistics.splits.iter().any(|split| !split.classes.is_empty());
    let with_case = number::count(statistics.vocabulary_with_case);
    let grid = Grid {
        title: "Table 1".to_owned(),
        notes: vec![format!("Vocabulary size with case: {with_case}.")],
        ..columns(statistics, &splits, has_classes)
    };
    text::write(&grid, width)
}

pub(crate) fn grid(statistics: &Statistics, provenance: &Provenance) -> Grid {
    Grid {
        title: "Table 1: Statistics of the CBT".to_owned(),
        notes: vec![provenance.source.sentence().to_owned(), layout::made(provenance, &[])],
        ..columns(statistics, &Split::ALL.map(Some), true)
    }
}

/// A column per split; with the paper's figure below each of ours, or without.
fn columns(statistics: &Statistics, splits: &[Option<Split>], with_paper: bool) -> Grid {
    let line = |value: Option<f64>| match value {
        Some(value) => Line::new(number::count(value.round() as usize), ""),
        None => Line::none(),
    };
    let cell = |ours: Option<f64>, paper: Option<f64>| {
        let mut lines = vec![line(ours)];
        lines.extend(with_paper.then(|| line(paper)));
        Cell { lines, value: ours, is_best: false }
    };
    let label = |label: &str| {
        let mut lines = vec![label.to_owned()];
        lines.extend(with_paper.then(|| "  paper".to_owned()));
        lines
    };
    let mut rows: Vec<GridRow> = Vec::new();
    for (row, of) in ROWS {
        let cells = splits.iter().map(|&split| {
            let paper = split.and_then(|split| of(&TABLE_1[split as usize]));
            cell(totals(statistics, split).and_then(of), paper)
        });
        rows.push(GridRow { label: label(row), cells: cells.collect(), starts_block: false });
    }
    let mut cells = vec![Cell::default(); splits.len()];
    if let Some(first) = cells.first_mut() {
        *first = cell(Some(statistics.vocabulary as f64), Some(TABLE_1_VOCABULARY as f64));
    }
    rows.push(GridRow { label: label(VOCABULARY), cells, starts_block: true });
    let names = splits.iter().map(|split| split.map_or("No split", |split| SPLITS[split as usize]));
    let head = ["Statistic"].into_iter().chain(names).map(str::to_owned).collect();
    Grid { head, rows, ..Grid::default() }
}

pub(crate) fn csv(statistics: &Statistics) -> String {
    let mut text = csv::line(&["row", "split", "ours", "paper"].map(str::to_owned));
    let mut line = |row: &str, split: &str, ours: Option<f64>, paper: Option<f64>| {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        text += &csv::line(&[row.to_owned(), split.to_owned(), number(ours), number(paper)]);
    };
    for (row, of) in ROWS {
        for split in Split::ALL {
            let ours = totals(statistics, Some(split)).and_then(of);
            line(row, SPLITS[split as usize], ours, of(&TABLE_1[split as usize]));
        }
    }
    let ours = statistics.vocabulary as f64;
    line(VOCABULARY, "all", Some(ours), Some(TABLE_1_VOCABULARY as f64));
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use expect_test::expect;
    use questions::SplitStatistics;

    use super::*;
    use crate::fixture;

    #[test]
    fn table_1_is_laid_out_next_to_the_papers() {
        let of = |split, books, counts: [usize; 2], words: [f64; 2]| SplitStatistics {
            split: Some(split),
            all: Totals {
                books,
                questions: counts[0],
                context_words: words[0],
                query_words: words[1],
                distinct_candidates: counts[1],
            },
            classes: BTreeMap::new(),
        };
        let statistics = Statistics {
            splits: vec![
                of(Split::Train, Some(8), [1_700, 900], [312.4, 15.2]),
                of(Split::Test, None, [310, 210], [299.4, 16.0]),
            ],
            vocabulary: 4_321,
            vocabulary_with_case: 5_000,
        };
        let set = fixture::set();
        let provenance = fixture::report(&set).provenance;
        expect![[r#"
            Table 1: Statistics of the CBT

            Statistic                            Training  Validation  Test
            ─────────────────────────────────────────────────────────────────
            Number of books                            8       –            –
              paper                                   98       5            5
            Number of questions (context+query)    1,700       –          310
              paper                              669,343   8,000       10,000
            Average words in contexts                312       –          299
              paper                                  465     435          445
            Average words in queries                  15       –           16
              paper                                   31      27           29
            Distinct candidates                      900       –          210
              paper                               37,242   5,485        7,108

            Vocabulary size                        4,321
              paper                               53,628

            Questions: built again from the paper’s books, not the released ones.
            goldilocks 0.1.0, data 0123abcd, 2026-05-01.
        "#]]
        .assert_eq(&text::write(&grid(&statistics, &provenance), 100));
        expect![[r#"
            Table 1

            Statistic                            Training  Test
            ───────────────────────────────────────────────────
            Number of books                          8       –
            Number of questions (context+query)  1,700     310
            Average words in contexts              312     299
            Average words in queries                15      16
            Distinct candidates                    900     210

            Vocabulary size                      4,321

            Vocabulary size with case: 5,000.
        "#]]
        .assert_eq(&table_1(&statistics, 100));
        let csv = csv(&statistics);
        assert_eq!(csv.lines().count(), 1 + 5 * 3 + 1);
        assert!(csv.contains("Average words in contexts,Training,312.4,465\r\n"));
    }
}
