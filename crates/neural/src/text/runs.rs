//! [`Runs`]: words to be predicted from the words before them, in runs of consecutive ones (§3, lexical
//! memory).
//!
//! A word's memories are the n words before it, so the memories of consecutive words are nearly the same
//! ones: a run of L words needs n + L − 1 words instead of L · n.
//!
//! ```text
//! memories   w₀ w₁ w₂ w₃ w₄        n = 3, L = 3
//! targets             w₃ w₄ w₅     target j has the n memories from column j on
//! ```

use std::ops::Range;

use numerics::device::NO_TARGET;

use super::Text;

/// Runs of the same length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// The greatest number of memories per word, n.
    pub memories: usize,
    /// How many targets a run has, L.
    pub length: usize,
    /// Runs × width.
    pub words: Vec<u32>,
    /// For each target the first of its n memories that there is, and the one after the last.
    pub bounds: Vec<u32>,
    /// Runs × L; [`NO_TARGET`] where a run is shorter.
    pub targets: Vec<u32>,
}

impl Runs {
    /// Runs that are given by the words before the first target, of which the last n count, and the targets.
    ///
    /// Chosen: where fewer than n words precede a target, it has fewer memories, the nearest ones.
    ///
    /// # Panics
    /// If a run has more targets than its length.
    pub fn new(memories: usize, length: usize, runs: &[(&[u32], &[u32])]) -> Self {
        let mut into = Self { memories, length, ..Self::default() };
        let width = into.width();
        for &(before, targets) in runs {
            assert!(targets.len() <= length, "{} targets in a run of {length}", targets.len());
            let before = &before[before.len().saturating_sub(memories)..];
            let missing = memories - before.len();
            let rest = std::iter::repeat_n(0, width - memories);
            let read = targets.iter().copied().take(length - 1).chain(rest).take(width - memories);
            into.words.extend(std::iter::repeat_n(0, missing).chain(before.iter().copied()));
            into.words.extend(read);
            let bounds =
                |place: usize| [missing.saturating_sub(place), memories].map(|bound| bound as u32);
            into.bounds.extend((0..length).flat_map(bounds));
            into.targets.extend(targets);
            into.targets.extend(std::iter::repeat_n(NO_TARGET, length - targets.len()));
        }
        into
    }

    /// Some of the runs into which [`Runs::places`] cuts a text.
    pub fn of_text(text: &Text, memories: usize, length: usize, places: &[Range<usize>]) -> Self {
        let run = |targets: &Range<usize>| {
            let (before, _) = text.before_target(targets.start, memories);
            (before, text.words(targets.start + 1..targets.end + 1))
        };
        Self::new(memories, length, &places.iter().map(run).collect::<Vec<_>>())
    }

    /// A text cut into runs of `length` targets, of which the last one of a book may be shorter.
    pub fn places(text: &Text, length: usize) -> Vec<Range<usize>> {
        let of_book = |book: Range<usize>| {
            let end = book.end;
            book.step_by(length).map(move |first| first..end.min(first + length))
        };
        text.targets_of_books().flat_map(of_book).collect()
    }

    /// How many runs there are.
    pub fn n(&self) -> usize {
        self.targets.len() / self.length.max(1)
    }

    /// Words per run: those that are a memory of some target, n + L − 1, and up to three more, so
    /// that with L a multiple of four all rows begin where a GPU reads four numbers at a time.
    pub fn width(&self) -> usize {
        (self.memories + self.length - 1).next_multiple_of(4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_become_memories_of_the_ones_after_them() {
        let runs = Runs::new(3, 3, &[(&[9, 1, 2, 3], &[4, 5, 6]), (&[7], &[8])]);
        assert_eq!((runs.n(), runs.width()), (2, 8));
        assert_eq!(runs.words, [1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 7, 8, 0, 0, 0, 0]);
        assert_eq!(runs.targets, [4, 5, 6, 8, NO_TARGET, NO_TARGET]);
        assert_eq!(runs.bounds, [0, 3, 0, 3, 0, 3, 2, 3, 1, 3, 0, 3]);
    }

    #[test]
    fn a_text_is_cut_into_runs_that_stay_within_books() {
        let mut text = Text::new(0);
        text.push([vec![1, 2], vec![3]]);
        text.push([[4]]);
        // 0 | 1 2 0 3 0 | 4 0
        let places = Runs::places(&text, 3);
        assert_eq!(places, [0..3, 3..5, 5..7]);
        let runs = Runs::of_text(&text, 2, 3, &places);
        assert_eq!(runs.targets, [1, 2, 0, 3, 0, NO_TARGET, 4, 0, NO_TARGET]);
        assert_eq!(runs.words, [0, 0, 1, 2, 2, 0, 3, 0, 0, 0, 4, 0]);
        assert_eq!(runs.bounds, [1, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 1, 2, 0, 2, 0, 2]);
    }

    #[test]
    fn a_run_of_one_word_has_its_memories_alone() {
        let runs = Runs::new(2, 1, &[(&[1, 2, 3], &[4]), (&[], &[5])]);
        assert_eq!((runs.words, runs.targets), (vec![2, 3, 0, 0, 0, 0, 0, 0], vec![4, 5]));
        assert_eq!(runs.bounds, [0, 2, 2, 2]);
    }
}
