//! The methods of Table 2 with one contract (§3, §4): question → one score per candidate.
//!
//! ```text
//! KEY=VALUE ──Settings──▶ ┐
//! QuestionSet ─Training─▶ ┴ Method::train ──▶ Model ──save──▶ folder ──load──▶ Model ──scorer──▶ Scorer ──score──▶ Scores
//! ```
//!
//! A new model is one file, its `mod` line and its line in [`MODELS`]; the contract tests then cover it.
//!
//! The one rule of imports, tested by `tests/imports.rs`: `contract` ← `words` ← `learning` ← `memories` ← families
//! (`baselines`, `kneser_ney`, `soft`, `selfsup`, `networks`) ← this file; a family never imports from a family.
//!
//! ```
//! use goldilocks_models::{Settings, Training, find, score_all};
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
//! }).expect("a whole question");
//!
//! let method = find("word-distance")?;
//! let settings = Settings::from_text(method, ["max_penalty=5"])?;
//! let model = (method.train)(&settings, &Training::new(&set, 1, &|_| ()))?;
//! let mut scores = Vec::new();
//! score_all(model.scorer(set.vocabulary()), &set, &[0], &[], &mut |_, batch| {
//!     scores.extend(batch.iter().map(<[f32]>::to_vec));
//!     Ok(())
//! })?;
//! // With `soup` in the blank, `The` falls outside the context and costs 5, and `ate` is two words away;
//! // with `bear` both fall on themselves.
//! assert_eq!(scores, [[-7.0, 0.0]]);
//! # Ok::<(), goldilocks_models::Error>(())
//! ```

mod baselines;
mod contract;
#[cfg(test)]
mod fixture;
mod kneser_ney;
mod learning;
mod memories;
mod networks;
mod selfsup;
mod soft;
mod words;

pub use contract::answering::{check_scores, score_all};
pub use contract::curve::{EpochRecord, TrainingCurve};
pub use contract::device::DeviceChoice;
pub use contract::error::{Error, Result};
pub use contract::folder::{Manifest, check_place, load, load_on, read_manifest, save};
pub use contract::method::{Cost, CutContexts, LoadRequest, Method, Model};
pub use contract::provenance::{Mismatch, Program, Provenance};
pub use contract::scorer::{Concurrency, Scorer, Scores};
pub use contract::settings::{Range, Setting, Settings};
pub use contract::training::{Event, Reporter, SplitView, Training};
pub use kneser_ney::language_model::NGRAMS;
pub use kneser_ney::plain::from_language_model;
pub use questions::{Explanation, Span};

/// Hashes of the code that methods depend on, for [`Method::sources`].
mod sources {
    /// What every learner depends on.
    pub(crate) const TRAINING: &str = concat!(
        env!("GOLDILOCKS_TRAINING"),
        env!("GOLDILOCKS_WORDS"),
        env!("GOLDILOCKS_LEARNING"),
    );
    pub(crate) const WORDS: &str = env!("GOLDILOCKS_WORDS");
    pub(crate) const MEMORIES: &str = env!("GOLDILOCKS_MEMORIES");
    pub(crate) const BASELINES: &str = env!("GOLDILOCKS_BASELINES");
    pub(crate) const KNESER_NEY: &str = env!("GOLDILOCKS_KNESER_NEY");
    pub(crate) const SOFT: &str = env!("GOLDILOCKS_SOFT");
    pub(crate) const SELFSUP: &str = env!("GOLDILOCKS_SELFSUP");
    pub(crate) const NETWORKS: &str = env!("GOLDILOCKS_NETWORKS");
}

/// Every model, in the order of the rows of Table 2.
pub static MODELS: &[Method] = &[
    baselines::max_frequency::CORPUS,
    baselines::max_frequency::CONTEXT,
    baselines::sliding_window::METHOD,
    baselines::word_distance::METHOD,
    kneser_ney::plain::METHOD,
    kneser_ney::cache::METHOD,
    soft::embedding::CONTEXT_QUERY,
    soft::embedding::QUERY,
    soft::embedding::WINDOW_BAG,
    soft::embedding::WINDOW_POSITION,
    networks::lstm::QUERY,
    networks::lstm::CONTEXT_QUERY,
    networks::contextual_lstm::METHOD,
    networks::lexical_memory::METHOD,
    soft::memory_network::WINDOW_MEMORY,
    soft::memory_network::SENTENTIAL_MEMORY,
    selfsup::methods::METHOD,
    selfsup::methods::ALL_WINDOWS,
    selfsup::methods::ALL_TARGETS,
    selfsup::methods::LM,
];

/// The model of that name.
///
/// # Errors
/// [`Error::UnknownModel`], whose hint has the nearest name.
pub fn find(name: &str) -> Result<&'static Method> {
    let found = MODELS.iter().find(|method| method.name == name);
    found.ok_or_else(|| Error::UnknownModel { name: name.to_owned() })
}
