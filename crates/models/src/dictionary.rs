//! [`Dictionary`]: the words that have embeddings: training questions → rows of the tables.
//!
//! All words are lower-cased (Appendix A). The first rows are for padding, for the blank and for words
//! that training never saw; the words follow in alphabetical order, which spreads the frequent ones over
//! the shards of [`numerics::apply`].
//!
//! Chosen: unknown words share several rows, by a hash of the word. Their embeddings stay as they were
//! drawn, so a name that no training book has still matches itself and hardly ever another one.

use std::fs;
use std::path::Path;

use corpus::Vocabulary;
use questions::BLANK;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::{Error, Part, Result};

/// The row of places beyond the ends of a text.
pub(crate) const PADDING: u32 = 0;
/// The row of the missing word.
pub(crate) const MISSING: u32 = 1;
const FIRST_UNKNOWN: u32 = 2;
const N_UNKNOWN: u32 = 1024;
const FIRST_WORD: u32 = FIRST_UNKNOWN + N_UNKNOWN;

const FILE: &str = "words.txt";

/// The words that training saw, each with its row.
pub(crate) struct Dictionary {
    words: Vocabulary,
}

impl Dictionary {
    /// The words of contexts, queries and candidates of the training questions.
    pub fn of_questions(part: &Part<'_>) -> Self {
        let vocabulary = part.vocabulary();
        let none = || vec![false; vocabulary.len()];
        let occurs = (0..part.len())
            .into_par_iter()
            .fold(none, |mut occurs, place| {
                let question = part.example(place).question;
                let texts = question.context.iter().chain([&question.query, &question.candidates]);
                texts.copied().flatten().for_each(|word| occurs[word.index()] = true);
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

    /// How many rows a table with one embedding a word needs (d).
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

    /// Tells dictionaries apart: the first 16 hex digits of SHA-256 over the words.
    pub fn hash(&self) -> String {
        let digest = Sha256::digest(self.to_text());
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// One word a line; a line break or backslash within a word is escaped.
    fn to_text(&self) -> String {
        let escaped = |word: &str| word.replace('\\', "\\\\").replace('\n', "\\n") + "\n";
        self.words.iter().map(escaped).collect()
    }

    /// Writes `words.txt` into the folder of a model.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        fs::write(&path, self.to_text()).map_err(|reason| Error::File { path, reason })
    }

    /// Reads `words.txt` from the folder of a model.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let text = fs::read_to_string(&path).map_err(|error| Error::unreadable(&path, error))?;
        let mut words = Vec::new();
        for (place, line) in text.split_terminator('\n').enumerate() {
            let word = unescaped(line).filter(|word| words.last().is_none_or(|last| last < word));
            words.push(word.ok_or_else(|| Error::Damaged {
                path: path.clone(),
                line: Some(place + 1),
                reason: "the words are not in alphabetical order".to_owned(),
            })?);
        }
        Ok(Self::from_words(words))
    }
}

fn unescaped(line: &str) -> Option<String> {
    let mut word = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        word.push(match character {
            '\\' => match characters.next()? {
                'n' => '\n',
                '\\' => '\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some(word)
}

/// The 32-bit FNV-1a hash: the same in every version of the program.
fn fnv(word: &str) -> u32 {
    word.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use questions::Split;

    use super::*;
    use crate::Training;
    use crate::fixture::{Asked, set_of};

    #[test]
    fn training_words_have_rows_of_their_own_and_others_share_some() {
        let asked = |split, context| Asked {
            context: vec![context],
            query: "Saw XXXXX",
            candidates: &["Fox", "hen"],
            answer: Some(0),
            split,
        };
        let set = set_of(&[asked(Split::Train, "the fox"), asked(Split::Valid, "an owl")]);
        let dictionary = Dictionary::of_questions(&Training::new(&set, 1, &|_| ()).train);
        assert_eq!(dictionary.to_text(), "fox\nhen\nsaw\nthe\n");
        assert_eq!(dictionary.n_rows(), FIRST_WORD as usize + 4);
        let rows = dictionary.rows_of(set.vocabulary());
        let row = |word: &str| rows[set.vocabulary().get(word).unwrap().index()];
        assert_eq!(row("XXXXX"), MISSING);
        assert_eq!((row("fox"), row("Fox"), row("the")), (FIRST_WORD, FIRST_WORD, FIRST_WORD + 3));
        let unknown = FIRST_UNKNOWN..FIRST_WORD;
        assert!(unknown.contains(&row("owl")) && unknown.contains(&row("an")));
        assert_ne!(row("owl"), row("an"));
    }

    proptest! {
        #[test]
        fn a_dictionary_is_read_as_it_was_written(words in prop::collection::vec(".{0,4}|\\\\|\n", 0..9)) {
            let folder = tempfile::tempdir().unwrap();
            let dictionary = Dictionary::from_words(words);
            dictionary.write(folder.path()).unwrap();
            let read = Dictionary::read(folder.path()).unwrap();
            prop_assert_eq!(read.hash(), dictionary.hash());
            let words = |dictionary: &Dictionary| {
                dictionary.words.iter().map(str::to_owned).collect::<Vec<_>>()
            };
            prop_assert_eq!(words(&read), words(&dictionary));
        }
    }

    #[test]
    fn damage_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["fox\nhen\nhen\n", "fox\n\\q\n"] {
            fs::write(folder.path().join(FILE), text).unwrap();
            let error = Dictionary::read(folder.path()).err().unwrap().to_string();
            assert!(error.contains("words.txt:"), "{error}");
        }
    }
}
