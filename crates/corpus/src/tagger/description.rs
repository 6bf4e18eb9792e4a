//! What the feature templates may ask about a word in its setting, as numbers ready for hashing.

use super::casing::CaseHabit;
use super::{feature_key::hash_text, lexicon::Lexicon};

/// Where a token is; with its text, this determines its whole [`Description`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// At the start of a sentence, or after a mark after which one may start (a quotation mark, a
    /// dash, a colon, …): a capital says nothing there.
    pub initial: bool,
    /// In a sentence that is mostly in capitals, such as a chapter heading.
    pub heading: bool,
}

/// A word in its setting.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// The token as it is written.
    pub word: u64,
    /// Lower-cased, digits as 0.
    pub lower: u64,
    /// Kinds of characters: `Xxx` for *Bear*, `d-x` for *3-foot*.
    pub shape: u64,
    /// The last 1 to 5 letters of `lower`; 0 where the word is shorter.
    pub suffixes: [u64; 5],
    /// The first 1 to 3 letters of `lower`; 0 where the word is no longer than that.
    pub prefixes: [u64; 3],
    /// The word's class among the many small clusters.
    pub fine: u64,
    /// Its class among the few large clusters.
    pub coarse: u64,
    /// Bits: capital, initial, all capitals, heading, hyphen, digit.
    pub flags: u64,
    /// How the word is written elsewhere in the book, a [`CaseHabit`].
    pub casing: u64,
    /// The part of speech that the word always gets.
    pub certain_pos: Option<u8>,
    /// The entity class that it always gets.
    pub certain_entity: Option<u8>,
}

/// The position before the first and after the last word of a sentence.
pub const OUTSIDE: Description = Description {
    word: 1,
    lower: 1,
    shape: 1,
    suffixes: [1; 5],
    prefixes: [1; 3],
    fine: 1,
    coarse: 1,
    flags: 1 << 8,
    casing: 1 << 8,
    certain_pos: None,
    certain_entity: None,
};

const CAPITAL: u64 = 1;
const INITIAL: u64 = 1 << 1;
const ALL_CAPITALS: u64 = 1 << 2;
const HEADING: u64 = 1 << 3;
const HYPHEN: u64 = 1 << 4;
const DIGIT: u64 = 1 << 5;

impl Description {
    /// Describes a token; `habit` is how the book writes its word elsewhere.
    pub fn new(token: &str, setting: Setting, habit: CaseHabit, lexicon: &Lexicon) -> Self {
        let lower = token.to_lowercase();
        let (fine, coarse) = lexicon.classes(&lower);
        let lower = lower.replace(|c: char| c.is_ascii_digit(), "0");
        let mut flags = 0;
        for (flag, holds) in [
            (CAPITAL, is_capitalised(token)),
            (INITIAL, setting.initial),
            (ALL_CAPITALS, is_all_capitals(token)),
            (HEADING, setting.heading),
            (HYPHEN, token.contains('-')),
            (DIGIT, lower.contains('0')),
        ] {
            flags |= if holds { flag } else { 0 };
        }
        Self {
            word: hash_text(token),
            lower: hash_text(&lower),
            shape: hash_text(&shape(token)),
            suffixes: suffixes(&lower),
            prefixes: prefixes(&lower),
            fine,
            coarse,
            flags,
            casing: habit as u64,
            certain_pos: lexicon.pos.get(token),
            certain_entity: lexicon.entity.get(token),
        }
    }

    /// Returns whether a sentence may start with the word.
    pub fn initial(&self) -> u64 {
        self.flags & INITIAL
    }

    /// Returns whether the word has a capital.
    pub fn capital(&self) -> u64 {
        self.flags & CAPITAL
    }

    /// Returns whether the word has a capital, and whether that is evidence.
    pub fn capital_or_initial(&self) -> u64 {
        self.flags & (CAPITAL | INITIAL)
    }

    /// The same, with capitals throughout the word and the sentence distinguished.
    pub fn capitals(&self) -> u64 {
        self.flags & (CAPITAL | INITIAL | ALL_CAPITALS | HEADING)
    }
}

/// Returns whether the token begins with a capital.
pub fn is_capitalised(token: &str) -> bool {
    token.chars().next().is_some_and(char::is_uppercase)
}

/// Returns whether the token has two characters or more and all its letters are capitals.
pub fn is_all_capitals(token: &str) -> bool {
    is_capitalised(token)
        && token.chars().nth(1).is_some()
        && !token.chars().any(char::is_lowercase)
}

/// The token with every letter as `X` or `x` and every digit as `d`; runs are cut after two.
fn shape(token: &str) -> String {
    let mut shape = String::new();
    for c in token.chars() {
        let kind = match c {
            c if c.is_uppercase() => 'X',
            c if c.is_alphabetic() => 'x',
            c if c.is_numeric() => 'd',
            c => c,
        };
        if !shape.ends_with(&[kind, kind].iter().collect::<String>()) {
            shape.push(kind);
        }
    }
    shape
}

fn suffixes(lower: &str) -> [u64; 5] {
    let mut suffixes = [0; 5];
    for (suffix, (start, _)) in suffixes.iter_mut().zip(lower.char_indices().rev()) {
        *suffix = hash_text(&lower[start..]);
    }
    suffixes
}

fn prefixes(lower: &str) -> [u64; 3] {
    let mut prefixes = [0; 3];
    for (prefix, (end, _)) in prefixes.iter_mut().zip(lower.char_indices().skip(1)) {
        *prefix = hash_text(&lower[..end]);
    }
    prefixes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_keep_two_of_a_run() {
        let shapes = ["Bear", "BEARS", "1859", "3-foot", "n't", "''", ""].map(shape);
        assert_eq!(shapes, ["Xxx", "XX", "dd", "d-xx", "x'x", "''", ""]);
    }

    #[test]
    fn affixes_count_characters_and_stop_at_the_word() {
        let hashes = |texts: &[&str]| texts.iter().map(|text| hash_text(text)).collect::<Vec<_>>();
        assert_eq!(suffixes("née")[..3], hashes(&["e", "ée", "née"]));
        assert_eq!(suffixes("née")[3..], [0, 0]);
        assert_eq!(prefixes("née")[..2], hashes(&["n", "né"]));
        assert_eq!(prefixes("née")[2], 0);
    }

    #[test]
    fn capitals_are_distinguished() {
        assert!(is_capitalised("Ada") && !is_all_capitals("Ada"));
        assert!(is_all_capitals("ADA") && is_all_capitals("A.B.") && !is_all_capitals("I"));
        assert!(!is_capitalised("'tis") && !is_all_capitals("42") && !is_capitalised(""));
    }
}
