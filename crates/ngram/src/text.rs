//! The text to learn from: sentences of words → token ids, the most frequent words first, with marks at the
//! start and end of each sentence.

use std::cmp::Reverse;

use base::{Vocabulary, WordId};

use crate::sorted::SortedText;
use crate::{Error, MAX_ORDER, Result};

/// A word's number in a language model. It has nothing to do with the [`WordId`] of the same word in a
/// question set, so it is a type of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(pub u32);

impl TokenId {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// `<unk>`: every word that the model does not know.
pub const UNKNOWN: TokenId = TokenId(0);
/// `<s>`: comes before the first word of a sentence and is never predicted.
pub const START: TokenId = TokenId(1);
/// `</s>`: is predicted after the last word of a sentence.
pub const END: TokenId = TokenId(2);

/// The marks as ARPA files write them, in the order of their numbers.
pub(crate) const MARKS: [&str; 3] = ["<unk>", "<s>", "</s>"];

/// Sentences, each as `<s> … </s>`.
pub struct Text {
    vocabulary: Vocabulary,
    words: Vec<u32>,
}

impl Default for Text {
    fn default() -> Self {
        Self { vocabulary: marks(), words: Vec::new() }
    }
}

impl Text {
    /// Appends a sentence.
    ///
    /// Chosen: a word that is written like one of the marks is an unknown word.
    ///
    /// # Errors
    /// [`Error::TooLong`] from 2³² words on; [`Error::TooManyWords`] if the distinct ones have no room.
    pub fn push<'a>(&mut self, sentence: impl IntoIterator<Item = &'a str>) -> Result<()> {
        self.words.push(START.0);
        for word in sentence {
            self.words.push(token(&mut self.vocabulary, word)?);
        }
        self.words.push(END.0);
        if u32::try_from(self.words.len()).is_err() { Err(Error::TooLong) } else { Ok(()) }
    }

    /// Returns whether there is no sentence.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Sorts the positions of the text by the words that lead to them, for n-grams of up to `order` words.
    ///
    /// # Errors
    /// [`Error::Order`] if the order is not from 1 to [`MAX_ORDER`].
    pub fn sort(self, order: usize) -> Result<SortedText> {
        if !(1..=MAX_ORDER).contains(&order) {
            return Err(Error::Order { max: MAX_ORDER, found: order });
        }
        let (vocabulary, words) = self.by_frequency();
        Ok(SortedText::new(vocabulary, words, order))
    }

    /// Renumbers the words, the frequent ones first: a search among the words that follow a context then
    /// begins with those that are looked up most often.
    fn by_frequency(self) -> (Vocabulary, Vec<u32>) {
        let Self { vocabulary, mut words } = self;
        let mut counts = vec![0u32; vocabulary.len()];
        words.iter().for_each(|&word| counts[word as usize] += 1);
        let (vocabulary, new) = renumbered(&vocabulary, &counts);
        words.iter_mut().for_each(|word| *word = new[*word as usize]);
        (vocabulary, words)
    }
}

/// A vocabulary with the marks.
pub(crate) fn marks() -> Vocabulary {
    let mut vocabulary = Vocabulary::default();
    for mark in MARKS {
        vocabulary.intern(mark);
    }
    vocabulary
}

/// The number of a word of the text.
pub(crate) fn token(vocabulary: &mut Vocabulary, word: &str) -> Result<u32> {
    let id = vocabulary.try_intern(word).ok_or(Error::TooManyWords)?.0;
    Ok(if id <= END.0 { UNKNOWN.0 } else { id })
}

/// The vocabulary with the frequent words first, and the new number of each word.
pub(crate) fn renumbered<C: Ord + Copy>(
    vocabulary: &Vocabulary,
    counts: &[C],
) -> (Vocabulary, Vec<u32>) {
    let mut old: Vec<u32> = (0..vocabulary.len() as u32).collect();
    old[MARKS.len()..].sort_by_key(|&word| Reverse(counts[word as usize]));
    let mut new = vec![0; old.len()];
    let mut renumbered = Vocabulary::default();
    for word in old {
        new[word as usize] = renumbered.intern(vocabulary.word(WordId(word))).0;
    }
    (renumbered, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_words_come_first_and_marks_in_the_text_are_unknown() {
        let mut text = Text::default();
        text.push(["hen", "fox"]).unwrap();
        text.push(["fox", "<s>"]).unwrap();
        let (vocabulary, words) = text.by_frequency();
        assert_eq!(vocabulary.iter().collect::<Vec<_>>(), ["<unk>", "<s>", "</s>", "fox", "hen"]);
        assert_eq!(words, [1, 4, 3, 2, 1, 3, 0, 2]);
    }
}
