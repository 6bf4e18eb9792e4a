//! Studies (§4.5): «15 native English speakers to attempt a randomly-selected 10% from each question type of
//! the CBT, in two modes either with question only or with question+context (shown to different annotators)».
//!
//! ```text
//! QuestionSet ──deal──▶ shares ──join──▶ annotator ──answer──▶ answers ──export──▶ predictions
//! ```

mod answers;
mod attention;
mod create;
mod deal;
mod people;

use questions::Split;
use serde::{Deserialize, Serialize};

pub use answers::{Progress, by_mode, progress};
pub use attention::{Checks, checks, record_check};
pub use create::{Study, StudySummary, close_or_open, create, find_by_code, list, release, study};
pub use deal::{Deal, Item, deal};
pub use people::{
    Annotator, JoinOutcome, NextItem, annotator, done, join, latest, next, record, score, take_back,
};

/// What an annotator sees of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The query alone.
    Query,
    /// The context and the query.
    ContextQuery,
}

impl Mode {
    /// In the order of Table 2's rows.
    pub const ALL: [Self; 2] = [Self::Query, Self::ContextQuery];

    /// As files and flags have it: `query`, `context-query`.
    pub fn code(self) -> &'static str {
        ["query", "context-query"][self as usize]
    }

    /// The label that annotators and reports see.
    pub fn label(self) -> &'static str {
        ["query only", "context and query"][self as usize]
    }

    /// The predictions file that makes the paper's row.
    pub fn file(self) -> &'static str {
        ["humans-query.jsonl", "humans-context-query.jsonl"][self as usize]
    }

    /// The mode of a code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.code() == code)
    }
}

/// What a researcher decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// What the study is called.
    pub name: String,
    /// The split that is drawn from; questions of unknown split are drawn from as well.
    pub split: Split,
    /// Questions of each class; none is a tenth of them, as in the paper.
    pub sample: Option<usize>,
    /// What annotators may read: the query alone, or its context too.
    pub modes: Vec<Mode>,
    /// Whether each annotator works in all modes, on different questions, and not in one.
    pub every_mode: bool,
    /// How many annotators the questions are shared out among.
    pub annotators: usize,
    /// Questions of each class that go to several annotators of a mode.
    pub shared: usize,
    /// How many annotators those go to.
    pub times: usize,
    /// Seed of all draws.
    pub seed: u64,
    /// What annotators must agree to before they begin; empty: nothing.
    #[serde(default)]
    pub consent: String,
    /// Whether a practice question comes first; its answer is not kept.
    #[serde(default)]
    pub practice: bool,
    /// After how many answers an attention check comes, again and again; 0: never.
    #[serde(default)]
    pub check_every: usize,
    /// What the end shows as proof that the test was taken, for platforms of paid work; empty: nothing.
    #[serde(default)]
    pub completion_code: String,
    /// Where the end leads to; empty: nowhere.
    #[serde(default)]
    pub return_to: String,
}

impl Default for Settings {
    /// The paper's study; it does not say whether annotators shared questions.
    fn default() -> Self {
        Self {
            name: "The Children's Book Test".to_owned(),
            split: Split::Test,
            sample: None,
            modes: Mode::ALL.to_vec(),
            every_mode: false,
            annotators: 15,
            shared: 10,
            times: 3,
            seed: 1,
            consent: String::new(),
            practice: true,
            check_every: 0,
            completion_code: String::new(),
            return_to: String::new(),
        }
    }
}
