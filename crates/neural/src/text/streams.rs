//! Running text to learn from (§4.4): books → one row of words → streams, or words with what is before
//! them.
//!
//! Sentences are separated by one word, the end of sentence, which also precedes the first one: it is
//! what a network reads before it predicts the first word of a book.

use std::ops::Range;

use numerics::device::NO_TARGET;

use super::Contexts;
use crate::Window;

/// The words of books, one after the other.
#[derive(Clone, Debug)]
pub struct Text {
    end: u32,
    words: Vec<u32>,
    /// Where the first word of each sentence is, and where the next one would.
    sentences: Vec<usize>,
    /// The first sentence of each book, and the one after the last.
    books: Vec<usize>,
}

impl Text {
    /// No books yet; `end` is the number of the end of sentence.
    pub fn new(end: u32) -> Self {
        Self { end, words: vec![end], sentences: vec![1], books: vec![0] }
    }

    /// Appends a book; a sentence without words is none, a book without sentences neither.
    pub fn push<Sentence: IntoIterator<Item = u32>>(
        &mut self,
        book: impl IntoIterator<Item = Sentence>,
    ) {
        for sentence in book {
            let n_words = self.words.len();
            self.words.extend(sentence);
            if self.words.len() > n_words {
                self.words.push(self.end);
                self.sentences.push(self.words.len());
            }
        }
        if self.books.last() != Some(&self.n_sentences()) {
            self.books.push(self.n_sentences());
        }
    }

    /// How many words can be predicted, ends of sentences among them.
    pub fn n_targets(&self) -> usize {
        self.words.len() - 1
    }

    /// How often each of `n_words` words is to be predicted.
    pub fn counts(&self, n_words: usize) -> Vec<u64> {
        let mut counts = vec![0; n_words];
        self.words[1..].iter().for_each(|&word| counts[word as usize] += 1);
        counts
    }

    /// How many sentences there are.
    pub fn n_sentences(&self) -> usize {
        self.sentences.len() - 1
    }

    /// A sentence with the end before it and its own.
    #[cfg(test)]
    fn sentence(&self, number: usize) -> &[u32] {
        &self.words[self.sentences[number] - 1..self.sentences[number + 1]]
    }

    /// The words of the sentences before one, as many as its book has up to a number; ends between them.
    #[cfg(test)]
    fn before_sentence(&self, number: usize, at_most: usize) -> &[u32] {
        &self.words[self.places_before_sentence(number, at_most)]
    }

    fn places_before_sentence(&self, number: usize, at_most: usize) -> Range<usize> {
        let first = self.book_of(number).start.max(number.saturating_sub(at_most));
        let start = self.sentences[first];
        start..self.sentences[number].max(start + 1) - 1
    }

    /// For each of some targets, where the words of the sentences before its own are.
    fn contexts_of(&self, targets: Range<usize>, at_most: usize) -> Vec<Range<usize>> {
        if targets.is_empty() {
            return Vec::new();
        }
        let mut sentence = self.sentences.partition_point(|&start| start <= targets.start + 1) - 1;
        let mut context = self.places_before_sentence(sentence, at_most);
        let of_target = |target: usize| {
            while self.sentences[sentence + 1] <= target + 1 {
                sentence += 1;
                context = self.places_before_sentence(sentence, at_most);
            }
            context.clone()
        };
        targets.map(of_target).collect()
    }

    /// The words at some places.
    pub(crate) fn words(&self, places: Range<usize>) -> &[u32] {
        &self.words[places]
    }

    /// The targets of each book.
    pub(crate) fn targets_of_books(&self) -> impl Iterator<Item = Range<usize>> {
        let first = |&sentence: &usize| self.sentences[sentence] - 1;
        self.books.windows(2).map(move |books| first(&books[0])..first(&books[1]))
    }

    /// The words before a target, as many as its book has up to a number, and the target; targets are
    /// counted from 0.
    pub fn before_target(&self, number: usize, at_most: usize) -> (&[u32], u32) {
        let place = number + 1;
        let sentence = self.sentences.partition_point(|&start| start <= place) - 1;
        // The end of sentence that precedes a book's first word belongs to it.
        let book = self.sentences[self.book_of(sentence).start] - 1;
        (&self.words[book.max(place.saturating_sub(at_most))..place], self.words[place])
    }

    /// The sentences of the book that a sentence is in.
    fn book_of(&self, sentence: usize) -> Range<usize> {
        let book = self.books.partition_point(|&first| first <= sentence) - 1;
        self.books[book]..self.books.get(book + 1).copied().unwrap_or(self.n_sentences())
    }

    fn starts_book(&self, place: usize) -> bool {
        // Most words are no end of sentence and need no search.
        if self.words[place] != self.end {
            return false;
        }
        let sentence = self.sentences.binary_search(&(place + 1));
        sentence.is_ok_and(|sentence| self.books.binary_search(&sentence).is_ok())
    }
}

/// A text in equally long pieces that are read at the same time, a window of some steps at once: what a
/// network remembers at the end of a window is what it begins the next one with.
///
/// Chosen: the pieces are cut at any word; where a book begins, and at the start of a piece, a network
/// remembers nothing.
#[derive(Clone, Debug)]
pub struct Streams<'a> {
    text: &'a Text,
    rows: usize,
    steps: usize,
    length: usize,
    forgets: bool,
}

impl<'a> Streams<'a> {
    /// A text in `rows` pieces, in windows of `steps` words.
    ///
    /// # Panics
    /// If there are no rows or no steps.
    pub fn new(text: &'a Text, rows: usize, steps: usize) -> Self {
        assert!(rows > 0 && steps > 0, "a window has words");
        Self { text, rows, steps, length: text.n_targets().div_ceil(rows), forgets: false }
    }

    /// Whether a network remembers nothing where a sentence begins either.
    pub fn forgetting(self, forgets: bool) -> Self {
        Self { forgets, ..self }
    }

    /// How many windows there are.
    pub fn len(&self) -> usize {
        self.length.div_ceil(self.steps)
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The number of words that a window predicts.
    pub fn n_targets(&self, number: usize) -> usize {
        (0..self.rows).map(|row| self.targets(number, row).len()).sum()
    }

    /// The targets of a row in a window.
    pub(crate) fn targets(&self, number: usize, row: usize) -> Range<usize> {
        let end_of_row = ((row + 1) * self.length).min(self.text.n_targets());
        let first = (row * self.length + number * self.steps).min(end_of_row);
        first..end_of_row.min(first + self.steps)
    }

    /// A window with, for each word, the sentences before that of its target, up to a number; a stream's
    /// context has `length` words.
    ///
    /// Chosen: where that is too few for all that any word of the window may look at, the furthest are left
    /// out.
    pub fn window_with_contexts(&self, number: usize, at_most: usize, length: usize) -> Window {
        let mut window = self.window(number);
        let mut contexts = Contexts {
            n: self.rows,
            words: vec![self.text.end; self.rows * length],
            bounds: vec![0; 2 * window.words.len()],
        };
        for row in 0..self.rows {
            let targets = self.targets(number, row);
            let seen = self.text.contexts_of(targets, at_most);
            let (Some(earliest), Some(latest)) = (seen.first(), seen.last()) else { continue };
            let end = latest.end;
            let first = earliest.start.max(end.saturating_sub(length));
            contexts.words[row * length..][..end - first]
                .copy_from_slice(self.text.words(first..end));
            for (step, Range { start, end }) in seen.into_iter().enumerate() {
                let bounds = [start, end].map(|bound| (bound.max(first) - first) as u32);
                contexts.bounds[2 * (step * self.rows + row)..][..2].copy_from_slice(&bounds);
            }
        }
        window.contexts = Some(contexts);
        window
    }

    /// A window; all have the same size, the last one is padded.
    pub fn window(&self, number: usize) -> Window {
        let n = self.rows * self.steps;
        let mut window = Window {
            streams: self.rows,
            words: vec![self.text.end; n],
            targets: vec![NO_TARGET; n],
            is_start: vec![false; n],
            contexts: None,
        };
        for row in 0..self.rows {
            for step in 0..self.steps {
                let (within, to) = (number * self.steps + step, step * self.rows + row);
                let place = row * self.length + within;
                if within >= self.length || place >= self.text.n_targets() {
                    break;
                }
                window.words[to] = self.text.words[place];
                window.targets[to] = self.text.words[place + 1];
                window.is_start[to] = within == 0 || self.starts(place);
            }
        }
        window
    }

    /// Whether nothing is remembered of the words before a place.
    fn starts(&self, place: usize) -> bool {
        if self.forgets {
            self.text.words[place] == self.text.end
        } else {
            self.text.starts_book(place)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The end of sentence is 0; two books: `1 2. 3.` and `4 5 6.`
    fn text() -> Text {
        let mut text = Text::new(0);
        text.push([vec![1, 2], vec![], vec![3]]);
        text.push(Vec::<Vec<u32>>::new());
        text.push([[4, 5, 6]]);
        text
    }

    #[test]
    fn books_become_one_row_of_words_with_ends_between_sentences() {
        let text = text();
        assert_eq!(text.words, [0, 1, 2, 0, 3, 0, 4, 5, 6, 0]);
        assert_eq!((text.n_targets(), text.n_sentences()), (9, 3));
        let starts: Vec<usize> = (0..10).filter(|&place| text.starts_book(place)).collect();
        // Before 1 and before 4; after the last book another one would begin.
        assert_eq!(starts, [0, 5, 9]);
        assert_eq!(text.sentence(1), [0, 3, 0]);
    }

    #[test]
    fn a_context_ends_where_the_book_begins() {
        let text = text();
        assert!(text.before_sentence(0, 20).is_empty());
        assert_eq!(text.before_sentence(1, 20), [1, 2]);
        assert!(text.before_sentence(2, 20).is_empty());
        let words = |number| text.before_target(number, 3);
        assert_eq!(words(0), (&[0][..], 1));
        assert_eq!(words(2), (&[0, 1, 2][..], 0));
        assert_eq!(words(3), (&[1, 2, 0][..], 3));
        assert_eq!(words(4), (&[2, 0, 3][..], 0));
        assert_eq!(words(5), (&[0][..], 4));
        assert_eq!(words(8), (&[4, 5, 6][..], 0));
        let mut long = Text::new(0);
        long.push([[1], [2], [3], [4]]);
        assert_eq!(long.before_sentence(3, 2), [2, 0, 3]);
    }

    /// Nine targets in two rows of five: `1 2 0 3 0` and `4 5 6 0 –`.
    #[test]
    fn a_piece_starts_empty_and_so_does_a_book() {
        let text = text();
        let streams = Streams::new(&text, 2, 3);
        assert_eq!((streams.len(), streams.n_targets(0), streams.n_targets(1)), (2, 6, 3));
        let (first, second) = (streams.window(0), streams.window(1));
        assert_eq!(first.words, [0, 0, 1, 4, 2, 5]);
        assert_eq!(first.targets, [1, 4, 2, 5, 0, 6]);
        assert_eq!(first.is_start, [true, true, false, false, false, false]);
        assert_eq!(second.words, [0, 6, 3, 0, 0, 0]);
        assert_eq!(second.targets, [3, 0, 0, NO_TARGET, NO_TARGET, NO_TARGET]);
        let starts = |streams: Streams<'_>| -> Vec<usize> {
            let window = streams.window(0);
            (0..9).filter(|&place| window.is_start[place]).collect()
        };
        assert_eq!(starts(Streams::new(&text, 1, 9)), [0, 5]);
        assert_eq!(starts(Streams::new(&text, 1, 9).forgetting(true)), [0, 3, 5]);
    }

    /// Contexts of one sentence, in windows of three words.
    #[test]
    fn each_word_looks_at_the_sentences_before_its_own() {
        let text = text();
        // 0 | 1 2 0 | 3 0 | 4 5 6 0
        let streams = Streams::new(&text, 2, 3);
        let window = streams.window_with_contexts(0, 1, 4);
        assert_eq!(window.contexts.unwrap().bounds, [0; 12]);
        let contexts = streams.window_with_contexts(1, 1, 4).contexts.unwrap();
        assert_eq!(contexts.words, [1, 2, 0, 0, 0, 0, 0, 0]);
        // The first row predicts `3` and the end of its sentence, the second an end in a book's first.
        assert_eq!(contexts.bounds, [0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]);
        let short = streams.window_with_contexts(1, 1, 1).contexts.unwrap();
        assert_eq!((short.words, &short.bounds[..2]), (vec![2, 0], &[0, 1][..]));
    }

    proptest! {
        #[test]
        fn a_context_is_the_text_before_the_sentence(
            books in prop::collection::vec(prop::collection::vec(prop::collection::vec(1..9u32, 1..4), 0..9), 0..4),
            (rows, steps, at_most) in (1..4usize, 1..7usize, 1..5usize),
        ) {
            let mut text = Text::new(0);
            books.iter().for_each(|book| text.push(book.iter().map(|s| s.iter().copied())));
            let streams = Streams::new(&text, rows, steps);
            for number in 0..streams.len() {
                let contexts = streams.window_with_contexts(number, at_most, 99).contexts.unwrap();
                for row in 0..rows {
                    for (step, target) in streams.targets(number, row).enumerate() {
                        let place = 2 * (step * rows + row);
                        let [first, end] = [0, 1].map(|i| contexts.bounds[place + i] as usize);
                        let sentence = (0..text.n_sentences())
                            .find(|&s| text.sentences[s + 1] > target + 1)
                            .unwrap();
                        let found = &contexts.words[row * 99..][first..end];
                        prop_assert_eq!(found, text.before_sentence(sentence, at_most));
                    }
                }
            }
        }

        #[test]
        fn every_word_is_predicted_once(
            books in prop::collection::vec(prop::collection::vec(prop::collection::vec(1..9u32, 0..4), 0..5), 0..4),
            rows in 1..7usize, steps in 1..7usize,
        ) {
            let mut text = Text::new(0);
            books.iter().for_each(|book| text.push(book.iter().map(|s| s.iter().copied())));
            let streams = Streams::new(&text, rows, steps);
            let mut of_rows = vec![Vec::new(); rows];
            for number in 0..streams.len() {
                let window = streams.window(number);
                let targets = window.targets.iter().enumerate().filter(|(_, t)| **t != NO_TARGET);
                prop_assert_eq!(targets.clone().count(), streams.n_targets(number));
                targets.for_each(|(place, &target)| of_rows[place % rows].push(target));
            }
            prop_assert_eq!(of_rows.concat(), text.words[1..].to_vec());
        }
    }
}
