//! Do predictions belong to a question set? Predictions and a set → [`Checked`], or what does not fit.
//!
//! Every question of each split that was answered must be there once, with the set's candidates and
//! answer; no other question may be there. People answer a sample, and some questions several times. What a line leaves out (class, split, book, answer) is
//! filled in from the set, so that other programs need to write ids, candidates and scores only.

use std::collections::{BTreeSet, HashMap};

use questions::{Example, QuestionSet, Split, WordClass};

use crate::{Error, HumanAnswer, LineProblem, Only, Prediction, Predictions};

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
    only: Only,
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
        let named: BTreeSet<Option<Split>> =
            predictions.iter().flat_map(Predictions::splits).collect();
        if named.contains(&None) {
            Self::of_splits(set, &Split::ALL)
        } else {
            Self::of_splits(set, &named.into_iter().flatten().collect::<Vec<_>>())
        }
    }

    /// An index of some splits of a set, and of its questions whose split is not known.
    pub fn of_splits(set: &'a QuestionSet, splits: &[Split]) -> Self {
        let index = |split| {
            let ids = set.ids(split);
            let place_of = ids.iter().map(|(place, id)| (id.clone(), *place)).collect();
            SplitIndex { split, ids, place_of }
        };
        let all = splits.iter().copied().map(Some).chain([None]);
        let splits = all.map(index).filter(|split| !split.ids.is_empty());
        Self { set, splits: splits.collect(), only: Only::default() }
    }

    /// The same index for some of the questions: [`Self::check`] leaves predictions for others out, and asks
    /// for no others.
    pub fn only(self, only: Only) -> Self {
        Self { only, ..self }
    }

    /// Fits predictions to the set.
    ///
    /// # Errors
    /// [`Error::Line`] for a line whose question the set lacks or knows otherwise;
    /// [`Error::Missing`] for questions without a prediction; [`Error::NoneOf`] where [`Self::only`] leaves
    /// nothing.
    pub fn check(&self, predictions: &Predictions) -> Result<Checked<'a>, Error> {
        if !predictions.people().is_empty() {
            return self.check_people(predictions);
        }
        let places: Vec<Option<usize>> =
            predictions.iter().map(|p| self.place(p.split, &p.id)).collect();
        let n_unknown = places.iter().filter(|place| place.is_none()).count();
        let mut filled = Vec::with_capacity(predictions.len());
        let mut line_of = vec![0; self.set.len()];
        for (line, (prediction, &place)) in (1..).zip(predictions.iter().zip(&places)) {
            let id = || prediction.id.clone();
            let unknown = || LineProblem::UnknownId { id: id(), n: n_unknown };
            let fit = place.ok_or_else(unknown).and_then(|place| {
                match std::mem::replace(&mut line_of[place], line) {
                    0 => fill(prediction, &self.set.example(place)),
                    first => Err(LineProblem::DoubledId { id: id(), first }),
                }
            });
            let name = || predictions.name().to_owned();
            filled.push(fit.map_err(|problem| Error::Line {
                name: name(),
                line,
                problem: problem.into(),
            })?);
        }
        self.check_complete(predictions.name(), &line_of)?;
        let is_wanted = |(row, _): &(Prediction, usize)| self.only.has(row.split, row.class);
        let placed = filled.into_iter().zip(places.into_iter().flatten());
        let (rows, places): (Vec<_>, Vec<_>) = placed.filter(is_wanted).unzip();
        if rows.is_empty() {
            return Err(self.only.none_in(predictions.name()));
        }
        let predictions = Predictions::new(predictions.name(), rows)?;
        Ok(Checked { set: self.set, predictions, places })
    }

    /// Fits people's answers to the set: they answer a sample of it, and some questions several times.
    fn check_people(&self, predictions: &Predictions) -> Result<Checked<'a>, Error> {
        let place = |p: &Prediction| self.place(p.split, &p.id);
        let people = predictions.people();
        let n = people.iter().filter(|answer| place(&answer.prediction).is_none()).count();
        let fit = |(line, answer): (usize, &HumanAnswer)| {
            let unknown = || LineProblem::UnknownId { id: answer.prediction.id.clone(), n };
            let place = place(&answer.prediction).ok_or_else(unknown);
            let fit = place.and_then(|at| fill(&answer.prediction, &self.set.example(at)));
            let (name, of_line) = (predictions.name().to_owned(), answer.clone());
            fit.map(|prediction| HumanAnswer { prediction, ..of_line })
                .map_err(|problem| Error::Line { name, line, problem: problem.into() })
        };
        let mut people: Vec<HumanAnswer> = (1..).zip(people).map(fit).collect::<Result<_, _>>()?;
        people.retain(|a| self.only.has(a.prediction.split, a.prediction.class));
        if people.is_empty() {
            return Err(self.only.none_in(predictions.name()));
        }
        let predictions = Predictions::of_people(predictions.name(), people)?;
        let places = predictions.iter().filter_map(place).collect();
        Ok(Checked { set: self.set, predictions, places })
    }

    /// The question with an id, as a place in the set; where either side does not know the split, the
    /// id decides.
    pub fn place(&self, split: Option<Split>, id: &str) -> Option<usize> {
        let may_hold =
            |index: &&SplitIndex| index.split == split || index.split.is_none() || split.is_none();
        self.splits.iter().filter(may_hold).find_map(|index| index.place_of.get(id)).copied()
    }

    /// The set that is indexed.
    pub fn set(&self) -> &'a QuestionSet {
        self.set
    }

    /// A split of which nothing was answered was not meant; any other must be there whole.
    fn check_complete(&self, name: &str, line_of: &[usize]) -> Result<(), Error> {
        for index in &self.splits {
            let is_wanted =
                |place: usize| self.only.has(self.set.split(place), self.set.class(place));
            let ids: Vec<_> = index.ids.iter().filter(|(place, _)| is_wanted(*place)).collect();
            let missing = ids.iter().filter(|(place, _)| line_of[*place] == 0);
            let missing: Vec<String> = missing.map(|(_, id)| id.clone()).collect();
            if !missing.is_empty() && missing.len() < ids.len() {
                return Err(Error::Missing {
                    name: name.to_owned(),
                    split: index.split,
                    missing,
                    of: ids.len(),
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
        // A book may have another name in another form of the set; the one at hand decides.
        book: example.book.map(str::to_owned).or_else(|| prediction.book.clone()),
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
        let error = check_against(&changed, set).unwrap_err();
        message_and_hint.assert_eq(&format!("{error}\nhint: {}", error.hint().unwrap()));
    }

    #[test]
    fn each_prediction_finds_its_question_in_any_order() {
        let set = question_set();
        let predictions = valid_predictions(&set, [[1.0, 0.0], [0.0, 1.0]]);
        let checked = check_against(&predictions, &set).unwrap();
        assert_eq!(checked.predictions(), &predictions);
        let answers: Vec<&str> =
            checked.iter().map(|(_, e)| e.question.word(e.question.candidates[0])).collect();
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
        let checked = check_against(&minimal, &set).unwrap();
        assert_eq!(checked.predictions(), &full);
        assert_eq!(evaluate(checked.predictions()).unwrap()[0].classes.all.accuracy, 0.5);
    }

    #[test]
    fn a_book_is_called_as_the_set_calls_it() {
        let set = question_set();
        let full = valid_predictions(&set, [[1.0, 0.0], [0.0, 1.0]]);
        let rename = |row: &Prediction| Prediction { book: Some("fen".to_owned()), ..row.clone() };
        let renamed = Predictions::new(full.name(), full.iter().map(rename).collect()).unwrap();
        assert_eq!(check_against(&renamed, &set).unwrap().predictions(), &full);
    }

    #[test]
    fn what_does_not_fit_the_set_is_an_error_never_a_figure() {
        let set = question_set();
        check_error(
            &set,
            |rows| drop(rows.remove(0)),
            expect![[r#"
            valid.jsonl: 1 of the 2 questions of split `valid` are missing: `4ec621c63a5b6161`
            hint: is it the right set? `--on` and `--class` choose what was answered of it"#]],
        );
        check_error(
            &set,
            |rows| rows[1].id = "0123".to_owned(),
            expect![[r#"
            valid.jsonl:2: question `0123` is not in the question set
            hint: is it the right set, and the right split of it?"#]],
        );
        check_error(
            &set,
            |rows| rows.iter_mut().for_each(|row| row.id.push('x')),
            expect![[r#"
                valid.jsonl:1: question `4ec621c63a5b6161x` is not in the question set: 2 such lines
                hint: is it the right set, and the right split of it?"#]],
        );
        check_error(
            &set,
            |rows| rows[1].split = Some(Split::Test),
            expect![[r#"
            valid.jsonl:2: question `05a027de13c2da80` is not in the question set
            hint: is it the right set, and the right split of it?"#]],
        );
        check_error(
            &set,
            |rows| rows[1].candidates.reverse(),
            expect![[r#"
                valid.jsonl:2: `candidates` differs from the question set: expected `door|jug`, found `jug|door`
                hint: was another set answered? `goldilocks answer` writes `candidates` as the set has it"#]],
        );
        check_error(
            &set,
            |rows| rows[0].answer = Some(1),
            expect![[r#"
                valid.jsonl:1: `answer` differs from the question set: expected `Goose`, found `jug`
                hint: was another set answered? `goldilocks answer` writes `answer` as the set has it"#]],
        );
        check_error(
            &set,
            |rows| rows[0].class = Some(WordClass::Verb),
            expect![[r#"
                valid.jsonl:1: `class` differs from the question set: expected `NE`, found `V`
                hint: was another set answered? `goldilocks answer` writes `class` as the set has it"#]],
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
            hint: a question is answered once; one that is in two splits needs `split` on both lines"#]],
        );
    }

    #[test]
    fn people_answer_a_sample_and_are_filled_in() {
        let set = question_set();
        let example = set.example(set.of_split(questions::Split::Valid)[0]);
        let answer = |who: &str| crate::HumanAnswer::new(who, 1.0, &example, 0);
        let people =
            Predictions::of_people("people", vec![answer("Wren"), answer("Finch")]).unwrap();
        let mut bare = people.clone();
        bare.people.iter_mut().for_each(|answer| {
            (answer.prediction.class, answer.prediction.answer) = (None, None);
        });
        let checked = check_against(&bare, &set).unwrap();
        assert_eq!(checked.predictions(), &people);
        assert_eq!(checked.iter().next().unwrap().1.question.id(), example.question.id());
        bare.people[1].prediction.id = "0123".to_owned();
        assert_eq!(
            check_against(&bare, &set).unwrap_err().to_string(),
            "people:2: question `0123` is not in the question set"
        );
    }
}
