//! [`Sentences`]: consecutive sentences as a view that is copied like a slice.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::{Index, Range};

use base::WordId;

/// Consecutive sentences of a text, borrowed from a [`crate::QuestionSet`] or a [`SentenceBuffer`].
#[derive(Clone, Copy, Default)]
pub struct Sentences<'a> {
    words: &'a [WordId],
    /// Where each sentence ends, counted like `start`.
    ends: &'a [u32],
    /// Where the first sentence starts in the text that `ends` counts.
    start: u32,
}

impl<'a> Sentences<'a> {
    /// The sentences of `range` in a text whose sentences end at `ends`.
    pub(crate) fn of(words: &'a [WordId], ends: &'a [u32], range: Range<usize>) -> Self {
        let start = range.start.checked_sub(1).map_or(0, |before| ends[before]);
        let ends = &ends[range];
        let end = ends.last().copied().unwrap_or(start);
        Self { words: &words[start as usize..end as usize], ends, start }
    }

    /// The number of sentences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no sentence.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All words as one running text.
    pub fn words(&self) -> &'a [WordId] {
        self.words
    }

    /// A sentence, if there are that many.
    pub fn get(&self, index: usize) -> Option<&'a [WordId]> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(self.start, |before| self.ends[before]);
        Some(&self.words[(start - self.start) as usize..(end - self.start) as usize])
    }

    /// Some of the sentences.
    ///
    /// # Panics
    /// If the range reaches beyond them.
    pub fn slice(&self, range: Range<usize>) -> Self {
        let start = range.start.checked_sub(1).map_or(self.start, |before| self.ends[before]);
        let ends = &self.ends[range];
        let end = ends.last().copied().unwrap_or(start);
        let words = &self.words[(start - self.start) as usize..(end - self.start) as usize];
        Self { words, ends, start }
    }

    /// The last `n` sentences, or all if there are fewer.
    pub fn last(&self, n: usize) -> Self {
        self.slice(self.len().saturating_sub(n)..self.len())
    }

    /// The sentences in their order.
    pub fn iter(&self) -> Iter<'a> {
        Iter { words: self.words, ends: self.ends, start: self.start }
    }
}

impl Index<usize> for Sentences<'_> {
    type Output = [WordId];

    fn index(&self, index: usize) -> &[WordId] {
        match self.get(index) {
            Some(sentence) => sentence,
            None => panic!("sentence {index} of {}", self.len()),
        }
    }
}

impl<'a> IntoIterator for Sentences<'a> {
    type Item = &'a [WordId];
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &Sentences<'a> {
    type Item = &'a [WordId];
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl PartialEq for Sentences<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words && self.iter().eq(other.iter())
    }
}

impl Eq for Sentences<'_> {}

impl fmt::Debug for Sentences<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// Ranges of sentences as disjoint ones, in order.
pub(crate) fn union(ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut sorted: Vec<&Range<usize>> = ranges.iter().collect();
    sorted.sort_unstable_by_key(|range| range.start);
    let mut united: Vec<Range<usize>> = Vec::new();
    for range in sorted {
        match united.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => united.push(range.clone()),
        }
    }
    united
}

/// The sentences of a [`Sentences`] in their order.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    words: &'a [WordId],
    ends: &'a [u32],
    start: u32,
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a [WordId];

    fn next(&mut self) -> Option<&'a [WordId]> {
        let (&end, ends) = self.ends.split_first()?;
        let (sentence, words) = self.words.split_at((end - self.start) as usize);
        *self = Self { words, ends, start: end };
        Some(sentence)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.ends.len(), Some(self.ends.len()))
    }
}

impl<'a> DoubleEndedIterator for Iter<'a> {
    fn next_back(&mut self) -> Option<&'a [WordId]> {
        let (_, ends) = self.ends.split_last()?;
        let start = ends.last().copied().unwrap_or(self.start);
        let (words, sentence) = self.words.split_at((start - self.start) as usize);
        (self.words, self.ends) = (words, ends);
        Some(sentence)
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl FusedIterator for Iter<'_> {}

/// A reusable buffer for sentences that are not those of a set.
#[derive(Clone, Debug, Default)]
pub struct SentenceBuffer {
    words: Vec<WordId>,
    ends: Vec<u32>,
}

impl SentenceBuffer {
    /// Removes all sentences and keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
    }

    /// Appends a sentence to those in the buffer.
    ///
    /// # Panics
    /// If all sentences together have 2³² words or more.
    pub fn push(&mut self, sentence: impl IntoIterator<Item = WordId>) {
        self.words.extend(sentence);
        self.ends.push(u32::try_from(self.words.len()).expect("fewer than 2³² words"));
    }

    /// The sentences that were pushed since the last [`Self::clear`].
    pub fn sentences(&self) -> Sentences<'_> {
        Sentences { words: &self.words, ends: &self.ends, start: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_gives_the_sentences_that_were_pushed_and_any_run_of_them() {
        let texts: [&[u32]; 5] = [&[1, 2], &[], &[3], &[], &[4, 5, 6]];
        let expected: Vec<Vec<WordId>> =
            texts.iter().map(|words| words.iter().copied().map(WordId).collect()).collect();
        let mut buffer = SentenceBuffer::default();
        expected.iter().for_each(|sentence| buffer.push(sentence.iter().copied()));
        let all = buffer.sentences();
        assert_eq!(all, Sentences::of(&buffer.words, &buffer.ends, 0..5));
        for start in 0..=5 {
            for end in start..=5 {
                let expected = &expected[start..end];
                let run = all.slice(start..end);
                assert_eq!(run, Sentences::of(&buffer.words, &buffer.ends, start..end));
                assert_eq!((run.len(), run.is_empty()), (expected.len(), expected.is_empty()));
                assert!(run.iter().eq(expected.iter().map(Vec::as_slice)));
                assert!(run.iter().rev().eq(expected.iter().rev().map(Vec::as_slice)));
                assert!((0..run.len()).all(|index| run[index] == expected[index]));
                assert_eq!(run.get(run.len()), None);
                assert_eq!(run.words(), expected.concat());
                assert_eq!(all.slice(0..end).last(end - start), run);
            }
        }
        // The same words with other ends are other sentences.
        let mut other = SentenceBuffer::default();
        other.push([1, 2].map(WordId));
        assert_ne!(other.sentences(), all.slice(0..2));
        other.clear();
        assert_eq!(other.sentences(), Sentences::default());
    }
}
