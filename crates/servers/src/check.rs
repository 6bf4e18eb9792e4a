//! Checks that returned tokens are those of the text that was sent.

use crate::transport::shortened;
use crate::{Error, Piece, Result};

/// Checks that tokens, joined, are the text. One token more is allowed before it: BOS.
pub(crate) fn is_the_text(text: &str, pieces: &[Piece]) -> Result<()> {
    let joined =
        |pieces: &[Piece]| pieces.iter().map(|piece| piece.text.as_str()).collect::<String>();
    let whole = joined(pieces);
    if same(text, &whole) {
        return Ok(());
    }
    let Some((first, rest)) = pieces.split_first() else {
        return Err(Error::EchoIgnored { n_characters: text.chars().count(), found: 0 });
    };
    if same(text, &joined(rest)) {
        return Ok(());
    }
    if let Some((second, rest)) = rest.split_first()
        && second.text == first.text
        && second.id == first.id
        && same(text, &joined(rest))
    {
        return Err(Error::DoubledBos { token: first.text.clone() });
    }
    if pieces.len() <= 1 {
        return Err(Error::EchoIgnored { n_characters: text.chars().count(), found: pieces.len() });
    }
    let differs = text.bytes().zip(whole.bytes()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| {
        let start = text.floor_char_boundary(differs.saturating_sub(20).min(text.len()));
        shortened(&text[start..], 40)
    };
    Err(Error::OtherText { expected: around(text), found: around(&whole) })
}

/// Equal but for parts of characters, and for the space that SentencePiece tokenisers put first.
fn same(text: &str, joined: &str) -> bool {
    if text == joined || joined.strip_prefix(' ') == Some(text) {
        return true;
    }
    if !joined.contains('\u{fffd}') {
        return false;
    }
    // Around each part of a character the rest must be there, in order.
    let mut rest = text;
    joined.split('\u{fffd}').all(|part| match rest.find(part) {
        Some(place) => {
            rest = &rest[place + part.len()..];
            true
        }
        None => false,
    })
}
