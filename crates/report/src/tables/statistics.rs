//! Table 1: the statistics of a question set next to the paper's.

use questions::{Split, Statistics, Totals};

use super::grid::{Cell, Grid, GridRow, Line};
use super::layout;
use crate::formats::csv;
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
fn totals(statistics: &Statistics, split: Split) -> Option<&Totals> {
    statistics.splits.iter().find(|of| of.split == Some(split)).map(|of| &of.all)
}

pub(crate) fn grid(statistics: &Statistics, provenance: &Provenance) -> Grid {
    let figure = |value: f64| Line::new(number::count(value.round() as usize), "");
    let cell = |ours: Option<f64>, paper: Option<f64>| Cell {
        lines: vec![ours.map_or_else(Line::none, figure), paper.map_or_else(Line::none, figure)],
        value: ours,
        is_best: false,
    };
    let label = |label: &str| vec![label.to_owned(), "  paper".to_owned()];
    let mut rows: Vec<GridRow> = Vec::new();
    for (row, of) in ROWS {
        let cells = Split::ALL.map(|split| {
            cell(totals(statistics, split).and_then(of), of(&TABLE_1[split as usize]))
        });
        rows.push(GridRow { label: label(row), cells: cells.into(), starts_block: false });
    }
    let vocabulary = (Some(statistics.vocabulary as f64), Some(TABLE_1_VOCABULARY as f64));
    let cells = vec![cell(vocabulary.0, vocabulary.1), Cell::default(), Cell::default()];
    rows.push(GridRow { label: label(VOCABULARY), cells, starts_block: true });
    Grid {
        title: "Table 1: Statistics of the CBT".to_owned(),
        head: ["Statistic"].into_iter().chain(SPLITS).map(str::to_owned).collect(),
        rows,
        foot: Vec::new(),
        settings: None,
        notes: vec![provenance.source.sentence().to_owned(), layout::made(provenance, &[])],
    }
}

pub(crate) fn csv(statistics: &Statistics) -> String {
    let mut text = csv::line(&["row", "split", "ours", "paper"].map(str::to_owned));
    let mut line = |row: &str, split: &str, ours: Option<f64>, paper: Option<f64>| {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        text += &csv::line(&[row.to_owned(), split.to_owned(), number(ours), number(paper)]);
    };
    for (row, of) in ROWS {
        for split in Split::ALL {
            let ours = totals(statistics, split).and_then(of);
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
    use crate::formats::text;

    #[test]
    fn table_1_stands_beside_the_papers() {
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
        .assert_eq(&text::write(&grid(&statistics, &provenance)));
        let csv = csv(&statistics);
        assert_eq!(csv.lines().count(), 1 + 5 * 3 + 1);
        assert!(csv.contains("Average words in contexts,Training,312.4,465\r\n"));
    }
}
