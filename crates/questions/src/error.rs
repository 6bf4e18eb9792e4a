//! What can go wrong with question sets on disk: every message names the file and the place in it, and
//! [`Error::hint`] says what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::{BLANK_WORD, Split};

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a question set could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such file or folder.
    #[error("{}: no such file or folder", path.display())]
    Missing {
        /// What was asked for.
        path: PathBuf,
    },
    /// The operating system refused to read.
    #[error("{}: cannot be read: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's words.
        cause: io::Error,
    },
    /// The operating system refused to write.
    #[error("{}: cannot be written: {cause}", path.display())]
    Write {
        /// The file that was to be.
        path: PathBuf,
        /// The system's words.
        cause: io::Error,
    },
    /// The output is there already.
    #[error("{}: exists already", path.display())]
    Exists {
        /// The output.
        path: PathBuf,
    },
    /// The output is a folder that holds other things than a question set.
    #[error("{}: is not replaced: it holds `{entry}`, which is no part of a question set", path.display())]
    ForeignFolder {
        /// The output.
        path: PathBuf,
        /// One of those other things.
        entry: String,
    },
    /// The ending of a file name is none that holds questions.
    #[error("{}: unknown ending: expected `.txt`, `.jsonl` or `.parquet`", path.display())]
    UnknownEnding {
        /// The file.
        path: PathBuf,
    },
    /// A folder without questions.
    #[error(
        "{}: no question set: expected `manifest.toml` or files like `cbtest_NE_valid_2000ex.txt`",
        path.display()
    )]
    NoSet {
        /// The folder.
        path: PathBuf,
    },
    /// A file or folder of the right kind, with no question in it.
    #[error("{}: holds no question{}", path.display(), of_splits(only))]
    Empty {
        /// The file or folder.
        path: PathBuf,
        /// The splits that were asked for, if not all.
        only: Option<Vec<Split>>,
    },
    /// More text than a set can number.
    #[error("{}: holds more text than a question set can: expected fewer than 2³² words", path.display())]
    TooLarge {
        /// The file or folder.
        path: PathBuf,
    },
    /// A question, or the line that it is on, is wrong.
    #[error("{}{at}: {flaw}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        at: At,
        /// What is wrong.
        flaw: Flaw,
    },
    /// A Parquet file that its library cannot read.
    #[error("{}: is no sound Parquet file: {reason}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The library's words.
        reason: String,
    },
    /// A Parquet column that is missing or of another type.
    #[error("{}: column `{column}`: expected {expected}, found {found}", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// The name of the column.
        column: &'static str,
        /// The type it should have.
        expected: &'static str,
        /// The type it has.
        found: String,
    },
    /// A Parquet file that is packed in a way that this program can't unpack.
    #[error("{}: compression: expected none, SNAPPY, GZIP or ZSTD, found {found}", path.display())]
    Compression {
        /// The file.
        path: PathBuf,
        /// The compression of one of its columns.
        found: String,
    },
    /// The compact form of another version of the program.
    #[error("{}: format version: expected {expected}, found {found}", path.display())]
    Version {
        /// The manifest.
        path: PathBuf,
        /// The version that this program reads.
        expected: i64,
        /// The version that the manifest gives.
        found: i64,
    },
    /// A compact form that is not as it was written.
    #[error("{}: is damaged: {reason}", path.display())]
    Damaged {
        /// The manifest or one of the files it names.
        path: PathBuf,
        /// What gives it away.
        reason: String,
    },
    /// A word that the format of the output cannot hold.
    #[error("{}: question {question} cannot be written as {format}: it holds {}", path.display(), held(word))]
    Unwritable {
        /// The output.
        path: PathBuf,
        /// The format, in words.
        format: &'static str,
        /// The question's number, from 1.
        question: usize,
        /// The word, sentence or field.
        word: String,
    },
    /// The running text of a book has something that its file cannot hold.
    #[error("{}: book `{book}` cannot be written as running text: it holds {}", path.display(), held(text))]
    UnwritableBook {
        /// The output.
        path: PathBuf,
        /// The book.
        book: String,
        /// The sentence or name.
        text: String,
    },
    /// The released layout has one file for each class and split.
    #[error("{}: {what} has no {missing}: the released layout has one file for each", path.display())]
    NoOrigin {
        /// The output.
        path: PathBuf,
        /// The question or book.
        what: String,
        /// `class` or `split`.
        missing: &'static str,
    },
}

/// Where in a file something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// A line of a text file, from 1.
    Line(usize),
    /// A row of a table, from 1.
    Row(usize),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Line(line) => write!(f, ":{line}"),
            At::Row(row) => write!(f, ": row {row}"),
        }
    }
}

/// What is wrong with a question or with one of its lines.
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
    /// More text than a set can number.
    #[error(
        "the file holds more text than a question set can: expected less than 4 GiB of distinct sentences, queries and candidates"
    )]
    TooLarge,
}

impl Error {
    /// What to do about it, where there is something.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Missing { .. } | Error::NoSet { .. } => {
                "`goldilocks build -o DIR` makes a question set, `goldilocks fetch cbt` gets the released one".into()
            }
            Error::Read { .. } => "is it a file that you may read?".into(),
            Error::Write { path, cause } if cause.kind() == io::ErrorKind::StorageFull => {
                format!("nothing was left behind; make room on the disk of `{}`, or choose another place", path.display())
            }
            Error::Write { .. } => "nothing was left behind; does its folder exist, and may you write to it?".into(),
            Error::Exists { .. } => "`--force` replaces it".into(),
            Error::ForeignFolder { .. } => "choose a new folder; only a question set is replaced".into(),
            Error::UnknownEnding { .. } => {
                "a question set is a folder, or a file of CBT text (.txt), JSON lines (.jsonl) or Parquet (.parquet)".into()
            }
            Error::Empty { .. } => "is this the right file, and was it written to its end?".into(),
            Error::TooLarge { .. } => "split it into several".into(),
            Error::Malformed { flaw, .. } => return flaw.hint(),
            Error::Parquet { .. } | Error::Damaged { .. } => {
                "the file was cut or changed; copy it again, or make it anew".into()
            }
            Error::Column { .. } => {
                "the columns are those of the public `cbt` data set: sentences, question, answer, options".into()
            }
            Error::Compression { .. } => "write it again with another compression, for example `zstd`".into(),
            Error::Version { .. } => {
                "make the set anew with this version of goldilocks, or read it with the version that wrote it".into()
            }
            Error::Unwritable { .. } => "write it as the compact form, which holds any word".into(),
            Error::UnwritableBook { .. } => "write it as the compact form, which holds any text".into(),
            Error::NoOrigin { .. } => "write it as one .txt file, as JSON lines or as the compact form".into(),
        })
    }
}

impl Flaw {
    fn hint(&self) -> Option<String> {
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
            Flaw::TooLarge => "split the file into several",
            Flaw::Json { .. } | Flaw::Value { .. } => {
                "a question has `sentences`, `question`, `answer` and `options`, perhaps `class`, `split` and `book`"
            }
        }
        .to_owned())
    }
}

fn of_splits(only: &Option<Vec<Split>>) -> String {
    let Some(only) = only else { return String::new() };
    let codes: Vec<String> = only.iter().map(|split| format!("`{}`", split.code())).collect();
    format!(" of {}", codes.join(" or "))
}

/// The beginning of what was found, in back-ticks, visible and short enough for a message.
fn shown(found: &str) -> String {
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

/// As [`shown`], for what is about to be written.
fn held(text: &str) -> String {
    if text.is_empty() { "an empty word".to_owned() } else { shown(text) }
}
