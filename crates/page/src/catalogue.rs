//! What there is to explore: question sets, models that read them, and what models have answered.

mod results;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base::Vocabulary;
use evaluation::{Prediction, Predictions, QuestionIndex};
use models::{Model, Scorer, Scores};
use questions::{Explanation, Question, QuestionSet, Split};

use crate::Result;

pub use results::{Results, Standing};

/// Queries with fewer words come last in lists: `said ___.` is a poor example.
const SHORT_QUERY: usize = 8;
/// How many answers of a file are compared with those of a model, to see whether they are its own.
const COMPARED: usize = 8;

/// Sets and everybody who answers their questions.
pub struct Catalogue {
    /// The sets, in the order in which they were named; at least one.
    pub sets: Vec<LoadedSet>,
    /// Models, other programs and people.
    pub answerers: Vec<Answerer>,
    /// How they do on each set, once they have all answered.
    results: Vec<OnceLock<Results>>,
}

/// A set that can be explored.
pub struct LoadedSet {
    /// The name that visitors see.
    pub name: String,
    /// What is explored and answered.
    pub set: QuestionSet,
    /// The id of each question.
    pub ids: Vec<String>,
    /// The indices of the questions in the order of lists: test, then validation; short queries last.
    pub order: Vec<usize>,
    index_of: BTreeMap<String, usize>,
}

/// Somebody who answers, before it is known what.
pub struct NewAnswerer {
    /// The method's name, `memnn-window-selfsup`, or what the predictions call themselves.
    pub name: String,
    /// The row of the paper's tables, or the name again.
    pub label: String,
    /// Who can be asked about any question.
    pub model: Option<Arc<dyn Model>>,
    /// What was answered before.
    pub predictions: Option<Predictions>,
    /// The names of the sets whose training books the model learnt from.
    pub learnt_from: Vec<String>,
    /// Whether the model is asked only what a visitor asks for: its answers take long, or cost money.
    pub on_request: bool,
}

/// A model, a predictions file, or both together.
pub struct Answerer {
    /// Identifies it in addresses; no other answerer has it.
    pub key: String,
    /// The method's name, unique as well.
    pub name: String,
    /// The row of the paper's tables, or the name again.
    pub label: String,
    model: Option<Arc<dyn Model>>,
    on_request: bool,
    learnt_from: Vec<String>,
    /// For each set what it answered, once that is known.
    answered: Vec<OnceLock<Answered>>,
    /// For each set the model's scorer, once a question of the set was asked: getting ready for the words of a whole
    /// set takes longer than a question.
    scorers: Vec<CachedScorer>,
}

/// Requests wait for each other: a scorer has buffers of its own.
type CachedScorer = Mutex<Option<Box<dyn Scorer>>>;

/// The answers to the questions of a set, by their places; none where a question was not answered.
type Answered = Vec<Option<Scored>>;

/// The scores of one question, and the choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// One score per candidate.
    pub scores: Vec<f32>,
    /// The index of the chosen candidate.
    pub chosen: usize,
}

impl Catalogue {
    /// Loads sets and answerers. Predictions with a model's scores are that model's, and so are those of the name of a
    /// model that is asked on request alone.
    ///
    /// # Errors
    /// If predictions fit none of the sets.
    pub fn new(sets: Vec<(String, QuestionSet)>, new: Vec<NewAnswerer>) -> Result<Self> {
        let sets: Vec<LoadedSet> =
            sets.into_iter().map(|(name, set)| LoadedSet::new(name, set)).collect();
        let mut answerers: Vec<Answerer> = Vec::new();
        for new in new {
            let answered = new.predictions.as_ref().map(|predictions| fit(&sets, predictions));
            let answered = answered.transpose()?;
            let same = answered.as_ref().filter(|_| new.model.is_none()).and_then(|answered| {
                answerers.iter_mut().find(|known| match &known.model {
                    Some(_) if known.on_request => known.name == new.name,
                    Some(model) => is_its_own(model, &sets, answered),
                    None => false,
                })
            });
            match (same, answered) {
                (Some(model), Some(answered)) => model.answered = answered,
                (_, answered) => {
                    let answerer = Answerer::new(new, answered, &sets, &answerers);
                    answerers.push(answerer);
                }
            }
        }
        let results = sets.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { sets, answerers, results })
    }

    /// Lets every model answer every question that it has not answered yet; takes its time.
    pub fn answer_all(self: &Arc<Self>) {
        for answerer in &self.answerers {
            let Some(model) = &answerer.model else { continue };
            for (loaded, answered) in self.sets.iter().zip(&answerer.answered) {
                let places: Vec<usize> = (0..loaded.set.len()).collect();
                if answered.get().is_some() {
                    continue;
                }
                // A model whose scores are not numbers is shown where it is asked, question by question.
                let (set, ids) = (&loaded.set, &loaded.ids);
                let scorer = model.clone().scorer(set.vocabulary());
                let mut scored = Vec::with_capacity(places.len());
                let done = models::score_all(scorer, set, &places, &[], &mut |places, scores| {
                    scored.extend(places.iter().zip(scores.iter()).map(|(&place, scores)| {
                        Some(Scored::of(set, place, ids[place].clone(), scores.to_vec()))
                    }));
                    Ok(())
                });
                if done.is_ok() {
                    let _ = answered.set(scored);
                }
            }
        }
    }

    /// The set of that name, or the first.
    pub fn set(&self, name: &str) -> (usize, &LoadedSet) {
        let place = self.sets.iter().position(|set| set.name == name).unwrap_or(0);
        (place, &self.sets[place])
    }

    /// Who answers under a key.
    pub fn answerer(&self, key: &str) -> Option<&Answerer> {
        self.answerers.iter().find(|answerer| answerer.key == key)
    }

    /// Returns whether some model has not answered a set yet.
    pub fn is_waiting(&self, set: usize) -> bool {
        self.answerers.iter().any(|answerer| answerer.model.is_some() && !answerer.is_ready(set))
    }
}

impl LoadedSet {
    fn new(name: String, set: QuestionSet) -> Self {
        let ids = set.all_ids();
        // A question that is in two splits is found in the last: in test.
        let index_of = ids.iter().cloned().zip(0..).collect();
        let mut order: Vec<usize> = (0..set.len()).collect();
        order.sort_by_key(|&index| {
            let example = set.example(index);
            let rank = match example.split {
                Some(Split::Test) => 0,
                Some(Split::Valid) => 1,
                None => 2,
                Some(Split::Train) => 3,
            };
            (rank, n_words(&example.question) < SHORT_QUERY)
        });
        Self { name, set, ids, order, index_of }
    }

    /// The indices of the books that questions are from: of some splits alone, not all books of a set are.
    pub fn books(&self) -> BTreeSet<usize> {
        (0..self.set.len()).filter_map(|index| self.set.book(index)).collect()
    }

    /// The index of the question with an id.
    pub fn index(&self, id: &str) -> Option<usize> {
        self.index_of.get(id).copied()
    }
}

/// How many tokens of a query are words.
fn n_words(question: &Question<'_>) -> usize {
    let is_word = |word: &&base::WordId| question.word(**word).contains(char::is_alphanumeric);
    question.query.iter().filter(is_word).count()
}

impl Answerer {
    fn new(
        new: NewAnswerer,
        answered: Option<Vec<OnceLock<Answered>>>,
        sets: &[LoadedSet],
        others: &[Self],
    ) -> Self {
        let name = unique(new.name, |name| others.iter().any(|other| other.name == name));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let key = name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
        let unanswered = |loaded: &LoadedSet| match new.on_request {
            // Nothing is known of any question, and nothing will be.
            true => OnceLock::from(vec![None; loaded.set.len()]),
            false => OnceLock::new(),
        };
        Self {
            key: unique(key, |key| others.iter().any(|other| other.key == key)),
            name,
            label: new.label,
            model: new.model,
            on_request: new.on_request,
            learnt_from: new.learnt_from,
            answered: answered.unwrap_or_else(|| sets.iter().map(unanswered).collect()),
            scorers: sets.iter().map(|_| Mutex::default()).collect(),
        }
    }

    /// Returns whether it is known who is right in a set.
    pub fn is_ready(&self, set: usize) -> bool {
        self.answered[set].get().is_some()
    }

    /// Returns whether it learnt from the book of a question: then its answer says little.
    pub fn has_learnt(&self, set: &LoadedSet, index: usize) -> bool {
        set.set.example(index).split == Some(Split::Train) && self.learnt_from.contains(&set.name)
    }

    /// What was answered to a question of a set, if that is known.
    pub fn answered(&self, set: usize, index: usize) -> Option<&Scored> {
        self.answered[set].get()?.get(index)?.as_ref()
    }

    /// Returns whether the answer to a question of a set is right, if both are known.
    pub fn is_right(&self, catalogue: &Catalogue, set: usize, index: usize) -> Option<bool> {
        let answer = catalogue.sets[set].set.example(index).answer?;
        self.answered(set, index).map(|scored| scored.chosen == answer)
    }

    /// Asks the model about a question with these words, of a set of the catalogue or of none, for its scores and for
    /// what it looked at. None if there is no model, or if it fails.
    pub fn ask(
        &self,
        set: Option<usize>,
        words: &Arc<Vocabulary>,
        question: &Question<'_>,
    ) -> Option<(Vec<f32>, Explanation)> {
        let model = self.model.as_ref()?;
        let scorer = || Arc::clone(model).scorer(words);
        let Some(set) = set else { return ask(&mut *scorer(), question) };
        let mut cached = self.scorers[set].lock().unwrap_or_else(PoisonError::into_inner);
        let asked = ask(&mut **cached.get_or_insert_with(scorer), question);
        if asked.is_none() {
            // One that failed is not asked again.
            *cached = None;
        }
        asked
    }
}

impl Scored {
    /// Scores with the choice that `goldilocks answer` makes with seed 1.
    fn of(set: &QuestionSet, place: usize, id: String, scores: Vec<f32>) -> Self {
        let doubles = scores.iter().copied().map(f64::from).collect();
        let chosen = Prediction::of(&set.example(place), id, doubles, 1).predicted;
        Self { scores, chosen }
    }
}

/// The name, or with a number after it if it is taken.
fn unique(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or(name)
}

fn ask(scorer: &mut dyn Scorer, question: &Question<'_>) -> Option<(Vec<f32>, Explanation)> {
    let mut scores = Scores::default();
    scorer.score(&[*question], &mut scores).ok()?;
    Some((scores.get(0).to_vec(), scorer.explain(question).ok()?))
}

/// Returns whether a model gives the scores of the first answers.
fn is_its_own(model: &Arc<dyn Model>, sets: &[LoadedSet], answered: &[OnceLock<Answered>]) -> bool {
    let known = sets.iter().zip(answered).find_map(|(set, answered)| Some((set, answered.get()?)));
    let Some((loaded, answered)) = known else { return false };
    let mut scorer = Arc::clone(model).scorer(loaded.set.vocabulary());
    let mut first =
        (0..).zip(answered).filter_map(|(place, scored)| Some((place, scored.as_ref()?)));
    let is_close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 * (1.0 + a.abs());
    first.by_ref().take(COMPARED).all(|(place, scored)| {
        let asked = ask(&mut *scorer, &loaded.set.example(place).question);
        asked.is_some_and(|(scores, _)| scores.iter().zip(&scored.scores).all(is_close))
    })
}

/// Predictions as answers to the questions of the first set that they fit.
fn fit(sets: &[LoadedSet], predictions: &Predictions) -> Result<Vec<OnceLock<Answered>>> {
    let mut first_error = None;
    for (fitting, loaded) in sets.iter().enumerate() {
        let index = QuestionIndex::of_splits(&loaded.set, &Split::ALL);
        match index.check(predictions.clone()) {
            Ok(checked) => {
                let mut answered = vec![None; loaded.set.len()];
                for prediction in checked.predictions().iter() {
                    if let Some(place) = index.find(prediction.split, &prediction.id) {
                        let scores = prediction.scores.iter().map(|&score| score as f32).collect();
                        answered[place] = Some(Scored { scores, chosen: prediction.predicted });
                    }
                }
                let of_set = |set| {
                    if set == fitting {
                        std::mem::take(&mut answered).into()
                    } else {
                        OnceLock::new()
                    }
                };
                return Ok((0..sets.len()).map(of_set).collect());
            }
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    Err(first_error.expect("there is at least one set").into())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::fixture;

    /// The first candidate is the best; counts how often it got ready for the words of a set.
    #[derive(Clone, Default)]
    struct First(Arc<AtomicUsize>);

    impl Model for First {
        fn scorer(self: Arc<Self>, _: &Arc<Vocabulary>) -> Box<dyn Scorer> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Box::new((*self).clone())
        }

        fn save(&self, _: &Path) -> models::Result<()> {
            Ok(())
        }
    }

    impl Scorer for First {
        fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> models::Result<()> {
            for question in questions {
                scores.push((0..question.candidates.len()).map(|place| -(place as f32)));
            }
            Ok(())
        }

        fn fork(&self) -> Box<dyn Scorer> {
            Box::new(self.clone())
        }
    }

    #[test]
    fn books_without_a_question_do_not_count() {
        let mut set = fixture::set();
        let unasked =
            questions::BookText { name: "b".into(), split: Some(Split::Train), sentences: 0..0 };
        set.push_book(unasked);
        let loaded = LoadedSet::new("bears".to_owned(), set);
        assert_eq!((loaded.set.books().len(), loaded.books().len()), (2, 1));
    }

    #[test]
    fn a_model_gets_ready_for_a_set_once() {
        let model = First::default();
        let sets = vec![("bears".to_owned(), fixture::set())];
        let new = fixture::model("first", Arc::new(model.clone()));
        let catalogue = Catalogue::new(sets, vec![new]).unwrap();
        let set = &catalogue.sets[0].set;
        for index in 0..set.len() {
            let question = set.example(index).question;
            let asked = catalogue.answerers[0].ask(Some(0), set.vocabulary(), &question);
            assert_eq!(asked.unwrap().0, [-0.0, -1.0, -2.0, -3.0]);
        }
        assert_eq!(model.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn predictions_of_a_model_are_its_own_and_names_are_unique() {
        let predictions = |scores: [f64; 4]| {
            let set = fixture::set();
            let scored = (0..set.len()).map(|index| {
                let id = set.id(index).to_string();
                Prediction::of(&set.example(index), id, scores.to_vec(), 1)
            });
            Some(Predictions::new("first.jsonl", scored.collect()).unwrap())
        };
        let (own, others) = ([0.0, -1.0, -2.0, -3.0], [0.0, 1.0, 0.0, 0.0]);
        let file = |name: &str, scores| NewAnswerer {
            name: name.to_owned(),
            label: name.to_owned(),
            model: None,
            predictions: predictions(scores),
            learnt_from: vec![],
            on_request: false,
        };
        let model = || fixture::model("first", Arc::new(First::default()));
        let new = vec![
            model(),
            file("a file of its own", own),
            file("first", others),
            file("other & one", others),
            file("other & one", others),
        ];
        let sets = vec![("bears".to_owned(), fixture::set())];
        let catalogue = Catalogue::new(sets, new).unwrap();
        let names: Vec<(&str, &str)> =
            catalogue.answerers.iter().map(|a| (a.name.as_str(), a.key.as_str())).collect();
        let expected = [
            ("first", "first"),
            ("first-2", "first-2"),
            ("other & one", "other---one"),
            ("other & one-2", "other---one-2"),
        ];
        assert_eq!(names, expected);
        assert_eq!(catalogue.answerers[0].answered(0, 0).unwrap().chosen, 0);
        assert_eq!(catalogue.answerers[1].answered(0, 0).unwrap().chosen, 1);
        assert!(!catalogue.is_waiting(0), "the model’s answers are known");
        let asked = NewAnswerer {
            on_request: true,
            ..fixture::model("on request", Arc::new(First::default()))
        };
        let catalogue = Catalogue::new(vec![("bears".to_owned(), fixture::set())], vec![asked]);
        assert!(
            !catalogue.unwrap().is_waiting(0),
            "nobody waits for a model that is asked on request"
        );
    }

    #[test]
    fn test_comes_first_and_training_last_short_queries_after_long_ones() {
        let mut set = questions::QuestionSet::default();
        let words = ["one", "two", "."].map(|word| set.intern(word));
        let first = set.push_sentence(words);
        for (split, length) in
            [(Split::Train, 9), (Split::Valid, 9), (Split::Test, 1), (Split::Test, 9)]
        {
            let mut query = vec![questions::BLANK];
            query.extend(std::iter::repeat_n(words[0], length));
            set.push(questions::NewQuestion {
                context: first..first + 1,
                query: &query,
                candidates: &words[..2],
                answer: Some(0),
                class: None,
                split: Some(split),
                book: None,
            })
            .unwrap();
        }
        assert_eq!(LoadedSet::new("small".to_owned(), set).order, [3, 2, 1, 0]);
    }
}
