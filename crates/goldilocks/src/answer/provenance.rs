//! What predictions were made from, and what they call the model that made them.

use models::{Program, Provenance};
use questions::{Control, Split};
use serde::{Deserialize, Serialize};

use super::AnswerOptions;

/// What predictions were made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerProvenance {
    /// The content of the questions, [`questions::QuestionSet::fingerprint`].
    pub questions: String,
    /// The splits that were answered; none: all.
    pub splits: Vec<Split>,
    /// What was taken away from the questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<String>,
    /// Seed of draws between equal scores; as text, since TOML has no numbers above 2⁶³.
    pub seed: String,
    /// At most this many questions of each split and class; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<usize>,
    /// The model that answered.
    pub model: Provenance,
}

impl AnswerProvenance {
    /// What the predictions of a model for a set are made from.
    pub fn new(model: &Provenance, questions: String, options: &AnswerOptions) -> Self {
        Self {
            questions,
            splits: options.splits.clone(),
            controls: options.controls.iter().map(|control| format!("{control:?}")).collect(),
            seed: options.seed.to_string(),
            sample: options.sample,
            model: model.clone(),
        }
    }

    /// The same for a [`super::ScoreFunction`], which is known by a name alone.
    pub fn of_function(name: &str, questions: String, options: &AnswerOptions) -> Self {
        let model = Provenance {
            model: name.to_owned(),
            data: String::new(),
            seed: 0,
            program: Program::default(),
            settings: Default::default(),
        };
        Self::new(&model, questions, options)
    }
}

/// What predictions call the model that made them: its name, and what was taken away from the questions.
pub fn answered_by(model: &str, controls: &[Control]) -> String {
    let in_words = |control: &Control| match control {
        Control::QueryOnly => "query only".to_owned(),
        Control::ContextOnly => "context only".to_owned(),
        Control::LastSentences(n) => format!("last sentences: {n}"),
        Control::RenamedEntities { .. } => "names exchanged".to_owned(),
        Control::ShuffledSentences { .. } => "sentences shuffled".to_owned(),
    };
    let controls: Vec<String> = controls.iter().map(in_words).collect();
    let text =
        if controls.is_empty() { String::new() } else { format!(" ({})", controls.join(", ")) };
    format!("{model}{text}")
}
