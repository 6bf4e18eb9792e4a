//! What can be wrong with predictions: the file and line, what was expected and found, what to do about it.
#![expect(missing_docs, reason = "the message of a variant says what its fields are")]

use std::io;
use std::path::PathBuf;

use base::{Remedy, Split};

/// Anything that keeps predictions from becoming a figure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // `reason` is part of the message, so it is not a source as well.
    #[error("{}: cannot be read: {reason}", path.display())]
    Read { path: PathBuf, reason: io::Error },
    #[error("{}: cannot be written: {reason}", path.display())]
    Write { path: PathBuf, reason: io::Error },
    /// A line of a predictions file that is not a prediction, or does not fit the question set. `name` is the
    /// path as it was given; lines count from 1.
    #[error("{name}:{line}: {error}")]
    Line { name: String, line: usize, error: Box<LineError> },
    #[error("{name}: no predictions: expected one JSON object per line, found an empty file")]
    Empty { name: String },
    /// No prediction is of the selected splits and class.
    #[error("{name}: no prediction of {selected}")]
    NothingSelected { name: String, selected: String },
    #[error("{name}: none of the {n} questions of {} has a known answer", split_text(*split))]
    NoAnswers { name: String, split: Option<Split>, n: usize },
    #[error(
        "{name}: {} of the {of} questions of {} are missing: {}",
        missing.len(), split_text(*split), first_few(missing)
    )]
    Missing { name: String, split: Option<Split>, missing: Vec<String>, of: usize },
    #[error("{name}: none of the {n} questions to fit weights on has a known answer")]
    NothingToFit { name: String, n: usize },
    #[error("weights: expected {expected} predictions to fit on, one per model, found {found}")]
    FitCount { expected: usize, found: usize },
    /// Two models did not answer the same questions; `ids` name the split too, where it is known.
    #[error("{these}: {} questions of `{those}` are missing: {}", ids.len(), first_few(ids))]
    OtherQuestions { these: String, those: String, ids: Vec<String> },
}

/// What is wrong with one line of a predictions file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    #[error("not UTF-8")]
    NotUtf8,
    #[error("not a JSON object: {message} at column {column}")]
    Json { message: String, column: usize },
    #[error("predictions of format {found}: expected {expected} or lower")]
    NewerFormat { expected: u64, found: u64 },
    #[error("the key `{key}` is missing")]
    MissingKey { key: &'static str },
    #[error("`{key}`: expected {expected}, found {found}")]
    WrongType { key: &'static str, expected: &'static str, found: String },
    #[error("`candidates`: expected two or more, found {found}")]
    FewCandidates { found: usize },
    #[error("`candidates`: expected distinct words, found `{candidate}` twice")]
    DuplicateCandidate { candidate: String },
    #[error("`scores`: expected {expected}, one per candidate, found {found}")]
    ScoreCount { expected: usize, found: usize },
    #[error("`scores`: expected finite numbers, found {found}")]
    ScoreNotFinite { found: String },
    #[error("`filtered_resps`: the scores of all candidates are equal")]
    EqualScores,
    /// `case_twin` is the candidate that differs from `found` in case only.
    #[error("`{key}`: expected one of the candidates, found `{found}`")]
    NotACandidate { key: &'static str, found: String, case_twin: Option<String> },
    #[error(
        "`{key}`: expected an index below {n_candidates}, the number of candidates, found {index}"
    )]
    IndexOutOfRange { key: &'static str, index: usize, n_candidates: usize },
    #[error(
        "`predicted`: expected a candidate with the highest score, {best} (`{best_candidate}`), \
         found `{predicted}` with {score}"
    )]
    NotHighest { predicted: String, score: f64, best_candidate: String, best: f64 },
    #[error("question `{id}` is answered again: first in line {first}")]
    DuplicateId { id: String, first: usize },
    /// `n` lines of the file have ids that the set lacks, this one included.
    #[error("question `{id}` is not in the question set{}", such_lines(*n))]
    UnknownId { id: String, n: usize },
    /// The question set, or the other predictions named in `from`, contradict the line.
    #[error("`{key}` differs from {from}: expected {expected}, found {found}")]
    Differs { key: &'static str, from: String, expected: String, found: String },
}

impl Error {
    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Line { error, .. } => return error.remedy(),
            Self::Read { .. } => Remedy::MakePredictions,
            Self::Write { .. } => {
                Remedy::advice("nothing was written; check the free space and the permissions")
            }
            Self::Empty { .. } => {
                Remedy::advice("check whether the program that wrote it was stopped")
            }
            Self::NothingSelected { .. } => Remedy::ChangeSelection,
            Self::NoAnswers { .. } => Remedy::MatchToQuestions,
            Self::Missing { .. } => Remedy::SelectAnswered,
            Self::NothingToFit { .. } => {
                Remedy::advice("weights are fitted on questions whose lines have an `answer`")
            }
            Self::FitCount { .. } => {
                Remedy::advice("name the models' validation predictions in the same order")
            }
            Self::OtherQuestions { .. } => Remedy::SelectCommon,
        })
    }
}

impl LineError {
    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::advice(match self {
            Self::Json { .. } => {
                "a line is one whole JSON object; check whether its writer was stopped"
            }
            Self::NewerFormat { .. } => "a newer version of this program wrote it: update",
            Self::MissingKey { key: "annotator" | "seconds" } => {
                "in a file of people's answers every line has `annotator` and `seconds`"
            }
            Self::MissingKey { .. } => {
                "a line needs `id`, `candidates`, and `scores` or `predicted`"
            }
            Self::ScoreNotFinite { .. } => {
                "JSON has no NaN or infinity; look for a model that diverged, or a log of zero"
            }
            Self::NotACandidate { case_twin: Some(twin), .. } => {
                return Some(Remedy::advice(format!("`{twin}` is a candidate: case counts")));
            }
            Self::NotHighest { .. } => {
                "higher scores are better: negate losses; without `predicted` it is filled in"
            }
            Self::EqualScores => {
                "the server ignored `echo`: nothing was scored; ask it another way, or another server"
            }
            Self::DuplicateId { .. } => {
                "answer a question once; one that is in two splits needs `split` on both lines"
            }
            Self::UnknownId { .. } => "check that it is the right set, and the right split of it",
            Self::Differs { key, .. } => {
                let advice = format!(
                    "check that the same set was answered: predictions repeat `{key}` as the set has it"
                );
                return Some(Remedy::advice(advice));
            }
            _ => return None,
        }))
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
