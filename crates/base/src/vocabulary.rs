//! Words ↔ small numbers: every later stage works on [`WordId`]s and comes back here to print a word.

use std::hash::BuildHasher;

use hashbrown::HashTable;

/// A word's number in its [`Vocabulary`]: 0, 1, 2, … in order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WordId(pub u32);

impl WordId {
    /// The number as an index, for tables that have one row per word.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The distinct words of a text, case kept, in order of first appearance.
#[derive(Clone, Default)]
pub struct Vocabulary {
    text: String,
    ends: Vec<u32>,
    index: HashTable<u32>,
    hasher: foldhash::fast::FixedState,
}

impl Vocabulary {
    /// The number of a word; a word that is new gets the next one.
    ///
    /// # Panics
    /// If the distinct words together are longer than 4 GiB.
    pub fn intern(&mut self, word: &str) -> WordId {
        self.try_intern(word).expect("distinct words fit into 4 GiB")
    }

    /// As [`Self::intern`]; `None` where a new word has no room.
    pub fn try_intern(&mut self, word: &str) -> Option<WordId> {
        if let Some(id) = self.get(word) {
            return Some(id);
        }
        let id = u32::try_from(self.ends.len()).ok()?;
        let end = u32::try_from(self.text.len() + word.len()).ok()?;
        self.text.push_str(word);
        self.ends.push(end);
        let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
        let hash = hasher.hash_one(word);
        self.index.insert_unique(hash, id, |&other| hasher.hash_one(slice(text, ends, other)));
        Some(WordId(id))
    }

    /// The number of a word, if it has one.
    pub fn get(&self, word: &str) -> Option<WordId> {
        let hash = self.hasher.hash_one(word);
        let found = self.index.find(hash, |&id| slice(&self.text, &self.ends, id) == word);
        found.map(|&id| WordId(id))
    }

    /// The word of a number.
    ///
    /// # Panics
    /// If the number comes from another vocabulary.
    pub fn word(&self, id: WordId) -> &str {
        slice(&self.text, &self.ends, id.0)
    }

    /// How many distinct words there are (*d* in the paper).
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The length of all words together.
    pub fn n_bytes(&self) -> usize {
        self.text.len()
    }

    /// Whether no word has been interned.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All words in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|id| slice(&self.text, &self.ends, id))
    }
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Vocabulary({} words)", self.len())
    }
}

fn slice<'a>(text: &'a str, ends: &[u32], id: u32) -> &'a str {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] as usize };
    &text[start..ends[id] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_keeps_its_number() {
        let mut vocabulary = Vocabulary::default();
        let bear = vocabulary.intern("bear");
        let empty = vocabulary.intern("");
        assert_ne!(bear, vocabulary.intern("Bear"));
        assert_eq!(bear, vocabulary.intern("bear"));
        assert_eq!((vocabulary.word(bear), vocabulary.word(empty)), ("bear", ""));
        assert_eq!(vocabulary.get("porridge"), None);
        assert_eq!(vocabulary.iter().collect::<Vec<_>>(), ["bear", "", "Bear"]);
    }
}
