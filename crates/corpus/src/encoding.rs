//! Bytes → text: UTF-8, UTF-16, Windows-1252 or Mac Roman.
//!
//! A byte-order mark decides; else what is UTF-8, or nearly so, is that. The rest is Windows-1252 (which includes
//! Latin-1 except for control characters) or Mac Roman, whichever gives the more likely characters.

use std::borrow::Cow;

use encoding_rs::{Encoding, MACINTOSH, UTF_8, WINDOWS_1252};

/// Decodes bytes as text, without the byte-order mark.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let (encoding, mark) = Encoding::for_bom(bytes).unwrap_or((UTF_8, 0));
    let bytes = &bytes[mark..];
    match encoding.decode_without_bom_handling_and_without_replacement(bytes) {
        Some(text) => text,
        None if encoding != UTF_8 => encoding.decode_without_bom_handling(bytes).0,
        None if mark > 0 || is_nearly_utf_8(bytes) => {
            let pieces = bytes.utf8_chunks().flat_map(|piece| {
                [piece.valid().into(), WINDOWS_1252.decode_without_bom_handling(piece.invalid()).0]
            });
            pieces.collect::<String>().into()
        }
        None => single_byte_encoding(bytes).decode_without_bom_handling(bytes).0,
    }
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
fn single_byte_encoding(bytes: &[u8]) -> &'static Encoding {
    let score = |encoding: &'static Encoding| -> i64 {
        let character = |byte: u8| {
            let text = encoding.decode_without_bom_handling(std::slice::from_ref(&byte)).0;
            text.chars().next().unwrap_or_default()
        };
        let table: Vec<char> = (0..=u8::MAX).map(character).collect();
        let at = |place: Option<usize>| {
            place.and_then(|place| bytes.get(place)).map_or(' ', |&byte| table[usize::from(byte)])
        };
        let beyond_ascii = (0..bytes.len()).filter(|&place| !bytes[place].is_ascii());
        let fits =
            |place: usize| fit(at(place.checked_sub(1)), at(Some(place)), at(Some(place + 1)));
        beyond_ascii.map(fits).sum()
    };
    if score(MACINTOSH) > score(WINDOWS_1252) { MACINTOSH } else { WINDOWS_1252 }
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
    use super::*;

    const TEXTS: [&str; 6] = [
        "“Don’t,” said Zoë—she was in the café—“don’t eat Père Ours’s crème brûlée…”",
        "‘It’s his,’ she said.",
        "It wasn’t so.",
        "The café was shut",
        "THE CAFÉ – “À LA CARTE”",
        "He sang naïvely of Ångström, señor Muñoz and the façade of his château in Besançon.",
    ];

    fn encoded(text: &str, encoding: &'static Encoding) -> Vec<u8> {
        let byte = |c: char| {
            let is_it =
                |byte: &u8| encoding.decode_without_bom_handling(&[*byte]).0.chars().eq([c]);
            (0..=u8::MAX).find(is_it).unwrap()
        };
        text.chars().map(byte).collect()
    }

    #[test]
    fn windows_1252_and_mac_roman_are_told_apart() {
        for text in TEXTS {
            for encoding in [WINDOWS_1252, MACINTOSH] {
                assert_eq!(decode(&encoded(text, encoding)), text, "{}", encoding.name());
            }
        }
    }

    #[test]
    fn what_could_be_either_is_windows_1252() {
        assert_eq!(decode(b"5 \xbd bowls"), "5 ½ bowls");
    }
}
