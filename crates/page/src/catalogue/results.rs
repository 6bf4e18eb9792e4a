//! How the answerers of a catalogue do: answers → accuracy by class, and the questions that most of them miss.

use std::collections::BTreeSet;

use base::ByClass;
use evaluation::Accuracy;
use questions::{Example, Split, WordClass};

use super::{Catalogue, SHORT_QUERY, n_words};

/// How everybody does on a set.
pub struct Results {
    /// The split that is judged: test, or else validation, or else what there is.
    pub split: Option<Split>,
    /// The best on average first; answerers that are not known yet are left out.
    pub standings: Vec<Standing>,
    /// Questions of that split that at most a quarter of the answerers have right.
    pub hard: Vec<usize>,
}

/// The accuracy of one answerer.
pub struct Standing {
    /// The index of the answerer.
    pub answerer: usize,
    /// In each class and in all.
    pub accuracy: ByClass<Accuracy>,
}

impl Standing {
    /// The mean over the classes.
    fn mean(&self) -> f64 {
        self.accuracy.map(|accuracy| accuracy.accuracy).mean_over(&WordClass::ALL)
    }
}

impl Catalogue {
    /// How everybody does on a set; computed once when all have answered.
    pub fn with_results<T>(&self, set: usize, view: impl FnOnce(&Results) -> T) -> T {
        if let Some(results) = self.results[set].get() {
            return view(results);
        }
        if self.is_waiting(set) {
            return view(&Results::of(self, set));
        }
        view(self.results[set].get_or_init(|| Results::of(self, set)))
    }

    /// The indices of the answerers, the best on a set first.
    pub fn ranked(&self, set: usize) -> Vec<usize> {
        let mut ranked: Vec<usize> = self
            .with_results(set, |results| results.standings.iter().map(|s| s.answerer).collect());
        let known: BTreeSet<usize> = ranked.iter().copied().collect();
        ranked.extend((0..self.answerers.len()).filter(|index| !known.contains(index)));
        ranked
    }
}

impl Results {
    fn of(catalogue: &Catalogue, set: usize) -> Self {
        let loaded = &catalogue.sets[set];
        let is_judged = |index: &&usize| loaded.set.example(**index).answer.is_some();
        // The order begins with the split that counts most.
        let first = loaded.order.iter().find(is_judged);
        let split = first.and_then(|&index| loaded.set.example(index).split);
        let indices: Vec<usize> = loaded
            .order
            .iter()
            .filter(is_judged)
            .copied()
            .filter(|&index| loaded.set.example(index).split == split)
            .collect();
        let standing = |answerer: usize| {
            let answered: Vec<usize> = indices
                .iter()
                .copied()
                .filter(|&index| catalogue.answerers[answerer].answered(set, index).is_some())
                .collect();
            let accuracy = |indices: &[usize]| {
                let credit = |&index: &usize| {
                    let scored = catalogue.answerers[answerer].answered(set, index)?;
                    Some(base::credit(&scored.scores, loaded.set.example(index).answer?))
                };
                Accuracy::from_credits(indices.iter().filter_map(credit))
            };
            let class = |index: usize| loaded.set.example(index).class;
            Some(Standing { answerer, accuracy: ByClass::of(&answered, class, accuracy)? })
        };
        let mut standings: Vec<Standing> =
            (0..catalogue.answerers.len()).filter_map(standing).collect();
        standings.sort_by(|a, b| b.mean().total_cmp(&a.mean()));
        let is_hard = |&index: &usize| {
            let judged = catalogue.judged(set, index);
            let n_right = judged.iter().filter(|(_, is_right)| *is_right).count();
            let example = loaded.set.example(index);
            !judged.is_empty()
                && 4 * n_right <= judged.len()
                && n_words(&example.question) >= SHORT_QUERY
                && !has_case_twins(&example)
        };
        let hard = indices.iter().copied().filter(is_hard).collect();
        Self { split, standings, hard }
    }
}

impl Catalogue {
    /// Whether each answerer is right about a question, as far as it is known.
    pub fn judged(&self, set: usize, index: usize) -> Vec<(usize, bool)> {
        let judged = |(answerer, of): (usize, &super::Answerer)| {
            Some((answerer, of.is_right(self, set, index)?))
        };
        self.answerers.iter().enumerate().filter_map(judged).collect()
    }
}

/// Returns whether two candidates are the same word but for its capital letters: a poor question to show.
fn has_case_twins(example: &Example<'_>) -> bool {
    let question = &example.question;
    let forms: BTreeSet<String> =
        question.candidates.iter().map(|&word| question.word(word).to_lowercase()).collect();
    forms.len() < question.candidates.len()
}

#[cfg(test)]
mod tests {
    use evaluation::{Prediction, Predictions};

    use super::*;
    use crate::catalogue::NewAnswerer;
    use crate::fixture;

    /// Answers every question with one candidate.
    fn always(name: &str, candidate: usize) -> NewAnswerer {
        let set = fixture::set();
        let prediction = |index: usize| {
            let mut scores = vec![0.0; 4];
            scores[candidate] = 1.0;
            Prediction::of(&set.example(index), set.id(index).to_string(), scores, 1)
        };
        let predictions = (0..set.len()).map(prediction).collect();
        NewAnswerer {
            name: name.to_owned(),
            label: name.to_owned(),
            model: None,
            predictions: Some(Predictions::new(name, predictions).unwrap()),
            learnt_from: vec![],
            on_request: false,
        }
    }

    #[test]
    fn accuracy_is_counted_by_class_and_the_best_comes_first() {
        let sets = vec![("bears".to_owned(), fixture::set())];
        // The answer of class n is candidate n, so each is right in one class.
        let new = vec![always("names", 0), always("nouns", 1)];
        let catalogue = Catalogue::new(sets, new).unwrap();
        catalogue.with_results(0, |results| {
            assert_eq!(results.split, Some(Split::Test));
            let names = &results.standings[0].accuracy;
            assert_eq!(names.get(Some(WordClass::NamedEntity)).unwrap().accuracy, 1.0);
            assert_eq!(names.get(Some(WordClass::Verb)).unwrap(), &Accuracy::new(0.0, 4));
            assert_eq!(names.all, Accuracy::new(0.25, 16));
            // The queries of the fixture are too short to be shown.
            assert!(results.hard.is_empty());
        });
        assert_eq!(catalogue.ranked(0), [0, 1]);
        assert_eq!(catalogue.judged(0, 1), [(0, false), (1, true)]);
    }
}
