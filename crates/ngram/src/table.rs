//! [`Table`]: every n-gram with its probability and backoff, as a trie: a level for each length, the n-grams
//! of a level by their contexts, which stand one level above, then by their last words.

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
    /// The last word of each; in the first level the words in their order.
    pub words: Vec<u32>,
    /// Its probability behind its context.
    pub log_probs: Vec<f32>,
    /// What it gives the words that were not seen behind it; none in the last level.
    pub backoffs: Vec<f32>,
    /// Where its longer n-grams begin in the next level, and at the end how many there are; none in the last.
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

    /// The words and marks.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Whether the words are distinct and the levels fit together.
    pub(crate) fn is_sound(&self) -> bool {
        let n_words = self.levels[0].words.len();
        let next = self.levels[1..].iter().map(Some).chain([None]);
        let is_sound = |(level, next): (&Level, Option<&Level>)| {
            let values = level.log_probs.iter().chain(&level.backoffs);
            level.words.iter().all(|&word| (word as usize) < n_words)
                && values.into_iter().all(|value| value.is_finite())
                && level.children.is_sorted()
                && next.is_none_or(|next| level.children.last() == Some(&(next.words.len() as u32)))
        };
        self.vocabulary.len() == n_words && self.levels.iter().zip(next).all(is_sound)
    }

    /// The place of an n-gram in its level.
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
