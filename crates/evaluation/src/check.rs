//! Do predictions belong to a question set? Predictions and a set → [`Checked`], or what does not fit.
//!
//! Every question of each split that was answered must be there once, with the set's candidates and
//! answer; no other question may be there. What a line leaves out (class, split, book, answer) is
//! filled in from the set, so that other programs need to write ids, candidates and scores only.

use std::collections::HashMap;

use questions::{Example, QuestionSet, Split, WordClass};

use crate::{Error, LineProblem, Prediction, Predictions};

/// Predictions that fit a question set, each with its question.
#[derive(Clone, Debug)]
pub struct Checked<'a> {
    set: &'a QuestionSet,
    predictions: Predictions,
    places: Vec<usize>,
}

impl<'a> Checked<'a> {
    /// The predictions, with what they had left out filled in.
    pub fn predictions(&self) -> &Predictions {
        &self.predictions
    }

    /// The set that they answer.
    pub fn set(&self) -> &'a QuestionSet {
        self.set
    }

    /// Each prediction with its question, in the order of the file.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Prediction, Example<'a>)> {
        self.predictions.iter().zip(self.places.iter().map(|&place| self.set.example(place)))
    }
}

/// Finds the questions of a set by their ids; hashing them is the work, so it is done once for many
/// predictions.
#[derive(Debug)]
pub struct QuestionIndex<'a> {
    set: &'a QuestionSet,
    splits: Vec<SplitIndex>,
}

#[derive(Debug)]
struct SplitIndex {
    split: Option<Split>,
    ids: Vec<(usize, String)>,
    place_of: HashMap<String, usize>,
}

impl<'a> QuestionIndex<'a> {
    /// An index of the splits of a set that these predictions need: those they name, or all of the
    /// set's where a line names none.
    pub fn new(set: &'a QuestionSet, predictions: &[Predictions]) -> Self {
        let mut named: Vec<Option<Split>> =
            predictions.iter().flat_map(Predictions::splits).collect();
        if named.contains(&None) {
            named = Split::ALL.map(Some).to_vec();
        }
        named.push(None);
        named.sort_unstable();
        named.dedup();
        let index = |split| {
            let ids = set.ids(split);
            let place_of = ids.iter().map(|(place, id)| (id.clone(), *place)).collect();
            SplitIndex { split, ids, place_of }
        };
        let splits = named.into_iter().map(index).filter(|split| !split.ids.is_empty());
        Self { set, splits: splits.collect() }
    }

    /// Fits predictions to the set.
    ///
    /// # Errors
    /// [`Error::Line`] for a line whose question the set lacks or knows otherwise;
    /// [`Error::Missing`] for questions without a prediction.
    pub fn check(&self, predictions: &Predictions) -> Result<Checked<'a>, Error> {
        let places: Vec<Option<usize>> = predictions.iter().map(|p| self.place(p)).collect();
        let n_unknown = places.iter().filter(|place| place.is_none()).count();
        let mut filled = Vec::with_capacity(predictions.len());
        let mut known = Vec::with_capacity(predictions.len());
        for (line, (prediction, place)) in (1..).zip(predictions.iter().zip(places)) {
            let unknown = || LineProblem::UnknownId { id: prediction.id.clone(), n: n_unknown };
            let fit = place.ok_or_else(unknown).and_then(|place| {
                known.push(place);
                fill(prediction, &self.set.example(place))
            });
            let name = || predictions.name().to_owned();
            filled.push(fit.map_err(|problem| Error::Line { name: name(), line, problem })?);
        }
        // Filling in the split may bring two lines of one question together; this finds them.
        let predictions = Predictions::new(predictions.name(), filled)?;
        self.check_complete(&predictions, &known)?;
        Ok(Checked { set: self.set, predictions, places: known })
    }

    fn place(&self, prediction: &Prediction) -> Option<usize> {
        // Where one side does not know the split, the id decides.
        let may_hold = |split: Option<Split>| {
            split == prediction.split || split.is_none() || prediction.split.is_none()
        };
        let splits = self.splits.iter().filter(|index| may_hold(index.split));
        splits.filter_map(|index| index.place_of.get(&prediction.id)).next().copied()
    }

    fn check_complete(&self, predictions: &Predictions, places: &[usize]) -> Result<(), Error> {
        let mut is_answered = vec![false; self.set.len()];
        places.iter().for_each(|&place| is_answered[place] = true);
        for index in &self.splits {
            let missing: Vec<String> = index
                .ids
                .iter()
                .filter(|(place, _)| !is_answered[*place])
                .map(|(_, id)| id.clone())
                .collect();
            if !missing.is_empty() && missing.len() < index.ids.len() {
                return Err(Error::Missing {
                    name: predictions.name().to_owned(),
                    split: index.split.map_or("unknown", Split::code),
                    missing,
                    of: index.ids.len(),
                });
            }
        }
        Ok(())
    }
}

/// Fits one predictions file to a set: [`QuestionIndex::check`] without keeping the index.
///
/// # Errors
/// As [`QuestionIndex::check`].
pub fn check_against<'a>(
    predictions: &Predictions,
    set: &'a QuestionSet,
) -> Result<Checked<'a>, Error> {
    QuestionIndex::new(set, std::slice::from_ref(predictions)).check(predictions)
}

/// The prediction with what the set knows about its question.
fn fill(prediction: &Prediction, example: &Example<'_>) -> Result<Prediction, LineProblem> {
    let word = |place: usize| example.question.word(example.question.candidates[place]);
    let n_candidates = example.question.candidates.len();
    let same_candidates = prediction.candidates.len() == n_candidates
        && prediction.candidates.iter().enumerate().all(|(place, c)| c == word(place));
    if !same_candidates {
        let expected: Vec<&str> = (0..n_candidates).map(word).collect();
        return Err(differs("candidates", &expected.join("|"), &prediction.candidates.join("|")));
    }
    let same_answer = merge(prediction.answer, example.answer);
    let class = merge(prediction.class, example.class);
    Ok(Prediction {
        answer: same_answer.map_err(|(found, set)| differs("answer", word(set), word(found)))?,
        class: class.map_err(|(found, set): (WordClass, WordClass)| {
            differs("class", set.code(), found.code())
        })?,
        split: prediction.split.or(example.split),
        book: prediction.book.clone().or_else(|| example.book.map(str::to_owned)),
        ..prediction.clone()
    })
}

/// What either side knows; both values where they disagree.
fn merge<T: Copy + PartialEq>(line: Option<T>, set: Option<T>) -> Result<Option<T>, (T, T)> {
    match (line, set) {
        (Some(line), Some(set)) if line != set => Err((line, set)),
        _ => Ok(line.or(set)),
    }
}

fn differs(key: &'static str, expected: &str, found: &str) -> LineProblem {
    LineProblem::Differs {
        key,
        from: "the question set".to_owned(),
        expected: format!("`{expected}`"),
        found: format!("`{found}`"),
    }
}
