//! The figures that the paper printed, as data: tables, rows by their ids, the number of questions of each column.

use questions::{Split, Totals, WordClass};

use super::{Footnote, PublishedColumn, PublishedRow, PublishedTable};

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

/// What rows are called in the first table that has them; other tables may call them otherwise.
#[rustfmt::skip]
pub(super) static LABELS: &[(&str, &str)] = &[
    ("humans-query", "Humans (query)"),
    ("humans-context-query", "Humans (context+query)"),
    ("max-frequency-corpus", "Maximum frequency (corpus)"),
    ("max-frequency-context", "Maximum frequency (context)"),
    ("sliding-window", "Sliding window"),
    ("word-distance", "Word distance model"),
    ("kneser-ney", "Kneser-Ney language model"),
    ("kneser-ney-cache", "Kneser-Ney language model + cache"),
    ("embedding-context-query", "Embedding Model (context+query)"),
    ("embedding-query", "Embedding Model (query)"),
    ("embedding-window", "Embedding Model (window)"),
    ("embedding-window-position", "Embedding Model (window+position)"),
    ("lstm-query", "LSTMs (query)"),
    ("lstm-context-query", "LSTMs (context+query)"),
    ("contextual-lstm", "Contextual LSTMs (window context)"),
    ("memnn-lexical", "MemNNs (lexical memory)"),
    ("memnn-window", "MemNNs (window memory)"),
    ("memnn-sentential", "MemNNs (sentential memory + PE)"),
    ("memnn-window-selfsup", "MemNNs (window memory + self-sup.)"),
    ("deep-lstm", "Deep LSTMs (article+query)"),
    ("attentive-reader", "Contextual LSTMs (“Attentive reader”)"),
    ("impatient-reader", "Contextual LSTMs (“Impatient reader”)"),
    ("memnn-window/ensemble", "MemNNs (window memory + ensemble)"),
    ("memnn-window-selfsup/ensemble", "MemNNs (window memory + self-sup. + ensemble)"),
    ("memnn-window-selfsup/ensemble/-cooccurrences", "MemNNs (window + self-sup. + ensemble + exclud. coocurrences)"),
    ("memnn-window-selfsup/-cooccurrences", "MemNNs (window memory + self-sup. + exclud. coocurrences)"),
    ("memnn-window-selfsup/-time", "MemNNs (window mem. + self-sup.) -time"),
    ("memnn-window-selfsup/-soft-weighting", "MemNNs (window mem. + self-sup.) -soft memory weighting"),
    ("memnn-window-selfsup/-time/-soft-weighting", "MemNNs (window mem. + self-sup.) -time -soft memory weighting"),
    ("memnn-window-selfsup/ensemble/-time", "MemNNs (window mem. + self-sup. + ensemble) -time"),
    ("memnn-window-selfsup/ensemble/-soft-weighting", "MemNNs (window mem. + self-sup. + ensemble) -soft memory weighting"),
    ("memnn-window-selfsup/ensemble/-time/-soft-weighting", "MemNNs (window mem. + self-sup. + ensemble) -time -soft memory weighting"),
    ("memnn-window-selfsup/anonymised", "ANONYMIZED MemNNs (window +self-sup.)"),
    ("memnn-all-windows-selfsup", "MemNNs (all windows + self-sup.)"),
    ("memnn-all-targets-selfsup", "MemNNs (all windows + all targets + self-sup.)"),
    ("memnn-lm-selfsup", "MemNNs (LM + self-sup.)"),
];

/// The rows of Table 2 in a sentence.
#[rustfmt::skip]
pub(super) static PHRASES: &[(&str, &str)] = &[
    ("max-frequency-corpus", "the most frequent candidate of the training books"),
    ("max-frequency-context", "the most frequent candidate of the context"),
    ("sliding-window", "the sliding window"),
    ("word-distance", "word distance"),
    ("kneser-ney", "the Kneser-Ney language model"),
    ("kneser-ney-cache", "the Kneser-Ney language model with a cache"),
    ("embedding-context-query", "the embedding of context and query"),
    ("embedding-query", "the embedding of the query"),
    ("embedding-window", "the embedding of a window"),
    ("embedding-window-position", "the embedding of a window with positions"),
    ("lstm-query", "the LSTM that reads the query"),
    ("lstm-context-query", "the LSTM that reads context and query"),
    ("contextual-lstm", "the contextual LSTM"),
    ("memnn-lexical", "the lexical memory"),
    ("memnn-window", "the window memory"),
    ("memnn-sentential", "the sentential memory"),
    ("memnn-window-selfsup", "the window memory with self-supervision"),
];

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

const fn row(block: usize, id: &'static str, figures: &'static [f64]) -> PublishedRow {
    PublishedRow { id, label: None, figures, block, footnote: None }
}

const fn called(row: PublishedRow, label: &'static str) -> PublishedRow {
    PublishedRow { label: Some(label), ..row }
}

const fn noted(row: PublishedRow, footnote: Footnote) -> PublishedRow {
    PublishedRow { footnote: Some(footnote), ..row }
}

use Footnote::{Hermann, People};

#[rustfmt::skip]
#[expect(clippy::approx_constant, reason = "a figure of the paper, not 1/π")]
pub(super) static TABLE_2: PublishedTable = PublishedTable {
    source: "Table 2",
    title: "Results on the CBT test set",
    subject: "Accuracy",
    columns: &TEST_COLUMNS,
    rows: &[
        noted(row(0, "humans-query", &[0.520, 0.644, 0.716, 0.676]), People),
        noted(row(0, "humans-context-query", &[0.816, 0.816, 0.828, 0.708]), People),
        row(1, "max-frequency-corpus", &[0.120, 0.158, 0.373, 0.315]),
        row(1, "max-frequency-context", &[0.335, 0.281, 0.285, 0.275]),
        row(1, "sliding-window", &[0.168, 0.196, 0.182, 0.101]),
        row(1, "word-distance", &[0.398, 0.364, 0.380, 0.237]),
        row(1, "kneser-ney", &[0.390, 0.544, 0.778, 0.768]),
        row(1, "kneser-ney-cache", &[0.439, 0.577, 0.772, 0.679]),
        row(2, "embedding-context-query", &[0.253, 0.259, 0.421, 0.315]),
        row(2, "embedding-query", &[0.351, 0.400, 0.614, 0.535]),
        row(2, "embedding-window", &[0.362, 0.415, 0.637, 0.589]),
        row(2, "embedding-window-position", &[0.402, 0.506, 0.736, 0.670]),
        row(3, "lstm-query", &[0.408, 0.541, 0.813, 0.802]),
        row(3, "lstm-context-query", &[0.418, 0.560, 0.818, 0.791]),
        row(3, "contextual-lstm", &[0.436, 0.582, 0.805, 0.806]),
        row(4, "memnn-lexical", &[0.431, 0.562, 0.798, 0.764]),
        row(4, "memnn-window", &[0.493, 0.554, 0.692, 0.674]),
        row(4, "memnn-sentential", &[0.318, 0.305, 0.502, 0.326]),
        row(4, "memnn-window-selfsup", &[0.666, 0.630, 0.690, 0.703]),
    ],
};

#[rustfmt::skip]
pub(super) static VALIDATION: PublishedTable = PublishedTable {
    source: "Appendix B",
    title: "Results on the CBT validation set",
    subject: "Accuracy",
    columns: &VALID_COLUMNS,
    rows: &[
        row(0, "max-frequency-corpus", &[0.052, 0.192, 0.301, 0.346]),
        row(0, "max-frequency-context", &[0.299, 0.273, 0.219, 0.312]),
        row(0, "sliding-window", &[0.178, 0.199, 0.200, 0.091]),
        row(0, "word-distance", &[0.436, 0.371, 0.332, 0.259]),
        row(0, "kneser-ney", &[0.481, 0.577, 0.762, 0.791]),
        row(0, "kneser-ney-cache", &[0.500, 0.612, 0.755, 0.693]),
        row(1, "embedding-context-query", &[0.235, 0.297, 0.368, 0.356]),
        row(1, "embedding-query", &[0.418, 0.462, 0.575, 0.560]),
        row(1, "embedding-window", &[0.457, 0.486, 0.622, 0.619]),
        row(1, "embedding-window-position", &[0.488, 0.555, 0.722, 0.683]),
        row(2, "lstm-query", &[0.500, 0.613, 0.811, 0.819]),
        row(2, "lstm-context-query", &[0.512, 0.626, 0.820, 0.812]),
        row(2, "contextual-lstm", &[0.535, 0.628, 0.803, 0.798]),
        row(3, "memnn-lexical", &[0.519, 0.647, 0.818, 0.785]),
        row(3, "memnn-window", &[0.542, 0.591, 0.693, 0.704]),
        row(3, "memnn-sentential", &[0.297, 0.342, 0.451, 0.360]),
        row(4, "memnn-window-selfsup", &[0.704, 0.642, 0.688, 0.696]),
    ],
};

#[rustfmt::skip]
pub(super) static CNN: PublishedTable = PublishedTable {
    source: "Table 3",
    title: "Results on CNN QA",
    subject: "Accuracy",
    columns: &CNN_COLUMNS,
    rows: &[
        noted(called(row(0, "max-frequency-context", &[0.305, 0.332]), "Maximum frequency (article)"), Hermann),
        row(0, "sliding-window", &[0.005, 0.006]),
        noted(row(0, "word-distance", &[0.505, 0.509]), Hermann),
        noted(row(1, "deep-lstm", &[0.550, 0.570]), Hermann),
        noted(row(1, "attentive-reader", &[0.616, 0.630]), Hermann),
        noted(row(1, "impatient-reader", &[0.618, 0.638]), Hermann),
        row(2, "memnn-window", &[0.580, 0.606]),
        row(2, "memnn-window-selfsup", &[0.634, 0.668]),
        row(3, "memnn-window/ensemble", &[0.612, 0.638]),
        row(3, "memnn-window-selfsup/ensemble", &[0.649, 0.684]),
        row(4, "memnn-window-selfsup/ensemble/-cooccurrences", &[0.662, 0.694]),
    ],
};

#[rustfmt::skip]
pub(super) static ABLATION: PublishedTable = PublishedTable {
    source: "Appendix C",
    title: "Ablation study on CNN QA",
    subject: "Ablation of the window memory",
    columns: &CNN_COLUMNS,
    rows: &[
        row(0, "memnn-window-selfsup/-cooccurrences", &[0.635, 0.684]),
        row(0, "memnn-window-selfsup", &[0.634, 0.668]),
        row(0, "memnn-window-selfsup/-time", &[0.625, 0.659]),
        row(0, "memnn-window-selfsup/-soft-weighting", &[0.604, 0.620]),
        row(0, "memnn-window-selfsup/-time/-soft-weighting", &[0.592, 0.613]),
        called(row(1, "memnn-window-selfsup/ensemble", &[0.649, 0.684]), "MemNNs (window mem. + self-sup. + ensemble)"),
        row(1, "memnn-window-selfsup/ensemble/-time", &[0.642, 0.679]),
        row(1, "memnn-window-selfsup/ensemble/-soft-weighting", &[0.612, 0.641]),
        row(1, "memnn-window-selfsup/ensemble/-time/-soft-weighting", &[0.600, 0.640]),
    ],
};

#[rustfmt::skip]
#[expect(clippy::approx_constant, reason = "a figure of the paper, not 1/π")]
pub(super) static ANONYMISED: PublishedTable = PublishedTable {
    source: "Appendix D",
    title: "Effects of anonymising entities in CBT",
    subject: "Accuracy with anonymised candidates",
    columns: &TEST_COLUMNS,
    rows: &[
        called(row(0, "memnn-lexical", &[0.431, 0.562, 0.798, 0.764]), "MemNNs (word mem.)"),
        called(row(0, "memnn-window", &[0.493, 0.554, 0.692, 0.674]), "MemNNs (window mem.)"),
        called(row(0, "memnn-sentential", &[0.318, 0.305, 0.502, 0.326]), "MemNNs (sentence mem.+PE)"),
        called(row(0, "memnn-window-selfsup", &[0.666, 0.630, 0.690, 0.703]), "MemNNs (window mem.+self-sup.)"),
        row(1, "memnn-window-selfsup/anonymised", &[0.581, 0.473, 0.474, 0.522]),
    ],
};

#[rustfmt::skip]
#[expect(clippy::approx_constant, reason = "a figure of the paper, not 1/π")]
pub(super) static WINDOWS: PublishedTable = PublishedTable {
    source: "Appendix E",
    title: "Results on the CBT test set when considering all windows or targets",
    subject: "All windows or targets as memories",
    columns: &TEST_COLUMNS,
    rows: &[
        row(0, "memnn-lexical", &[0.431, 0.562, 0.798, 0.764]),
        row(0, "memnn-window", &[0.493, 0.554, 0.692, 0.674]),
        row(0, "memnn-sentential", &[0.318, 0.305, 0.502, 0.326]),
        row(0, "memnn-window-selfsup", &[0.666, 0.630, 0.690, 0.703]),
        row(1, "memnn-all-windows-selfsup", &[0.648, 0.604, 0.711, 0.693]),
        row(1, "memnn-all-targets-selfsup", &[0.639, 0.602, 0.698, 0.667]),
        row(1, "memnn-lm-selfsup", &[0.638, 0.605, 0.692, 0.647]),
    ],
};

pub(super) static GOLDILOCKS: PublishedTable = PublishedTable {
    source: "§5",
    title: "The Goldilocks principle: accuracy against the size of a window",
    subject: "Accuracy against the size of a window",
    columns: &VALID_COLUMNS,
    rows: &[],
};

pub(super) static VARIANTS: PublishedTable = PublishedTable {
    source: "§3, Appendix C",
    title: "Variants of the memory networks on the CBT validation set",
    subject: "Variants of the memory networks",
    columns: &VALID_COLUMNS,
    rows: &[],
};
