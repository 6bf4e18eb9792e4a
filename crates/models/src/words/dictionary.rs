//! [`Dictionary`]: the words that have embeddings: training questions → rows of the tables.
//!
//! All words are lower-cased (Appendix A). The first rows are for padding, for the blank and for words
//! that training never saw; the words follow in alphabetical order, which spreads the frequent ones over
//! the shards of [`numerics::apply`].
//!
//! Chosen: unknown words share several rows, by a hash of the word. Their embeddings stay as they were
//! drawn, so a name that no training book has still matches itself and hardly ever another one.

use std::path::Path;

use base::Vocabulary;
use questions::BLANK;
use rayon::prelude::*;

use crate::words::word_list;
use crate::{Result, SplitView};

/// The row of places beyond the ends of a text.
pub(crate) const PADDING: u32 = 0;
/// The row of the missing word.
pub(crate) const MISSING: u32 = 1;
const FIRST_UNKNOWN: u32 = 2;
const N_UNKNOWN: u32 = 1024;
const FIRST_WORD: u32 = FIRST_UNKNOWN + N_UNKNOWN;

/// The words that training saw, each with its row.
pub(crate) struct Dictionary {
    words: Vocabulary,
}

impl Dictionary {
    /// The words of contexts, queries and candidates of the training questions.
    pub fn of_questions(part: &SplitView<'_>) -> Self {
        let vocabulary = part.vocabulary();
        let none = || vec![false; vocabulary.len()];
        let occurs = (0..part.len())
            .into_par_iter()
            .fold(none, |mut occurs, place| {
                let question = part.example(place).question;
                let texts = [question.context.words(), question.query, question.candidates];
                texts.into_iter().flatten().for_each(|word| occurs[word.index()] = true);
                occurs
            })
            .reduce(none, |a, b| a.iter().zip(&b).map(|(a, b)| a | b).collect());
        let occurring = vocabulary.iter().zip(occurs).skip(1).filter(|(_, occurs)| *occurs);
        Self::from_words(occurring.map(|(word, _)| word.to_lowercase()).collect())
    }

    fn from_words(mut words: Vec<String>) -> Self {
        words.sort_unstable();
        let mut vocabulary = Vocabulary::default();
        words.iter().for_each(|word| _ = vocabulary.intern(word));
        Self { words: vocabulary }
    }

    /// The number of rows of a table with one embedding per word (d).
    pub fn n_rows(&self) -> usize {
        FIRST_WORD as usize + self.words.len()
    }

    /// The row of each word of a vocabulary.
    pub fn rows_of(&self, vocabulary: &Vocabulary) -> Vec<u32> {
        let mut rows: Vec<u32> =
            vocabulary.iter().map(|word| self.row(&word.to_lowercase())).collect();
        if let Some(blank) = rows.get_mut(BLANK.index()) {
            *blank = MISSING;
        }
        rows
    }

    fn row(&self, word: &str) -> u32 {
        match self.words.get(word) {
            Some(id) => FIRST_WORD + id.0,
            None => FIRST_UNKNOWN + fnv(word) % N_UNKNOWN,
        }
    }

    /// The words in the order of their rows.
    pub fn words(&self) -> &Vocabulary {
        &self.words
    }

    /// Reads the words from the folder of a model.
    pub fn read(folder: &Path) -> Result<Self> {
        let words = word_list::read(folder, "in alphabetical order", |last, word| last < word)?;
        Ok(Self { words })
    }
}

/// The 32-bit FNV-1a hash: the same in every version of the program.
fn fnv(word: &str) -> u32 {
    word.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use questions::Split;

    use super::*;
    use crate::Training;
    use crate::fixture::{TestQuestion, set_of};

    #[test]
    fn training_words_have_rows_of_their_own_and_others_share_some() {
        let asked = |split, context| TestQuestion {
            context: vec![context],
            query: "Saw XXXXX",
            candidates: &["Fox", "hen"],
            answer: Some(0),
            split,
        };
        let set = set_of(&[asked(Split::Train, "the fox"), asked(Split::Valid, "an owl")]);
        let dictionary = Dictionary::of_questions(&Training::new(&set, 1, &|_| ()).train);
        assert_eq!(dictionary.words().iter().collect::<Vec<_>>(), ["fox", "hen", "saw", "the"]);
        assert_eq!(dictionary.n_rows(), FIRST_WORD as usize + 4);
        let rows = dictionary.rows_of(set.vocabulary());
        let row = |word: &str| rows[set.vocabulary().get(word).unwrap().index()];
        assert_eq!(row("XXXXX"), MISSING);
        assert_eq!((row("fox"), row("Fox"), row("the")), (FIRST_WORD, FIRST_WORD, FIRST_WORD + 3));
        let unknown = FIRST_UNKNOWN..FIRST_WORD;
        assert!(unknown.contains(&row("owl")) && unknown.contains(&row("an")));
        assert_ne!(row("owl"), row("an"));
    }
}
