//! [`HeldOut`]: the books of some splits, by their 8-grams: what a text must not share that is learnt from besides
//! the set. One text after the other is compared, so any amount of text can be.

use crate::inspect::{Overlap, ngrams_of_text};
use crate::{QuestionSet, Split};

/// The 8-grams of held-out books, as [`crate::Leaks`] counts them.
#[derive(Debug)]
pub struct HeldOut {
    books: Vec<Book>,
    /// Hashes of 8-grams with the book that has them, in order.
    ngrams: Vec<(u64, u32)>,
}

#[derive(Debug)]
struct Book {
    name: String,
    split: Option<Split>,
    n_ngrams: usize,
}

impl HeldOut {
    /// The books of these splits.
    pub fn of(set: &QuestionSet, splits: &[Split]) -> Self {
        let (mut books, mut ngrams) = (Vec::new(), Vec::new());
        let is_wanted = |split: Option<Split>| split.is_some_and(|split| splits.contains(&split));
        for book in set.books().iter().filter(|book| is_wanted(book.split)) {
            let sentences = book.sentences.clone().map(|sentence| set.sentence(sentence));
            let words = sentences.flatten().map(|&word| set.vocabulary().word(word));
            let of_book = ngrams_of_text(words);
            let (name, split, n_ngrams) = (book.name.clone(), book.split, of_book.len());
            ngrams.extend(of_book.into_iter().map(|ngram| (ngram, books.len() as u32)));
            books.push(Book { name, split, n_ngrams });
        }
        ngrams.sort_unstable();
        Self { books, ngrams }
    }

    /// Whether no such book has running text.
    pub fn is_empty(&self) -> bool {
        self.ngrams.is_empty()
    }

    /// The held-out book with which a text shares most, if it shares at least some share of the 8-grams of either.
    pub fn overlap<'a>(
        &self,
        name: &str,
        words: impl Iterator<Item = &'a str>,
        least: f64,
    ) -> Option<Overlap> {
        let text = ngrams_of_text(words);
        let mut shared = vec![0; self.books.len()];
        let mut rest = &self.ngrams[..];
        for ngram in &text {
            rest = &rest[rest.partition_point(|(other, _)| other < ngram)..];
            let same = rest.iter().take_while(|(other, _)| other == ngram);
            same.for_each(|&(_, book)| shared[book as usize] += 1);
        }
        let overlaps = shared.into_iter().zip(&self.books).filter(|(shared, _)| *shared > 0);
        let overlaps = overlaps.map(|(shared, held)| {
            let [share, of_held] =
                [text.len(), held.n_ngrams].map(|n: usize| shared as f64 / n as f64);
            let (ours, theirs) = ((name.to_owned(), None), (held.name.clone(), held.split));
            let ((book, split), (other, other_split)) =
                if share >= of_held { (ours, theirs) } else { (theirs, ours) };
            let (share, other_share) = (share.max(of_held), share.min(of_held));
            Overlap { book, split, other, other_split, shared, share, other_share }
        });
        overlaps.filter(|it| it.share >= least).max_by(|a, b| a.share.total_cmp(&b.share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Leaks;
    use crate::fixtures::push_book;

    #[test]
    fn a_text_overlaps_as_if_it_were_a_book_of_the_set() {
        let held = "One two , three four .\nFive six seven eight nine TEN";
        let other = "zero one two three four five six `` seven '' Eight nine other";
        let mut set = QuestionSet::default();
        push_book(&mut set, "held", Split::Valid, held);
        push_book(&mut set, "none", Split::Test, "a b c d e f g h i j");
        push_book(&mut set, "other", Split::Train, other);
        let books = HeldOut::of(&set, &[Split::Valid, Split::Test]);
        let found = books.overlap("other", other.split(' '), 0.2).unwrap();
        let leaks = Leaks::of(&set, 0.2).overlaps;
        let [expected] = &leaks[..] else { panic!("{leaks:?}") };
        let split = found.split.or(found.other_split);
        assert_eq!(split, Some(Split::Valid));
        assert_eq!((&found.book, &found.other), (&expected.book, &expected.other));
        assert_eq!((found.shared, found.share), (expected.shared, expected.share));
        assert!(books.overlap("other", other.split(' '), 0.7).is_none());
        assert!(
            HeldOut::of(&set, &[Split::Test]).overlap("other", other.split(' '), 0.0).is_none()
        );
    }
}
