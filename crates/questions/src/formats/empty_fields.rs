//! Empty fields in the candidate lists of files: four released questions have lists that end in `||`.
//!
//! An empty field is no candidate, so a [`QuestionSet`](crate::QuestionSet) does not hold it. Readers return where the
//! empty fields were, next to the set ([`Warnings`](crate::Warnings)); writers that are given them back write the same
//! bytes again ([`WriteOptions`](crate::WriteOptions)).

use std::collections::BTreeMap;

/// Where the candidate lists of a file have empty fields: for each such question, their positions in its list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmptyFields(BTreeMap<usize, Vec<usize>>);

impl EmptyFields {
    /// How many questions have empty fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no question has any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records which fields of a question are empty.
    pub(crate) fn record<'a>(&mut self, question: usize, fields: impl Iterator<Item = &'a str>) {
        let empty = fields.enumerate().filter(|(_, field)| field.is_empty());
        let positions: Vec<usize> = empty.map(|(position, _)| position).collect();
        if !positions.is_empty() {
            self.0.insert(question, positions);
        }
    }

    /// The fields of a question's list: its candidates, with the empty fields between and after them.
    pub(crate) fn restore<'a>(&self, question: usize, candidates: &[&'a str]) -> Vec<&'a str> {
        let mut fields = candidates.to_vec();
        for &position in self.0.get(&question).into_iter().flatten() {
            fields.insert(position.min(fields.len()), "");
        }
        fields
    }

    /// The list as CBT text has it, if it has empty fields and no candidate with a bar in it.
    pub(crate) fn as_text(&self, question: usize, candidates: &[&str]) -> Option<String> {
        let is_field = |candidate: &&str| !candidate.is_empty() && !candidate.contains('|');
        let is_text = self.0.contains_key(&question) && candidates.iter().all(is_field);
        is_text.then(|| self.restore(question, candidates).join("|"))
    }

    /// Adds those of a set whose first question becomes the question `first` of this one.
    pub(crate) fn append(&mut self, other: Self, first: usize) {
        self.0.extend(other.0.into_iter().map(|(question, fields)| (first + question, fields)));
    }
}
