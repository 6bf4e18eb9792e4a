//! What can be wrong with predictions: the file and line, what was expected and found, the way out.

use std::io;
use std::path::PathBuf;

use questions::Split;

/// Anything that keeps predictions from becoming a figure.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that can't be read.
    #[error("{}: cannot be read: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says; part of the message, so not a source of its own.
        reason: io::Error,
    },
    /// A file that can't be written.
    #[error("{}: cannot be written: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says; part of the message, so not a source of its own.
        reason: io::Error,
    },
    /// A line of a predictions file that is no prediction, or does not fit the question set.
    #[error("{name}:{line}: {problem}")]
    Line {
        /// The predictions' name: the path as it was given.
        name: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: Box<LineProblem>,
    },
    /// A predictions file without a line.
    #[error("{name}: no predictions: expected one JSON object a line, found an empty file")]
    Empty {
        /// The predictions' name.
        name: String,
    },
    /// A predictions file without a line of what was asked for.
    #[error("{name}: no prediction of {wanted}")]
    NoneOf {
        /// The predictions' name.
        name: String,
        /// The splits and the class.
        wanted: String,
    },
    /// Nothing to be right about.
    #[error("{name}: none of the {n} questions of {} has a known answer", split_text(*split))]
    NoAnswers {
        /// The predictions' name.
        name: String,
        /// The split, where it is known.
        split: Option<Split>,
        /// How many questions there are.
        n: usize,
    },
    /// Questions of the set that nobody answered.
    #[error(
        "{name}: {} of the {of} questions of {} are missing: {}",
        missing.len(), split_text(*split), first_few(missing)
    )]
    Missing {
        /// The predictions' name.
        name: String,
        /// The split, where it is known.
        split: Option<Split>,
        /// The ids that are not there.
        missing: Vec<String>,
        /// How many there should be.
        of: usize,
    },
    /// No weights can be fitted.
    #[error("{name}: none of the {n} questions to fit weights on has a known answer")]
    NothingToFit {
        /// The predictions' name.
        name: String,
        /// How many questions there are.
        n: usize,
    },
    /// Weights are fitted for as many models as there are to be combined.
    #[error("`--fit`: expected {expected} predictions, one for each model, found {found}")]
    FitCount {
        /// How many models are combined.
        expected: usize,
        /// How many predictions there are to fit on.
        found: usize,
    },
    /// Two predictions that do not answer the same questions.
    #[error("{these}: {} questions of `{those}` are missing: {}", ids.len(), first_few(ids))]
    OtherQuestions {
        /// The predictions that lack them.
        these: String,
        /// The predictions that have them.
        those: String,
        /// The ids, each with its split where it is known.
        ids: Vec<String>,
    },
}

/// What is wrong with one line of a predictions file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LineProblem {
    /// Not text.
    #[error("not UTF-8")]
    NotUtf8,
    /// Not JSON.
    #[error("not a JSON object: {message} at column {column}")]
    Json {
        /// What the parser says.
        message: String,
        /// Where in the line, from 1.
        column: usize,
    },
    /// Written by a newer program.
    #[error("predictions of format {found}: expected {expected} or lower")]
    NewerFormat {
        /// The newest format that this version reads.
        expected: u64,
        /// The line's.
        found: u64,
    },
    /// A key that every line needs.
    #[error("the key `{key}` is missing")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// A value of the wrong kind.
    #[error("`{key}`: expected {expected}, found {found}")]
    WrongType {
        /// The key.
        key: &'static str,
        /// The kind of value that belongs there.
        expected: &'static str,
        /// The value that stands there, shortened.
        found: String,
    },
    /// A choice needs two candidates.
    #[error("`candidates`: expected two or more, found {found}")]
    FewCandidates {
        /// How many there are.
        found: usize,
    },
    /// A candidate that stands twice.
    #[error("`candidates`: expected distinct words, found `{candidate}` twice")]
    DoubledCandidate {
        /// The candidate.
        candidate: String,
    },
    /// Not one score a candidate.
    #[error("`scores`: expected {expected}, one a candidate, found {found}")]
    ScoreCount {
        /// How many candidates there are.
        expected: usize,
        /// How many scores there are.
        found: usize,
    },
    /// A score that is no number.
    #[error("`scores`: expected finite numbers, found {found}")]
    ScoreNotFinite {
        /// What stands there.
        found: String,
    },
    /// A word that can't be chosen, or can't be right.
    #[error("`{key}`: expected one of the candidates, found `{found}`")]
    NotACandidate {
        /// `answer` or `predicted`.
        key: &'static str,
        /// The word.
        found: String,
        /// The candidate that differs from it in case only.
        twin: Option<String>,
    },
    /// A prediction that its own scores contradict.
    #[error(
        "`predicted`: expected a candidate with the highest score, {best} (`{best_candidate}`), \
         found `{predicted}` with {score}"
    )]
    NotHighest {
        /// The candidate that is said to be predicted.
        predicted: String,
        /// Its score.
        score: f64,
        /// A candidate with the highest score.
        best_candidate: String,
        /// The highest score.
        best: f64,
    },
    /// A question that is answered twice.
    #[error("question `{id}` is answered again: first in line {first}")]
    DoubledId {
        /// The id.
        id: String,
        /// The line of its first prediction.
        first: usize,
    },
    /// A question that the set does not have.
    #[error("question `{id}` is not in the question set{}", such_lines(*n))]
    UnknownId {
        /// The id.
        id: String,
        /// How many lines of the file have such ids, this one counted.
        n: usize,
    },
    /// The set, or another model, says something else about the question.
    #[error("`{key}` differs from {from}: expected {expected}, found {found}")]
    Differs {
        /// The key.
        key: &'static str,
        /// Who says something else: `the question set`, or the other predictions' name.
        from: String,
        /// What is said there.
        expected: String,
        /// What the line has.
        found: String,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Line { problem, .. } => problem.hint(),
            Self::Read { .. } => Some(
                "expected a file of predictions: `goldilocks answer MODELDIR SET -o FILE` makes one"
                    .to_owned(),
            ),
            Self::Write { .. } => Some(
                "nothing was left behind; is there room on the disk, and may you write there?"
                    .to_owned(),
            ),
            Self::Empty { .. } => Some("was the program that wrote it stopped?".to_owned()),
            Self::NoneOf { .. } => Some(
                "`goldilocks evaluate` without `--on` and `--class` shows what is there".to_owned(),
            ),
            Self::NoAnswers { .. } => Some(
                "lines need an `answer`; `evaluate --questions SET` takes it from the set"
                    .to_owned(),
            ),
            Self::Missing { .. } => Some(
                "is it the right set? `--on` and `--class` choose what was answered of it"
                    .to_owned(),
            ),
            Self::NothingToFit { .. } => {
                Some("weights are fitted on questions whose lines have an `answer`".to_owned())
            }
            Self::FitCount { .. } => {
                Some("name the models' validation predictions in the same order".to_owned())
            }
            Self::OtherQuestions { .. } => Some(
                "answer the same set and splits with both models, or choose what both have with `--on` and `--class`; both files need `split`"
                    .to_owned(),
            ),
        }
    }
}

impl LineProblem {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Json { .. } => "a line is one whole JSON object; was its writer stopped?",
            Self::NewerFormat { .. } => "a newer version of this program wrote it: update",
            Self::MissingKey { key: "annotator" | "seconds" } => {
                "in a file of people's answers every line has `annotator` and `seconds`"
            }
            Self::MissingKey { .. } => "a line needs at least `id`, `candidates` and `scores`",
            Self::ScoreNotFinite { .. } => {
                "JSON has no NaN or infinity; look for a model that diverged, or a log of zero"
            }
            Self::NotACandidate { twin: Some(twin), .. } => {
                return Some(format!("`{twin}` is a candidate: case counts"));
            }
            Self::NotHighest { .. } => {
                "higher scores are better: negate losses; without `predicted` it is filled in"
            }
            Self::DoubledId { .. } => {
                "a question is answered once; one that is in two splits needs `split` on both lines"
            }
            Self::UnknownId { .. } => "is it the right set, and the right split of it?",
            Self::Differs { key, .. } => {
                return Some(format!(
                    "was another set answered? `goldilocks answer` writes `{key}` as the set has it"
                ));
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

fn split_text(split: Option<Split>) -> String {
    split.map_or("unknown split".to_owned(), |split| format!("split `{}`", split.code()))
}

fn such_lines(n: usize) -> String {
    if n > 1 { format!(": {n} such lines") } else { String::new() }
}

fn first_few(ids: &[String]) -> String {
    let shown: Vec<String> = ids.iter().take(3).map(|id| format!("`{id}`")).collect();
    shown.join(", ") + if ids.len() > shown.len() { ", …" } else { "" }
}
