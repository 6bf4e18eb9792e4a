//! Numbers and texts as bytes: little-endian base-128, seven bits per byte, the high bit set on all but the
//! last. Small numbers take one byte, and words are numbered so that the common ones are small.

use std::ops::Range;

/// Why bytes can't be what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(pub(crate) &'static str);

/// Appends a number in one to five bytes.
pub(crate) fn push_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a text and its length.
pub(crate) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    push_number(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

/// Reads what [`push_number`] wrote; never past the end.
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// A number below 2³².
    pub(crate) fn number(&mut self) -> Result<usize, DecodeError> {
        let mut number = 0u64;
        for shift in (0..35).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or(DecodeError("it ends too early"))?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return match u32::try_from(number) {
                    Ok(number) => Ok(number as usize),
                    Err(_) => break,
                };
            }
        }
        Err(DecodeError("a number is too large"))
    }

    /// How many things follow, each of at least one byte: never more than there are bytes left.
    pub(crate) fn length(&mut self) -> Result<usize, DecodeError> {
        let length = self.number()?;
        if length <= self.rest.len() { Ok(length) } else { Err(DecodeError("it ends too early")) }
    }

    /// A text, as [`put_text`] wrote it.
    pub(crate) fn text(&mut self) -> Result<&'a str, DecodeError> {
        let length = self.length()?;
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        std::str::from_utf8(text).map_err(|_| DecodeError("a text is not UTF-8"))
    }

    /// A start and a length, as a range below a limit.
    pub(crate) fn range(&mut self, limit: usize) -> Result<Range<usize>, DecodeError> {
        let start = self.number()?;
        let end = start + self.number()?;
        if end <= limit { Ok(start..end) } else { Err(DecodeError("a range is outside the text")) }
    }

    /// That nothing is left.
    pub(crate) fn end(&self) -> Result<(), DecodeError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(DecodeError("there are more bytes after its end"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_seven_bits_a_byte() {
        for (number, expected) in [
            (0, &[0x00][..]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            (u32::MAX as usize, &[0xff, 0xff, 0xff, 0xff, 0x0f]),
        ] {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            assert_eq!(bytes, expected);
            let mut cursor = Cursor::new(&bytes);
            assert_eq!((cursor.number(), cursor.end()), (Ok(number), Ok(())));
        }
    }

    #[test]
    fn texts_follow_their_length() {
        let mut bytes = Vec::new();
        put_text(&mut bytes, "bear");
        put_text(&mut bytes, "");
        assert_eq!(bytes, b"\x04bear\x00");
        let mut cursor = Cursor::new(&bytes);
        assert_eq!((cursor.text(), cursor.text(), cursor.end()), (Ok("bear"), Ok(""), Ok(())));
    }

    #[test]
    fn bytes_that_are_no_number_are_damage() {
        let number = |bytes| Cursor::new(bytes).number();
        assert_eq!(number(&[0x80]), Err(DecodeError("it ends too early")));
        assert_eq!(
            number(&[0xff, 0xff, 0xff, 0xff, 0x10]),
            Err(DecodeError("a number is too large"))
        );
        assert_eq!(number(&[0x80; 9]), Err(DecodeError("a number is too large")));
    }

    #[test]
    fn a_length_beyond_the_end_is_damage_before_anything_is_allocated() {
        assert_eq!(Cursor::new(&[3, b'a', b'b']).text(), Err(DecodeError("it ends too early")));
        assert_eq!(Cursor::new(&[5, 5]).range(9), Err(DecodeError("a range is outside the text")));
    }
}
