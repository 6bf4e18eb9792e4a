//! What can be wrong inside a file: a question, one of its lines, or a line of a file of splits.

use crate::BLANK_WORD;

/// What is wrong with a question, or with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The file stops inside a question.
    #[error(
        "the file ends in the middle of a question: expected {expected}, found the end of the file"
    )]
    Cut {
        /// What should have come.
        expected: &'static str,
    },
    /// The lines of a question are numbered 1, 2, 3, …
    #[error("lines are not numbered as expected: expected `{expected}`, found {}", shown(found))]
    Numbering {
        /// The number that should stand there.
        expected: usize,
        /// What stands there.
        found: String,
    },
    /// No empty line after the query.
    #[error("a question goes on after its query: expected an empty line, found {}", shown(found))]
    AfterQuery {
        /// What stands there.
        found: String,
    },
    /// The query's line has other fields than query, answer, nothing, candidates.
    #[error(
        "the query's line is not as expected: expected `query TAB answer TAB TAB candidates`, found {found}"
    )]
    Fields {
        /// How many fields there are, or what the third holds.
        found: String,
    },
    /// A line that ends in CR LF.
    #[error("the line ends in a carriage return: expected Unix line ends")]
    CarriageReturn,
    /// Bytes that are no UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// A query without a blank, or with several.
    #[error("the query has {}: expected the word `{BLANK_WORD}` once, found it {found} times", if *found == 0 { "no blank" } else { "several blanks" })]
    Blanks {
        /// How often the blank stands in the query.
        found: usize,
    },
    /// A question to which there is no choice.
    #[error("too few candidates: expected two or more, found {found}")]
    FewCandidates {
        /// How many there are.
        found: usize,
    },
    /// The same candidate twice.
    #[error("the candidate {} is there twice: expected distinct candidates", shown(candidate))]
    DoubledCandidate {
        /// The candidate.
        candidate: String,
    },
    /// The right answer can't be chosen.
    #[error(
        "the answer is not among the candidates: expected one of {}, found {}",
        shown(candidates),
        shown(answer)
    )]
    AnswerNotAmongCandidates {
        /// The answer.
        answer: String,
        /// The candidates, joined by `|`.
        candidates: String,
    },
    /// A line that is not JSON at all.
    #[error("the line is no JSON object: {reason}")]
    Json {
        /// The parser's words.
        reason: String,
    },
    /// A JSON key or table column with a value that it can't have.
    #[error("`{key}`: expected {expected}, found {found}")]
    Value {
        /// The key or column.
        key: &'static str,
        /// What may stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A line of CNN QA that is not as expected.
    #[error("{0}")]
    News(Box<Flaw>),
    /// A line that is no news article.
    #[error("{0}")]
    Article(Box<Flaw>),
    /// A query of CNN QA without a missing entity, or with several.
    #[error(
        "the query has {}: expected the word `@placeholder` once, found it {found} times",
        if *found == 0 { "no blank" } else { "several blanks" }
    )]
    Placeholders {
        /// How often it stands in the query.
        found: usize,
    },
    /// The right answer is no entity of the article.
    #[error(
        "the answer is not in the article: expected one of its {n_entities} entities, found {}",
        shown(answer)
    )]
    AnswerNotInArticle {
        /// The answer.
        answer: String,
        /// How many entities there are.
        n_entities: usize,
    },
    /// An article to which there is no choice.
    #[error("too few entities in the article: expected two or more like `@entity0`, found {found}")]
    FewEntities {
        /// How many there are.
        found: usize,
    },
    /// More candidates than an article can have.
    #[error("too many candidates: expected at most {most}, found {found}")]
    ManyCandidates {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// Two parts of a `.question` file that are not apart.
    #[error("expected an empty line after {after}, found {}", shown(found))]
    NoEmptyLine {
        /// The part before it.
        after: &'static str,
        /// What stands there.
        found: String,
    },
    /// A line of the entity map that is none.
    #[error(
        "a line of the entity map is not as expected: expected `@entity0:NAME`, found {}",
        shown(found)
    )]
    EntityMap {
        /// The line.
        found: String,
    },
    /// An entity of article or query that the entity map leaves out.
    #[error("the entity map ends without `{entity}`, which stands in the article or the query")]
    NotInEntityMap {
        /// The entity.
        entity: String,
    },
    /// A line of a file of splits that does not give the split of a book.
    #[error("expected `train`, `valid` or `test`, a tab and a file name, found {}", shown(found))]
    SplitLine {
        /// The line.
        found: String,
    },
    /// Two lines of a file of splits are about one book.
    #[error("`{book}` is given a split twice: it stands in line {first} too")]
    SplitTwice {
        /// The book.
        book: String,
        /// The first of the lines.
        first: usize,
    },
    /// More text than a set can number.
    #[error(
        "the file holds more text than a question set can: expected less than 4 GiB of distinct sentences, queries and candidates"
    )]
    TooLarge,
}

impl Flaw {
    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Flaw::Cut { .. } => "the file was cut; copy or download it again",
            Flaw::Numbering { .. } | Flaw::AfterQuery { .. } => {
                "a question is lines numbered from 1, the query last, and then an empty line"
            }
            Flaw::Fields { .. } => "candidates are joined by `|`; the field before them is empty",
            Flaw::CarriageReturn => "`tr -d '\\r' < IN.txt > OUT.txt` makes Unix line ends",
            Flaw::NotUtf8 => "`iconv -f WINDOWS-1252 -t UTF-8 IN > OUT` converts the commonest other encoding",
            Flaw::Blanks { .. } => "the missing word of the query, and nothing else, is written `XXXXX`",
            Flaw::FewCandidates { .. } | Flaw::DoubledCandidate { .. } => {
                "a question has two or more different candidates"
            }
            Flaw::AnswerNotAmongCandidates { .. } => {
                "case counts; an answer that is unknown is left empty"
            }
            Flaw::News(flaw) if matches!(**flaw, Flaw::Json { .. } | Flaw::Value { .. }) => {
                "a question of CNN QA has `document`, `question`, `answer`, `url` and `split`; `--skip-bad` leaves bad ones out"
            }
            Flaw::News(flaw) => return flaw.hint(),
            Flaw::Article(_) => {
                "an article has `sentences`, perhaps `split` and `id`; `--skip-bad` leaves bad ones out"
            }
            Flaw::Placeholders { .. } => {
                "the missing entity of the query is written `@placeholder`; `--skip-bad` leaves bad questions out"
            }
            Flaw::AnswerNotInArticle { .. }
            | Flaw::FewEntities { .. }
            | Flaw::ManyCandidates { .. } => {
                "all entities of the article, `@entity0`, `@entity1`, …, are candidates; `--skip-bad` leaves bad questions out"
            }
            Flaw::NoEmptyLine { .. } => {
                "a .question file is URL, article, query, answer and entity map, with empty lines between them; `--skip-bad` leaves bad ones out"
            }
            Flaw::EntityMap { .. } | Flaw::NotInEntityMap { .. } => {
                "was the file cut? copy it again; `--skip-bad` leaves bad questions out"
            }
            Flaw::SplitLine { .. } => "further columns may follow, and the first line may be a header",
            Flaw::SplitTwice { .. } => "leave one of the lines out: a book is in one split only",
            Flaw::TooLarge => "split the file into several",
            Flaw::Json { .. } | Flaw::Value { .. } => {
                "a question has `sentences`, `question`, `answer` and `options`, perhaps `class`, `split` and `book`"
            }
        }
        .to_owned())
    }
}

/// The beginning of what was found, in back-ticks, visible and short enough for a message.
pub(crate) fn shown(found: &str) -> String {
    const MOST: usize = 60;
    let is_hidden = |c: char| c.is_control() || c == '\u{feff}';
    let escape = |c: char| match is_hidden(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    let beginning: String = found.chars().take(MOST).map(escape).collect();
    match found.chars().nth(MOST) {
        _ if found.is_empty() => "nothing".to_owned(),
        Some(_) => format!("`{beginning}…`"),
        None => format!("`{beginning}`"),
    }
}
