//! [`Plain`]: a book's sentences → plain text as answering gives it, in parts that can be split into pieces by
//! themselves.

use corpus::detokenise::{Style, passage};

/// The text of a book.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    text: String,
    /// Where its parts end.
    ends: Vec<usize>,
}

/// A part has at least this many bytes.
const PART: usize = 1 << 13;

impl Plain {
    /// The text of sentences that follow each other.
    pub fn of<S: AsRef<str>>(sentences: &[Vec<S>]) -> Self {
        let mut plain = Self::default();
        // What a token becomes depends on those around it, so all sentences are printed together.
        let sentences: Vec<Vec<&str>> =
            sentences.iter().map(|sentence| sentence.iter().map(AsRef::as_ref).collect()).collect();
        let printed = passage(&sentences, Style::Plain);
        let mut starts = sentences.iter().scan(0, |start, sentence| {
            let this = *start;
            *start += sentence.len();
            Some(this)
        });
        let mut start = starts.next();
        for (place, token) in printed.iter().enumerate() {
            if start == Some(place) {
                start = starts.find(|&next| next > place);
                let n_bytes = plain.text.len() - plain.ends.last().copied().unwrap_or(0);
                if n_bytes >= PART && token.has_space {
                    plain.ends.push(plain.text.len());
                }
            }
            if token.has_space {
                plain.text.push(' ');
            }
            plain.text.push_str(token.text);
        }
        if plain.ends.last() != Some(&plain.text.len()) {
            plain.ends.push(plain.text.len());
        }
        plain
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its parts: each but the first begins with a space.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_text_that_answering_gives() {
        let text: String = corpus::tales::TALES.iter().map(|tale| tale.text).collect();
        let sentences = corpus::tokenise(&text);
        let plain = Plain::of(&sentences);
        let borrowed: Vec<Vec<&str>> = sentences
            .iter()
            .map(|sentence| sentence.iter().map(String::as_str).collect())
            .collect();
        assert_eq!(plain.text(), corpus::detokenise::plain_text(&borrowed));
        assert_eq!(plain.parts().collect::<String>(), plain.text());
        assert!(plain.parts().count() > 3);
        assert!(plain.parts().skip(1).all(|part| part.starts_with(' ')));
    }

    #[test]
    fn a_book_without_sentences_is_empty() {
        assert_eq!(Plain::of::<String>(&[]).parts().collect::<String>(), "");
    }
}
