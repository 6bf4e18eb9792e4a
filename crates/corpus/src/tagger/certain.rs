//! Words that always have the same tag: they need no features, which saves half of the time.
//!
//! Input: tagged sentences. Output: a list of words, case kept, with one tag each.

use crate::Word;
use base::Vocabulary;

/// Words with the tag that they always get.
#[derive(Default)]
pub struct CertainWords {
    /// The words, in order of first appearance.
    pub words: Vocabulary,
    /// For each word the index of its tag.
    pub tags: Vec<u8>,
}

impl CertainWords {
    /// Finds the words that occur at least `min_count` times, with the same tag in at least that
    /// share of them.
    pub fn learn(
        sentences: &[&[Word]],
        tag: impl Fn(&Word) -> usize,
        min_count: u32,
        min_share: f64,
    ) -> Self {
        let mut all = Vocabulary::default();
        let mut counts: Vec<[u32; 64]> = Vec::new();
        for word in sentences.iter().copied().flatten() {
            let id = all.intern(&word.text);
            counts.resize(all.len(), [0; 64]);
            counts[id.index()][tag(word)] += 1;
        }
        let mut certain = Self::default();
        for (word, counts) in all.iter().zip(&counts) {
            let total: u32 = counts.iter().sum();
            let most = counts.iter().copied().max().unwrap_or(0);
            if total >= min_count && f64::from(most) >= min_share * f64::from(total) {
                let tag = counts.iter().position(|&count| count == most).expect("it is there");
                certain.words.intern(word);
                certain.tags.push(tag as u8);
            }
        }
        certain
    }

    /// The tag of a word, if it is always the same.
    pub fn get(&self, word: &str) -> Option<u8> {
        self.words.get(word).map(|id| self.tags[id.index()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entity, PartOfSpeech};

    #[test]
    fn a_word_is_certain_when_it_is_frequent_and_nearly_always_the_same() {
        let word = |text: &str, pos| Word {
            text: text.into(),
            pos: PartOfSpeech::from_name(pos).unwrap(),
            entity: Entity::NONE,
        };
        let sentence = [
            [word("the", "DT"), word("The", "DT"), word("round", "IN"), word("ran", "VBD")],
            [word("the", "DT"), word("bear", "NN"), word("round", "JJ"), word("ran", "VBD")],
            [word("the", "DT"), word("bear", "NN"), word("round", "IN"), word("ran", "VBN")],
        ]
        .concat();
        let learn = |share| CertainWords::learn(&[&sentence], |word| word.pos.index(), 3, share);
        let name = |certain: &CertainWords, word| {
            certain.get(word).and_then(|tag| PartOfSpeech::from_index(tag.into())).map(|t| t.name())
        };
        let strict = learn(1.0);
        assert_eq!((name(&strict, "the"), name(&strict, "ran")), (Some("DT"), None));
        assert_eq!((name(&strict, "The"), name(&strict, "bear")), (None, None));
        assert_eq!(name(&learn(0.6), "ran"), Some("VBD"));
    }
}
