//! Tokens → text as a book prints it: no space before a comma, quotation marks, brackets.
//!
//! The other direction of [`crate::tokenise`], for readers of any kind; the tokens of a set stay as they are. What
//! the tokeniser does not keep is decided from the tokens around: which `'` opens a quotation, where a dash has
//! spaces, whether *can not* was one word. The rules were chosen on the training books of the CBT;
//! `examples/compare_plain_text.rs` measures how many sentences come back letter for letter.

mod marks;
mod spaces;

use self::marks::Mark;

/// A token as it is printed, and whether a space comes before it.
#[expect(missing_docs, reason = "the fields are what the type says")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintedToken<'a> {
    pub has_space: bool,
    /// Empty for a full stop that the tokeniser added after an abbreviation.
    pub text: &'a str,
}

/// How quotation marks and dashes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As they are printed: “ ” ‘ ’ —
    Typographic,
    /// As Project Gutenberg's plain texts type them: " ' --
    Plain,
}

/// Puts spaces between the tokens of a sentence and replaces tokens by what a book prints.
pub fn spaced<'a>(tokens: &[&'a str]) -> Vec<PrintedToken<'a>> {
    passage(&[tokens], Style::Typographic)
}

/// The tokens of sentences that follow each other, in one list. A sentence is read together with the next: a `'` at
/// its end may be the opening mark of the next one's speech.
pub fn passage<'a>(sentences: &[impl AsRef<[&'a str]>], style: Style) -> Vec<PrintedToken<'a>> {
    let tokens: Vec<Token<'a>> = sentences
        .iter()
        .flat_map(|sentence| {
            let tokens = sentence.as_ref().iter().enumerate();
            tokens.map(|(place, &text)| Token { text: bracket(text), is_first: place == 0 })
        })
        .collect();
    let marks = marks::marks(&tokens);
    let mut joins = true;
    let spaced = tokens.iter().enumerate().map(|(place, token)| {
        let around = TokenContext::new(&tokens, &marks, place);
        let is_extra = spaces::is_extra_stop(&around);
        let has_space = !(joins || is_extra || spaces::joins_previous(&around));
        joins = !is_extra && spaces::joins_next(&around);
        let text = if is_extra { "" } else { printed(token.text, &around, style) };
        PrintedToken { has_space, text }
    });
    spaced.collect()
}

/// Joins printed tokens to a text.
pub fn join(tokens: &[PrintedToken<'_>]) -> String {
    tokens.iter().flat_map(|token| [if token.has_space { " " } else { "" }, token.text]).collect()
}

/// The tokens of a sentence as a text with typographic marks.
pub fn text(tokens: &[&str]) -> String {
    join(&spaced(tokens))
}

/// Sentences that follow each other, as a plain text.
pub fn plain_text<'a>(sentences: &[impl AsRef<[&'a str]>]) -> String {
    join(&passage(sentences, Style::Plain))
}

#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    /// Whether it is the first of its sentence.
    is_first: bool,
}

/// A token and its neighbours.
struct TokenContext<'a, 't> {
    token: &'a str,
    mark: Option<Mark>,
    is_first: bool,
    /// The token before it, of this sentence or of the one before.
    previous: Option<&'a str>,
    /// The token before that.
    before_previous: Option<&'a str>,
    /// The tokens after it in its sentence.
    rest: &'t [Token<'a>],
    next_mark: Option<Mark>,
}

impl<'a, 't> TokenContext<'a, 't> {
    fn new(tokens: &'t [Token<'a>], marks: &[Option<Mark>], place: usize) -> Self {
        let rest = &tokens[place + 1..];
        let end = rest.iter().position(|token| token.is_first).unwrap_or(rest.len());
        let text = |back: usize| place.checked_sub(back).map(|place| tokens[place].text);
        Self {
            token: tokens[place].text,
            mark: marks[place],
            is_first: tokens[place].is_first,
            previous: text(1),
            before_previous: text(2),
            rest: &rest[..end],
            next_mark: if end > 0 { marks[place + 1] } else { None },
        }
    }

    /// The token before it in its sentence.
    fn previous_here(&self) -> Option<&'a str> {
        self.previous.filter(|_| !self.is_first)
    }

    /// The token after it in its sentence.
    fn next_here(&self) -> Option<&'a str> {
        self.rest.first().map(|token| token.text)
    }
}

fn bracket(token: &str) -> &str {
    match token {
        "-LRB-" => "(",
        "-RRB-" => ")",
        "-LSB-" => "[",
        "-RSB-" => "]",
        "-LCB-" => "{",
        "-RCB-" => "}",
        _ => token,
    }
}

/// A token as a book prints it.
fn printed<'a>(token: &'a str, around: &TokenContext<'_, '_>, style: Style) -> &'a str {
    let is_plain = style == Style::Plain;
    match (token, around.mark) {
        ("``" | "''" | "“" | "”", Some(_)) if is_plain => "\"",
        ("``" | "''", Some(Mark::Opening)) => "“",
        ("``" | "''", Some(Mark::Closing)) => "”",
        ("`" | "'" | "‘" | "’", Some(_)) if is_plain => "'",
        ("`" | "'", Some(Mark::Opening)) => "‘",
        ("'", Some(Mark::Closing)) => "’",
        ("--", _) if !is_plain => "—",
        // The tokeniser writes a pound sign as `#`.
        ("#", _)
            if around
                .next_here()
                .is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit())) =>
        {
            "£"
        }
        _ => token,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(sentences: &str) -> String {
        let sentences: Vec<Vec<&str>> =
            sentences.split(" / ").map(|sentence| sentence.split(' ').collect()).collect();
        plain_text(&sentences)
    }

    #[test]
    fn tokens_are_set_as_a_book_prints_them() {
        let tokens = "`` Do n't eat Anna 's soup -LRB- hot -RRB- , '' said Otto -- `` please ! ''";
        let tokens: Vec<&str> = tokens.split(' ').collect();
        assert_eq!(text(&tokens), "“Don't eat Anna's soup (hot),” said Otto—“please!”");
        assert_eq!(text(&[]), "");
        assert_eq!(
            plain_text(&[&tokens]),
            "\"Don't eat Anna's soup (hot),\" said Otto--\"please!\""
        );
    }

    #[test]
    fn a_single_mark_opens_or_closes_by_what_is_around_it() {
        for (tokens, expected) in [
            ("` Well , ' said he , ' I can go . '", "'Well,' said he, 'I can go.'"),
            ("The dog answered : ' I am sad . '", "The dog answered: 'I am sad.'"),
            ("said the fox . ' / I am here , ' he said .", "said the fox. 'I am here,' he said."),
            ("` Who ? ' ' / I !", "'Who?' 'I!"),
            ("Well . ' / The fox went .", "Well.' The fox went."),
            ("She wept . '' / ` Oh , ' she said . ''", "She wept. \"'Oh,' she said.\""),
            ("the dogs ' tails", "the dogs' tails"),
        ] {
            assert_eq!(plain(tokens), expected);
        }
    }

    #[test]
    fn dashes_stops_and_split_words() {
        for (tokens, expected) in [
            ("he cried : -- `` Come ''", "he cried:-- \"Come\""),
            ("ANNA : -- `` Come ''", "ANNA:--\"Come\""),
            ("You can not , I 'm gon na", "You cannot, I'm gonna"),
            ("`` 'T is late ... too late ... ''", "\"'Tis late ... too late...\""),
            ("It cost # 5 , salt , etc. .", "It cost £5, salt, etc."),
            ("a bull 's - eye", "a bull's-eye"),
            ("you sha 'n' t , I s 'pose", "you sha'n't, I s'pose"),
        ] {
            assert_eq!(plain(tokens), expected);
        }
    }

    proptest! {
        #[test]
        fn every_token_is_printed_once_and_in_order(tokens in prop::collection::vec(
            prop::sample::select(vec!["``", "''", "`", "'", "I", "he", "--", ".", "...", "can", "not", "#", "5", "‘", "-"]), 0..12)
        ) {
            let printed = passage(&[&tokens[..], &tokens[..]], Style::Plain);
            prop_assert_eq!(printed.len(), 2 * tokens.len());
            prop_assert!(printed.first().is_none_or(|token| !token.has_space));
        }
    }
}
