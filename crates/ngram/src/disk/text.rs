//! [`LargeText`]: sentences → the numbers of their words, on disk → every longest n-gram with its count, sorted.

use base::Vocabulary;

use super::sorter::{Sizes, Sorted, Sorter};
use super::spill::{Limits, Sequence, Stage};
use crate::packed::width;
use crate::text::{END, START, marks, renumbered, token};
use crate::{Error, Result};

/// Sentences that are kept on disk; only their distinct words are in memory.
pub struct LargeText<'a> {
    pub(super) limits: &'a Limits<'a>,
    pub(super) vocabulary: Vocabulary,
    counts: Vec<u64>,
    words: Sequence<'a, u32>,
}

impl<'a> LargeText<'a> {
    /// A text without sentences.
    ///
    /// # Errors
    /// If the memory is less than [`Limits::LEAST_MEMORY`], or no temporary file can be made.
    pub fn new(limits: &'a Limits<'a>) -> Result<Self> {
        if limits.memory < Limits::LEAST_MEMORY {
            return Err(Error::TooLittleMemory {
                expected: Limits::LEAST_MEMORY >> 20,
                found: limits.memory >> 20,
            });
        }
        Self::unchecked(limits)
    }

    /// As [`Self::new`], with any memory.
    pub(super) fn unchecked(limits: &'a Limits<'a>) -> Result<Self> {
        let words = Sequence::new(limits)?;
        Ok(Self { limits, vocabulary: marks(), counts: vec![], words })
    }

    /// Appends a sentence, as [`crate::Text::push`] does.
    ///
    /// # Errors
    /// If the disk is full, or the distinct words take half of the memory.
    pub fn push<'w>(&mut self, sentence: impl IntoIterator<Item = &'w str>) -> Result<()> {
        self.word(START.0)?;
        for word in sentence {
            let word = token(&mut self.vocabulary, word)?;
            self.word(word)?;
        }
        self.word(END.0)?;
        let (needed, memory) = (self.vocabulary_bytes(), self.limits.memory);
        if memory >= Limits::LEAST_MEMORY && 2 * needed > memory {
            return Err(Error::TooLittleMemory { expected: needed >> 19, found: memory >> 20 });
        }
        Ok(())
    }

    fn word(&mut self, word: u32) -> Result<()> {
        self.counts.resize(self.vocabulary.len(), 0);
        self.counts[word as usize] += 1;
        self.words.push(word)
    }

    /// Returns whether there is no sentence.
    pub fn is_empty(&self) -> bool {
        self.words.len() == 0
    }

    /// What the distinct words take: twice while they are renumbered, and later in the tables of unigrams.
    fn vocabulary_bytes(&self) -> u64 {
        2 * (self.vocabulary.n_bytes() + 24 * self.vocabulary.len()) as u64
    }

    /// How much memory may be used beside the words and the program itself.
    pub(super) fn memory(&self) -> u64 {
        let program = Limits::LEAST_MEMORY / 4;
        self.limits.memory.saturating_sub(self.vocabulary_bytes() + program)
    }

    /// Numbers the words by their frequency, and sorts the n-grams of `order` words that end at each place.
    pub(super) fn sort(mut self, order: usize) -> Result<CountedText<'a>> {
        let memory = self.memory();
        let (vocabulary, new) = renumbered(&self.vocabulary, &self.counts);
        drop((self.vocabulary, self.counts));
        let keys = Keys { bits: Keys::bits(&vocabulary), order };
        if keys.bits as usize * order > u128::BITS as usize {
            let most = 1u64 << (u128::BITS as usize / order);
            return Err(Error::TooManyWordsForOrder { order, most });
        }
        let mut sorter = Sorter::new(self.limits, Sizes::within(memory / 10 * 7))?;
        let mut key = 0;
        let mut words = self.words.read()?;
        for number in 0u64.. {
            if number.is_multiple_of(1 << 16) {
                self.limits.check(Stage::Sorting)?;
            }
            let Some(word) = words.next()? else { break };
            let word = new[word as usize];
            key = if word == START.0 { 0 } else { key };
            key = keys.append(key, word);
            if word != START.0 {
                sorter.push(key, 1)?;
            }
        }
        drop(self.words);
        self.limits.check(Stage::Counting)?;
        let grams = sorter.sorted(Stage::Counting)?;
        Ok(CountedText { limits: self.limits, vocabulary, keys, memory, grams })
    }
}

/// The longest n-grams of a text, in suffix order.
pub(super) struct CountedText<'a> {
    pub limits: &'a Limits<'a>,
    pub vocabulary: Vocabulary,
    pub keys: Keys,
    /// How much memory may be used beside the words.
    pub memory: u64,
    pub grams: Sorted<'a>,
}

/// How the words of an n-gram become one number, so that numbers are in suffix order: the last word is highest.
/// A word is its number plus one; 0 is before `<s>`.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    /// Bits of a word.
    pub bits: u32,
    pub order: usize,
}

impl Keys {
    /// How many bits a word needs.
    pub fn bits(vocabulary: &Vocabulary) -> u32 {
        width(vocabulary.len())
    }

    /// The n-gram after one more word.
    fn append(self, key: u128, word: u32) -> u128 {
        u128::from(word + 1) << (self.bits * (self.order as u32 - 1)) | key >> self.bits
    }

    /// The word at a distance from the last one.
    pub fn word(self, key: u128, distance: usize) -> u32 {
        let shift = self.bits * (self.order - 1 - distance) as u32;
        ((key >> shift) & ((1 << self.bits) - 1)) as u32 - 1
    }

    /// How many words there are.
    pub fn len(self, key: u128) -> usize {
        self.order - (key.trailing_zeros() / self.bits) as usize
    }

    /// How many last words two different n-grams share.
    pub fn n_shared(self, a: u128, b: u128) -> usize {
        let unused = u128::BITS - self.bits * self.order as u32;
        (((a ^ b).leading_zeros() - unused) / self.bits) as usize
    }
}
