//! How a book writes its words: a word that never stands in lower case is probably a name.
//!
//! Input: the tokens of the whole book, untagged. Output: for each word one of nine habits.

use super::description::{Setting, is_all_capitals};
use base::Vocabulary;

/// How often each word of a book, lower-cased, is written in each [`Form`].
#[derive(Default)]
pub struct Casing {
    words: Vocabulary,
    counts: Vec<[u32; 3]>,
}

/// A way of writing a word that says something about it.
#[derive(Clone, Copy)]
enum Form {
    Lower = 0,
    /// With a capital where no sentence starts.
    Capital = 1,
    /// With a capital where a sentence may start.
    Initial = 2,
}

/// The form of a token, unless it tells nothing: no letter first, a heading, capitals throughout.
fn form(token: &str, setting: Setting) -> Option<Form> {
    let first = token.chars().next().filter(|c| c.is_alphabetic())?;
    match () {
        () if setting.heading || is_all_capitals(token) => None,
        () if !first.is_uppercase() => Some(Form::Lower),
        () if setting.initial => Some(Form::Initial),
        () => Some(Form::Capital),
    }
}

impl Casing {
    /// Counts `times` occurrences of a token.
    pub fn count(&mut self, token: &str, setting: Setting, times: u32) {
        if let Some(form) = form(token, setting) {
            let word = self.words.intern(&token.to_lowercase());
            self.counts.resize(self.words.len(), [0; 3]);
            self.counts[word.index()][form as usize] += times;
        }
    }

    /// The habit of the book with a word, one occurrence of the given token left out.
    pub fn elsewhere(&self, token: &str, setting: Setting) -> u64 {
        let word = self.words.get(&token.to_lowercase());
        let mut counts = word.map_or([0; 3], |word| self.counts[word.index()]);
        if let Some(form) = form(token, setting) {
            counts[form as usize] = counts[form as usize].saturating_sub(1);
        }
        let [lower, capital, initial] = counts;
        match (lower, capital) {
            (0, 0) if initial > 2 => 1,
            (0, 0) => 0,
            (0, 3..) => 2,
            (0, _) => 3,
            (3.., 0) => 4,
            (_, 0) => 5,
            _ if lower >= 4 * capital => 6,
            _ if capital >= 4 * lower => 7,
            _ => 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSIDE: Setting = Setting { initial: false, heading: false };
    const INITIAL: Setting = Setting { initial: true, heading: false };
    const HEADING: Setting = Setting { initial: false, heading: true };

    #[test]
    fn a_word_itself_is_not_counted() {
        let mut casing = Casing::default();
        casing.count("Bear", INSIDE, 1);
        casing.count("bear", INSIDE, 1);
        assert_eq!(casing.elsewhere("Bear", INSIDE), 5);
        assert_eq!(casing.elsewhere("bear", INSIDE), 3);
        assert_eq!(casing.elsewhere("Bear", INITIAL), 8);
        assert_eq!(casing.elsewhere("Wolf", INSIDE), 0);
    }

    #[test]
    fn headings_and_capitals_throughout_tell_nothing() {
        let mut casing = Casing::default();
        casing.count("Bear", HEADING, 5);
        casing.count("BEAR", INSIDE, 5);
        casing.count("''", INSIDE, 5);
        assert_eq!(casing.elsewhere("Bear", INSIDE), 0);
        assert_eq!(casing.elsewhere("''", INSIDE), 0);
    }
}
