//! Counting: the longest n-grams in suffix order → those of every length with their adjusted counts.
//!
//! N-grams of every length that end alike are adjacent, so one of each length is open at a time. Each is passed on to
//! a [`Sorter`] that brings those of its length into the order of the trie.

use super::sorter::{Sizes, Sorter};
use super::spill::{Limits, Sequence};
use super::text::{CountedText, Keys};
use crate::counts::NONE;
use crate::discounts::CountsOfCounts;
use crate::pruning::Pruning;
use crate::{Error, MAX_ORDER, Result};

/// The n-grams of one length from 2 on.
pub(super) struct Level<'a> {
    /// The words of each, first word highest → its adjusted count, and in the lower half its place among those of its
    /// length that are kept, in suffix order; [`NONE`] if it is pruned.
    pub sorter: Sorter<'a>,
    /// Of each that is kept, in suffix order: the place of the n-gram without the first word.
    pub suffixes: Sequence<'a, u32>,
    pub n_kept: u32,
}

/// What counting gives.
pub(super) struct Levels<'a> {
    /// The adjusted counts of all words.
    pub unigrams: Vec<u32>,
    /// For the lengths from 2.
    pub longer: Vec<Level<'a>>,
    /// For the lengths from 1.
    pub counts_of_counts: Vec<CountsOfCounts>,
}

/// An n-gram of each length.
#[derive(Clone, Copy, Default)]
struct Open {
    /// How often it occurs in the text.
    raw: u64,
    adjusted: u64,
    /// Its words, the first one highest.
    words: u128,
}

struct Counter<'a> {
    keys: Keys,
    pruning: Pruning,
    open: [Open; MAX_ORDER + 1],
    levels: Levels<'a>,
}

/// Counts the n-grams of all lengths.
pub(super) fn count<'a>(text: &mut CountedText<'a>, pruning: Pruning) -> Result<Levels<'a>> {
    let Keys { order, .. } = text.keys;
    let sizes = Sizes::within(text.memory / 10 * 5 / (order as u64 - 1).max(1));
    let longer = (2..=order).map(|_| Level::new(text.limits, sizes)).collect::<Result<_>>()?;
    let levels = Levels {
        unigrams: vec![0; text.vocabulary.len()],
        longer,
        counts_of_counts: vec![CountsOfCounts::default(); order],
    };
    let open = [Open::default(); MAX_ORDER + 1];
    let mut counter = Counter { keys: text.keys, pruning, open, levels };
    let mut last = None;
    while let Some((key, count)) = text.grams.next()? {
        counter.add(last, key, count)?;
        last = Some(key);
    }
    if let Some(last) = last {
        counter.close(1..=text.keys.len(last))?;
    }
    let mut levels = counter.levels;
    levels.longer.iter_mut().try_for_each(|level| level.sorter.shrink())?;
    Ok(levels)
}

impl<'a> Level<'a> {
    fn new(limits: &'a Limits<'a>, sizes: Sizes) -> Result<Self> {
        let (sorter, suffixes) = (Sorter::new(limits, sizes)?, Sequence::new(limits)?);
        Ok(Self { sorter, suffixes, n_kept: 0 })
    }
}

impl Counter<'_> {
    /// Adds a longest n-gram that comes after the last one.
    fn add(&mut self, last: Option<u128>, key: u128, count: u64) -> Result<()> {
        let Keys { bits, order } = self.keys;
        let shared = last.map_or(0, |last| self.keys.n_shared(last, key));
        if let Some(last) = last {
            self.close(shared + 1..=self.keys.len(last))?;
        }
        let available = self.keys.len(key);
        for length in shared + 1..=available {
            let first = u128::from(self.keys.word(key, length - 1));
            let words = first << (bits as usize * (length - 1)) | self.open[length - 1].words;
            self.open[length] = Open { raw: 0, adjusted: 0, words };
        }
        for length in 1..=available {
            // Chen & Goodman 1998, Eq. (24) to (25): below the longest n-grams, the number of different words
            // before it; n-grams that begin with `<s>` have none and keep their count.
            let is_adjusted = length < order && available > length;
            let open = &mut self.open[length];
            open.raw += count;
            open.adjusted += if !is_adjusted { count } else { u64::from(length >= shared) };
        }
        Ok(())
    }

    /// Passes on the open n-grams of some lengths.
    fn close(&mut self, lengths: std::ops::RangeInclusive<usize>) -> Result<()> {
        // The longest first: the one without the first word is then the next of its length.
        for length in lengths.rev() {
            let Open { raw, adjusted, words } = self.open[length];
            let count = u32::try_from(adjusted).map_err(|_| Error::TooFrequent { length })?;
            self.levels.counts_of_counts[length - 1].add(count);
            if length == 1 {
                self.levels.unigrams[words as usize] = count;
                continue;
            }
            let [shorter, level] = match &mut self.levels.longer[..length - 1] {
                [.., shorter, level] => [Some(shorter), Some(level)],
                [level] => [None, Some(level)],
                [] => [None, None],
            };
            let level = level.expect("a level for each length from 2");
            let mut place = NONE;
            if self.pruning.keeps(length, u32::try_from(raw).unwrap_or(u32::MAX)) {
                let last = (words & ((1 << self.keys.bits) - 1)) as u32;
                level.suffixes.push(shorter.map_or(last, |shorter| shorter.n_kept))?;
                place = level.n_kept;
                level.n_kept += 1;
                if level.n_kept == NONE {
                    return Err(Error::TooManyGrams { length });
                }
            }
            level.sorter.push(words, u64::from(count) << 32 | u64::from(place))?;
        }
        Ok(())
    }
}
