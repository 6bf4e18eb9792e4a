//! The words of a long text → their numbers, several times as fast as one look-up a word.
//!
//! Most words of a text are frequent and short. A word of up to 15 bytes is a 128-bit key, its bytes and its length,
//! and a small table remembers the numbers of the last keys that fell into each of its places; only the others are
//! looked up in the vocabulary.

use corpus::WordId;

use crate::QuestionSet;

const BYTES: usize = 16;
/// Places of the table, as a power of two: 512 KiB of keys and numbers.
const PLACES: u32 = 14;

const LOW_BITS: u128 = u128::from_le_bytes([0x01; BYTES]);
const HIGH_BITS: u128 = u128::from_le_bytes([0x80; BYTES]);
const SPACES: u128 = u128::from_le_bytes([b' '; BYTES]);

/// Numbers words of one set.
pub(crate) struct Numbering {
    recent: Vec<(u128, WordId)>,
}

impl Default for Numbering {
    fn default() -> Self {
        // No word has this key: a word of 15 bytes has 15 in the highest of them.
        Self { recent: vec![(u128::MAX, WordId(0)); 1 << PLACES] }
    }
}

impl Numbering {
    /// Calls `each` with the number of every word of a text, which is split on single spaces, and with the word.
    pub fn number(
        &mut self,
        text: &str,
        set: &mut QuestionSet,
        mut each: impl FnMut(&mut QuestionSet, WordId, &str),
    ) {
        let mut rest = text;
        while !rest.is_empty() || rest.as_ptr() != text.as_ptr() {
            let (length, id) = match short_word(rest.as_bytes()) {
                Some((length, key)) => (length, self.look_up(key, &rest[..length], set)),
                None => {
                    let length = rest.bytes().position(|byte| byte == b' ').unwrap_or(rest.len());
                    (length, set.intern(&rest[..length]))
                }
            };
            each(set, id, &rest[..length]);
            match rest.get(length + 1..) {
                Some(after) => rest = after,
                None => return,
            }
        }
    }

    fn look_up(&mut self, key: u128, word: &str, set: &mut QuestionSet) -> WordId {
        let mixed = (key as u64 ^ (key >> 61) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = &mut self.recent[(mixed >> (u64::BITS - PLACES)) as usize];
        if place.0 != key {
            *place = (key, set.intern(word));
        }
        place.1
    }
}

/// Length and key of the first word, if a space ends it among the next 16 bytes.
fn short_word(bytes: &[u8]) -> Option<(usize, u128)> {
    let next = u128::from_le_bytes(*bytes.first_chunk::<BYTES>()?);
    // The lowest byte that is 0 is the lowest whose high bit is set here (Mycroft 1987).
    let others = next ^ SPACES;
    let zeros = others.wrapping_sub(LOW_BITS) & !others & HIGH_BITS;
    if zeros == 0 {
        return None;
    }
    let length = zeros.trailing_zeros() / u8::BITS;
    let word = next & !(u128::MAX << (length * u8::BITS));
    Some((length as usize, word | u128::from(length) << (u128::BITS - u8::BITS)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words and numbers of a text, with a table that has seen another text before.
    fn numbered(text: &str) -> Vec<(String, WordId)> {
        let (mut set, mut numbering) = (QuestionSet::default(), Numbering::default());
        let mut words = Vec::new();
        numbering.number("a cat sat on the mat of a cat", &mut set, |_, _, _| {});
        numbering.number(text, &mut set, |_, id, word| words.push((word.to_owned(), id)));
        for (word, id) in &words {
            assert_eq!(set.vocabulary().word(*id), word);
        }
        words
    }

    fn check(text: &str) {
        let words: Vec<String> = numbered(text).into_iter().map(|(word, _)| word).collect();
        let expected: Vec<&str> = crate::sentence::words(text).collect();
        assert_eq!(words, expected, "{text:?}");
    }

    #[test]
    fn words_of_all_lengths_are_split_and_numbered() {
        for length in 0..40 {
            let word = "x".repeat(length);
            check(&word);
            check(&format!("{word} cat {word} the end of the text"));
            check(&format!("the end of the text, {word} "));
        }
        check("  two  spaces ");
        check("\0 a\0 a");
    }

    proptest! {
        #[test]
        fn any_text_is_split_on_single_spaces(text in "[a-d é\0]{0,80}") {
            check(&text);
        }
    }
}
