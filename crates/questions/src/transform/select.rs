//! Some questions of a set, as a set of their own.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::{BookText, Example, LineError, NewQuestion, QuestionSet, Split};

impl QuestionSet {
    /// The questions at some indices, in that order, with the running text of the books of their splits.
    ///
    /// Ids stay as they are, except that twins are numbered among the questions that are left.
    ///
    /// # Errors
    /// [`LineError::TooLarge`] where indices are repeated until the set is too large.
    ///
    /// # Panics
    /// If there is no question at an index.
    pub fn select(&self, indices: &[usize]) -> Result<Self, LineError> {
        let splits: BTreeSet<Option<Split>> =
            indices.iter().map(|&index| self.split(index)).collect();
        let named: BTreeSet<usize> = indices.iter().filter_map(|&index| self.book(index)).collect();
        let is_kept =
            |book: usize| named.contains(&book) || splits.contains(&self.books()[book].split);
        let kept: Vec<usize> = (0..self.books().len()).filter(|&book| is_kept(book)).collect();

        let mut is_needed = vec![false; self.n_sentences()];
        let of_books = kept.iter().map(|&book| self.books()[book].sentences.clone());
        let contexts = indices.iter().map(|&index| self.context(index));
        of_books.chain(contexts).for_each(|range| is_needed[range].fill(true));
        let mut set = self.without_questions();
        let mut new_index = Vec::with_capacity(is_needed.len() + 1);
        for (sentence, is_needed) in is_needed.into_iter().enumerate() {
            new_index.push(set.n_sentences());
            if is_needed {
                set.push_sentence(self.sentence(sentence).iter().copied());
            }
        }
        new_index.push(set.n_sentences());
        let moved = |range: Range<usize>| new_index[range.start]..new_index[range.end];

        for &book in &kept {
            let BookText { name, split, sentences } = self.books()[book].clone();
            set.push_book(BookText { name, split, sentences: moved(sentences) });
        }
        for &index in indices {
            let Example { question, answer, class, split, .. } = self.example(index);
            set.push_checked(NewQuestion {
                context: moved(self.context(index)),
                query: question.query,
                candidates: question.candidates,
                answer,
                class,
                split,
                book: self.book(index).and_then(|book| kept.binary_search(&book).ok()),
            })?;
        }
        if let Some(hashes) = self.known_hashes() {
            set.set_hashes(indices.iter().map(|&index| hashes[index]).collect());
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::fixtures::{sets, spelt};
    use crate::{QuestionSet, Split};

    proptest! {
        #[test]
        fn selected_questions_are_those_of_the_set((set, _) in sets(), picks in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
            let indices: Vec<usize> = picks.iter().filter(|_| !set.is_empty()).map(|pick| pick.index(set.len())).collect();
            let (whole, some) = (spelt(&set), set.select(&indices).unwrap());
            prop_assert_eq!(some.len(), indices.len());
            for (new, &old) in indices.iter().enumerate() {
                prop_assert_eq!(&spelt(&some)[new], &whole[old]);
                prop_assert_eq!(some.example(new).question.id(), set.example(old).question.id());
            }
        }
    }

    #[test]
    fn the_text_of_other_splits_is_left_out_and_ids_are_kept() {
        let mut set = QuestionSet::default();
        let [she, ate, soup, bread] = ["She", "ate", "soup", "bread"].map(|word| set.intern(word));
        for split in [Split::Train, Split::Test] {
            let first = set.push_sentence([she, ate, soup]);
            set.push_sentence([she, ate, bread]);
            let sentences = first..first + 2;
            let book = crate::BookText { name: split.code().into(), split: Some(split), sentences };
            let book = Some(set.push_book(book));
            set.push(crate::NewQuestion {
                context: first..first + 1,
                query: &[she, ate, crate::BLANK],
                candidates: &[bread, soup],
                answer: Some(0),
                class: None,
                split: Some(split),
                book,
            })
            .unwrap();
        }
        let id = set.id(1);
        let test = set.select(&[1]).unwrap();
        assert_eq!((test.books().len(), test.n_sentences()), (1, 2));
        assert_eq!((test.example(0).book, test.context(0)), (Some("test"), 0..1));
        assert_eq!((test.id(0), test.find(Some(Split::Test), &id.to_string())), (id, Some(0)));
        assert_eq!(set.select(&[]).unwrap().n_sentences(), 0);
    }
}
