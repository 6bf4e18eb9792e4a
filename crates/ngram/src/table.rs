//! [`Table`]: every n-gram with its probability and backoff, as a trie: one level per length, the n-grams
//! of a level sorted by their contexts, which are one level above, then by their last words.

use base::Vocabulary;

/// A model that can be changed, written as ARPA, or turned into a [`crate::Model`].
#[derive(Clone, Debug)]
pub struct Table {
    pub(crate) vocabulary: Vocabulary,
    pub(crate) levels: Vec<Level>,
}

/// The n-grams of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Level {
    /// The last word of each; in the first level 0, 1, 2, …
    pub words: Vec<u32>,
    /// log p of the last word given the others.
    pub log_probs: Vec<f32>,
    /// The weight of the shorter context for words not seen after this one; empty in the last level.
    pub backoffs: Vec<f32>,
    /// The index of its first child in the next level, and at the end that level's size; empty in the last
    /// level.
    pub children: Vec<u32>,
}

impl Table {
    /// The length of the longest n-grams.
    pub fn order(&self) -> usize {
        self.levels.len()
    }

    /// The n-grams of each length, from 1.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The words, with the marks `<unk>`, `<s>` and `</s>` first; a [`crate::TokenId`] is an index into it.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns whether the words are distinct and the levels consistent.
    pub(crate) fn is_consistent(&self) -> bool {
        let n_words = self.levels[0].words.len();
        let next = self.levels[1..].iter().map(Some).chain([None]);
        let is_well_formed = |(level, next): (&Level, Option<&Level>)| {
            let values = level.log_probs.iter().chain(&level.backoffs);
            level.words.iter().all(|&word| (word as usize) < n_words)
                && values.into_iter().all(|value| value.is_finite())
                && level.children.is_sorted()
                && next.is_none_or(|next| level.children.last() == Some(&(next.words.len() as u32)))
        };
        self.vocabulary.len() == n_words && self.levels.iter().zip(next).all(is_well_formed)
    }

    /// The index of an n-gram in its level.
    pub(crate) fn find(&self, words: &[u32]) -> Option<usize> {
        let (&first, rest) = words.split_first()?;
        let mut slot = first as usize;
        for (&word, levels) in rest.iter().zip(self.levels.windows(2)) {
            let children = &levels[0].children;
            let start = *children.get(slot)? as usize;
            let among = &levels[1].words[start..*children.get(slot + 1)? as usize];
            slot = start + among.binary_search(&word).ok()?;
        }
        (words.len() <= self.levels.len()).then_some(slot)
    }
}
