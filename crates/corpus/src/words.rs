//! Text → tokens, as Stanford's Penn Treebank tokeniser wrote the released CBT text (§2).
//!
//! Written from what the released text shows compared with its books, quirks included; each rule is one
//! function with an example in its test. A token is a piece of the text, except that
//!
//! | in the text | token |
//! | --- | --- |
//! | `"` before a letter, a digit or `$`; `“` `„` `«` | ` `` ` |
//! | any other `"`; `''`; `”` `»` | `''` |
//! | `'` before a letter that is not alone; `‘` | `` ` `` |
//! | `’` | `'` |
//! | two to four `-`; `–` `—` | `--` |
//! | three or more `.`, spaced or not; `…` | `...` |
//! | `(` `)` `[` `]` `{` `}` | `-LRB-` `-RRB-` `-LSB-` `-RSB-` `-LCB-` `-RCB-` |
//! | `£` | `#` |
//! | white space, soft hyphens, zero-width spaces, byte-order marks | nothing |
//!
//! An abbreviation that ends a sentence gives a full stop more than the text has: `etc. .`
//!
//! Every rule looks at a bounded stretch or at a run that it consumes, so that any text takes linear time.

mod apostrophes;
mod full_stops;
mod symbols;
mod word;

use std::borrow::Cow;

/// The tokens of a text.
pub(crate) fn tokens(text: &str) -> Vec<Cow<'_, str>> {
    // English prose has a token in every 4.5 characters.
    let mut scanner = Scanner { text, tokens: Vec::with_capacity(text.len() / 4) };
    let mut offset = 0;
    while offset < text.len() {
        offset = scanner.token(offset);
    }
    scanner.tokens
}

/// The text and the tokens found in it so far. A rule takes the offset where its token starts, pushes what it
/// finds and returns the offset after it; offsets are in bytes, on character boundaries.
struct Scanner<'a> {
    text: &'a str,
    tokens: Vec<Cow<'a, str>>,
}

impl<'a> Scanner<'a> {
    fn token(&mut self, start: usize) -> usize {
        let first = self.at(start);
        if is_blank(first) {
            start + first.len_utf8()
        } else if first.is_alphabetic() {
            self.word(start)
        } else if first.is_ascii_digit() {
            self.number(start)
        } else if is_apostrophe(first) {
            self.apostrophe(start)
        } else {
            self.symbol(start)
        }
    }

    /// The character at an offset; NUL, which no rule asks for, past the end.
    fn at(&self, offset: usize) -> char {
        match self.text.as_bytes().get(offset) {
            None => '\0',
            Some(&byte) if byte.is_ascii() => char::from(byte),
            Some(_) => self.text[offset..].chars().next().unwrap_or('\0'),
        }
    }

    /// The character before an offset; NUL at the start.
    fn before(&self, offset: usize) -> char {
        self.text[..offset].chars().next_back().unwrap_or('\0')
    }

    /// The offset after the character at an offset.
    fn after(&self, offset: usize) -> usize {
        offset + self.at(offset).len_utf8()
    }

    /// The end of the longest run of such characters from an offset on.
    fn run(&self, start: usize, belongs: impl Fn(char) -> bool) -> usize {
        let mut end = start;
        while end < self.text.len() && belongs(self.at(end)) {
            end = self.after(end);
        }
        end
    }

    /// Returns whether these ASCII letters are at an offset, in either case.
    fn reads(&self, offset: usize, letters: &str) -> bool {
        let bytes = self.text.as_bytes().get(offset..offset + letters.len());
        bytes.is_some_and(|bytes| bytes.eq_ignore_ascii_case(letters.as_bytes()))
    }

    /// Pushes a piece of the text.
    fn push(&mut self, start: usize, end: usize) {
        let piece = &self.text[start..end];
        self.tokens.push(if piece.is_ascii() || !piece.contains(['’', SOFT_HYPHEN]) {
            Cow::Borrowed(piece)
        } else {
            Cow::Owned(piece.replace('’', "'").replace(SOFT_HYPHEN, ""))
        });
    }

    /// Pushes a token that replaces something else in the text.
    fn push_as(&mut self, token: &'static str) {
        self.tokens.push(Cow::Borrowed(token));
    }
}

const SOFT_HYPHEN: char = '\u{ad}';

fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}' | SOFT_HYPHEN)
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The tokens of a text with spaces between them, as CBT files have them.
    pub(super) fn line(text: &str) -> String {
        tokens(text).join(" ")
    }

    #[test]
    fn a_sentence_reads_as_in_the_released_files() {
        assert_eq!(
            line("\"Who's been sitting in my chair?\" said the Great, Huge Bear (he didn't know)."),
            "`` Who 's been sitting in my chair ? '' said the Great , Huge Bear -LRB- he did n't know -RRB- ."
        );
    }

    #[test]
    fn soft_hyphens_and_byte_order_marks_vanish() {
        assert_eq!(line("\u{feff}por\u{ad}ridge\u{ad} pot\u{200b}"), "porridge pot");
    }

    /// What must be the same in a text and its tokens: all but quotation marks, dashes and dots.
    fn skeleton(text: &str) -> String {
        let kept = |&c: &char| !is_blank(c) && !"'`\"‘’‛“”„«»-–—―‒\u{96}\u{97}.…".contains(c);
        text.replace('£', "#").chars().filter(kept).collect()
    }

    fn unescaped(token: &str) -> &str {
        match token {
            "-LRB-" => "(",
            "-RRB-" => ")",
            "-LSB-" => "[",
            "-RSB-" => "]",
            "-LCB-" => "{",
            "-RCB-" => "}",
            other => other,
        }
    }

    proptest! {
        #[test]
        fn no_character_is_lost_or_invented(text in "(\\PC|[a-zA-Z' .\"\n-]|[’“_£&;n't.]){0,60}") {
            let found = tokens(&text);
            let joined: String = found.iter().map(|token| unescaped(token)).collect();
            prop_assert_eq!(skeleton(&joined), skeleton(&text));
            for token in found {
                prop_assert!(!token.is_empty() && !token.contains(char::is_whitespace), "{token:?}");
            }
        }
    }
}
