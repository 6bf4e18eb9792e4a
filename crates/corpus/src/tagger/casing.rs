//! How a book writes its words: a word that is never in lower case is probably a name.
//!
//! Input: the tokens of the whole book, untagged. Output: a [`CaseHabit`] per word.

use super::description::{Setting, is_all_capitals};
use base::Vocabulary;

/// How often each word of a book, lower-cased, is written in each [`Form`].
#[derive(Default)]
pub struct Casing {
    words: Vocabulary,
    counts: Vec<[u32; 3]>,
}

/// A way of writing a word that is evidence of its case.
#[derive(Clone, Copy)]
enum Form {
    Lower = 0,
    /// With a capital in the middle of a sentence.
    Capital = 1,
    /// With a capital where a sentence may start.
    Initial = 2,
}

/// How a book writes a word elsewhere. The numbers are part of the tagger's features: trained weights depend
/// on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseHabit {
    /// The word occurs nowhere else, or once or twice and only where a sentence may start.
    Unknown = 0,
    /// Only where a sentence may start, three times or more: nothing is known of its case, but it is
    /// frequent.
    OnlyInitial = 1,
    /// Three times or more with a capital within a sentence and never in lower case: almost certainly a name.
    AlwaysCapital = 2,
    /// Once or twice with a capital within a sentence and never in lower case: probably a name.
    RarelyButCapital = 3,
    /// Three times or more in lower case and never with a capital within a sentence: almost certainly no
    /// name.
    AlwaysLower = 4,
    /// Once or twice in lower case and never with a capital within a sentence: probably no name.
    RarelyButLower = 5,
    /// Both, in lower case at least four times as often: a common word that is sometimes a name or in a
    /// title.
    MostlyLower = 6,
    /// Both, with a capital at least four times as often: a name that is sometimes a common word.
    MostlyCapital = 7,
    /// Both, neither much more often than the other.
    Mixed = 8,
}

/// The form of a token, unless it is no evidence: no letter first, in a heading, capitals throughout.
fn form(token: &str, setting: Setting) -> Option<Form> {
    let first = token.chars().next().filter(|c| c.is_alphabetic())?;
    if setting.heading || is_all_capitals(token) {
        None
    } else if !first.is_uppercase() {
        Some(Form::Lower)
    } else if setting.initial {
        Some(Form::Initial)
    } else {
        Some(Form::Capital)
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

    /// The habit of the book with a word, without one occurrence of the given token.
    pub fn habit(&self, token: &str, setting: Setting) -> CaseHabit {
        let word = self.words.get(&token.to_lowercase());
        let mut counts = word.map_or([0; 3], |word| self.counts[word.index()]);
        if let Some(form) = form(token, setting) {
            counts[form as usize] = counts[form as usize].saturating_sub(1);
        }
        let [lower, capital, initial] = counts;
        match (lower, capital) {
            (0, 0) if initial > 2 => CaseHabit::OnlyInitial,
            (0, 0) => CaseHabit::Unknown,
            (0, 3..) => CaseHabit::AlwaysCapital,
            (0, _) => CaseHabit::RarelyButCapital,
            (3.., 0) => CaseHabit::AlwaysLower,
            (_, 0) => CaseHabit::RarelyButLower,
            _ if lower >= 4 * capital => CaseHabit::MostlyLower,
            _ if capital >= 4 * lower => CaseHabit::MostlyCapital,
            _ => CaseHabit::Mixed,
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
        assert_eq!(casing.habit("Bear", INSIDE), CaseHabit::RarelyButLower);
        assert_eq!(casing.habit("bear", INSIDE), CaseHabit::RarelyButCapital);
        assert_eq!(casing.habit("Bear", INITIAL), CaseHabit::Mixed);
        assert_eq!(casing.habit("Wolf", INSIDE), CaseHabit::Unknown);
    }

    #[test]
    fn headings_and_capitals_throughout_are_no_evidence() {
        let mut casing = Casing::default();
        casing.count("Bear", HEADING, 5);
        casing.count("BEAR", INSIDE, 5);
        casing.count("''", INSIDE, 5);
        assert_eq!(casing.habit("Bear", INSIDE), CaseHabit::Unknown);
        assert_eq!(casing.habit("''", INSIDE), CaseHabit::Unknown);
    }
}
