//! [`Only`]: the splits and the class that figures are wanted for; predictions → those of them.

use questions::{Split, WordClass};

use crate::{Error, Prediction, Predictions};

/// The splits, all if there are none, and the class, all if there is none. What is not known of a question
/// does not leave it out.
#[derive(Clone, Debug, Default)]
pub struct Only {
    /// The splits.
    pub splits: Vec<Split>,
    /// The class.
    pub class: Option<WordClass>,
}

impl Only {
    /// Whether a question of this split and class is one of them.
    pub fn has(&self, split: Option<Split>, class: Option<WordClass>) -> bool {
        let of_split = self.splits.is_empty() || split.is_none_or(|s| self.splits.contains(&s));
        let of_class = self.class.zip(class).is_none_or(|(only, class)| only == class);
        of_split && of_class
    }

    /// The predictions for such questions.
    ///
    /// # Errors
    /// [`Error::NoneOf`] where there is no such prediction.
    pub fn of(&self, predictions: &Predictions) -> Result<Predictions, Error> {
        let has = |prediction: &Prediction| self.has(prediction.split, prediction.class);
        let wanted: Vec<Prediction> = predictions.iter().filter(|p| has(p)).cloned().collect();
        if wanted.is_empty() {
            return Err(self.none_in(predictions.name()));
        }
        // People's answers to a question are all of its split and class, so none is left without the others.
        let people = predictions.people().iter().filter(|answer| has(&answer.prediction));
        match people.cloned().collect::<Vec<_>>() {
            people if people.is_empty() => Predictions::new(predictions.name(), wanted),
            people => Predictions::of_people(predictions.name(), people),
        }
    }

    /// The error for a file in which nothing is wanted.
    pub(crate) fn none_in(&self, name: &str) -> Error {
        let codes = self.splits.iter().map(|split| split.code());
        let codes = codes.chain(self.class.map(WordClass::code));
        let wanted = codes.map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ");
        Error::NoneOf { name: name.to_owned(), wanted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QuestionIndex;
    use crate::testing::{question_set, valid_predictions};

    /// Two predictions of the validation split: a named entity, then a common noun.
    fn only(splits: &[Split], class: Option<WordClass>) -> Only {
        Only { splits: splits.to_vec(), class }
    }

    #[test]
    fn what_is_known_to_be_of_another_split_or_class_is_left_out() {
        let set = question_set();
        let all = valid_predictions(&set, [[1.0, 0.0], [0.0, 1.0]]);
        let named = only(&[Split::Valid], Some(WordClass::NamedEntity)).of(&all).unwrap();
        assert_eq!(named.iter().collect::<Vec<_>>(), [all.iter().next().unwrap()]);
        assert_eq!(Only::default().of(&all).unwrap(), all);
        let error = only(&[Split::Test], Some(WordClass::Verb)).of(&all).unwrap_err();
        assert_eq!(error.to_string(), "valid.jsonl: no prediction of `test`, `V`");
        assert!(only(&[Split::Test], Some(WordClass::Verb)).has(None, None));
    }

    #[test]
    fn a_set_tells_what_the_lines_do_not_and_need_be_answered_no_further() {
        let set = question_set();
        let all = valid_predictions(&set, [[1.0, 0.0], [0.0, 1.0]]);
        let named = only(&[Split::Valid], Some(WordClass::NamedEntity));
        let first = named.of(&all).unwrap();
        let untold = |row: &Prediction| Prediction { class: None, split: None, ..row.clone() };
        let untold = Predictions::new("valid.jsonl", all.iter().map(untold).collect()).unwrap();
        for file in [&all, &untold, &first] {
            let index = QuestionIndex::new(&set, std::slice::from_ref(file)).only(named.clone());
            let checked = index.check(file).unwrap();
            assert_eq!(checked.predictions(), &first);
            assert_eq!(checked.iter().len(), 1);
        }
        let tests = only(&[Split::Test], None);
        let index = QuestionIndex::new(&set, std::slice::from_ref(&all)).only(tests);
        let error = index.check(&all).unwrap_err();
        assert_eq!(error.to_string(), "valid.jsonl: no prediction of `test`");
    }
}
