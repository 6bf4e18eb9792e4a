//! Tokens as the pasted text has them: quotation marks, apostrophes and spaces as they were typed.

use corpus::detokenise::{PrintedToken, spaced};

/// A token as it is printed.
#[derive(Debug, PartialEq, Eq)]
pub struct Printed {
    /// The characters of the text.
    pub text: String,
    /// Whether a space comes before it.
    pub has_space: bool,
    /// Whether a line break comes before it.
    pub starts_line: bool,
}

/// The tokens of a paragraph's sentences as the paragraph prints them; as a book would, where a token can't be found.
pub fn printed(paragraph: &str, sentences: &[Vec<String>]) -> Vec<Vec<Printed>> {
    aligned(paragraph, sentences).unwrap_or_else(|| sentences.iter().map(|s| typeset(s)).collect())
}

fn typeset(tokens: &[String]) -> Vec<Printed> {
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let print = |PrintedToken { has_space, text }: PrintedToken<'_>| Printed {
        text: text.to_owned(),
        has_space,
        starts_line: false,
    };
    spaced(&tokens).into_iter().map(print).collect()
}

fn aligned(paragraph: &str, sentences: &[Vec<String>]) -> Option<Vec<Vec<Printed>>> {
    let mut rest = paragraph;
    let mut token = |token: &String| {
        let next = rest.trim_start();
        let space = &rest[..rest.len() - next.len()];
        let length = forms(token).iter().find_map(|form| length_of(next, form))?;
        let (text, after) = next.split_at(length);
        let is_first = rest.len() == paragraph.len();
        rest = after;
        Some(Printed {
            text: text.to_owned(),
            has_space: !space.is_empty() && !is_first,
            starts_line: space.contains('\n') && !is_first,
        })
    };
    sentences.iter().map(|tokens| tokens.iter().map(&mut token).collect()).collect()
}

/// What a token may have been in the text; tokens of the Penn Treebank have one form for several marks.
fn forms(token: &str) -> Vec<&str> {
    match token {
        "``" | "''" => vec!["\"", "“", "”", "''", "``", "«", "»", "„"],
        "`" | "'" => vec!["'", "‘", "’", "`"],
        "-LRB-" => vec!["("],
        "-RRB-" => vec![")"],
        "-LSB-" => vec!["["],
        "-RSB-" => vec!["]"],
        "--" => vec!["--", "—", "–"],
        "..." => vec!["...", "…", ". . ."],
        _ => vec![token],
    }
}

/// How many bytes of a text are a form, apostrophes of all shapes being equal; none where it does not begin with it.
fn length_of(text: &str, form: &str) -> Option<usize> {
    let is_apostrophe = |c: char| matches!(c, '\'' | '’' | '‘' | '`');
    let mut characters = text.chars();
    let mut length = 0;
    for expected in form.chars() {
        let found = characters.next()?;
        if found != expected && !(is_apostrophe(found) && is_apostrophe(expected)) {
            return None;
        }
        length += found.len_utf8();
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(paragraph: &str) -> String {
        let sentences = corpus::tokenise(paragraph);
        let printed = printed(paragraph, &sentences);
        let word = |word: &Printed| {
            let space = match (word.starts_line, word.has_space) {
                (true, _) => "/",
                (false, true) => " ",
                _ => "",
            };
            format!("{space}{}", word.text)
        };
        printed.iter().flatten().map(word).collect()
    }

    #[test]
    fn quotation_marks_and_apostrophes_are_those_of_the_text() {
        let paragraph = "‘I’m sure,’ she said, ‘I can’t be Mabel (or Ada) -- “not I”!’";
        assert_eq!(text(paragraph), paragraph);
        let paragraph = "and as she went on, 'I must be Mabel after all, don't you think?'";
        assert_eq!(text(paragraph), paragraph);
    }

    #[test]
    fn lines_are_kept_apart() {
        assert_eq!(text("How doth the little\ncrocodile."), "How doth the little/crocodile.");
    }

    #[test]
    fn what_is_not_in_the_text_is_printed_as_in_a_book() {
        let tokens = [["``", "Oh", "!", "''"].map(str::to_owned).to_vec()];
        let words: Vec<String> =
            printed("Ah", &tokens).remove(0).into_iter().map(|word| word.text).collect();
        assert_eq!(words, ["“", "Oh", "!", "”"]);
    }
}
