//! Predictions and a question set → [`MatchedPredictions`], or what does not fit.
//!
//! Every question of each split that was answered must be there once, with the set's candidates and answer,
//! and no other question may be there. People answer a sample, and some questions several times. What a line
//! leaves out (class, split, book, answer) is filled in from the set, so other programs need to write ids,
//! candidates and scores only.

use std::collections::{BTreeSet, HashMap};

use base::{Selection, Split, WordClass};
use questions::{Example, QuestionSet};

use crate::{Error, LineError, Prediction, Predictions};

/// Predictions that fit a question set, each with its question.
#[derive(Clone, Debug)]
pub struct MatchedPredictions<'a> {
    set: &'a QuestionSet,
    predictions: Predictions,
    indices: Vec<usize>,
}

impl<'a> MatchedPredictions<'a> {
    /// The predictions, with what they had left out filled in.
    pub fn predictions(&self) -> &Predictions {
        &self.predictions
    }

    /// The predictions without the set that they were matched with.
    pub fn into_predictions(self) -> Predictions {
        self.predictions
    }

    /// The set that they answer.
    pub fn set(&self) -> &'a QuestionSet {
        self.set
    }

    /// Each prediction with its question, in the order of the file.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Prediction, Example<'a>)> {
        self.predictions.iter().zip(self.indices.iter().map(|&index| self.set.example(index)))
    }
}

/// Finds the questions of a set by their ids; made once for many predictions.
#[derive(Debug)]
pub struct QuestionIndex<'a> {
    set: &'a QuestionSet,
    splits: Vec<SplitIndex>,
    selection: Selection,
    is_of_a_sample: bool,
}

#[derive(Debug)]
struct SplitIndex {
    split: Option<Split>,
    ids: Vec<(usize, String)>,
    index_of: HashMap<String, usize>,
}

impl<'a> QuestionIndex<'a> {
    /// Indexes the splits of a set that these predictions need: those they name, or all of the
    /// set's where a line names none.
    pub fn new(set: &'a QuestionSet, predictions: &[Predictions]) -> Self {
        let named: BTreeSet<Option<Split>> =
            predictions.iter().flat_map(Predictions::splits).collect();
        if named.contains(&None) {
            Self::of_splits(set, &Split::ALL)
        } else {
            Self::of_splits(set, &named.into_iter().flatten().collect::<Vec<_>>())
        }
    }

    /// Indexes some splits of a set, and its questions whose split is not known.
    pub fn of_splits(set: &'a QuestionSet, splits: &[Split]) -> Self {
        let index = |split| {
            let ids = set.ids(split);
            let index_of = ids.iter().map(|(index, id)| (id.clone(), *index)).collect();
            SplitIndex { split, ids, index_of }
        };
        let all = splits.iter().copied().map(Some).chain([None]);
        let splits = all.map(index).filter(|split| !split.ids.is_empty());
        Self {
            set,
            splits: splits.collect(),
            selection: Selection::default(),
            is_of_a_sample: false,
        }
    }

    /// Restricts [`Self::check`] to the selected questions: it drops predictions of others, and others need
    /// not be answered.
    pub fn select(self, selection: Selection) -> Self {
        Self { selection, ..self }
    }

    /// The same for predictions of a sample of the questions: others need not be answered.
    pub fn of_a_sample(self) -> Self {
        Self { is_of_a_sample: true, ..self }
    }

    /// Fits predictions to the set.
    ///
    /// # Errors
    /// [`Error::Line`] for a line whose question the set lacks or contradicts;
    /// [`Error::Missing`] for questions without a prediction; [`Error::NothingSelected`] where
    /// [`Self::select`] selects no question.
    pub fn check(&self, mut predictions: Predictions) -> Result<MatchedPredictions<'a>, Error> {
        if !predictions.people.is_empty() {
            return self.check_people(predictions);
        }
        let indices: Vec<Option<usize>> =
            predictions.iter().map(|p| self.find(p.split, &p.id)).collect();
        let n_unknown = indices.iter().filter(|index| index.is_none()).count();
        let mut line_of = vec![0; self.set.len()];
        let rows = predictions.predictions.iter_mut().zip(&indices);
        for (line, (prediction, &index)) in (1..).zip(rows) {
            let id = prediction.id.clone();
            let filled = match index {
                None => Err(LineError::UnknownId { id, n: n_unknown }),
                Some(index) => match std::mem::replace(&mut line_of[index], line) {
                    0 => fill(prediction, &self.set.example(index)),
                    first => Err(LineError::DuplicateId { id, first }),
                },
            };
            if let Err(error) = filled {
                return Err(Error::Line { name: predictions.name, line, error: error.into() });
            }
        }
        if !self.is_of_a_sample {
            self.check_complete(predictions.name(), &line_of)?;
        }
        let found = predictions.iter().zip(indices.into_iter().flatten());
        let selected = found.filter(|(row, _)| self.selection.has(row.split, row.class));
        let indices = selected.map(|(_, index)| index).collect();
        let predictions = predictions.select(&self.selection)?;
        Ok(MatchedPredictions { set: self.set, predictions, indices })
    }

    /// Fits people's answers to the set: they answer a sample of it, and some questions several times.
    fn check_people(&self, predictions: Predictions) -> Result<MatchedPredictions<'a>, Error> {
        let find = |p: &Prediction| self.find(p.split, &p.id);
        let Predictions { name, mut people, .. } = predictions;
        let n = people.iter().filter(|answer| find(&answer.prediction).is_none()).count();
        for (line, answer) in (1..).zip(&mut people) {
            let filled = match find(&answer.prediction) {
                Some(index) => fill(&mut answer.prediction, &self.set.example(index)),
                None => Err(LineError::UnknownId { id: answer.prediction.id.clone(), n }),
            };
            filled.map_err(|error| Error::Line {
                name: name.clone(),
                line,
                error: error.into(),
            })?;
        }
        let predictions = Predictions::of_people(name, people)?.select(&self.selection)?;
        let indices = predictions.iter().filter_map(find).collect();
        Ok(MatchedPredictions { set: self.set, predictions, indices })
    }

    /// The index in the set of the question with an id; where either side does not know the split, the
    /// id decides.
    pub fn find(&self, split: Option<Split>, id: &str) -> Option<usize> {
        let may_hold =
            |index: &&SplitIndex| index.split == split || index.split.is_none() || split.is_none();
        self.splits.iter().filter(may_hold).find_map(|index| index.index_of.get(id)).copied()
    }

    /// The set that is indexed.
    pub fn set(&self) -> &'a QuestionSet {
        self.set
    }

    /// A split of which nothing was answered is ignored; any other must be answered completely.
    fn check_complete(&self, name: &str, line_of: &[usize]) -> Result<(), Error> {
        for SplitIndex { split, ids, .. } in &self.splits {
            let is_selected = |index: usize| {
                let example = self.set.example(index);
                self.selection.has(example.split, example.class)
            };
            let ids: Vec<_> = ids.iter().filter(|(index, _)| is_selected(*index)).collect();
            let missing = ids.iter().filter(|(index, _)| line_of[*index] == 0);
            let missing: Vec<String> = missing.map(|(_, id)| id.clone()).collect();
            if !missing.is_empty() && missing.len() < ids.len() {
                let (name, of) = (name.to_owned(), ids.len());
                return Err(Error::Missing { name, split: *split, missing, of });
            }
        }
        Ok(())
    }
}

/// Fits one predictions file to a set: [`QuestionIndex::check`] without keeping the index.
///
/// # Errors
/// As [`QuestionIndex::check`].
pub fn check_against(
    predictions: Predictions,
    set: &QuestionSet,
) -> Result<MatchedPredictions<'_>, Error> {
    QuestionIndex::new(set, std::slice::from_ref(&predictions)).check(predictions)
}

/// Adds to a prediction what the set knows about its question.
fn fill(prediction: &mut Prediction, example: &Example<'_>) -> Result<(), LineError> {
    let word = |index: usize| example.question.word(example.question.candidates[index]);
    let n_candidates = example.question.candidates.len();
    let same_candidates = prediction.candidates.len() == n_candidates
        && prediction.candidates.iter().enumerate().all(|(index, c)| c == word(index));
    if !same_candidates {
        let expected: Vec<&str> = (0..n_candidates).map(word).collect();
        return Err(differs("candidates", &expected.join("|"), &prediction.candidates.join("|")));
    }
    prediction.answer = merge(prediction.answer, example.answer)
        .map_err(|(found, set)| differs("answer", word(set), word(found)))?;
    prediction.class = merge(prediction.class, example.class)
        .map_err(|(found, set): (WordClass, _)| differs("class", set.code(), found.code()))?;
    prediction.split = prediction.split.or(example.split);
    // A book may have another name in another form of the set; this set's name is kept.
    if let Some(book) = example.book {
        prediction.book = Some(book.to_owned());
    }
    Ok(())
}

/// What either side knows; both values where they disagree.
fn merge<T: Copy + PartialEq>(line: Option<T>, set: Option<T>) -> Result<Option<T>, (T, T)> {
    match (line, set) {
        (Some(line), Some(set)) if line != set => Err((line, set)),
        _ => Ok(line.or(set)),
    }
}

fn differs(key: &'static str, expected: &str, found: &str) -> LineError {
    LineError::Differs {
        key,
        from: "the question set".to_owned(),
        expected: format!("`{expected}`"),
        found: format!("`{found}`"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::evaluate;
    use crate::testing::{question_set, valid_predictions};

    fn check_error(
        set: &QuestionSet,
        change: impl FnOnce(&mut Vec<Prediction>),
        message_and_hint: Expect,
    ) {
        let good = valid_predictions(set, [[1.0, 0.0], [0.0, 1.0]]);
        let mut rows: Vec<Prediction> = good.iter().cloned().collect();
        change(&mut rows);
        let changed = Predictions::new(good.name(), rows).unwrap();
        let error = check_against(changed, set).unwrap_err();
        message_and_hint.assert_eq(&format!("{error}\nhint: {}", error.remedy().unwrap()));
    }

    #[test]
    fn each_prediction_finds_its_question_in_any_order() {
        let set = question_set();
        let predictions = valid_predictions(&set, [[1.0, 0.0], [0.0, 1.0]]);
        let matched = check_against(predictions.clone(), &set).unwrap();
        assert_eq!(matched.predictions(), &predictions);
        let answers: Vec<&str> =
            matched.iter().map(|(_, e)| e.question.word(e.question.candidates[0])).collect();
        assert_eq!(answers, ["Goose", "door"]);
    }

    #[test]
    fn a_minimal_line_gets_the_rest_from_the_set() {
        let set = question_set();
        let full = valid_predictions(&set, [[1.0, 0.0], [0.0, 1.0]]);
        let minimal = full.iter().map(|prediction| Prediction {
            class: None,
            split: None,
            book: None,
            answer: None,
            ..prediction.clone()
        });
        let minimal = Predictions::new(full.name(), minimal.collect()).unwrap();
        let matched = check_against(minimal, &set).unwrap();
        assert_eq!(matched.predictions(), &full);
        assert_eq!(evaluate(matched.predictions()).unwrap()[0].classes.all.accuracy, 0.5);
    }

    #[test]
    fn a_book_is_called_as_the_set_calls_it() {
        let set = question_set();
        let full = valid_predictions(&set, [[1.0, 0.0], [0.0, 1.0]]);
        let rename = |row: &Prediction| Prediction { book: Some("fen".to_owned()), ..row.clone() };
        let renamed = Predictions::new(full.name(), full.iter().map(rename).collect()).unwrap();
        assert_eq!(check_against(renamed, &set).unwrap().predictions(), &full);
    }

    #[test]
    fn what_does_not_fit_the_set_is_an_error_never_a_figure() {
        let set = question_set();
        check_error(
            &set,
            |rows| drop(rows.remove(0)),
            expect![[r#"
                valid.jsonl: 1 of the 2 questions of split `valid` are missing: `4ec621c63a5b6161`
                hint: check that it is the right question set, or select the splits and the class that were answered"#]],
        );
        check_error(
            &set,
            |rows| rows[1].id = "0123".to_owned(),
            expect![[r#"
                valid.jsonl:2: question `0123` is not in the question set
                hint: check that it is the right set, and the right split of it"#]],
        );
        check_error(
            &set,
            |rows| rows.iter_mut().for_each(|row| row.id.push('x')),
            expect![[r#"
                valid.jsonl:1: question `4ec621c63a5b6161x` is not in the question set: 2 such lines
                hint: check that it is the right set, and the right split of it"#]],
        );
        check_error(
            &set,
            |rows| rows[1].split = Some(Split::Test),
            expect![[r#"
                valid.jsonl:2: question `05a027de13c2da80` is not in the question set
                hint: check that it is the right set, and the right split of it"#]],
        );
        check_error(
            &set,
            |rows| rows[1].candidates.reverse(),
            expect![[r#"
                valid.jsonl:2: `candidates` differs from the question set: expected `door|jug`, found `jug|door`
                hint: check that the same set was answered: predictions repeat `candidates` as the set has it"#]],
        );
        check_error(
            &set,
            |rows| rows[0].answer = Some(1),
            expect![[r#"
                valid.jsonl:1: `answer` differs from the question set: expected `Goose`, found `jug`
                hint: check that the same set was answered: predictions repeat `answer` as the set has it"#]],
        );
        check_error(
            &set,
            |rows| rows[0].class = Some(WordClass::Verb),
            expect![[r#"
                valid.jsonl:1: `class` differs from the question set: expected `NE`, found `V`
                hint: check that the same set was answered: predictions repeat `class` as the set has it"#]],
        );
        // The same question with and without its split is there twice.
        let doubled = |rows: &mut Vec<Prediction>| {
            rows.push(Prediction { split: None, ..rows[0].clone() });
        };
        check_error(
            &set,
            doubled,
            expect![[r#"
                valid.jsonl:3: question `4ec621c63a5b6161` is answered again: first in line 1
                hint: answer a question once; one that is in two splits needs `split` on both lines"#]],
        );
    }

    #[test]
    fn people_answer_a_sample_and_are_filled_in() {
        let set = question_set();
        let example = set.example(set.of_split(Split::Valid)[0]);
        let answer = |who: &str| crate::HumanAnswer::new(who, 1.0, &example, 0);
        let people =
            Predictions::of_people("people", vec![answer("Wren"), answer("Finch")]).unwrap();
        let mut bare = people.clone();
        bare.people.iter_mut().for_each(|answer| {
            (answer.prediction.class, answer.prediction.answer) = (None, None);
        });
        let matched = check_against(bare.clone(), &set).unwrap();
        assert_eq!(matched.predictions(), &people);
        assert_eq!(matched.iter().next().unwrap().1.question.id(), example.question.id());
        bare.people[1].prediction.id = "0123".to_owned();
        assert_eq!(
            check_against(bare.clone(), &set).unwrap_err().to_string(),
            "people:2: question `0123` is not in the question set"
        );
    }
}
