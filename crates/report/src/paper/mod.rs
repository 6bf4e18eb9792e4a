//! The figures that the paper printed, each with its table, row, column and its number of questions.
//!
//! A row has an id: the name of our model, followed by what makes the row another one than the model's own
//! (`memnn-window-selfsup`, `memnn-window-selfsup/-time`, `memnn-window-selfsup/ensemble`). [`crate::Row::paper_row`]
//! names it.

mod figures;

use evaluation::Accuracy;
use questions::{Split, WordClass};

use crate::charts::Place;

pub use figures::{
    CBT_QUESTIONS, CNN_TEST_QUESTIONS, CNN_VALID_QUESTIONS, HUMAN_QUESTIONS, TABLE_1,
    TABLE_1_VOCABULARY, TEST_QUESTIONS, VALID_QUESTIONS,
};

/// The id of the row of people who read the context.
pub(crate) const PEOPLE_WITH_CONTEXT: &str = "humans-context-query";

/// A table of accuracies in the paper, or one of ours that follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Table 2: all methods on the CBT test set.
    Table2,
    /// Appendix B: all methods on the CBT validation set.
    Validation,
    /// The results on CNN QA (§5.1).
    Cnn,
    /// Appendix C: ablation on CNN QA.
    Ablation,
    /// Appendix D: anonymised entities.
    Anonymised,
    /// Appendix E: windows and targets beyond the candidates.
    Windows,
    /// Accuracy against the window's size: the paper's claim, for which it prints no figures.
    Goldilocks,
    /// What the choices of §3 are worth on the CBT: ours alone.
    Variants,
}

impl TableKind {
    /// In the order of the paper.
    pub const ALL: [Self; 8] = [
        Self::Table2,
        Self::Validation,
        Self::Cnn,
        Self::Ablation,
        Self::Anonymised,
        Self::Windows,
        Self::Goldilocks,
        Self::Variants,
    ];

    /// The name of the table in files and experiments: `table-2`, `validation`, …
    pub fn code(self) -> &'static str {
        [
            "table-2",
            "validation",
            "cnn",
            "ablation",
            "anonymised",
            "windows",
            "goldilocks",
            "variants",
        ][self as usize]
    }

    /// The table with a [`TableKind::code`].
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// The table as the paper printed it.
    pub fn published(self) -> &'static PublishedTable {
        match self {
            Self::Table2 => &figures::TABLE_2,
            Self::Validation => &figures::VALIDATION,
            Self::Cnn => &figures::CNN,
            Self::Ablation => &figures::ABLATION,
            Self::Anonymised => &figures::ANONYMISED,
            Self::Windows => &figures::WINDOWS,
            Self::Goldilocks => &figures::GOLDILOCKS,
            Self::Variants => &figures::VARIANTS,
        }
    }

    /// Returns whether it is about questions that have word classes; CNN QA's have none.
    pub fn has_classes(self) -> bool {
        self.published().columns.iter().all(|column| column.class.is_some())
    }
}

/// A table as the paper printed it.
#[derive(Debug)]
pub struct PublishedTable {
    /// Where the paper has it: `Table 2`, `Appendix C`.
    pub source: &'static str,
    /// The paper's caption.
    pub title: &'static str,
    /// What the table shows, to be followed by «on» and the name of a set.
    pub subject: &'static str,
    /// The columns, each a part of the questions.
    pub columns: &'static [PublishedColumn],
    /// The rows, in the paper's order.
    pub rows: &'static [PublishedRow],
}

/// A column of a table of accuracies: a part of the questions.
#[derive(Debug)]
pub struct PublishedColumn {
    /// The paper's heading.
    pub label: &'static str,
    /// The split of its questions.
    pub split: Split,
    /// The class of its questions; none on CNN QA.
    pub class: Option<WordClass>,
    /// The number of questions of each of its figures.
    pub n: usize,
}

/// A row of a table of accuracies.
#[derive(Debug)]
pub struct PublishedRow {
    /// Identifies the row, in every table that has it.
    pub id: &'static str,
    /// What this table calls it, where that is not [`label()`].
    label: Option<&'static str>,
    /// One figure per column.
    pub figures: &'static [f64],
    /// The number of its block of rows between two rules.
    pub block: usize,
    /// Where the paper took it from, or how it differs.
    pub footnote: Option<Footnote>,
}

/// What the paper's `(*)` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Footnote {
    /// People answered 10 % of the test set: 250 questions per class.
    People,
    /// Taken from Hermann et al. 2015.
    Hermann,
}

impl Footnote {
    /// The sentence under the table.
    pub fn text(self) -> &'static str {
        match self {
            Self::People => "People answered 10 % of the test set: 250 questions per class.",
            Self::Hermann => "The paper took this row from Hermann et al. (2015).",
        }
    }
}

/// What the paper calls the row with an id, in the first table that has it.
pub fn label(id: &str) -> Option<&'static str> {
    figures::LABELS.iter().find(|(known, _)| *known == id).map(|(_, label)| *label)
}

/// The row with an id in a sentence: `the window memory with self-supervision`.
pub fn phrase(id: &str) -> Option<&'static str> {
    figures::PHRASES.iter().find(|(known, _)| *known == id).map(|(_, phrase)| *phrase)
}

/// Returns whether `id` is that of a row of the paper, or a place on the Goldilocks curve.
pub fn is_row(id: &str) -> bool {
    label(id).is_some() || Place::from_id(id).is_some()
}

impl PublishedTable {
    /// The row with an id.
    pub fn row(&self, id: &str) -> Option<&'static PublishedRow> {
        self.rows.iter().find(|row| row.id == id)
    }
}

impl PublishedRow {
    /// What its table calls it.
    pub fn label(&self) -> &'static str {
        self.label.or_else(|| label(self.id)).expect("every id has a label")
    }

    /// The name of the model that it is a row of.
    pub fn model(&self) -> &'static str {
        self.id.split_once('/').map_or(self.id, |(model, _)| model)
    }

    /// The figure of a column with the interval that its n implies.
    pub fn accuracy(&self, column: usize, n: usize) -> Accuracy {
        let n = if self.is_people() { HUMAN_QUESTIONS } else { n };
        Accuracy::new(self.figures[column], n)
    }

    /// Returns whether no method of ours makes the row, which is then something to compare with: people, and the readers
    /// of Hermann et al. (2015).
    pub fn is_reference(&self) -> bool {
        self.is_people() || matches!(self.id, "deep-lstm" | "attentive-reader" | "impatient-reader")
    }

    /// Returns whether people answered.
    pub fn is_people(&self) -> bool {
        self.footnote == Some(Footnote::People)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of the columns, added up from the paper's source apart from this file.
    #[test]
    fn the_columns_add_up_to_the_papers() {
        let sums = |kind: TableKind| -> Vec<f64> {
            let PublishedTable { columns, rows, .. } = kind.published();
            let sum = |column: usize| rows.iter().map(|row| row.figures[column]).sum::<f64>();
            (0..columns.len()).map(|column| (sum(column) * 1000.0).round() / 1000.0).collect()
        };
        assert_eq!(sums(TableKind::Table2), [7.724, 8.894, 11.84, 10.734]);
        assert_eq!(sums(TableKind::Cnn), [5.736, 5.975]);
        assert_eq!(sums(TableKind::Validation), [7.153, 8.113, 9.94, 9.684]);
        assert_eq!(sums(TableKind::Ablation), [5.593, 5.888]);
        assert_eq!(sums(TableKind::Anonymised), [2.489, 2.524, 3.156, 2.989]);
        assert_eq!(sums(TableKind::Windows), [3.833, 3.862, 4.783, 4.474]);
    }

    #[test]
    fn every_row_has_a_figure_per_column_a_label_and_an_id_of_its_own() {
        for kind in TableKind::ALL {
            let table = kind.published();
            for row in table.rows {
                assert_eq!(row.figures.len(), table.columns.len(), "{}", row.label());
                let same = table.rows.iter().filter(|other| other.id == row.id);
                assert_eq!(same.count(), 1, "{}: {}", table.source, row.label());
                assert!(std::ptr::eq(table.row(row.id).unwrap(), row));
            }
            assert_eq!(TableKind::from_code(kind.code()), Some(kind));
        }
        let rows = TableKind::ALL.map(|kind| kind.published().rows.len());
        assert_eq!(rows, [19, 17, 11, 9, 5, 7, 0, 0]);
    }

    #[test]
    fn known_cells_are_where_the_paper_has_them() {
        let cell = |kind: TableKind, label: &str, column: usize| {
            let rows = &kind.published().rows;
            rows.iter().find(|row| row.label() == label).unwrap().figures[column]
        };
        assert_eq!(cell(TableKind::Table2, "Humans (context+query)", 3), 0.708);
        assert_eq!(cell(TableKind::Table2, "LSTMs (context+query)", 2), 0.818);
        assert_eq!(cell(TableKind::Validation, "Kneser-Ney language model + cache", 3), 0.693);
        assert_eq!(cell(TableKind::Cnn, "Sliding window", 1), 0.006);
        assert_eq!(
            cell(TableKind::Ablation, "MemNNs (window mem. + self-sup. + ensemble) -time", 1),
            0.679
        );
        assert_eq!(cell(TableKind::Anonymised, "ANONYMIZED MemNNs (window +self-sup.)", 0), 0.581);
        assert_eq!(cell(TableKind::Windows, "MemNNs (LM + self-sup.)", 3), 0.647);
    }

    #[test]
    fn every_row_of_table_2_has_a_phrase() {
        for row in TableKind::Table2.published().rows.iter().filter(|row| !row.is_people()) {
            assert!(phrase(row.id).is_some(), "{}", row.id);
        }
    }

    #[test]
    fn the_counts_of_the_released_questions_add_up_to_table_1() {
        let sums = CBT_QUESTIONS.map(|classes| classes.iter().sum::<usize>());
        assert_eq!(sums, TABLE_1.map(|totals| totals.questions));
    }

    #[test]
    fn people_answered_250_questions_and_models_the_whole_set() {
        let table = TableKind::Table2.published();
        assert_eq!(table.rows[1].accuracy(0, table.columns[0].n).n, 250);
        assert_eq!(table.rows[2].accuracy(0, table.columns[0].n).n, 2_500);
        let cnn = TableKind::Cnn.published();
        assert_eq!([cnn.columns[0].n, cnn.columns[1].n], [3_924, 3_198]);
    }
}
