//! Tokens → text as a book prints it: no space before a comma, curly quotation marks, brackets.
//!
//! The other direction of [`crate::tokenise`], for readers of any kind; the tokens of a set stay as they are.

/// A token as it is printed, and whether a space comes before it.
#[expect(missing_docs, reason = "the fields are what the type says")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spaced<'a> {
    pub has_space: bool,
    pub text: &'a str,
}

/// Puts spaces between tokens and replaces tokens by what a book prints.
pub fn spaced<'a>(tokens: &[&'a str]) -> Vec<Spaced<'a>> {
    let mut joins = true;
    let spaced = tokens.iter().map(|&token| {
        let has_space = !joins && !joins_previous(token);
        joins = joins_next(token);
        Spaced { has_space, text: typeset(token) }
    });
    spaced.collect()
}

/// Joins printed tokens to a text.
pub fn join(tokens: &[Spaced<'_>]) -> String {
    tokens.iter().flat_map(|token| [if token.has_space { " " } else { "" }, token.text]).collect()
}

/// The tokens as one text.
pub fn text(tokens: &[&str]) -> String {
    join(&spaced(tokens))
}

/// Returns whether the next token follows this one without a space.
pub fn joins_next(token: &str) -> bool {
    matches!(token, "``" | "`" | "-LRB-" | "-LSB-" | "(" | "[" | "“" | "‘")
}

/// Returns whether a token follows the one before it without a space.
pub fn joins_previous(token: &str) -> bool {
    let is_punctuation = || {
        let closing =
            [",", ".", ";", ":", "!", "?", "''", "'", ")", "]", "-RRB-", "-RSB-", "...", "”", "’"];
        closing.contains(&token)
    };
    let is_clitic = || ["'s", "'S", "n't", "'m", "'re", "'ve", "'ll", "'d", "N'T"].contains(&token);
    is_punctuation() || is_clitic()
}

/// A token as a book prints it.
pub fn typeset(token: &str) -> &str {
    match token {
        "``" => "“",
        "''" => "”",
        "`" => "‘",
        "-LRB-" => "(",
        "-RRB-" => ")",
        "-LSB-" => "[",
        "-RSB-" => "]",
        "--" => "—",
        _ => token,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_set_as_a_book_prints_them() {
        let tokens = "`` Do n't eat Anna 's soup -LRB- hot -RRB- , '' said Otto -- `` please ! ''";
        let tokens: Vec<&str> = tokens.split(' ').collect();
        assert_eq!(text(&tokens), "“Don't eat Anna's soup (hot),” said Otto — “please!”");
        assert_eq!(text(&[]), "");
    }
}
