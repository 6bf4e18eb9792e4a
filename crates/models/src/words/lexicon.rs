//! [`Lexicon`]: the words that a language network reads and predicts (§4.4): running text → numbers.
//!
//! The end of sentence comes first, then `<unk>`, which replaces all words that the training books have
//! too seldom or not at all, then the words, the frequent ones first. Case is kept (Appendix A) unless a
//! setting says otherwise.

use std::path::Path;

use base::{Vocabulary, WordId};

use crate::words::running_text::Books;
use crate::words::word_list;
use crate::{Result, Setting};

/// The number of the end of sentence, which is also read before the first word of a text.
pub(crate) const END: u32 = 0;
/// The number of all words that the lexicon does not have.
pub(crate) const UNKNOWN: u32 = 1;
const FIRST_WORD: u32 = 2;

pub(crate) const MIN_COUNT: Setting = Setting::whole("min_count", "2", 1..=1_000_000)
    .doc("How often a word must occur in the training books to be known; all others are `<unk>`.");
pub(crate) const LOWERCASE: Setting =
    Setting::flag("lowercase", "false").doc("Whether words are lower-cased.");

/// The words that are known, each with its number.
pub(crate) struct Lexicon {
    words: Vocabulary,
    lowercase: bool,
}

impl Lexicon {
    /// The words that books have at least `min_count` times.
    pub fn of_books(
        books: &Books<'_>,
        vocabulary: &Vocabulary,
        min_count: usize,
        lowercase: bool,
    ) -> Self {
        let mut by_number = vec![0; vocabulary.len()];
        books.iter().flatten().copied().flatten().for_each(|word| by_number[word.index()] += 1);
        let mut forms = Vocabulary::default();
        let mut counts: Vec<usize> = Vec::new();
        for (word, count) in vocabulary.iter().zip(by_number).filter(|(_, count)| *count > 0) {
            let form = forms.intern(&spelling(word, lowercase)).index();
            counts.resize(forms.len(), 0);
            counts[form] += count;
        }
        let mut known: Vec<(usize, &str)> =
            counts.into_iter().zip(forms.iter()).filter(|(count, _)| *count >= min_count).collect();
        known.sort_unstable_by_key(|&(count, word)| (std::cmp::Reverse(count), word));
        let mut words = Vocabulary::default();
        known.into_iter().for_each(|(_, word)| _ = words.intern(word));
        Self { words, lowercase }
    }

    /// How many numbers there are, the end of sentence and `<unk>` among them.
    pub fn len(&self) -> usize {
        FIRST_WORD as usize + self.words.len()
    }

    /// The words in the order of their numbers, without the first two.
    pub fn words(&self) -> &Vocabulary {
        &self.words
    }

    /// The tokens of each word of a vocabulary: one each.
    pub fn tokens_of(&self, vocabulary: &Vocabulary) -> Tokens {
        let token = |word: &str| match self.words.get(&spelling(word, self.lowercase)) {
            Some(id) => FIRST_WORD + id.0,
            None => UNKNOWN,
        };
        Tokens(vocabulary.iter().map(token).collect())
    }

    /// Reads the words from the folder of a model.
    pub fn read(folder: &Path, lowercase: bool) -> Result<Self> {
        Ok(Self { words: word_list::read(folder, "distinct", |_, _| true)?, lowercase })
    }
}

/// The tokens of the words of a set. A lexicon has one token per word; only this type knows that.
pub(crate) struct Tokens(Vec<u32>);

impl Tokens {
    /// The tokens of a word.
    pub fn of(&self, word: WordId) -> &[u32] {
        std::slice::from_ref(&self.0[word.index()])
    }

    /// The tokens of some words, one after the other.
    pub fn of_all(&self, words: &[WordId]) -> impl Iterator<Item = u32> {
        words.iter().flat_map(|word| self.of(*word)).copied()
    }
}

fn spelling(word: &str, lowercase: bool) -> String {
    if lowercase { word.to_lowercase() } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use questions::Split;

    use super::*;
    use crate::Training;
    use crate::fixture::{TestQuestion, set_of};
    use crate::words::running_text;

    #[test]
    fn frequent_words_come_first_and_rare_ones_are_unknown() {
        let asked = TestQuestion {
            context: vec!["The hen saw the fox", "the owl saw The hen", "a hen"],
            query: "the XXXXX",
            candidates: &["fox", "hen"],
            answer: Some(0),
            split: Split::Train,
        };
        let set = set_of(&[asked]);
        let training = Training::new(&set, 1, &|_| ());
        let books = running_text::to_learn_from("x", &training).unwrap();
        let words = |min_count, lowercase| {
            let lexicon = Lexicon::of_books(&books, set.vocabulary(), min_count, lowercase);
            let words: Vec<String> = lexicon.words().iter().map(str::to_owned).collect();
            (words.join(" "), lexicon)
        };
        assert_eq!(words(2, true).0, "the hen saw");
        let (text, lexicon) = words(2, false);
        assert_eq!(text, "hen The saw the");
        assert_eq!(lexicon.len(), 6);
        let tokens = lexicon.tokens_of(set.vocabulary());
        let number = |word: &str| tokens.of(set.vocabulary().get(word).unwrap())[0];
        assert_eq!((number("hen"), number("The"), number("fox"), number("XXXXX")), (2, 3, 1, 1));
        assert_eq!(words(1, false).0, "hen The saw the a fox owl");
    }
}
