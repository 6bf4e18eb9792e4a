//! Pieces in brackets: `[Illustration: …]` and `[Transcriber's Note: …]`, anywhere in the text, and the
//! `{…: p1.jpg}` of some files.

use std::ops::Range;

/// Longer than any caption, and short enough that brackets without an end cost little time.
const LONGEST: usize = 2000;

/// What a piece starts with, in small letters.
const OPENINGS: [&str; 8] = [
    "[illustration",
    "[frontispiece",
    "[picture:",
    "[transcriber's note",
    "[transcriber’s note",
    "[transcribers' note",
    "[transcriber note",
    "[note by transcriber",
];

/// What a caption in braces ends with.
const PICTURES: [&str; 3] = [".jpg}", ".png}", ".gif}"];

/// The pieces in brackets that start in a stretch of the text.
pub(super) fn find(text: &str, body: Range<usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut position = body.start;
    while let Some(found) = text[position..body.end].find(['[', '{']) {
        let start = position + found;
        let rest = &text[start..body.end];
        match if rest.starts_with('[') { bracketed(rest) } else { braced(rest) } {
            Some(length) => {
                pieces.push(start..start + length);
                position = start + length;
            }
            None => position = start + 1,
        }
    }
    pieces
}

/// The length of a known piece at the start of a text: up to the bracket that closes the first.
fn bracketed(text: &str) -> Option<usize> {
    let starts_with = |opening: &str| {
        let start = text.as_bytes().get(..opening.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(opening.as_bytes()))
    };
    OPENINGS.iter().find(|opening| starts_with(opening))?;
    let mut depth = 0;
    for (position, byte) in text.bytes().enumerate().take(LONGEST) {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(position + 1);
        }
    }
    None
}

/// The length of a caption in braces with the name of a picture at its end and no brace inside.
fn braced(text: &str) -> Option<usize> {
    let inside = &text[1..];
    let length = inside.find(['{', '}'])? + 2;
    let is_picture = PICTURES.iter().any(|ending| text[..length].ends_with(ending));
    is_picture.then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> String {
        let mut left = text.to_owned();
        for piece in find(text, 0..text.len()).into_iter().rev() {
            left.replace_range(piece, "");
        }
        left
    }

    #[test]
    fn captions_go_with_the_brackets_in_them() {
        assert_eq!(cut("a [Illustration] b [ILLUSTRATION: Bears\n[sic], asleep] c"), "a  b  c");
        assert_eq!(cut("{The bears: p1.jpg}\nOnce"), "\nOnce");
    }

    #[test]
    fn notes_go_from_the_middle_of_a_line() {
        assert_eq!(cut("somethink [Transcriber's note: so\nin the book] else"), "somethink  else");
    }

    #[test]
    fn other_brackets_stay() {
        for text in [
            "\"[So] he said [to the bear].\"",
            "[Illustrious bears came.]",
            "{A bowl}",
            "[Illustration: no end",
            "[note: a bear]",
        ] {
            assert_eq!(cut(text), text);
        }
    }
}
