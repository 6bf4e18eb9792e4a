//! Table 1: the statistics of a question set beside the paper's.

use crate::Provenance;
use crate::grid::{Cell, Grid, GridRow, Line};
use crate::paper::{PublishedStatistic, TABLE_1};
use crate::{csv, layout, number};

/// What Table 1 counts, for training, validation and test.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Number of books.
    pub books: [usize; 3],
    /// Number of questions.
    pub questions: [usize; 3],
    /// Average words in contexts.
    pub words_in_contexts: [f64; 3],
    /// Average words in queries.
    pub words_in_queries: [f64; 3],
    /// Distinct candidates.
    pub distinct_candidates: [usize; 3],
    /// Vocabulary size, over all three.
    pub vocabulary: usize,
}

const SPLITS: [&str; 3] = ["Training", "Validation", "Test"];

impl Statistics {
    /// The rows of Table 1, in its order; the last has one figure.
    fn rows(&self) -> [Vec<f64>; 6] {
        let whole = |counts: &[usize]| counts.iter().map(|&count| count as f64).collect();
        [
            whole(&self.books),
            whole(&self.questions),
            self.words_in_contexts.to_vec(),
            self.words_in_queries.to_vec(),
            whole(&self.distinct_candidates),
            whole(&[self.vocabulary]),
        ]
    }

    pub(crate) fn grid(&self, provenance: &Provenance) -> Grid {
        let figure = |value: f64| Line::new(number::count(value.round() as usize), "");
        let row = |(published, ours): (&PublishedStatistic, Vec<f64>)| {
            let cell = |column: usize| match ours.get(column) {
                Some(&value) => Cell {
                    lines: vec![figure(value), figure(published.figures[column])],
                    value: Some(value),
                    is_best: false,
                },
                None => Cell::default(),
            };
            GridRow {
                label: vec![published.label.to_owned(), "  paper".to_owned()],
                cells: (0..SPLITS.len()).map(cell).collect(),
                starts_block: ours.len() == 1,
            }
        };
        Grid {
            title: "Table 1: Statistics of the CBT".to_owned(),
            head: ["Statistic"].into_iter().chain(SPLITS).map(str::to_owned).collect(),
            rows: TABLE_1.iter().zip(self.rows()).map(row).collect(),
            foot: Vec::new(),
            notes: vec![provenance.source.sentence().to_owned(), layout::made(provenance, &[])],
        }
    }

    pub(crate) fn csv(&self) -> String {
        let head = ["row", "split", "ours", "paper"].map(str::to_owned);
        let mut text = csv::line(&head);
        for (published, ours) in TABLE_1.iter().zip(self.rows()) {
            for (column, value) in ours.iter().enumerate() {
                let split = if ours.len() == 1 { "all" } else { SPLITS[column] };
                let paper = published.figures[column];
                let fields = [published.label, split, &format!("{value}"), &format!("{paper}")];
                text += &csv::line(&fields.map(str::to_owned));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::{fixture, text};

    #[test]
    fn table_1_stands_beside_the_papers() {
        let statistics = Statistics {
            books: [8, 3, 3],
            questions: [1_700, 300, 310],
            words_in_contexts: [312.4, 300.5, 299.4],
            words_in_queries: [15.2, 14.8, 16.0],
            distinct_candidates: [900, 200, 210],
            vocabulary: 4_321,
        };
        let set = fixture::set();
        let provenance = fixture::report(&set).provenance;
        expect![[r#"
            Table 1: Statistics of the CBT

            Statistic                            Training  Validation  Test
            ─────────────────────────────────────────────────────────────────
            Number of books                            8       3            3
              paper                                   98       5            5
            Number of questions (context+query)    1,700     300          310
              paper                              669,343   8,000       10,000
            Average words in contexts                312     301          299
              paper                                  465     435          445
            Average words in queries                  15      15           16
              paper                                   31      27           29
            Distinct candidates                      900     200          210
              paper                               37,242   5,485        7,108

            Vocabulary size                        4,321
              paper                               53,628

            Questions: rebuilt from the paper’s books, not the released ones.
            goldilocks 0.1.0, data 0123abcd, 1 May 2026.
        "#]]
        .assert_eq(&text::write(&statistics.grid(&provenance)));
        let csv = statistics.csv();
        assert_eq!(csv.lines().count(), 1 + 5 * 3 + 1);
        assert!(csv.contains("Average words in contexts,Training,312.4,465\r\n"));
    }
}
