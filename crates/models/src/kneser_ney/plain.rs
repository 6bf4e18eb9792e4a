//! Kneser-Ney language model, §4.2: the candidate with which the query is the most probable sentence.
//!
//! Running text of the training books, case kept → n-gram probabilities; question → the log-probability of the
//! query with each candidate in the blank.

use std::path::Path;
use std::sync::Arc;

use base::Vocabulary;
use questions::Question;
use serde::{Deserialize, Serialize};

use crate::contract::folder::{read_toml, write_toml};
use crate::contract::scorer::{PerQuestion, ScoreQuestion};
use crate::kneser_ney::language_model::{self, Config, LanguageScorer, NGRAMS, Trial};
use crate::sources;
use crate::{Cost, LoadRequest, Method, Model, Result, Scorer, Settings, Training};

pub(crate) const METHOD: Method = Method {
    name: "kneser-ney",
    section: "§4.2",
    summary: "Chooses the candidate with which an n-gram language model finds the query most \
              probable.",
    cost: Cost::Seconds,
    wants_gpu: false,
    settings: &[language_model::ORDER, language_model::PRUNE, language_model::QUANTISE],
    sources: &[sources::WORDS, sources::KNESER_NEY, ngram::SOURCES],
    trains_by_epochs: false,
    train,
    load,
};

const TUNED: &str = "tuned.toml";

struct KneserNey {
    language: Arc<ngram::Model>,
    tuned: Tuned,
}

#[derive(Serialize, Deserialize)]
struct Tuned {
    order: usize,
    /// What was tried to find it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    orders: Vec<Trial>,
}

fn train(settings: &Settings, training: &Training<'_>) -> Result<Arc<dyn Model>> {
    let (language, orders) =
        language_model::train(METHOD.name, settings.config::<Config>(), training)?;
    let tuned = Tuned { order: language.order(), orders };
    Ok(Arc::new(KneserNey { language, tuned }))
}

fn load(saved: &LoadRequest<'_>) -> Result<Arc<dyn Model>> {
    let tuned = read_toml(&saved.folder.join(TUNED))?;
    Ok(Arc::new(KneserNey { language: Arc::new(language_model::open(saved.folder)?), tuned }))
}

/// A `kneser-ney` of a language model that was made elsewhere, and the settings to save it with.
///
/// # Panics
/// Never: every language model has an order that is in the range of the setting.
pub fn from_language_model(language: ngram::Model) -> (Arc<dyn Model>, Settings) {
    let order = language.order();
    let settings = Settings::from_text(&METHOD, [format!("order={order}").as_str()]);
    let tuned = Tuned { order, orders: vec![] };
    let model = KneserNey { language: Arc::new(language), tuned };
    (Arc::new(model), settings.expect("orders are from 1 to 6"))
}

impl Model for KneserNey {
    fn scorer(self: Arc<Self>, words: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        PerQuestion::boxed(LanguageScorer::new(&self.language, words))
    }

    fn save(&self, folder: &Path) -> Result<()> {
        write_toml(&folder.join(TUNED), &self.tuned)?;
        Ok(self.language.write(&folder.join(NGRAMS))?)
    }
}

impl ScoreQuestion for LanguageScorer {
    type Buffers = ();

    // §4.2, probability of the query: Π p(q_i | q_{i−n+1} … q_{i−1}) over the words and the sentence's end.
    fn score(&self, question: &Question<'_>, (): &mut ()) -> Vec<f32> {
        self.query(question).log_probs()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use expect_test::expect;
    use proptest::prelude::*;
    use questions::{NewQuestion, QuestionSet, Split};

    use super::*;
    use crate::fixture::{TestQuestion, score, set_of, texts};
    use crate::{Event, Training};

    fn of_text(sentences: &[&str], order: usize) -> Arc<dyn Model> {
        let mut text = ngram::Text::default();
        sentences.iter().for_each(|words| text.push(words.split(' ')).unwrap());
        let options = ngram::Options { order, ..ngram::Options::default() };
        let table = ngram::estimate(&text.sort(order).unwrap(), &options).unwrap().table;
        from_language_model(ngram::Model::new(&table, false).unwrap()).0
    }

    const TALE: [&str; 4] =
        ["a fox . b c d g", "A fox ran . É b", "the a b . a c d c a b", "c a . B a d d"];

    proptest! {
        #[test]
        fn scores_differ_as_the_probabilities_of_whole_sentences(
            (context, query, candidates) in texts(), order in 1..=6usize,
        ) {
            let context = context.iter().map(String::as_str).collect();
            let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
            let asked = TestQuestion { context, query: &query, candidates: &names, answer: None, split: Split::Test };
            let scores = score(&of_text(&TALE, order), &set_of(&[asked]).example(0).question);
            let mut text = ngram::Text::default();
            TALE.iter().for_each(|words| text.push(words.split(' ')).unwrap());
            let options = ngram::Options { order, ..ngram::Options::default() };
            let table = ngram::estimate(&text.sort(order).unwrap(), &options).unwrap().table;
            let language = ngram::Model::new(&table, false).unwrap();
            let whole = |name: &str| {
                let words = query.split(' ').map(|word| if word == questions::BLANK_WORD { name } else { word });
                language.log_probs(words).iter().sum::<f32>()
            };
            for (name, score) in names.iter().zip(&scores) {
                let (ours, expected) = (score - scores[0], whole(name) - whole(names[0]));
                prop_assert!((ours - expected).abs() < 1e-4, "{name}: {ours} {expected}");
            }
        }
    }

    #[test]
    fn the_order_is_tuned_and_a_small_text_gives_a_warning() {
        let asked = |split, answer| TestQuestion {
            context: vec!["the old fox ran home .", "the old hen sat down ."],
            query: "the old fox XXXXX",
            candidates: &["sat", "ran"],
            answer,
            split,
        };
        let set = set_of(&[asked(Split::Train, None), asked(Split::Valid, Some(1))]);
        let events = Mutex::new(Vec::new());
        let report = |event| events.lock().unwrap().push(event);
        let settings = Settings::from_text(&METHOD, []).unwrap();
        let model = train(&settings, &Training::new(&set, 1, &report)).unwrap();
        let tried: Vec<String> = events
            .into_inner()
            .unwrap()
            .into_iter()
            .map(|event| match event {
                Event::Tried { setting, valid_accuracy } => format!("{setting} {valid_accuracy}\n"),
                Event::Warning(text) => text,
                other => format!("{other:?}"),
            })
            .collect();
        expect![[r#"
            order=1 0.5
            order=2 1
            order=3 1
            order=4 1
            order=5 1
            order=6 1
            the text is too small to estimate the discounts of 1-grams (none has adjusted count 3), 2-grams (none has adjusted count 3), 3-grams (none has adjusted count 3), 4-grams (none has adjusted count 2), 5-grams (none has adjusted count 2): 0.5, 1 and 1.5 are taken"#]].assert_eq(&tried.concat());
        let scores = score(&model, &set.example(1).question);
        assert!(scores[1] > scores[0]);
    }

    #[test]
    fn without_running_text_contexts_are_read_and_without_any_it_is_an_error() {
        let mut set = QuestionSet::default();
        let [fox, ran] = ["fox", "ran"].map(|word| set.intern(word));
        let sentence = set.push_sentence([fox, ran]);
        set.push(NewQuestion {
            context: sentence..sentence + 1,
            query: &[fox, questions::BLANK],
            candidates: &[fox, ran],
            answer: None,
            class: None,
            split: Some(Split::Train),
            book: None,
        })
        .unwrap();
        let warnings = Mutex::new(0);
        let report = |event| {
            if let Event::Warning(_) = event {
                *warnings.lock().unwrap() += 1;
            }
        };
        let settings = Settings::from_text(&METHOD, []).unwrap();
        let model = train(&settings, &Training::new(&set, 1, &report)).unwrap();
        let scores = score(&model, &set.example(0).question);
        assert!(scores[1] > scores[0]);
        // No running text, nothing to tune the order on, discounts that can't be estimated.
        assert_eq!(*warnings.lock().unwrap(), 3);
        let empty = QuestionSet::default();
        let error = train(&settings, &Training::new(&empty, 1, &|_| ())).err().unwrap();
        expect!["nothing to train `kneser-ney` on: expected running text or questions of the training split, found none"].assert_eq(&error.to_string());
    }
}
