//! What there is to explore: question sets, models that read them, and what models have answered.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use base::Vocabulary;
use evaluation::{Prediction, Predictions, QuestionIndex};
use models::{Model, Scores};
use questions::{Explanation, Question, QuestionSet, Split};

use crate::Result;

/// Sets and everybody who answers their questions.
pub struct Shelf {
    /// The sets, in the order in which they were named; at least one.
    pub sets: Vec<Shelved>,
    /// Who answers.
    pub answerers: Vec<Answerer>,
}

/// A set that can be explored.
pub struct Shelved {
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
}

/// The answers to the questions of a set, by their places; none where a question was not answered.
type Answered = Vec<Option<Scored>>;

/// An answered question.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// One score a candidate.
    pub scores: Vec<f32>,
    /// The chosen candidate.
    pub chosen: usize,
}

impl Shelf {
    /// Puts sets, models and predictions on the shelf.
    ///
    /// # Errors
    /// If predictions fit none of the sets.
    pub fn new(
        sets: Vec<(String, QuestionSet)>,
        models: Vec<(String, Arc<dyn Model>)>,
        predictions: Vec<(String, Predictions)>,
    ) -> Result<Self> {
        let sets: Vec<Shelved> =
            sets.into_iter().map(|(name, set)| Shelved::new(name, set)).collect();
        let unknown = |_: &Shelved| OnceLock::new();
        let answerer = |(name, model)| Answerer {
            name,
            model: Some(model),
            answered: sets.iter().map(unknown).collect(),
        };
        let mut answerers: Vec<Answerer> = models.into_iter().map(answerer).collect();
        for (name, predictions) in predictions {
            let answered = fit(&sets, &predictions)?;
            match answerers.iter_mut().find(|answerer| answerer.name == name) {
                Some(answerer) => answerer.answered = answered,
                None => answerers.push(Answerer { name, model: None, answered }),
            }
        }
        Ok(Self { sets, answerers })
    }

    /// Lets every model answer every question of which it is not known how it does; takes its time.
    pub fn answer_all(self: &Arc<Self>) {
        for answerer in &self.answerers {
            let Some(model) = &answerer.model else { continue };
            for (shelved, answered) in self.sets.iter().zip(&answerer.answered) {
                let places: Vec<usize> = (0..shelved.set.len()).collect();
                if answered.get().is_some() {
                    continue;
                }
                // A model whose scores are no numbers is shown where it is asked, question by question.
                let (set, ids) = (&shelved.set, &shelved.ids);
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
    pub fn set(&self, name: &str) -> (usize, &Shelved) {
        let place = self.sets.iter().position(|set| set.name == name).unwrap_or(0);
        (place, &self.sets[place])
    }

    /// Who answers under a name.
    pub fn answerer(&self, name: &str) -> Option<&Answerer> {
        self.answerers.iter().find(|answerer| answerer.name == name)
    }
}

impl Shelved {
    fn new(name: String, set: QuestionSet) -> Self {
        let ids = set.all_ids();
        // A question that stands in two splits is found where it stands last: in test.
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
    pub fn is_right(&self, shelf: &Shelf, set: usize, place: usize) -> Option<bool> {
        let answer = shelf.sets[set].set.example(place).answer?;
        self.answered(set, place).map(|scored| scored.chosen == answer)
    }

    /// Asks the model about a question: its scores and what it looked at.
    /// None also if it fails.
    pub fn ask(
        &self,
        words: &Arc<Vocabulary>,
        question: &Question<'_>,
    ) -> Option<(Vec<f32>, Explanation)> {
        let mut scorer = self.model.clone()?.scorer(words);
        let mut scores = Scores::default();
        scorer.score(&[*question], &mut scores).ok()?;
        Some((scores.get(0).to_vec(), scorer.explain(question).ok()?))
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

/// Predictions as answers to the sets' questions: the first set that they fit.
fn fit(sets: &[Shelved], predictions: &Predictions) -> Result<Vec<OnceLock<Answered>>> {
    let mut first_error = None;
    for (fitting, shelved) in sets.iter().enumerate() {
        let index = QuestionIndex::of_splits(&shelved.set, &Split::ALL);
        match index.check(predictions.clone()) {
            Ok(checked) => {
                let mut answered = vec![None; shelved.set.len()];
                for prediction in checked.predictions().iter() {
                    if let Some(place) = index.find(prediction.split, &prediction.id) {
                        let scores = prediction.scores.iter().map(|&score| score as f32).collect();
                        answered[place] = Some(Scored { scores, chosen: prediction.predicted });
                    }
                }
                let of_set = |set| match set == fitting {
                    true => OnceLock::from(std::mem::take(&mut answered)),
                    false => OnceLock::new(),
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
