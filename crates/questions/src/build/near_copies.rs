//! Which books are nearly the same text: two editions of a tale, or a tale and the collection that it is from.
//!
//! A model that learnt from the one has read the questions about the other, so both belong in one split.

use rayon::prelude::*;

use crate::build::builder::BookQuestions;
use crate::inspect::shared_ngrams;

/// The share of its 8-grams from which on a book is a near-copy of another. Chosen: of the pairs among the 108 books
/// of the CBT, editions and parts of collections share .446 and more, and books of one author at most .038.
pub const NEAR_COPY: f64 = 0.1;

/// Two books that share text, by their places in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearCopy {
    /// The book of which the greater part is in the other.
    pub book: usize,
    /// The index of the other book.
    pub other: usize,
    /// The share of the book's distinct 8-grams that the other has too.
    pub share: f64,
}

/// The pairs of books of which one is a near-copy of the other or of a part of it, the most similar first.
pub fn near_copies(books: &[BookQuestions]) -> Vec<NearCopy> {
    near_copies_of(&books.par_iter().map(ngrams).collect::<Vec<_>>())
}

/// The same, by the [8-grams](crate::ngrams_of_text) of the books.
pub fn near_copies_of(ngrams: &[Vec<u64>]) -> Vec<NearCopy> {
    let mut found = Vec::new();
    for ((first, second), shared) in shared_ngrams::count_pairs(ngrams) {
        let pair = (first as usize, second as usize);
        let [(book, share), (other, _)] =
            shared_ngrams::in_order(pair, shared, |book| ngrams[book].len());
        if share >= NEAR_COPY {
            found.push(NearCopy { book, other, share });
        }
    }
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    found
}

/// The 8-grams of a book in lower case and without punctuation, over the ends of sentences.
fn ngrams(book: &BookQuestions) -> Vec<u64> {
    let (vocabulary, words) = book.words();
    let hash_of: Vec<Option<u64>> = vocabulary.iter().map(shared_ngrams::word_hash).collect();
    let hashes: Vec<u64> = words.iter().filter_map(|word| hash_of[word.index()]).collect();
    shared_ngrams::distinct(&hashes)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use corpus::Book;

    use super::*;
    use crate::fixtures::tagged;
    use crate::{Builder, Rules, Split};

    fn book(name: &str, words: std::ops::Range<usize>) -> BookQuestions {
        let word = |n: usize| format!("{}{n}/NN", if n.is_multiple_of(2) { "W" } else { "w" });
        let words: Vec<String> = words.map(word).collect();
        let sentences = words.chunks(10).map(|sentence| tagged(&sentence.join(" "))).collect();
        let rules = Rules { context_sentences: 1, ..Rules::default() };
        let builder = Builder::new(rules, 1, &|_| true).unwrap();
        let book = Book { name: name.to_owned(), sentences };
        builder.questions_of(Path::new(name), &book, Split::Train).unwrap()
    }

    #[test]
    fn a_part_of_a_book_is_a_near_copy_and_a_few_words_are_none() {
        let books = [
            book("whole", 0..400),
            book("part", 0..100),
            book("other", 380..800),
            book("far", 900..1000),
        ];
        let found = near_copies(&books);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].book, found[0].other), (1, 0));
        assert!((found[0].share - 1.0).abs() < 1e-9);
    }
}
