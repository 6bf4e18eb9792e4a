//! Supervised embedding models, §4.3 (Weston et al. 2010): S(q, w) = φ(q)ᵀ Aᵀ B φ(w).
//!
//! The rows of Table 2 differ in what q is: context and query, the query, the window around the blank, and
//! that window with one dictionary for each position. B is called `decode` here: a model is a memory
//! network without hops.

use serde::Deserialize;

use crate::learning::options::DIM;
use crate::memories::composition::Composition;
use crate::memories::format::{Format, windows};
use crate::memories::windows::{Encoding, WINDOW};
use crate::soft::model::SoftModelSpec;
use crate::soft::settings::{FitConfig, N_SHARED, SOURCES, shared};
use crate::{Cost, Method, Result, Setting, Settings};

#[derive(Deserialize)]
struct Config {
    dim: usize,
    #[serde(default)]
    window: usize,
    #[serde(flatten)]
    fit: FitConfig,
}

impl Config {
    fn spec(self, composition: Composition, format: Format) -> SoftModelSpec {
        SoftModelSpec::without_memories(format, composition, self.dim, self.fit)
    }
}

// Chosen: the mean of hundreds of words, and of some twenty words their sum over the root of their number;
// with plain sums the steps of words that occur in every question grow too large.

fn context_query(settings: &Settings) -> SoftModelSpec {
    let config: Config = settings.config();
    config.spec(Composition::Mean, Format::ContextAndQuery)
}

fn query(settings: &Settings) -> SoftModelSpec {
    let config: Config = settings.config();
    config.spec(Composition::Root, Format::Query)
}

fn window(settings: &Settings, encoding: Encoding) -> Result<SoftModelSpec> {
    let config: Config = settings.config();
    let layout = windows(config.window, encoding, None)?;
    Ok(config.spec(Composition::Sum, Format::QueryWindow(layout)))
}

/// p, and the settings of all models of this family.
const OF_BAG: [Setting; 1 + N_SHARED] = Setting::join(&[&[DIM], &shared("0.1")]);

/// p, b, and the settings of all models of this family.
const OF_WINDOW: [Setting; 2 + N_SHARED] = Setting::join(&[&[DIM, WINDOW], &shared("0.06")]);

pub(crate) const CONTEXT_QUERY: Method = Method {
    name: "embedding-context-query",
    section: "§4.3",
    summary: "Compares each candidate with the context and the query, embedded as one bag of \
              words.",
    cost: Cost::Minutes,
    wants_gpu: false,
    settings: &OF_BAG,
    sources: SOURCES,
    trains_by_epochs: true,
    train: |settings, training| context_query(settings).train(settings, training),
    load: |saved| context_query(&saved.settings).load(saved),
};
pub(crate) const QUERY: Method = Method {
    name: "embedding-query",
    summary: "Compares each candidate with the query, embedded as a bag of words.",
    settings: &OF_BAG,
    train: |settings, training| query(settings).train(settings, training),
    load: |saved| query(&saved.settings).load(saved),
    ..CONTEXT_QUERY
};
pub(crate) const WINDOW_BAG: Method = Method {
    name: "embedding-window",
    summary: "Compares each candidate with the words around the blank, embedded as a bag of words.",
    settings: &OF_WINDOW,
    train: |settings, training| window(settings, Encoding::Bag)?.train(settings, training),
    load: |saved| window(&saved.settings, Encoding::Bag)?.load(saved),
    ..CONTEXT_QUERY
};
pub(crate) const WINDOW_POSITION: Method = Method {
    name: "embedding-window-position",
    summary: "Compares each candidate with the words around the blank, with one embedding per \
              position.",
    settings: &OF_WINDOW,
    train: |settings, training| window(settings, Encoding::Positions)?.train(settings, training),
    load: |saved| window(&saved.settings, Encoding::Positions)?.load(saved),
    ..CONTEXT_QUERY
};

#[cfg(test)]
mod tests {
    use questions::{QuestionSet, Split};

    use super::*;
    use crate::Training;
    use crate::fixture::{TestQuestion, score, set_of};

    const NAMES: [&str; 4] = ["ann", "bob", "cat", "dan"];

    /// The same 40 questions for training and validation; four kinds of them, each with its answer.
    fn set(kinds: [(&'static str, &'static str); 4]) -> QuestionSet {
        let questions = (0..80).map(|number| TestQuestion {
            context: vec![kinds[number % 4].0],
            query: kinds[number % 4].1,
            candidates: &NAMES,
            answer: Some(number % 4),
            split: if number < 40 { Split::Train } else { Split::Valid },
        });
        set_of(&questions.collect::<Vec<_>>())
    }

    fn accuracy(method: &Method, set: &QuestionSet) -> f64 {
        let small = [
            "dim=16",
            "batch=2",
            "learning_rate=0.05",
            "epochs=60",
            "patience=60",
            "init=0.3",
            "samples=all",
            "decay=1",
        ];
        let settings = Settings::from_text(method, small).unwrap();
        let training = Training::new(set, 1, &|_| ());
        let model = (method.train)(&settings, &training).unwrap();
        training.valid.accuracy(|question| score(&model, question)).unwrap()
    }

    #[test]
    fn only_positions_distinguish_before_from_after() {
        let order = set([
            ("ann", "x left XXXXX right y"),
            ("bob", "x right XXXXX left y"),
            ("cat", "x left XXXXX left y"),
            ("dan", "x right XXXXX right y"),
        ]);
        assert_eq!(accuracy(&WINDOW_POSITION, &order), 1.0);
        assert!(accuracy(&WINDOW_BAG, &order) <= 0.75);
        assert!(accuracy(&QUERY, &order) <= 0.75);
    }

    #[test]
    fn only_the_whole_query_has_words_far_from_the_blank() {
        let far = set([
            ("ann", "red a b XXXXX c d"),
            ("bob", "old a b XXXXX c d"),
            ("cat", "wet a b XXXXX c d"),
            ("dan", "sad a b XXXXX c d"),
        ]);
        assert_eq!(accuracy(&QUERY, &far), 1.0);
        assert_eq!(accuracy(&WINDOW_POSITION, &far), 0.25);
    }

    #[test]
    fn only_context_and_query_together_have_the_words_of_the_context() {
        let context = set(["red", "old", "wet", "sad"].map(|word| (word, "a XXXXX")));
        assert_eq!(accuracy(&CONTEXT_QUERY, &context), 1.0);
        assert_eq!(accuracy(&QUERY, &context), 0.25);
    }
}
