//! The methods of Table 2 behind one contract (§3, §4): question → one score a candidate.
//!
//! ```text
//! KEY=VALUE ──Settings──▶ ┐
//! QuestionSet ─Training─▶ ┴ Entry::train ──▶ Model ──save──▶ folder ──load──▶ Model ──reader──▶ Reader ──score──▶ scores
//! ```
//!
//! A new model is one file, its `mod` line and its line in [`MODELS`]; the contract tests then cover it.
//!
//! ```
//! use models::{Settings, Training, find, score_all};
//! use questions::{BLANK, NewQuestion, QuestionSet};
//!
//! let mut set = QuestionSet::default();
//! let [the, bear, ate, soup] = ["The", "bear", "ate", "soup"].map(|word| set.intern(word));
//! let sentence = set.push_sentence([the, bear, ate, soup]);
//! let query = [the, BLANK, ate];
//! let (context, candidates) = (sentence..sentence + 1, [soup, bear]);
//! set.push(NewQuestion {
//!     context, query: &query, candidates: &candidates,
//!     answer: None, class: None, split: None, book: None,
//! });
//!
//! let entry = find("word-distance")?;
//! let settings = Settings::from_text(entry, ["max_penalty=5"])?;
//! let model = (entry.train)(&settings, &Training::new(&set, 1, &|_| ()))?;
//! let scores = score_all(&*model, &set, &[0], &[], &|_| ())?;
//! // With soup in the blank `The` is off the context and costs 5, `ate` lies two words off; with bear
//! // in it both lie on their like.
//! assert_eq!(scores, [[-7.0, 0.0]]);
//! # Ok::<(), models::Error>(())
//! ```

mod all_targets;
mod answering;
mod candidate_softmax;
mod capitals;
mod case_fit;
mod case_twins;
mod checkpoint;
mod composition;
mod control;
mod device_choice;
mod dictionary;
mod dictionary_softmax;
mod epochs;
mod error;
mod explanation;
#[cfg(test)]
mod fixture;
mod folder;
mod language_answers;
mod language_learner;
mod language_model;
mod language_network;
mod language_settings;
mod learnt;
mod lexicon;
mod lowercase;
mod matching;
mod memory_format;
mod model;
mod network;
mod running_text;
mod self_supervision;
mod selfsup_settings;
mod selfsup_training;
mod settings;
mod soft_attention;
mod soft_model;
mod soft_settings;
mod softmax;
mod support;
mod text_targets;
mod training;
mod windows;
mod word_list;

mod contextual_lstm;
mod embedding;
mod kneser_ney;
mod kneser_ney_cache;
mod lstm;
mod max_frequency_context;
mod max_frequency_corpus;
mod memnn_lexical;
mod memnn_window_selfsup;
mod memory_network;
mod sliding_window;
mod word_distance;

pub use answering::score_all;
pub use control::Control;
pub use device_choice::DeviceChoice;
pub use error::{Error, Result};
pub use explanation::{Explanation, Look};
pub use folder::{Manifest, check_place, load, load_on, save};
pub use kneser_ney::from_language_model;
pub use language_model::NGRAMS;
pub use model::{Entry, Model, Reader, Saved};
pub use settings::{Range, Setting, Settings};
pub use training::{Event, Part, Reporter, Training};

/// Every model, in the order of the rows of Table 2.
pub static MODELS: &[Entry] = &[
    max_frequency_corpus::ENTRY,
    max_frequency_context::ENTRY,
    sliding_window::ENTRY,
    word_distance::ENTRY,
    kneser_ney::ENTRY,
    kneser_ney_cache::ENTRY,
    embedding::CONTEXT_QUERY,
    embedding::QUERY,
    embedding::WINDOW_BAG,
    embedding::WINDOW_POSITION,
    lstm::QUERY,
    lstm::CONTEXT_QUERY,
    contextual_lstm::ENTRY,
    memnn_lexical::ENTRY,
    memory_network::WINDOW_MEMORY,
    memory_network::SENTENTIAL_MEMORY,
    memnn_window_selfsup::ENTRY,
    memnn_window_selfsup::ALL_WINDOWS,
    memnn_window_selfsup::ALL_TARGETS,
    memnn_window_selfsup::LM,
];

/// The model of that name.
///
/// # Errors
/// [`Error::UnknownModel`], whose hint has the nearest name.
pub fn find(name: &str) -> Result<&'static Entry> {
    let found = MODELS.iter().find(|entry| entry.name == name);
    found.ok_or_else(|| Error::UnknownModel { name: name.to_owned() })
}
