//! Bytes → text: UTF-8, UTF-16, Windows-1252 or Mac Roman.
//!
//! A byte-order mark decides; else what is UTF-8, or nearly so, is that. The rest is Windows-1252 (which includes
//! Latin-1 except for control characters) or Mac Roman, whichever gives the more likely characters.

use std::borrow::Cow;

/// What the bytes of a single-byte encoding beyond ASCII stand for.
#[derive(Debug, PartialEq)]
struct SingleByte {
    /// The characters of 0x80, 0x81, …; the bytes after the last of them are those of Latin-1.
    characters: &'static str,
}

/// As web browsers read it: bytes without a character are control characters.
static WINDOWS_1252: SingleByte = SingleByte {
    characters: "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ",
};
static MAC_ROMAN: SingleByte = SingleByte {
    characters: "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰\
                 ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ",
};

impl SingleByte {
    /// The character of each byte.
    fn table(&self) -> [char; 256] {
        let mut table = std::array::from_fn(|byte| char::from(byte as u8));
        table[0x80..].iter_mut().zip(self.characters.chars()).for_each(|(slot, c)| *slot = c);
        table
    }

    fn decode(&self, bytes: &[u8]) -> String {
        let table = self.table();
        bytes.iter().map(|&byte| table[usize::from(byte)]).collect()
    }
}

/// Decodes bytes as text, without the byte-order mark.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match bytes {
        [0xef, 0xbb, 0xbf, bytes @ ..] => {
            str::from_utf8(bytes).map_or_else(|_| repaired(bytes).into(), Cow::from)
        }
        [0xff, 0xfe, bytes @ ..] => utf_16(bytes, u16::from_le_bytes).into(),
        [0xfe, 0xff, bytes @ ..] => utf_16(bytes, u16::from_be_bytes).into(),
        _ => match str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) if is_nearly_utf_8(bytes) => repaired(bytes).into(),
            Err(_) => single_byte_encoding(bytes).decode(bytes).into(),
        },
    }
}

/// Decodes UTF-16; what is not is replaced.
fn utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (units, rest) = bytes.as_chunks();
    let decoded = char::decode_utf16(units.iter().map(|&pair| unit(pair)));
    let replaced = decoded.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
    let is_open = units.last().is_some_and(|&pair| (0xd800..0xdc00).contains(&unit(pair)));
    let odd = (!rest.is_empty() && !is_open).then_some(char::REPLACEMENT_CHARACTER);
    replaced.chain(odd).collect()
}

/// Decodes UTF-8 whose wrong bytes are Windows-1252.
fn repaired(bytes: &[u8]) -> String {
    let decode = |wrong: &[u8]| WINDOWS_1252.decode(wrong);
    bytes.utf8_chunks().flat_map(|piece| [piece.valid().into(), decode(piece.invalid())]).collect()
}

/// Returns whether there are more multi-byte characters of UTF-8 than invalid bytes: a UTF-8 file with a few
/// wrong bytes must not lose all its quotation marks.
fn is_nearly_utf_8(bytes: &[u8]) -> bool {
    let (mut right, mut wrong) = (0, 0);
    for piece in bytes.utf8_chunks() {
        right += piece.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += piece.invalid().len();
    }
    right > wrong
}

/// The one of the two encodings in which the characters beyond ASCII fit better between their neighbours.
///
/// Chosen: `don’t` in Mac Roman is `donÕt` in Windows-1252, and `café` is `cafŽ`; the other way round they are
/// `donít` and `cafÈ`. So a capital after a small letter is the surest sign of the wrong encoding, and quotation
/// marks and dashes are likelier in English than accents.
fn single_byte_encoding(bytes: &[u8]) -> &'static SingleByte {
    let score = |encoding: &SingleByte| -> i64 {
        let table = encoding.table();
        let at = |place: Option<usize>| {
            place.and_then(|place| bytes.get(place)).map_or(' ', |&byte| table[usize::from(byte)])
        };
        let beyond_ascii = (0..bytes.len()).filter(|&place| !bytes[place].is_ascii());
        let fits =
            |place: usize| fit(at(place.checked_sub(1)), at(Some(place)), at(Some(place + 1)));
        beyond_ascii.map(fits).sum()
    };
    if score(&MAC_ROMAN) > score(&WINDOWS_1252) { &MAC_ROMAN } else { &WINDOWS_1252 }
}

/// How well a character that is not ASCII fits between two others.
fn fit(before: char, c: char, after: char) -> i64 {
    let is_in_capitals = before.is_uppercase() || after.is_uppercase();
    match c {
        '‘' | '’' | '“' | '”' | '–' | '—' | '…' | '\u{a0}' => 3,
        _ if c.is_lowercase() && is_in_capitals && !before.is_lowercase() => -3,
        _ if c.is_lowercase() && (before.is_lowercase() || after.is_lowercase()) => 2,
        _ if c.is_uppercase() && before.is_lowercase() => -3,
        _ if c.is_uppercase() && after.is_alphabetic() => 1,
        _ if c.is_control() => -3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXTS: [&str; 6] = [
        "“Don’t,” said Zoë—she was in the café—“don’t eat Père Ours’s crème brûlée…”",
        "‘It’s his,’ she said.",
        "It wasn’t so.",
        "The café was shut",
        "THE CAFÉ – “À LA CARTE”",
        "He sang naïvely of Ångström, señor Muñoz and the façade of his château in Besançon.",
    ];

    fn encoded(text: &str, encoding: &SingleByte) -> Vec<u8> {
        let table = encoding.table();
        text.chars().map(|c| table.iter().position(|&other| other == c).unwrap() as u8).collect()
    }

    #[test]
    fn windows_1252_and_mac_roman_are_told_apart() {
        for text in TEXTS {
            for encoding in [&WINDOWS_1252, &MAC_ROMAN] {
                assert_eq!(decode(&encoded(text, encoding)), text, "{encoding:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn bytes_are_decoded_as_by_encoding_rs(bytes: Vec<u8>) {
            for (ours, theirs) in [(&WINDOWS_1252, encoding_rs::WINDOWS_1252), (&MAC_ROMAN, encoding_rs::MACINTOSH)] {
                prop_assert_eq!(ours.decode(&bytes), theirs.decode_without_bom_handling(&bytes).0);
            }
            for mark in [[0xff, 0xfe], [0xfe, 0xff]] {
                let marked = [&mark, &bytes[..]].concat();
                let (encoding, _) = encoding_rs::Encoding::for_bom(&mark).unwrap();
                prop_assert_eq!(decode(&marked), encoding.decode_with_bom_removal(&marked).0);
            }
        }
    }

    #[test]
    fn half_a_character_of_utf_16_is_replaced_once() {
        assert_eq!(decode(b"\xff\xfeA\0B"), "A\u{fffd}");
        assert_eq!(decode(b"\xff\xfe\0\xd8A"), "\u{fffd}");
    }

    #[test]
    fn what_could_be_either_is_windows_1252() {
        assert_eq!(decode(b"5 \xbd bowls"), "5 ½ bowls");
    }
}
