//! What can go wrong on the way from books to questions and with question sets on disk: every message names
//! the file and the position in it, and [`Error::remedy`] says what can be done about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::{BLANK_WORD, Split, WordClass};

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why questions could not be built, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    /// There is no such file or folder.
    #[error("{}: no such file or folder", path.display())]
    Missing { path: PathBuf },
    /// The operating system refused to read.
    #[error("{}: cannot be read: {cause}", path.display())]
    Read { path: PathBuf, cause: io::Error },
    /// The operating system refused to write.
    #[error("{}: cannot be written: {cause}", path.display())]
    Write { path: PathBuf, cause: io::Error },
    /// The output is there already.
    #[error("{}: already exists", path.display())]
    Exists { path: PathBuf },
    /// The output is a folder that holds other things than a question set.
    #[error("{}: is not replaced: it holds `{entry}`, which is not part of a question set", path.display())]
    ForeignFolder { path: PathBuf, entry: String },
    /// The ending of a file name is none that holds questions.
    #[error("{}: unknown ending: expected `.txt`, `.jsonl`, `.parquet` or `.question`", path.display())]
    UnknownEnding { path: PathBuf },
    /// A folder without questions.
    #[error(
        "{}: no question set: expected `manifest.toml`, files like `cbtest_NE_valid_2000ex.txt` or `.question` files",
        path.display()
    )]
    NoSet { path: PathBuf },
    /// A file or folder of the right kind, with no question in it.
    #[error("{}: holds no question{}", path.display(), of(only, *only_class))]
    Empty { path: PathBuf, only: Option<Vec<Split>>, only_class: Option<WordClass> },
    /// Questions like CNN QA's, but none of CNN.
    #[error("{}: holds no question of CNN: all {left_out} are of another source", path.display())]
    OtherSource { path: PathBuf, left_out: usize },
    /// More text than a set can number.
    #[error("{}: holds more text than a question set can: expected fewer than 2³² words", path.display())]
    TooLarge { path: PathBuf },
    /// More text was built than a set can number.
    #[error("the books hold more text than one question set can: expected fewer than 2³² words")]
    TooManyWords,
    /// A folder of shards that lacks one.
    #[error("{}: shard {} is missing: expected {of} files", path.display(), file)]
    MissingShard { path: PathBuf, file: String, of: usize },
    /// A question, or the line that it is on, is wrong.
    #[error("{}{at}: {error}", path.display())]
    Malformed { path: PathBuf, at: Location, error: LineError },
    /// A question cannot join a set that is made in memory.
    #[error("{0}")]
    Question(#[from] LineError),
    /// This build of the crate cannot read or write Parquet.
    #[error("{}: Parquet is not supported by this build", path.display())]
    NoParquet { path: PathBuf },
    /// A Parquet file that its library cannot read.
    #[error("{}: invalid Parquet file: {reason}", path.display())]
    Parquet { path: PathBuf, reason: String },
    /// A Parquet column that is missing or of another type.
    #[error("{}: column `{column}`: expected {expected}, found {found}", path.display())]
    Column { path: PathBuf, column: &'static str, expected: &'static str, found: String },
    /// A Parquet file that is packed in a way that this program can't unpack.
    #[error("{}: compression: expected none, SNAPPY, GZIP or ZSTD, found {found}", path.display())]
    Compression { path: PathBuf, found: String },
    /// The compact form of another version of the program.
    #[error("{}: format version: expected {expected}, found {found}", path.display())]
    Version { path: PathBuf, expected: i64, found: i64 },
    /// A compact form that is not as it was written.
    #[error("{}: is damaged: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
    /// A word that the format of the output cannot hold.
    #[error("{}: question {question} cannot be written as {format}: it holds {}", path.display(), held(word))]
    Unwritable { path: PathBuf, format: &'static str, question: usize, word: String },
    /// The running text of a book has something that its file cannot hold.
    #[error("{}: book `{book}` cannot be written as running text: it holds {}", path.display(), held(text))]
    UnwritableBook { path: PathBuf, book: String, text: String },
    /// The released layout has one file for each class and split.
    #[error("{}: {what} has no {missing}: the released layout has one file for each", path.display())]
    NoOrigin { path: PathBuf, what: String, missing: &'static str },
    /// The book is too short for a context and a query.
    #[error(
        "{}: only {found} sentence{} found: a question needs {needed}",
        path.display(), if *found == 1 { " was" } else { "s were" }
    )]
    TooFewSentences { path: PathBuf, found: usize, needed: usize },
    /// Not one word of the books can be asked for.
    #[error(
        "no question could be built from {n_books} {} with {n_sentences} sentences: \
         of {n_refused} words that could be asked for, none has {n_candidates} candidates in its context",
        if *n_books == 1 { "book" } else { "books" }
    )]
    NoQuestions { n_books: usize, n_sentences: usize, n_refused: usize, n_candidates: usize },
    /// Two books have the same name, and might be in two splits.
    #[error("two books are named `{name}`: expected a name for each book")]
    SameName { name: String },
    /// No line of the file of splits is about this book.
    #[error("{}: no line gives the split of `{book}`", path.display())]
    NoSplit { path: PathBuf, book: String },
    /// There is no such rule.
    #[error("unknown rule `{rule}`")]
    UnknownRule { rule: String },
    /// A rule that can't be followed.
    #[error("rule `{rule}`: expected {expected}, found `{found}`")]
    Rule { rule: String, expected: String, found: String },
}

/// What is wrong with a question or with a line of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum LineError {
    /// The file stops inside a question.
    #[error(
        "the file ends in the middle of a question: expected {expected}, found the end of the file"
    )]
    Cut { expected: &'static str },
    /// The lines of a question are numbered 1, 2, 3, …
    #[error("lines are not numbered as expected: expected `{expected}`, found {}", shown(found))]
    Numbering { expected: usize, found: String },
    /// No empty line after the query.
    #[error("a question continues after its query: expected an empty line, found {}", shown(found))]
    AfterQuery { found: String },
    /// The query's line has other fields than query, answer, nothing, candidates.
    #[error(
        "the query's line is not as expected: expected `query TAB answer TAB TAB candidates`, found {found}"
    )]
    Fields { found: String },
    /// A line that ends in CR LF.
    #[error("the line ends in a carriage return: expected Unix line ends")]
    CarriageReturn,
    /// Bytes that are no UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// A query without a blank, or with several.
    #[error("the query has {}: expected the word `{BLANK_WORD}` once, found it {found} times", if *found == 0 { "no blank" } else { "several blanks" })]
    Blanks { found: usize },
    /// A question with fewer than two candidates.
    #[error("too few candidates: expected two or more, found {found}")]
    FewCandidates { found: usize },
    /// The same candidate twice.
    #[error("the candidate {} is listed twice: expected distinct candidates", shown(candidate))]
    DoubledCandidate { candidate: String },
    /// The right answer can't be chosen.
    #[error(
        "the answer is not among the candidates: expected one of {}, found {}",
        shown(candidates),
        shown(answer)
    )]
    AnswerNotAmongCandidates { answer: String, candidates: String },
    /// A context that is not a range of sentences of the set.
    #[error("the context {start}..{end} is not a range of the {n_sentences} sentences")]
    Context { start: usize, end: usize, n_sentences: usize },
    /// A reference to something that the set does not hold.
    #[error("{what} {found} does not exist: there are {len}")]
    OutOfRange { what: &'static str, len: usize, found: usize },
    /// A line that is not JSON at all.
    #[error("the line is not a JSON object: {reason}")]
    Json { reason: String },
    /// A JSON key or table column with a value that it can't have.
    #[error("`{key}`: expected {expected}, found {found}")]
    Value { key: &'static str, expected: &'static str, found: String },
    /// A line of CNN QA that is not as expected.
    #[error("{0}")]
    News(Box<LineError>),
    /// A line that is no news article.
    #[error("{0}")]
    Article(Box<LineError>),
    /// A query of CNN QA without a missing entity, or with several.
    #[error(
        "the query has {}: expected the word `@placeholder` once, found it {found} times",
        if *found == 0 { "no blank" } else { "several blanks" }
    )]
    Placeholders { found: usize },
    /// The right answer is no entity of the article.
    #[error(
        "the answer is not in the article: expected one of its {n_entities} entities, found {}",
        shown(answer)
    )]
    AnswerNotInArticle { answer: String, n_entities: usize },
    /// An article with fewer than two entities to choose from.
    #[error("too few entities in the article: expected two or more like `@entity0`, found {found}")]
    FewEntities { found: usize },
    /// More candidates than an article can have.
    #[error("too many candidates: expected at most {most}, found {found}")]
    ManyCandidates { found: usize, most: usize },
    /// Two parts of a `.question` file that are not apart.
    #[error("expected an empty line after {after}, found {}", shown(found))]
    NoEmptyLine { after: &'static str, found: String },
    /// A line of the entity map that is none.
    #[error(
        "a line of the entity map is not as expected: expected `@entity0:NAME`, found {}",
        shown(found)
    )]
    EntityMap { found: String },
    /// An entity of article or query that the entity map leaves out.
    #[error("the entity map ends without `{entity}`, which is in the article or the query")]
    NotInEntityMap { entity: String },
    /// A line of a file of splits that does not give the split of a book.
    #[error("expected `train`, `valid` or `test`, a tab and a file name, found {}", shown(found))]
    SplitLine { found: String },
    /// Two lines of a file of splits are about one book.
    #[error("`{book}` is given a split twice: it is in line {first} too")]
    SplitTwice { book: String, first: usize },
    /// More text than a set can number.
    #[error(
        "the file holds more text than a question set can: expected less than 4 GiB of distinct sentences, queries and candidates"
    )]
    TooLarge,
}

/// Where in a file something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// A line of a text file, from 1.
    Line(usize),
    /// A row of a table, from 1.
    Row(usize),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Line(line) => write!(f, ":{line}"),
            Location::Row(row) => write!(f, ": row {row}"),
        }
    }
}

fn of(only: &Option<Vec<Split>>, class: Option<WordClass>) -> String {
    let codes = only.iter().flatten().map(|split| format!("`{}`", split.code()));
    let codes = codes.collect::<Vec<_>>().join(" or ");
    let of_splits = if codes.is_empty() { codes } else { format!(" of {codes}") };
    class.map_or(of_splits.clone(), |class| format!("{of_splits} of class `{}`", class.code()))
}

/// As [`shown`], for what is about to be written.
fn held(text: &str) -> String {
    if text.is_empty() { "an empty word".to_owned() } else { shown(text) }
}

/// The beginning of what was found, in back-ticks, visible and short enough for a message.
pub(crate) fn shown(found: &str) -> String {
    const MOST: usize = 60;
    let is_hidden = |c: char| c.is_control() || c == '\u{feff}';
    let escape =
        |c: char| if is_hidden(c) { c.escape_default().to_string() } else { c.to_string() };
    let beginning: String = found.chars().take(MOST).map(escape).collect();
    match found.chars().nth(MOST) {
        _ if found.is_empty() => "nothing".to_owned(),
        Some(_) => format!("`{beginning}…`"),
        None => format!("`{beginning}`"),
    }
}
