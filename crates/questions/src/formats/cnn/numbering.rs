//! The words of a long text → their numbers, several times as fast as one look-up a word.
//!
//! Spaces are found 64 bytes at a time, so that the next word need not wait for the end of this one. Most words are
//! frequent and short: a word of up to 15 bytes is a 128-bit key, its bytes and its length, and a table remembers the
//! numbers of the last keys that fell into each of its places. Only the others are looked up in the vocabulary.

use base::WordId;

use crate::QuestionSet;

/// Bytes of the longest word that has a key, and of a key: these and the length.
const SHORT: usize = 15;
const KEY: usize = SHORT + 1;
/// Places of the table, as a power of two: a mebibyte and a half.
const PLACES: u32 = 16;
/// Bytes in which spaces are found at a time, one bit for each.
const BLOCK: usize = u64::BITS as usize;

/// The bytes of a short word: the first eight, and the others with its length above them.
type Key = (u64, u64);

/// Numbers words of one set.
pub(crate) struct Numbering {
    /// Keys and numbers. With a key of 128 bits in one they would be padded to a third more.
    recent: Vec<(u64, u64, WordId)>,
}

impl Default for Numbering {
    fn default() -> Self {
        // No word has this key: no length is that great.
        Self { recent: vec![(u64::MAX, u64::MAX, WordId(0)); 1 << PLACES] }
    }
}

impl Numbering {
    /// Calls `each` with the number of every word of a text, which is split on single spaces, and with its bytes.
    pub fn number(
        &mut self,
        text: &str,
        set: &mut QuestionSet,
        mut each: impl FnMut(&mut QuestionSet, WordId, &[u8]),
    ) {
        let mut start = 0;
        for (block, bytes) in text.as_bytes().chunks(BLOCK).enumerate() {
            let mut left = match bytes.first_chunk() {
                Some(bytes) => spaces(bytes),
                None => {
                    let mut padded = [0; BLOCK];
                    padded[..bytes.len()].copy_from_slice(bytes);
                    spaces(&padded)
                }
            };
            while left != 0 {
                let end = block * BLOCK + left.trailing_zeros() as usize;
                left &= left - 1;
                let id = self.within(text, start, end, set);
                each(set, id, &text.as_bytes()[start..end]);
                start = end + 1;
            }
        }
        if !text.is_empty() {
            let id = self.one(&text[start..], set);
            each(set, id, &text.as_bytes()[start..]);
        }
    }

    /// The number of one word.
    pub fn one(&mut self, word: &str, set: &mut QuestionSet) -> WordId {
        let mut bytes = [0; KEY];
        match bytes[..SHORT].get_mut(..word.len()) {
            Some(start) => {
                start.copy_from_slice(word.as_bytes());
                self.look_up(key(bytes, word.len()), || set.intern(word))
            }
            None => set.intern(word),
        }
    }

    /// The number of a word of a text.
    fn within(&mut self, text: &str, start: usize, end: usize, set: &mut QuestionSet) -> WordId {
        match text.as_bytes()[start..].first_chunk() {
            Some(bytes) if end - start <= SHORT => {
                self.look_up(key(*bytes, end - start), || set.intern(&text[start..end]))
            }
            _ => self.one(&text[start..end], set),
        }
    }

    fn look_up(&mut self, (first, rest): Key, intern: impl FnOnce() -> WordId) -> WordId {
        let mixed = (first ^ rest.rotate_left(5)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = &mut self.recent[(mixed >> (u64::BITS - PLACES)) as usize];
        if (place.0, place.1) != (first, rest) {
            *place = (first, rest, intern());
        }
        place.2
    }
}

/// The key of the short word that these bytes begin with.
fn key(bytes: [u8; KEY], length: usize) -> Key {
    // A look-up takes fewer instructions than shifts by up to 128 bits.
    const WORD_BITS: [u128; KEY] = {
        let mut bits = [0; KEY];
        let mut length = 0;
        while length < KEY {
            bits[length] = !(u128::MAX << (8 * length));
            length += 1;
        }
        bits
    };
    let word = u128::from_le_bytes(bytes) & WORD_BITS[length];
    (word as u64, (word >> u64::BITS) as u64 | (length as u64) << (u64::BITS - u8::BITS))
}

/// A bit for each byte: whether it is a space.
fn spaces(bytes: &[u8; BLOCK]) -> u64 {
    let (eighths, _) = bytes.as_chunks();
    eighths.iter().zip(0..).fold(0, |found, (&eighth, place)| {
        // The high bit of a byte of `zeros` is set where `others` has a byte of 0.
        const LOW_SEVEN: u64 = u64::from_le_bytes([0x7f; 8]);
        let others = u64::from_le_bytes(eighth) ^ u64::from_le_bytes([b' '; 8]);
        let zeros = !(((others & LOW_SEVEN) + LOW_SEVEN) | others | LOW_SEVEN);
        // Multiplied so, bits 0, 8, … 56 meet in the highest byte.
        found | ((zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * place)
    })
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
        numbering.number(text, &mut set, |_, id, word| {
            words.push((String::from_utf8(word.to_vec()).unwrap(), id));
        });
        for (word, id) in &words {
            assert_eq!(set.vocabulary().word(*id), word);
            assert_eq!(numbering.one(word, &mut set), *id);
        }
        words
    }

    fn check(text: &str) {
        let words: Vec<String> = numbered(text).into_iter().map(|(word, _)| word).collect();
        let expected: Vec<&str> = crate::formats::sentence::words(text).collect();
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
