//! Kneser-Ney language model, §4.2: the candidate with which the query is the most probable sentence.
//!
//! Running text of the training books, case kept → n-gram probabilities; question → the log-probability of the
//! query with each candidate in the blank.

use std::path::Path;

use corpus::Vocabulary;
use questions::Question;
use serde::{Deserialize, Serialize};

use crate::folder::{read_toml, write_toml};
use crate::language_model::{self, Config, LanguageReader, NGRAMS, Trial};
use crate::{Entry, Model, Reader, Result, Saved, Settings, Training};

pub(crate) const ENTRY: Entry = Entry {
    name: "kneser-ney",
    row: "Kneser-Ney language model",
    section: "§4.2",
    settings: &[language_model::ORDER, language_model::PRUNE, language_model::QUANTISE],
    learns: false,
    train,
    load,
};

const TUNED: &str = "tuned.toml";

struct KneserNey {
    language: ngram::Model,
    tuned: Tuned,
}

#[derive(Serialize, Deserialize)]
struct Tuned {
    order: usize,
    /// What was tried to find it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    orders: Vec<Trial>,
}

fn train(settings: &Settings, training: &Training<'_>) -> Result<Box<dyn Model>> {
    let (language, orders) =
        language_model::train(ENTRY.name, settings.config::<Config>(), training)?;
    let tuned = Tuned { order: language.order(), orders };
    Ok(Box::new(KneserNey { language, tuned }))
}

fn load(saved: &Saved<'_>) -> Result<Box<dyn Model>> {
    let tuned = read_toml(&saved.folder.join(TUNED))?;
    Ok(Box::new(KneserNey { language: language_model::open(saved.folder)?, tuned }))
}

/// A `kneser-ney` of a language model that was made elsewhere, and the settings to save it with.
///
/// # Panics
/// Never: every language model has an order that is in the range of the setting.
pub fn from_language_model(language: ngram::Model) -> (Box<dyn Model>, Settings) {
    let order = language.order();
    let settings = Settings::from_text(&ENTRY, [format!("order={order}").as_str()]);
    let tuned = Tuned { order, orders: vec![] };
    let model = KneserNey { language, tuned };
    (Box::new(model), settings.expect("orders are from 1 to 6"))
}

impl Model for KneserNey {
    fn reader<'a>(&'a self, vocabulary: &'a Vocabulary) -> Box<dyn Reader + 'a> {
        Box::new(LanguageReader::new(&self.language, vocabulary))
    }

    fn save(&self, folder: &Path) -> Result<()> {
        write_toml(&folder.join(TUNED), &self.tuned)?;
        Ok(self.language.write(&folder.join(NGRAMS))?)
    }
}

impl Reader for LanguageReader<'_> {
    // §4.2, probability of the query: Π p(q_i | q_{i−n+1} … q_{i−1}) over the words and the sentence's end.
    fn score(&self, question: &Question<'_>) -> Vec<f32> {
        self.query(question).log_probs()
    }
}
