//! What there is to explore: question sets, models that read them, and what models have answered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base::Vocabulary;
use evaluation::{Prediction, Predictions, QuestionIndex};
use models::{Model, Scorer, Scores};
use questions::{Explanation, Question, QuestionSet, Split};

use crate::Result;

/// Sets and everybody who answers their questions.
pub struct Catalogue {
    /// The sets, in the order in which they were named; at least one.
    pub sets: Vec<LoadedSet>,
    /// Who answers.
    pub answerers: Vec<Answerer>,
}

/// A set that can be explored.
pub struct LoadedSet {
    /// What it is called.
    pub name: String,
    /// The questions.
    pub set: QuestionSet,
    /// Their ids.
    pub ids: Vec<String>,
    place_of: BTreeMap<String, usize>,
}

/// A model, or a predictions file, or both under one name.
pub struct Answerer {
    /// `memnn-window-selfsup`, or the name of the file.
    pub name: String,
    model: Option<Arc<dyn Model>>,
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

/// An answered question.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// One score per candidate.
    pub scores: Vec<f32>,
    /// The chosen candidate.
    pub chosen: usize,
}

impl Catalogue {
    /// Loads sets, models and predictions.
    ///
    /// # Errors
    /// If predictions fit none of the sets.
    pub fn new(
        sets: Vec<(String, QuestionSet)>,
        models: Vec<(String, Arc<dyn Model>)>,
        predictions: Vec<(String, Predictions)>,
    ) -> Result<Self> {
        let sets: Vec<LoadedSet> =
            sets.into_iter().map(|(name, set)| LoadedSet::new(name, set)).collect();
        let unknown = || sets.iter().map(|_| OnceLock::new()).collect();
        let answerer = |name, model, answered| Answerer {
            name,
            model,
            answered,
            scorers: sets.iter().map(|_| Mutex::default()).collect(),
        };
        let of_model = |(name, model)| answerer(name, Some(model), unknown());
        let mut answerers: Vec<Answerer> = models.into_iter().map(of_model).collect();
        for (name, predictions) in predictions {
            let answered = fit(&sets, &predictions)?;
            match answerers.iter_mut().find(|answerer| answerer.name == name) {
                Some(answerer) => answerer.answered = answered,
                None => answerers.push(answerer(name, None, answered)),
            }
        }
        Ok(Self { sets, answerers })
    }

    /// Lets every model answer every question of which it is not known how it does; takes its time.
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

    /// Who answers under a name.
    pub fn answerer(&self, name: &str) -> Option<&Answerer> {
        self.answerers.iter().find(|answerer| answerer.name == name)
    }
}

impl LoadedSet {
    fn new(name: String, set: QuestionSet) -> Self {
        let ids = set.all_ids();
        // A question that is in two splits is found in the last: in test.
        let place_of = ids.iter().cloned().zip(0..).collect();
        Self { name, set, ids, place_of }
    }

    /// The place of the question with an id.
    pub fn place(&self, id: &str) -> Option<usize> {
        self.place_of.get(id).copied()
    }
}

impl Answerer {
    /// Whether it is known who is right in a set.
    pub fn is_ready(&self, set: usize) -> bool {
        self.answered[set].get().is_some()
    }

    /// Whether it is a model that can be asked.
    pub fn is_model(&self) -> bool {
        self.model.is_some()
    }

    /// What was answered to a question of a set, if that is known.
    pub fn answered(&self, set: usize, place: usize) -> Option<&Scored> {
        self.answered[set].get()?.get(place)?.as_ref()
    }

    /// Whether the answer to a question of a set is right, if both are known.
    pub fn is_right(&self, catalogue: &Catalogue, set: usize, place: usize) -> Option<bool> {
        let answer = catalogue.sets[set].set.example(place).answer?;
        self.answered(set, place).map(|scored| scored.chosen == answer)
    }

    /// Asks the model about a question with these words, of a set of the catalogue or of none: its scores and what it
    /// looked at. None if there is no model, or if it fails.
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

fn ask(scorer: &mut dyn Scorer, question: &Question<'_>) -> Option<(Vec<f32>, Explanation)> {
    let mut scores = Scores::default();
    scorer.score(&[*question], &mut scores).ok()?;
    Some((scores.get(0).to_vec(), scorer.explain(question).ok()?))
}

/// Predictions as answers to the sets' questions: the first set that they fit.
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
    fn a_model_gets_ready_for_a_set_once() {
        let model = First::default();
        let models: Vec<(String, Arc<dyn Model>)> =
            vec![("first".to_owned(), Arc::new(model.clone()))];
        let sets = vec![("bears".to_owned(), fixture::set())];
        let catalogue = Catalogue::new(sets, models, vec![]).unwrap();
        let set = &catalogue.sets[0].set;
        for index in 0..set.len() {
            let question = set.example(index).question;
            let asked = catalogue.answerers[0].ask(Some(0), set.vocabulary(), &question);
            assert_eq!(asked.unwrap().0, [-0.0, -1.0, -2.0, -3.0]);
        }
        assert_eq!(model.0.load(Ordering::Relaxed), 1);
    }
}
