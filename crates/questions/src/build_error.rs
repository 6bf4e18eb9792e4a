//! What can go wrong between a tagged book and its questions.

use std::path::PathBuf;

/// Why no questions could be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The book has no room for a context and a query.
    #[error("{}: only {found} sentences were found: a question needs {needed}", path.display())]
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
    /// A number among the rules is too small.
    #[error("rule `{rule}` is too small: expected {least} or more, found {found}")]
    RuleTooSmall {
        /// The field of [`crate::Rules`].
        rule: &'static str,
        /// The least that works.
        least: usize,
        /// What the rule says.
        found: usize,
    },
    /// A tag among the rules is none of the tagger's.
    #[error("rule `{rule}`: expected {expected}, found `{found}`")]
    RuleUnknownTag {
        /// The field of [`crate::Rules`].
        rule: &'static str,
        /// The kind of tag.
        expected: &'static str,
        /// What the rule says.
        found: String,
    },
    /// The file of splits can't be read.
    #[error("{}: cannot read the file of splits: {source}", path.display())]
    SplitFile {
        /// The file of splits.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A line of the file of splits has no file name.
    #[error("{}:{line}: expected `split TAB file name`, found `{found}`", path.display())]
    SplitWithoutName {
        /// The file of splits.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The line itself.
        found: String,
    },
    /// A line of the file of splits begins with another word.
    #[error("{}:{line}: expected `train`, `valid` or `test`, found `{found}`", path.display())]
    UnknownSplit {
        /// The file of splits.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The first column.
        found: String,
    },
    /// Two lines of the file of splits are about one book.
    #[error("{}:{line}: `{name}` is given a split twice: it stands in line {first} too", path.display())]
    SplitTwice {
        /// The file of splits.
        path: PathBuf,
        /// The second line, counted from 1.
        line: usize,
        /// The first line.
        first: usize,
        /// The book.
        name: String,
    },
    /// No line of the file of splits is about this book.
    #[error("{}: no line gives the split of `{name}`", path.display())]
    NoSplit {
        /// The file of splits.
        path: PathBuf,
        /// The book.
        name: String,
    },
}

impl BuildError {
    /// What to do about it, where there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::TooFewSentences { path, .. } => Some(format!(
                "is this the whole book? `goldilocks tag {} | less` shows how it was split",
                path.display()
            )),
            Self::NoQuestions { .. } => Some(
                "a question asks for a noun, verb or preposition that also stands in the sentences just \
                 before it: is this running text in English?"
                    .to_owned(),
            ),
            Self::SameName { .. } => Some("rename one of the files".to_owned()),
            Self::NoSplit { path, name } => Some(format!(
                "add a line to {}: `train`, `valid` or `test`, a tab, `{name}.txt`",
                path.display()
            )),
            _ => None,
        }
    }
}
