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
