//! Maximum frequency, §4.1: the candidate that is most frequent in the training books (corpus), or in the question's
//! context and query (context). Words are lower-cased.
//!
//! For the corpus, running text of the training books → counts; for the context nothing is trained or kept.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use base::{Vocabulary, WordId};
use questions::Question;
use serde::{Deserialize, Serialize};

use crate::baselines::Untrained;
use crate::contract::folder::{read_toml, write_toml};
use crate::contract::scorer::{PerQuestion, ScoreQuestion};
use crate::words::lowercase::Lowercase;
use crate::{
    Cost, Error, Event, LoadRequest, Method, Model, Result, Scorer, Settings, Training, sources,
};

/// Maximum frequency (corpus), §4.1.
pub(crate) const CORPUS: Method = Method {
    name: "max-frequency-corpus",
    section: "§4.1",
    summary: "Chooses the candidate that is most frequent in the training books.",
    cost: Cost::Seconds,
    wants_gpu: false,
    settings: &[],
    sources: &[sources::WORDS, sources::BASELINES],
    trains_by_epochs: false,
    train,
    load,
};

const COUNTS: &str = "counts.toml";

/// How often each lower-cased word occurs in the training books.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct MaxFrequencyCorpus {
    counts: BTreeMap<String, u64>,
}

fn train(_: &Settings, training: &Training<'_>) -> Result<Arc<dyn Model>> {
    let mut counts = count(training.train.vocabulary(), training.train.books().flatten());
    if counts.is_empty() {
        // Chosen: the paper does not say what to do without running text; contexts are parts of it, and a
        // sentence that several contexts share counts once.
        counts = count(training.train.vocabulary(), training.train.context_sentences());
        if counts.is_empty() {
            return Err(Error::NothingToTrainOn {
                model: CORPUS.name,
                expected: "running text or questions of the training split",
                hint: "one book alone is all `test`: build three or more, or say which book is in which split",
            });
        }
        training.reporter.report(Event::Warning(
            "the set has no running text of training books: words are counted in the contexts of \
             the training questions"
                .to_owned(),
        ));
    }
    Ok(Arc::new(MaxFrequencyCorpus { counts }))
}

fn load(saved: &LoadRequest<'_>) -> Result<Arc<dyn Model>> {
    Ok(Arc::new(read_toml::<MaxFrequencyCorpus>(&saved.folder.join(COUNTS))?))
}

fn count<'a>(
    vocabulary: &Vocabulary,
    sentences: impl Iterator<Item = &'a [WordId]>,
) -> BTreeMap<String, u64> {
    let mut by_number = vec![0; vocabulary.len()];
    sentences.flatten().for_each(|word| by_number[word.index()] += 1);
    let mut counts = BTreeMap::new();
    for (word, times) in vocabulary.iter().zip(by_number).filter(|&(_, times)| times > 0) {
        *counts.entry(word.to_lowercase()).or_default() += times;
    }
    counts
}

impl Model for MaxFrequencyCorpus {
    fn scorer(self: Arc<Self>, words: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        let count = |word: &str| self.counts.get(&word.to_lowercase()).map_or(0.0, |&n| n as f32);
        PerQuestion::boxed(Counts(words.iter().map(count).collect()))
    }

    fn save(&self, folder: &Path) -> Result<()> {
        write_toml(&folder.join(COUNTS), self)
    }
}

/// The count of each word of a vocabulary.
struct Counts(Vec<f32>);

impl ScoreQuestion for Counts {
    type Buffers = ();

    fn score(&self, question: &Question<'_>, (): &mut ()) -> Vec<f32> {
        question.candidates.iter().map(|candidate| self.0[candidate.index()]).collect()
    }
}

/// Maximum frequency (context), §4.1.
pub(crate) const CONTEXT: Method = Method {
    name: "max-frequency-context",
    summary: "Chooses the candidate that is most frequent in the context and the query.",
    train: |_, _| Ok(Arc::new(COUNTER)),
    load: |_| Ok(Arc::new(COUNTER)),
    ..CORPUS
};

const COUNTER: Untrained = Untrained(|words| PerQuestion::boxed(Counter(words)));

struct Counter(Lowercase);

impl ScoreQuestion for Counter {
    type Buffers = ();

    fn score(&self, question: &Question<'_>, (): &mut ()) -> Vec<f32> {
        let question = self.0.question(question);
        // Differs: §4.1 names the context alone. With the query's words the released NE validation file gives the
        // paper's .299, without them .316. The blank is no word.
        let words = || question.context.iter().chain(&question.query);
        let count = |candidate| words().filter(|&word| word == candidate).count();
        question.candidates.iter().map(|candidate| count(candidate) as f32).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use expect_test::expect;
    use proptest::prelude::*;
    use questions::{NewQuestion, QuestionSet, Split};

    use super::*;
    use crate::fixture::{TestQuestion, one_question, score, set_of, texts};

    fn trained(set: &QuestionSet) -> Result<Arc<dyn Model>> {
        train(&Settings::from_text(&CORPUS, [])?, &Training::new(set, 1, &|_| ()))
    }

    #[test]
    fn words_are_counted_in_the_training_books_alone_and_found_in_another_vocabulary() {
        let book = |split, text| TestQuestion {
            context: vec![text],
            query: "a XXXXX",
            candidates: &["fox", "hen"],
            answer: None,
            split,
        };
        let set = set_of(&[
            book(Split::Train, "Fox fox hen"),
            book(Split::Train, "hen FOX"),
            book(Split::Valid, "hen hen hen"),
            book(Split::Test, "owl"),
        ]);
        let model = trained(&set).unwrap();
        let other = one_question(&["unlike words"], "the XXXXX", &["owl", "hen", "Fox", "fox"]);
        assert_eq!(score(&model, &other.example(0).question), [0.0, 2.0, 3.0, 3.0]);
    }

    #[test]
    fn without_running_text_shared_context_counts_once_and_a_warning_says_so() {
        let mut set = QuestionSet::default();
        let [fox, hen] = ["fox", "hen"].map(|word| set.intern(word));
        let sentences = [[fox, hen], [fox, fox]].map(|words| set.push_sentence(words));
        for _ in 0..2 {
            set.push(NewQuestion {
                context: sentences[0]..sentences[1] + 1,
                query: &[hen, questions::BLANK],
                candidates: &[fox, hen],
                answer: None,
                class: None,
                split: Some(Split::Train),
                book: None,
            })
            .unwrap();
        }
        let events = Mutex::new(Vec::new());
        let report = |event| events.lock().unwrap().push(event);
        let settings = Settings::from_text(&CORPUS, []).unwrap();
        let model = train(&settings, &Training::new(&set, 1, &report)).unwrap();
        assert_eq!(score(&model, &set.example(0).question), [3.0, 1.0]);
        assert!(matches!(events.lock().unwrap().as_slice(), [Event::Warning(_)]));
    }

    /// An empty sentence begins where the next one does, so addresses do not identify sentences.
    #[test]
    fn a_sentence_after_an_empty_one_counts_too() {
        let mut set = QuestionSet::default();
        let [fox, hen] = ["fox", "hen"].map(|word| set.intern(word));
        let first = set.push_sentence([]);
        set.push_sentence([fox, fox]);
        set.push_sentence([]);
        let last = set.push_sentence([hen]);
        set.push(NewQuestion {
            context: first..last + 1,
            query: &[hen, questions::BLANK],
            candidates: &[fox, hen],
            answer: None,
            class: None,
            split: Some(Split::Train),
            book: None,
        })
        .unwrap();
        let model = trained(&set).unwrap();
        assert_eq!(score(&model, &set.example(0).question), [2.0, 1.0]);
    }

    #[test]
    fn a_set_without_a_training_part_is_an_error() {
        let set = one_question(&["a fox"], "the XXXXX", &["fox", "hen"]);
        let error = trained(&set).err().unwrap();
        expect!["nothing to train `max-frequency-corpus` on: expected running text or questions of the training split, found none"]
            .assert_eq(&error.to_string());
    }

    proptest! {
        #[test]
        fn scores_are_the_counts_in_the_books_by_definition((context, query, candidates) in texts()) {
            let context: Vec<&str> = context.iter().map(String::as_str).collect();
            let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
            let text = context.join(" ").to_lowercase();
            prop_assume!(!text.trim().is_empty());
            let asked = TestQuestion {
                context, query: &query, candidates: &names, answer: None, split: Split::Train,
            };
            let set = set_of(&[asked]);
            let scores = score(&trained(&set).unwrap(), &set.example(0).question);
            for (name, score) in names.iter().zip(scores) {
                let times = text.split(' ').filter(|word| *word == name.to_lowercase()).count();
                prop_assert_eq!(score, times as f32);
            }
        }
    }

    #[test]
    fn case_twins_are_ties_and_the_query_counts() {
        let context = ["The Hen saw the fox .", "The hen ran ."];
        let set = one_question(&context, "the fox ate the XXXXX", &["Hen", "hen", "fox", "owl"]);
        assert_eq!(score(&Arc::new(COUNTER), &set.example(0).question), [2.0, 2.0, 2.0, 0.0]);
    }

    proptest! {
        #[test]
        fn scores_are_the_counts_in_context_and_query_by_definition((context, query, candidates) in texts()) {
            let context: Vec<&str> = context.iter().map(String::as_str).collect();
            let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
            let set = one_question(&context, &query, &names);
            let scores = score(&Arc::new(COUNTER), &set.example(0).question);
            let text = format!("{} {query}", context.join(" ")).to_lowercase();
            for (name, score) in names.iter().zip(scores) {
                let times = text.split(' ').filter(|word| *word == name.to_lowercase()).count();
                prop_assert_eq!(score, times as f32);
            }
        }
    }
}
