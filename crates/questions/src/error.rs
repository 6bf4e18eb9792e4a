//! What can go wrong on the way from books to questions and with question sets on disk: every message names
//! the file and the place in it, and [`Error::hint`] says what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::flaw::{Flaw, shown};
use crate::{Rules, Split, WordClass};
use base::nearest;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why questions could not be built, read or written.
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
    #[error("{}: unknown ending: expected `.txt`, `.jsonl`, `.parquet` or `.question`", path.display())]
    UnknownEnding {
        /// The file.
        path: PathBuf,
    },
    /// A folder without questions.
    #[error(
        "{}: no question set: expected `manifest.toml`, files like `cbtest_NE_valid_2000ex.txt` or `.question` files",
        path.display()
    )]
    NoSet {
        /// The folder.
        path: PathBuf,
    },
    /// A file or folder of the right kind, with no question in it.
    #[error("{}: holds no question{}", path.display(), of(only, *only_class))]
    Empty {
        /// The file or folder.
        path: PathBuf,
        /// The splits that were asked for, if not all.
        only: Option<Vec<Split>>,
        /// The class that was asked for, if not all.
        only_class: Option<WordClass>,
    },
    /// Questions like CNN QA's, but none of CNN.
    #[error("{}: holds no question of CNN: all {left_out} are of another source", path.display())]
    OtherSource {
        /// The file or folder.
        path: PathBuf,
        /// How many there are.
        left_out: usize,
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
    /// The book has no room for a context and a query.
    #[error(
        "{}: only {found} sentence{} found: a question needs {needed}",
        path.display(), if *found == 1 { " was" } else { "s were" }
    )]
    TooFewSentences {
        /// The book's file.
        path: PathBuf,
        /// Its sentences.
        found: usize,
        /// The context and the query.
        needed: usize,
    },
    /// Not one word of the books can be asked for.
    #[error(
        "no question could be built from {n_books} {} with {n_sentences} sentences: \
         of {n_refused} words that could be asked for, none has {n_candidates} candidates in its context",
        if *n_books == 1 { "book" } else { "books" }
    )]
    NoQuestions {
        /// How many books there were.
        n_books: usize,
        /// Their sentences.
        n_sentences: usize,
        /// Words that could be asked for but for the candidates.
        n_refused: usize,
        /// The candidates of a question.
        n_candidates: usize,
    },
    /// Two books have the same name, and might be in two splits.
    #[error("two books are named `{name}`: expected a name for each book")]
    SameName {
        /// The name.
        name: String,
    },
    /// No line of the file of splits is about this book.
    #[error("{}: no line gives the split of `{book}`", path.display())]
    NoSplit {
        /// The file of splits.
        path: PathBuf,
        /// The book.
        book: String,
    },
    /// There is no such rule.
    #[error("unknown rule `{rule}`")]
    UnknownRule {
        /// As it was given.
        rule: String,
    },
    /// A rule that can't be followed.
    #[error("rule `{rule}`: expected {expected}, found `{found}`")]
    Rule {
        /// The field of [`Rules`].
        rule: String,
        /// What it may be.
        expected: String,
        /// What it is.
        found: String,
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
            Error::Write { .. } => "nothing was left behind; may you write there?".into(),
            Error::Exists { .. } => "`--force` replaces it".into(),
            Error::ForeignFolder { .. } => "choose a new folder; only a question set is replaced".into(),
            Error::UnknownEnding { .. } => {
                "a question set is a folder, or a file of CBT text (.txt), JSON lines (.jsonl), Parquet (.parquet) or CNN QA (.question)".into()
            }
            Error::Empty { only_class: Some(_), .. } => {
                "`goldilocks stats` lists the splits and classes that are there; `--on` and `--class` choose among them"
                    .into()
            }
            Error::Empty { only: Some(_), .. } => {
                "`goldilocks stats` lists the splits that are there; `--on` chooses among them".into()
            }
            Error::Empty { .. } => "is this the right file, and was it written to its end?".into(),
            Error::OtherSource { .. } => {
                "name the folder `dailymail` itself to read it; in JSON lines leave `source` out".into()
            }
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
            Error::TooFewSentences { path, .. } => {
                format!(
                    "is this the whole book? `goldilocks tag {} | less` shows how it was split; `build --skip-bad` leaves it out",
                    path.display()
                )
            }
            Error::NoQuestions { .. } => {
                "a question asks for a noun, verb or preposition that also stands in the sentences just before it: \
                 is this running text in English?".into()
            }
            Error::SameName { .. } => "rename one of the files".into(),
            Error::NoSplit { path, book } => {
                format!("add a line to {}: `train`, `valid` or `test`, a tab, `{book}.txt`", path.display())
            }
            Error::UnknownRule { rule } => rules_like(rule),
            Error::Rule { .. } => return None,
            Error::NoOrigin { .. } => "write it as one .txt file, as JSON lines or as the compact form".into(),
        })
    }
}

fn rules_like(rule: &str) -> String {
    let names = Rules::names();
    match nearest(rule, names.iter().map(String::as_str)) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the rules are `{}`", names.join("`, `")),
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
