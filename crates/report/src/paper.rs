//! The figures that the paper printed, each with its table, row, column and the n behind it.
//!
//! A row is keyed by our model's name, and by [`Variant`]s where the paper's row is a setting of it. Rows
//! whose name no model of ours has (people, the readers of Hermann et al. 2015) keep their place in
//! every table with a dash beside them.

use evaluation::Accuracy;
use questions::{Split, Totals, WordClass};

/// The number of questions of each figure of Table 2's test columns.
pub const TEST_QUESTIONS: usize = 2_500;
/// The number of questions of each figure of the validation table.
pub const VALID_QUESTIONS: usize = 2_000;
/// The number of questions of each figure of Table 2's two rows of people.
pub const HUMAN_QUESTIONS: usize = 250;
/// The number of questions of the CNN table's validation column.
pub const CNN_VALID_QUESTIONS: usize = 3_924;
/// The number of questions of the CNN table's test column.
pub const CNN_TEST_QUESTIONS: usize = 3_198;

/// The released CBT's questions per split and class. The counts in the release's README are wrong; these are its files'.
pub const CBT_QUESTIONS: [[usize; WordClass::ALL.len()]; Split::ALL.len()] = [
    [108_719, 120_769, 105_825, 334_030],
    [VALID_QUESTIONS; WordClass::ALL.len()],
    [TEST_QUESTIONS; WordClass::ALL.len()],
];

/// Table 1, for training, validation and test.
pub const TABLE_1: [Totals; Split::ALL.len()] = [
    totals(98, 669_343, [465.0, 31.0], 37_242),
    totals(5, 8_000, [435.0, 27.0], 5_485),
    totals(5, 10_000, [445.0, 29.0], 7_108),
];

/// Table 1's «Vocabulary size». It counts lower-cased words.
pub const TABLE_1_VOCABULARY: usize = 53_628;

const fn totals(books: usize, questions: usize, words: [f64; 2], candidates: usize) -> Totals {
    Totals {
        books: Some(books),
        questions,
        context_words: words[0],
        query_words: words[1],
        distinct_candidates: candidates,
    }
}

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

    /// As the command line and file names have it: `table-2`, `validation`, …
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

    /// The table of a code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// The published table.
    pub fn published(self) -> &'static PublishedTable {
        [&TABLE_2, &VALIDATION, &CNN, &ABLATION, &ANONYMISED, &WINDOWS, &GOLDILOCKS, &VARIANTS]
            [self as usize]
    }

    /// Whether it is about questions that have word classes; CNN QA's have none.
    pub fn has_classes(self) -> bool {
        self.published().columns.iter().all(|column| column.class.is_some())
    }
}

/// A table as the paper printed it.
#[derive(Debug)]
pub struct PublishedTable {
    /// Where it stands: `Table 2`, `Appendix C`.
    pub source: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Its columns.
    pub columns: &'static [PublishedColumn],
    /// Its rows, in order.
    pub rows: &'static [PublishedRow],
}

/// A column of a table of accuracies: a part of the questions.
#[derive(Debug)]
pub struct PublishedColumn {
    /// The paper's heading.
    pub label: &'static str,
    /// The split that it is about.
    pub split: Split,
    /// The class that it is about; none on CNN QA.
    pub class: Option<WordClass>,
    /// How many questions each of its figures is over.
    pub n: usize,
}

/// A row of a table of accuracies.
#[derive(Debug)]
pub struct PublishedRow {
    /// Our model's name.
    pub name: &'static str,
    /// The settings that make the row another one than the model's own.
    pub variants: &'static [Variant],
    /// The paper's label.
    pub label: &'static str,
    /// The figures, one a column.
    pub figures: &'static [f64],
    /// The block of rows between two rules that it stands in.
    pub block: usize,
    /// Where the paper took it from, or how it differs.
    pub footnote: Option<Footnote>,
}

/// What the paper's `(*)` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Footnote {
    /// People answered 10 % of the test set: 250 questions a class.
    People,
    /// Taken from Hermann et al. 2015.
    Hermann,
}

impl Footnote {
    /// The sentence under the table.
    pub fn text(self) -> &'static str {
        match self {
            Self::People => "People answered 10 % of the test set: 250 questions a class.",
            Self::Hermann => "The paper took this row from Hermann et al. (2015).",
        }
    }
}

/// A setting that makes a row of its own in some table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// `anonymise = true`: candidates replaced by placeholders (Appendix D).
    Anonymised,
    /// `ensemble = N`: several models' distributions averaged (§5.1).
    Ensemble,
    /// `exclude_cooccurrences = true`: no candidate that stands in the query (§5.1).
    WithoutCooccurrences,
    /// `time = false` or 0: no time feature (Appendix C).
    WithoutTime,
    /// `soft_weighting = false`: hard selection at test time (Appendix C).
    WithoutSoftWeighting,
}

impl Variant {
    /// The variant that a setting makes, if it makes one.
    pub fn from_setting(key: &str, value: &str) -> Option<Self> {
        let number = value.parse::<f64>().ok();
        match key {
            "anonymise" if value == "true" => Some(Self::Anonymised),
            "ensemble" if number.is_some_and(|n| n > 1.0) => Some(Self::Ensemble),
            "exclude_cooccurrences" if value == "true" => Some(Self::WithoutCooccurrences),
            "time" if value == "false" || number == Some(0.0) => Some(Self::WithoutTime),
            "soft_weighting" if value == "false" => Some(Self::WithoutSoftWeighting),
            _ => None,
        }
    }

    /// Whether only the tables that have a row for it tell it apart. Elsewhere the time feature and the
    /// weighting are settings like any other, tuned for the row.
    fn is_tuned_elsewhere(self) -> bool {
        matches!(self, Self::WithoutTime | Self::WithoutSoftWeighting)
    }
}

impl PublishedTable {
    /// Whether a model with these variants is the model of this row.
    pub fn is_row_of(&self, row: &PublishedRow, name: &str, variants: &[Variant]) -> bool {
        let told_apart = |variant: &Variant| {
            !variant.is_tuned_elsewhere() || self.rows.iter().any(|r| r.variants.contains(variant))
        };
        row.name == name
            && row.variants.iter().all(|variant| variants.contains(variant))
            && variants.iter().filter(|v| told_apart(v)).all(|v| row.variants.contains(v))
    }
}

impl PublishedRow {
    /// The figure of a column with the interval that its n implies.
    pub fn accuracy(&self, column: usize, n: usize) -> Accuracy {
        let n = if self.is_people() { HUMAN_QUESTIONS } else { n };
        Accuracy::new(self.figures[column], n)
    }

    /// Whether people answered.
    pub fn is_people(&self) -> bool {
        self.footnote == Some(Footnote::People)
    }
}

const fn class_columns(split: Split, n: usize) -> [PublishedColumn; 4] {
    const fn column(label: &'static str, class: WordClass, of: (Split, usize)) -> PublishedColumn {
        PublishedColumn { label, split: of.0, class: Some(class), n: of.1 }
    }
    [
        column("Named Entities", WordClass::NamedEntity, (split, n)),
        column("Common Nouns", WordClass::CommonNoun, (split, n)),
        column("Verbs", WordClass::Verb, (split, n)),
        column("Prepositions", WordClass::Preposition, (split, n)),
    ]
}

static TEST_COLUMNS: [PublishedColumn; 4] = class_columns(Split::Test, TEST_QUESTIONS);
static VALID_COLUMNS: [PublishedColumn; 4] = class_columns(Split::Valid, VALID_QUESTIONS);
static CNN_COLUMNS: [PublishedColumn; 2] = [
    PublishedColumn {
        label: "Validation",
        split: Split::Valid,
        class: None,
        n: CNN_VALID_QUESTIONS,
    },
    PublishedColumn { label: "Test", split: Split::Test, class: None, n: CNN_TEST_QUESTIONS },
];

const fn row(
    block: usize,
    name: &'static str,
    label: &'static str,
    figures: &'static [f64],
) -> PublishedRow {
    PublishedRow { name, variants: &[], label, figures, block, footnote: None }
}

const fn with(row: PublishedRow, variants: &'static [Variant]) -> PublishedRow {
    PublishedRow { variants, ..row }
}

const fn noted(row: PublishedRow, footnote: Footnote) -> PublishedRow {
    PublishedRow { footnote: Some(footnote), ..row }
}

use Footnote::{Hermann, People};
use Variant::{Anonymised, Ensemble, WithoutCooccurrences, WithoutSoftWeighting, WithoutTime};

#[rustfmt::skip]
#[expect(clippy::approx_constant, reason = "a figure of the paper, not 1/π")]
static TABLE_2: PublishedTable = PublishedTable {
    source: "Table 2",
    title: "Results on the CBT test set",
    columns: &TEST_COLUMNS,
    rows: &[
        noted(row(0, "humans-query", "Humans (query)", &[0.520, 0.644, 0.716, 0.676]), People),
        noted(row(0, "humans-context-query", "Humans (context+query)", &[0.816, 0.816, 0.828, 0.708]), People),
        row(1, "max-frequency-corpus", "Maximum frequency (corpus)", &[0.120, 0.158, 0.373, 0.315]),
        row(1, "max-frequency-context", "Maximum frequency (context)", &[0.335, 0.281, 0.285, 0.275]),
        row(1, "sliding-window", "Sliding window", &[0.168, 0.196, 0.182, 0.101]),
        row(1, "word-distance", "Word distance model", &[0.398, 0.364, 0.380, 0.237]),
        row(1, "kneser-ney", "Kneser-Ney language model", &[0.390, 0.544, 0.778, 0.768]),
        row(1, "kneser-ney-cache", "Kneser-Ney language model + cache", &[0.439, 0.577, 0.772, 0.679]),
        row(2, "embedding-context-query", "Embedding Model (context+query)", &[0.253, 0.259, 0.421, 0.315]),
        row(2, "embedding-query", "Embedding Model (query)", &[0.351, 0.400, 0.614, 0.535]),
        row(2, "embedding-window", "Embedding Model (window)", &[0.362, 0.415, 0.637, 0.589]),
        row(2, "embedding-window-position", "Embedding Model (window+position)", &[0.402, 0.506, 0.736, 0.670]),
        row(3, "lstm-query", "LSTMs (query)", &[0.408, 0.541, 0.813, 0.802]),
        row(3, "lstm-context-query", "LSTMs (context+query)", &[0.418, 0.560, 0.818, 0.791]),
        row(3, "contextual-lstm", "Contextual LSTMs (window context)", &[0.436, 0.582, 0.805, 0.806]),
        row(4, "memnn-lexical", "MemNNs (lexical memory)", &[0.431, 0.562, 0.798, 0.764]),
        row(4, "memnn-window", "MemNNs (window memory)", &[0.493, 0.554, 0.692, 0.674]),
        row(4, "memnn-sentential", "MemNNs (sentential memory + PE)", &[0.318, 0.305, 0.502, 0.326]),
        row(4, "memnn-window-selfsup", "MemNNs (window memory + self-sup.)", &[0.666, 0.630, 0.690, 0.703]),
    ],
};

#[rustfmt::skip]
static VALIDATION: PublishedTable = PublishedTable {
    source: "Appendix B",
    title: "Results on the CBT validation set",
    columns: &VALID_COLUMNS,
    rows: &[
        row(0, "max-frequency-corpus", "Maximum frequency (corpus)", &[0.052, 0.192, 0.301, 0.346]),
        row(0, "max-frequency-context", "Maximum frequency (context)", &[0.299, 0.273, 0.219, 0.312]),
        row(0, "sliding-window", "Sliding window", &[0.178, 0.199, 0.200, 0.091]),
        row(0, "word-distance", "Word distance model", &[0.436, 0.371, 0.332, 0.259]),
        row(0, "kneser-ney", "Kneser-Ney language model", &[0.481, 0.577, 0.762, 0.791]),
        row(0, "kneser-ney-cache", "Kneser-Ney language model + cache", &[0.500, 0.612, 0.755, 0.693]),
        row(1, "embedding-context-query", "Embedding Model (context+query)", &[0.235, 0.297, 0.368, 0.356]),
        row(1, "embedding-query", "Embedding Model (query)", &[0.418, 0.462, 0.575, 0.560]),
        row(1, "embedding-window", "Embedding Model (window)", &[0.457, 0.486, 0.622, 0.619]),
        row(1, "embedding-window-position", "Embedding Model (window+position)", &[0.488, 0.555, 0.722, 0.683]),
        row(2, "lstm-query", "LSTMs (query)", &[0.500, 0.613, 0.811, 0.819]),
        row(2, "lstm-context-query", "LSTMs (context+query)", &[0.512, 0.626, 0.820, 0.812]),
        row(2, "contextual-lstm", "Contextual LSTMs (window context)", &[0.535, 0.628, 0.803, 0.798]),
        row(3, "memnn-lexical", "MemNNs (lexical memory)", &[0.519, 0.647, 0.818, 0.785]),
        row(3, "memnn-window", "MemNNs (window memory)", &[0.542, 0.591, 0.693, 0.704]),
        row(3, "memnn-sentential", "MemNNs (sentential memory + PE)", &[0.297, 0.342, 0.451, 0.360]),
        row(4, "memnn-window-selfsup", "MemNNs (window memory + self-sup.)", &[0.704, 0.642, 0.688, 0.696]),
    ],
};

#[rustfmt::skip]
static CNN: PublishedTable = PublishedTable {
    source: "Table 3",
    title: "Results on CNN QA",
    columns: &CNN_COLUMNS,
    rows: &[
        noted(row(0, "max-frequency-context", "Maximum frequency (article)", &[0.305, 0.332]), Hermann),
        row(0, "sliding-window", "Sliding window", &[0.005, 0.006]),
        noted(row(0, "word-distance", "Word distance model", &[0.505, 0.509]), Hermann),
        noted(row(1, "deep-lstm", "Deep LSTMs (article+query)", &[0.550, 0.570]), Hermann),
        noted(row(1, "attentive-reader", "Contextual LSTMs (“Attentive reader”)", &[0.616, 0.630]), Hermann),
        noted(row(1, "impatient-reader", "Contextual LSTMs (“Impatient reader”)", &[0.618, 0.638]), Hermann),
        row(2, "memnn-window", "MemNNs (window memory)", &[0.580, 0.606]),
        row(2, "memnn-window-selfsup", "MemNNs (window memory + self-sup.)", &[0.634, 0.668]),
        with(row(3, "memnn-window", "MemNNs (window memory + ensemble)", &[0.612, 0.638]), &[Ensemble]),
        with(row(3, "memnn-window-selfsup", "MemNNs (window memory + self-sup. + ensemble)", &[0.649, 0.684]), &[Ensemble]),
        with(row(4, "memnn-window-selfsup", "MemNNs (window + self-sup. + ensemble + exclud. coocurrences)", &[0.662, 0.694]), &[Ensemble, WithoutCooccurrences]),
    ],
};

#[rustfmt::skip]
static ABLATION: PublishedTable = PublishedTable {
    source: "Appendix C",
    title: "Ablation study on CNN QA",
    columns: &CNN_COLUMNS,
    rows: &[
        with(row(0, "memnn-window-selfsup", "MemNNs (window memory + self-sup. + exclud. coocurrences)", &[0.635, 0.684]), &[WithoutCooccurrences]),
        row(0, "memnn-window-selfsup", "MemNNs (window memory + self-sup.)", &[0.634, 0.668]),
        with(row(0, "memnn-window-selfsup", "MemNNs (window mem. + self-sup.) -time", &[0.625, 0.659]), &[WithoutTime]),
        with(row(0, "memnn-window-selfsup", "MemNNs (window mem. + self-sup.) -soft memory weighting", &[0.604, 0.620]), &[WithoutSoftWeighting]),
        with(row(0, "memnn-window-selfsup", "MemNNs (window mem. + self-sup.) -time -soft memory weighting", &[0.592, 0.613]), &[WithoutTime, WithoutSoftWeighting]),
        with(row(1, "memnn-window-selfsup", "MemNNs (window mem. + self-sup. + ensemble)", &[0.649, 0.684]), &[Ensemble]),
        with(row(1, "memnn-window-selfsup", "MemNNs (window mem. + self-sup. + ensemble) -time", &[0.642, 0.679]), &[Ensemble, WithoutTime]),
        with(row(1, "memnn-window-selfsup", "MemNNs (window mem. + self-sup. + ensemble) -soft memory weighting", &[0.612, 0.641]), &[Ensemble, WithoutSoftWeighting]),
        with(row(1, "memnn-window-selfsup", "MemNNs (window mem. + self-sup. + ensemble) -time -soft memory weighting", &[0.600, 0.640]), &[Ensemble, WithoutTime, WithoutSoftWeighting]),
    ],
};

#[rustfmt::skip]
#[expect(clippy::approx_constant, reason = "a figure of the paper, not 1/π")]
static ANONYMISED: PublishedTable = PublishedTable {
    source: "Appendix D",
    title: "Effects of anonymising entities in CBT",
    columns: &TEST_COLUMNS,
    rows: &[
        row(0, "memnn-lexical", "MemNNs (word mem.)", &[0.431, 0.562, 0.798, 0.764]),
        row(0, "memnn-window", "MemNNs (window mem.)", &[0.493, 0.554, 0.692, 0.674]),
        row(0, "memnn-sentential", "MemNNs (sentence mem.+PE)", &[0.318, 0.305, 0.502, 0.326]),
        row(0, "memnn-window-selfsup", "MemNNs (window mem.+self-sup.)", &[0.666, 0.630, 0.690, 0.703]),
        with(row(1, "memnn-window-selfsup", "ANONYMIZED MemNNs (window +self-sup.)", &[0.581, 0.473, 0.474, 0.522]), &[Anonymised]),
    ],
};

#[rustfmt::skip]
#[expect(clippy::approx_constant, reason = "a figure of the paper, not 1/π")]
static WINDOWS: PublishedTable = PublishedTable {
    source: "Appendix E",
    title: "Results on the CBT test set when considering all windows or targets",
    columns: &TEST_COLUMNS,
    rows: &[
        row(0, "memnn-lexical", "MemNNs (lexical memory)", &[0.431, 0.562, 0.798, 0.764]),
        row(0, "memnn-window", "MemNNs (window memory)", &[0.493, 0.554, 0.692, 0.674]),
        row(0, "memnn-sentential", "MemNNs (sentential memory + PE)", &[0.318, 0.305, 0.502, 0.326]),
        row(0, "memnn-window-selfsup", "MemNNs (window memory + self-sup.)", &[0.666, 0.630, 0.690, 0.703]),
        row(1, "memnn-all-windows-selfsup", "MemNNs (all windows + self-sup.)", &[0.648, 0.604, 0.711, 0.693]),
        row(1, "memnn-all-targets-selfsup", "MemNNs (all windows + all targets + self-sup.)", &[0.639, 0.602, 0.698, 0.667]),
        row(1, "memnn-lm-selfsup", "MemNNs (LM + self-sup.)", &[0.638, 0.605, 0.692, 0.647]),
    ],
};

static GOLDILOCKS: PublishedTable = PublishedTable {
    source: "§5",
    title: "The Goldilocks principle: accuracy against the size of a window",
    columns: &VALID_COLUMNS,
    rows: &[],
};

static VARIANTS: PublishedTable = PublishedTable {
    source: "§3, Appendix C",
    title: "Variants of the memory networks on the CBT validation set",
    columns: &VALID_COLUMNS,
    rows: &[],
};

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
    fn every_row_has_a_figure_a_column_and_a_model_of_its_own() {
        for kind in TableKind::ALL {
            let table = kind.published();
            for row in table.rows {
                assert_eq!(row.figures.len(), table.columns.len(), "{}", row.label);
                let same = |other: &&PublishedRow| table.is_row_of(other, row.name, row.variants);
                assert_eq!(
                    table.rows.iter().filter(same).count(),
                    1,
                    "{}: {}",
                    table.source,
                    row.label
                );
            }
            assert_eq!(TableKind::from_code(kind.code()), Some(kind));
        }
        let rows = TableKind::ALL.map(|kind| kind.published().rows.len());
        assert_eq!(rows, [19, 17, 11, 9, 5, 7, 0, 0]);
    }

    #[test]
    fn known_cells_stand_where_the_paper_has_them() {
        let cell = |kind: TableKind, label: &str, column: usize| {
            let rows = &kind.published().rows;
            rows.iter().find(|row| row.label == label).unwrap().figures[column]
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

    #[test]
    fn settings_choose_the_row_only_where_a_table_tells_them_apart() {
        let variant = Variant::from_setting;
        assert_eq!(variant("time", "0"), Some(WithoutTime));
        assert_eq!(variant("time", "0.1"), None);
        assert_eq!(variant("ensemble", "11"), Some(Ensemble));
        assert_eq!(variant("ensemble", "1"), None);
        let matching = |kind: TableKind, variants: &[Variant]| -> Vec<&str> {
            let table = kind.published();
            let name = "memnn-window-selfsup";
            let rows = table.rows.iter().filter(|row| table.is_row_of(row, name, variants));
            rows.map(|row| row.label).collect()
        };
        let plain = "MemNNs (window memory + self-sup.)";
        assert_eq!(matching(TableKind::Table2, &[WithoutTime]), [plain]);
        assert_eq!(
            matching(TableKind::Ablation, &[WithoutTime]),
            ["MemNNs (window mem. + self-sup.) -time"]
        );
        assert!(matching(TableKind::Table2, &[Anonymised]).is_empty());
        assert!(matching(TableKind::Windows, &[Ensemble]).is_empty());
    }
}
