//! A book as the feature templates see it: each distinct token in its setting is described once.
//!
//! Input: sentences of tokens. Output: sentences of indices into a list of [`Description`]s. A book
//! repeats its words about ten times, so everything that depends on one word alone, its weights
//! included, is computed ten times less often.

use super::{
    casing::Casing,
    description::{Description, Setting, is_all_capitals},
    lexicon::Lexicon,
};
use base::Vocabulary;

/// A book whose sentences are lists of [`Description`]s, by index.
pub struct DescribedBook {
    /// One per distinct token and setting.
    pub descriptions: Vec<Description>,
    /// The index in `descriptions` of each token.
    pub sentences: Vec<Vec<u32>>,
}

impl DescribedBook {
    /// Describes every token of a book.
    pub fn new<'a, S>(sentences: impl IntoIterator<Item = S>, lexicon: &Lexicon) -> Self
    where
        S: IntoIterator<Item = &'a str>,
    {
        let mut kinds = Kinds::default();
        let mut tokens = Vec::new();
        let mut described = Vec::new();
        for sentence in sentences {
            tokens.clear();
            tokens.extend(sentence);
            described.push(kinds.read(&tokens));
        }
        Self { descriptions: kinds.describe(lexicon), sentences: described }
    }
}

/// Distinct tokens in distinct settings, numbered in order of appearance.
#[derive(Default)]
struct Kinds {
    vocabulary: Vocabulary,
    /// For each word and setting the number of the kind, or `NEW`.
    numbers: Vec<[u32; 4]>,
    /// For each kind its word, setting and count.
    kinds: Vec<(u32, Setting, u32)>,
}

const NEW: u32 = u32::MAX;

impl Kinds {
    fn read(&mut self, tokens: &[&str]) -> Vec<u32> {
        let heading = is_heading(tokens);
        let mut previous = None;
        tokens
            .iter()
            .map(|token| {
                let initial = previous.is_none_or(may_start_a_sentence_after);
                previous = Some(*token);
                self.number(token, Setting { initial, heading })
            })
            .collect()
    }

    fn number(&mut self, token: &str, setting: Setting) -> u32 {
        let word = self.vocabulary.intern(token);
        if word.index() == self.numbers.len() {
            self.numbers.push([NEW; 4]);
        }
        let setting_index = usize::from(setting.initial) * 2 + usize::from(setting.heading);
        let number = &mut self.numbers[word.index()][setting_index];
        if *number == NEW {
            *number = self.kinds.len() as u32;
            self.kinds.push((word.0, setting, 0));
        }
        self.kinds[*number as usize].2 += 1;
        *number
    }

    fn describe(&self, lexicon: &Lexicon) -> Vec<Description> {
        let words: Vec<&str> = self.vocabulary.iter().collect();
        let mut casing = Casing::default();
        for &(word, setting, count) in &self.kinds {
            casing.count(words[word as usize], setting, count);
        }
        let describe = |&(word, setting, _): &(u32, Setting, u32)| {
            let word = words[word as usize];
            Description::new(word, setting, casing.habit(word, setting), lexicon)
        };
        self.kinds.iter().map(describe).collect()
    }
}

fn may_start_a_sentence_after(token: &str) -> bool {
    const MARKS: [&str; 16] = [
        "``", "`", "''", "'", "-LRB-", "-LSB-", "--", "*", "_", "\"", "...", ".", "!", "?", ":",
        ";",
    ];
    MARKS.contains(&token)
}

/// More than a third of the words, of three or more, in capitals throughout.
fn is_heading(tokens: &[&str]) -> bool {
    let n_capitals = tokens.iter().filter(|token| is_all_capitals(token)).count();
    let n_words = tokens.iter().filter(|token| token.chars().any(char::is_alphabetic)).count();
    n_words > 2 && n_capitals * 3 > n_words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(sentences: &[&str]) -> DescribedBook {
        let sentences = sentences.iter().map(|sentence| sentence.split(' '));
        DescribedBook::new(sentences, &Lexicon::default())
    }

    #[test]
    fn a_token_in_the_same_setting_is_described_once() {
        let book = described(&["The bear saw the bear .", "`` The bear ! ''"]);
        assert_eq!(book.sentences, [vec![0, 1, 2, 3, 1, 4], vec![5, 0, 1, 6, 7]]);
        assert_eq!(book.descriptions.len(), 8);
    }

    #[test]
    fn headings_and_starts_make_a_setting_of_their_own() {
        let book = described(&["CHAPTER ONE begins", "He saw CHAPTER ONE come in", "So"]);
        assert_eq!(book.sentences, [vec![0, 1, 2], vec![3, 4, 5, 6, 7, 8], vec![9]]);
        assert!(is_heading(&["A", "BIG", "BEAR"]) && !is_heading(&["BEAR", "!"]));
    }

    #[test]
    fn an_empty_book_has_no_descriptions() {
        assert!(described(&[]).descriptions.is_empty());
    }
}
