//! The predictions of the splits and the class that figures are wanted for.

use base::Selection;

use crate::{Error, Prediction, Predictions};

impl Predictions {
    /// Keeps the predictions of the selected questions. What is not known of a question does not exclude it.
    ///
    /// # Errors
    /// [`Error::NothingSelected`] if none is left.
    pub fn select(mut self, selection: &Selection) -> Result<Self, Error> {
        let has = |prediction: &Prediction| selection.has(prediction.split, prediction.class);
        self.predictions.retain(has);
        // Answers to one question share split and class, so all of them stay or none does.
        self.people.retain(|answer| has(&answer.prediction));
        if self.predictions.is_empty() { Err(nothing_of(selection, self.name)) } else { Ok(self) }
    }
}

/// The error for predictions of which nothing is selected.
fn nothing_of(selection: &Selection, name: String) -> Error {
    let codes = selection.splits.iter().map(|split| split.code());
    let codes = codes.chain(selection.class.map(|class| class.code()));
    let selected = codes.map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ");
    Error::NothingSelected { name, selected }
}

#[cfg(test)]
mod tests {
    use base::{Split, WordClass};

    use super::*;
    use crate::QuestionIndex;
    use crate::testing::{question_set, valid_predictions};

    /// Of two predictions of the validation split: a named entity, then a common noun.
    fn selection(splits: &[Split], class: Option<WordClass>) -> Selection {
        Selection { splits: splits.to_vec(), class }
    }

    #[test]
    fn what_is_known_to_be_of_another_split_or_class_is_left_out() {
        let set = question_set();
        let all = valid_predictions(&set, [[1.0, 0.0], [0.0, 1.0]]);
        let named = selection(&[Split::Valid], Some(WordClass::NamedEntity));
        let named = all.clone().select(&named).unwrap();
        assert_eq!(named.iter().collect::<Vec<_>>(), [all.iter().next().unwrap()]);
        assert_eq!(all.clone().select(&Selection::default()).unwrap(), all);
        let test_verbs = selection(&[Split::Test], Some(WordClass::Verb));
        let error = all.select(&test_verbs).unwrap_err();
        assert_eq!(error.to_string(), "valid.jsonl: no prediction of `test`, `V`");
    }

    #[test]
    fn a_set_supplies_what_lines_leave_out_and_only_selected_questions_must_be_answered() {
        let set = question_set();
        let all = valid_predictions(&set, [[1.0, 0.0], [0.0, 1.0]]);
        let named = selection(&[Split::Valid], Some(WordClass::NamedEntity));
        let first = all.clone().select(&named).unwrap();
        let minimal = |row: &Prediction| Prediction { class: None, split: None, ..row.clone() };
        let minimal = Predictions::new("valid.jsonl", all.iter().map(minimal).collect()).unwrap();
        for file in [&all, &minimal, &first] {
            let index = QuestionIndex::new(&set, std::slice::from_ref(file)).select(named.clone());
            let matched = index.check(file.clone()).unwrap();
            assert_eq!(matched.predictions(), &first);
            assert_eq!(matched.iter().len(), 1);
        }
        let tests = selection(&[Split::Test], None);
        let index = QuestionIndex::new(&set, std::slice::from_ref(&all)).select(tests);
        let error = index.check(all).unwrap_err();
        assert_eq!(error.to_string(), "valid.jsonl: no prediction of `test`");
    }
}
