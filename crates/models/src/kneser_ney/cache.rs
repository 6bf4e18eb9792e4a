//! Kneser-Ney language model + cache, §4.2: the n-gram model interpolated with the unigram probabilities of
//! the context (Kuhn & De Mori 1990).
//!
//! As `kneser-ney`, and λ, the weight of the context, tuned on the validation questions. What is interpolated
//! is the distribution over the candidates, or the probability of every word ([`Interpolation`]).

use std::path::Path;
use std::sync::Arc;

use base::{ByClass, Vocabulary, WordId};
use questions::{Question, WordClass};
use serde::{Deserialize, Serialize};

use crate::contract::folder::{read_toml, write_toml};
use crate::contract::scorer::{PerQuestion, ScoreQuestion};
use crate::kneser_ney::language_model::{self, LanguageScorer, NGRAMS, ScoredQuery, Trial};
use crate::sources;
use crate::{Cost, Event, LoadRequest, Method, Model, Result, Scorer, Setting, Settings, Training};

pub(crate) const METHOD: Method = Method {
    name: "kneser-ney-cache",
    section: "§4.2",
    summary: "An n-gram language model mixed with how often each word occurs in the context.",
    cost: Cost::Seconds,
    wants_gpu: false,
    settings: &[
        language_model::ORDER,
        language_model::PRUNE,
        language_model::QUANTISE,
        Setting::real("lambda", "auto", 0.0..=0.99).symbol("λ").or("auto").doc(
            "Weight of the context's unigrams; `auto` takes the best on the validation questions, by the \
             mean of named entities and common nouns.",
        ),
        Setting::choice("interpolates", "candidates", &["candidates", "words"]).doc(
            "What is interpolated: the distribution over the candidates, or the probability of every word.",
        ),
    ],
    sources: &[sources::WORDS, sources::KNESER_NEY, ngram::SOURCES],
    trains_by_epochs: false,
    train,
    load,
};

/// Chosen: the λ that are tried; the paper does not give its own.
const GRID: [f32; 21] = [
    0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7,
    0.75, 0.8, 0.85, 0.9,
];
/// Chosen: the classes whose answers repeat in the context, which is what a cache is for.
const TUNED_FOR: [WordClass; 2] = [WordClass::NamedEntity, WordClass::CommonNoun];

const TUNED: &str = "tuned.toml";

/// What the n-gram model and the context are interpolated for.
///
/// Chosen: the paper has «the n-gram language model interpolated with unigram probabilities of the context» and
/// does not say where. Only the first way has its pattern, with prepositions ten points lower than without a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Interpolation {
    /// For the candidates of a question: both distributions are over them alone.
    Candidates,
    /// For every word of the query. Model folders without this entry were trained so.
    #[default]
    Words,
}

impl Interpolation {
    /// Chosen: λ without validation questions, as tuned on those of the CBT.
    fn default_lambda(self) -> f32 {
        match self {
            Self::Candidates => 0.7,
            Self::Words => 0.1,
        }
    }
}

#[derive(Deserialize)]
struct Config {
    #[serde(flatten)]
    language: language_model::Config,
    lambda: Option<f32>,
    interpolates: Interpolation,
}

struct KneserNeyCache {
    language: Arc<ngram::Model>,
    tuned: Tuned,
}

#[derive(Serialize, Deserialize)]
struct Tuned {
    order: usize,
    lambda: f32,
    #[serde(default)]
    interpolates: Interpolation,
    /// The λ that is best for the mean of all classes, if λ was tuned.
    lambda_of_all_classes: Option<f32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    orders: Vec<Trial>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lambdas: Vec<LambdaTrial>,
}

#[derive(Serialize, Deserialize)]
struct LambdaTrial {
    lambda: f32,
    valid: ByClass<f64>,
}

fn train(settings: &Settings, training: &Training<'_>) -> Result<Arc<dyn Model>> {
    let Config { language, lambda, interpolates } = settings.config();
    let (language, orders) = language_model::train(METHOD.name, language, training)?;
    let lambdas = if lambda.is_none() { tune(&language, interpolates, training) } else { vec![] };
    let best = |classes: &[WordClass]| {
        let mean = |trial: &LambdaTrial| trial.valid.mean_over(classes);
        // Of equals the lowest.
        lambdas.iter().rev().max_by(|a, b| mean(a).total_cmp(&mean(b))).map(|trial| trial.lambda)
    };
    let default = interpolates.default_lambda();
    let (found, lambda_of_all_classes) = (best(&TUNED_FOR), best(&WordClass::ALL));
    if let (Some(lambda), Some(of_all)) = (found, lambda_of_all_classes) {
        training.reporter.report(Event::Note(format!(
            "λ = {lambda} is best for named entities and common nouns, λ = {of_all} for all classes"
        )));
    } else if lambda.is_none() {
        training.reporter.report(Event::Warning(format!(
            "no validation questions with answers to tune `lambda` on: {default} is taken"
        )));
    }
    let lambda = lambda.or(found).unwrap_or(default);
    let order = language.order();
    let tuned = Tuned { order, lambda, interpolates, lambda_of_all_classes, orders, lambdas };
    Ok(Arc::new(KneserNeyCache { language, tuned }))
}

fn tune(
    language: &Arc<ngram::Model>,
    interpolates: Interpolation,
    training: &Training<'_>,
) -> Vec<LambdaTrial> {
    let scorer = LanguageScorer::new(language, training.valid.vocabulary());
    let accuracies = language_model::accuracies(training, |question| {
        let (query, cache) = (scorer.query(question), Cache::new(question));
        GRID.iter().map(|&lambda| cache.interpolate(&query, lambda, interpolates)).collect()
    });
    let trials = GRID.into_iter().zip(accuracies).map(|(lambda, valid)| {
        let valid_accuracy = valid.mean_over(&TUNED_FOR);
        training
            .reporter
            .report(Event::Tried { setting: format!("lambda={lambda}"), valid_accuracy });
        LambdaTrial { lambda, valid }
    });
    trials.collect()
}

fn load(saved: &LoadRequest<'_>) -> Result<Arc<dyn Model>> {
    let tuned = read_toml(&saved.folder.join(TUNED))?;
    Ok(Arc::new(KneserNeyCache { language: Arc::new(language_model::open(saved.folder)?), tuned }))
}

impl Model for KneserNeyCache {
    fn scorer(self: Arc<Self>, words: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        let language = LanguageScorer::new(&self.language, words);
        let Tuned { lambda, interpolates, .. } = self.tuned;
        PerQuestion::boxed(CacheScorer { language, lambda, interpolates })
    }

    fn save(&self, folder: &Path) -> Result<()> {
        write_toml(&folder.join(TUNED), &self.tuned)?;
        Ok(self.language.write(&folder.join(NGRAMS))?)
    }
}

struct CacheScorer {
    language: LanguageScorer,
    lambda: f32,
    interpolates: Interpolation,
}

impl ScoreQuestion for CacheScorer {
    type Buffers = ();

    fn score(&self, question: &Question<'_>, (): &mut ()) -> Vec<f32> {
        let query = self.language.query(question);
        Cache::new(question).interpolate(&query, self.lambda, self.interpolates)
    }
}

/// The unigram probabilities that the context gives to the words of a query and its candidates.
struct Cache {
    of_candidates: Vec<f64>,
    /// Of the words after the blank.
    after: Vec<f64>,
    is_empty: bool,
}

impl Cache {
    fn new(question: &Question<'_>) -> Self {
        let context = question.context.words();
        let total = context.len() as f64;
        let share = |word: &WordId| {
            let times = context.iter().filter(|&other| other == word).count();
            times as f64 / total.max(1.0)
        };
        let after = &question.query[question.blank + 1..];
        Self {
            of_candidates: question.candidates.iter().map(share).collect(),
            // No n-gram is longer.
            after: after.iter().take(ngram::MAX_ORDER).map(share).collect(),
            is_empty: total == 0.0,
        }
    }

    fn interpolate(&self, query: &ScoredQuery, lambda: f32, place: Interpolation) -> Vec<f32> {
        match place {
            Interpolation::Candidates => self.interpolate_candidates(query, lambda),
            Interpolation::Words => self.interpolate_words(query, lambda),
        }
    }

    fn interpolate_candidates(&self, query: &ScoredQuery, lambda: f32) -> Vec<f32> {
        let log_probs = query.log_probs();
        let highest = log_probs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        // In f64, since a candidate may be all but impossible.
        let of_query: Vec<f64> =
            log_probs.iter().map(|&log_prob| f64::from(log_prob - highest).exp()).collect();
        let (total, shares): (f64, f64) = (of_query.iter().sum(), self.of_candidates.iter().sum());
        // Without a candidate in the context there is nothing to interpolate with.
        let lambda = if shares == 0.0 { 0.0 } else { f64::from(lambda) };
        let both = of_query.iter().zip(&self.of_candidates);
        // §4.2, cache: (1 − λ) p(q_i | …) + λ p(q_i | context), both distributions over the candidates.
        let mixed = both.map(|(of_query, share)| {
            (1.0 - lambda) * of_query / total + lambda * share / shares.max(f64::MIN_POSITIVE)
        });
        mixed.map(|p| p.max(f64::MIN_POSITIVE).ln() as f32).collect()
    }

    fn interpolate_words(&self, query: &ScoredQuery, lambda: f32) -> Vec<f32> {
        // Without a context there is nothing to interpolate with.
        let lambda = if self.is_empty { 0.0 } else { f64::from(lambda) };
        let of_candidate = |(candidate, log_probs): (usize, &Vec<f32>)| {
            // The end of the sentence is no word of the context.
            let after = self.after.iter().copied().chain([0.0]);
            let shares = [self.of_candidates[candidate]].into_iter().chain(after);
            // §4.2, cache: (1 − λ) p(q_i | …) + λ p(q_i | context).
            // In f64, since imported models may call a word all but impossible.
            let mixed = log_probs.iter().zip(shares).map(|(&log_prob, share)| {
                ((1.0 - lambda) * f64::from(log_prob).exp() + lambda * share).ln()
            });
            mixed.sum::<f64>() as f32
        };
        query.of_candidates.iter().enumerate().map(of_candidate).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;
    use questions::Split;

    use super::*;
    use crate::fixture::{TestQuestion, one_question, set_of, texts};

    fn language(order: usize) -> ngram::Model {
        let mut text = ngram::Text::default();
        for sentence in ["a b c d g .", "b a É .", "A d . c c b a"] {
            text.push(sentence.split(' ')).unwrap();
        }
        let options = ngram::Options { order, ..ngram::Options::default() };
        ngram::Model::new(
            &ngram::estimate(&text.sort(order).unwrap(), &options).unwrap().table,
            false,
        )
        .unwrap()
    }

    fn scores(
        order: usize,
        lambda: f32,
        interpolates: Interpolation,
        question: &Question<'_>,
    ) -> Vec<f32> {
        let language = LanguageScorer::new(&Arc::new(language(order)), question.vocabulary);
        CacheScorer { language, lambda, interpolates }.score(question, &mut ())
    }

    proptest! {
        #[test]
        fn candidates_get_a_mixture_of_two_distributions(
            (context, query, candidates) in texts(), lambda in 0f32..0.9,
        ) {
            let text = context.join(" ");
            let text: Vec<&str> = text.split_whitespace().collect();
            let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
            let context: Vec<&str> = context.iter().map(String::as_str).collect();
            let set = one_question(&context, &query, &names);
            let scores = scores(3, lambda, Interpolation::Candidates, &set.example(0).question);
            let language = language(3);
            let share_of = |of: &dyn Fn(&str) -> f64| -> Vec<f64> {
                let of: Vec<f64> = names.iter().map(|name| of(name)).collect();
                let total: f64 = of.iter().sum();
                of.iter().map(|one| one / total).collect()
            };
            let of_query = share_of(&|name| {
                let word = |word| if word == questions::BLANK_WORD { name } else { word };
                f64::from(language.log_probs(query.split(' ').map(word)).iter().sum::<f32>()).exp()
            });
            let of_context =
                share_of(&|name| text.iter().filter(|&&word| word == name).count() as f64);
            let lambda = if of_context[0].is_nan() { 0.0 } else { f64::from(lambda) };
            for (place, &score) in scores.iter().enumerate() {
                let context = if lambda == 0.0 { 0.0 } else { lambda * of_context[place] };
                let expected = (1.0 - lambda) * of_query[place] + context;
                prop_assert!((f64::from(score).exp() - expected).abs() < 1e-4);
            }
        }
    }

    proptest! {
        #[test]
        fn scores_differ_as_whole_sentences_that_are_interpolated_word_by_word(
            (context, query, candidates) in texts(), order in 1..=6usize, lambda in 0f32..0.9,
        ) {
            let text = context.join(" ");
            let text: Vec<&str> = text.split_whitespace().collect();
            let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
            let context: Vec<&str> = context.iter().map(String::as_str).collect();
            let set = one_question(&context, &query, &names);
            let scores = scores(order, lambda, Interpolation::Words, &set.example(0).question);
            let language = language(order);
            let lambda = if text.is_empty() { 0.0 } else { f64::from(lambda) };
            let whole = |name: &str| {
                let word = |word| if word == questions::BLANK_WORD { name } else { word };
                let words: Vec<&str> = query.split(' ').map(word).collect();
                let share = |word: &str| {
                    text.iter().filter(|&&other| other == word).count() as f64 / text.len().max(1) as f64
                };
                let shares = words.iter().map(|word| share(word)).chain([0.0]);
                let log_probs = language.log_probs(words.iter().copied());
                let mixed = log_probs.into_iter().zip(shares).map(|(log_prob, share)| {
                    ((1.0 - lambda) * f64::from(log_prob).exp() + lambda * share).ln()
                });
                mixed.sum::<f64>()
            };
            for (name, score) in names.iter().zip(&scores) {
                let (ours, expected) = (f64::from(score - scores[0]), whole(name) - whole(names[0]));
                prop_assert!((ours - expected).abs() < 1e-3, "{name}: {ours} {expected}");
            }
        }
    }

    #[test]
    fn a_name_that_the_books_do_not_know_is_found_in_the_context() {
        let set = one_question(&["Nib sat .", "Nib ran ."], "then XXXXX sat .", &["Tib", "Nib"]);
        let question = set.example(0).question;
        for interpolates in [Interpolation::Candidates, Interpolation::Words] {
            let without = scores(3, 0.0, interpolates, &question);
            assert_eq!(without[0], without[1]);
            let with = scores(3, 0.1, interpolates, &question);
            assert!(with[1] > with[0]);
        }
    }

    #[test]
    fn lambda_is_tuned_and_both_choices_are_reported() {
        let asked = |split, answer| TestQuestion {
            context: vec!["Nib ran to Tib .", "and Nib sat ."],
            query: "there XXXXX sat .",
            candidates: &["Tib", "Nib", "home"],
            answer,
            split,
        };
        let set = set_of(&[asked(Split::Train, None), asked(Split::Valid, Some(1))]);
        let notes = Mutex::new(Vec::new());
        let report = |event| {
            if let Event::Note(text) = event {
                notes.lock().unwrap().push(text);
            }
        };
        let settings = Settings::from_text(&METHOD, ["order=1"]).unwrap();
        train(&settings, &Training::new(&set, 1, &report)).unwrap();
        assert_eq!(
            notes.into_inner().unwrap(),
            ["λ = 0 is best for named entities and common nouns, λ = 0 for all classes"]
        );
    }
}
