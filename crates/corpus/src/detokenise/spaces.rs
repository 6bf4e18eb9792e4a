//! Which tokens follow each other without a space.

use super::TokenContext;
use super::marks::Mark;

/// Ends of words that the tokeniser splits off.
const CLITICS: [&str; 7] = ["'s", "n't", "'m", "'re", "'ve", "'ll", "'d"];

/// Words that the tokeniser splits in two.
const SPLIT_WORDS: [(&str, &str); 18] = [
    ("can", "not"),
    ("gon", "na"),
    ("wan", "na"),
    ("got", "ta"),
    ("gim", "me"),
    ("lem", "me"),
    ("d'", "ye"),
    ("'t", "is"),
    ("'t", "was"),
    ("'t", "were"),
    ("'t", "will"),
    ("'t", "would"),
    ("s", "'pose"),
    ("s", "'posed"),
    ("reg", "'lar"),
    ("more", "'n"),
    ("sha", "'n"),
    ("sha", "'n'"),
];

/// Returns whether a token follows the one before it without a space.
pub(super) fn joins_previous(around: &TokenContext<'_, '_>) -> bool {
    match around.token {
        "," | "." | ";" | ":" | "!" | "?" | ")" | "]" | "}" | "%" => true,
        "--" => !around.is_first,
        // Three stops within a sentence have a space before them.
        "..." => !around.next_here().is_some_and(|next| next.starts_with(char::is_alphanumeric)),
        "-" => true,
        token => around.mark == Some(Mark::Closing) || joins_word(token, around),
    }
}

fn joins_word(token: &str, around: &TokenContext<'_, '_>) -> bool {
    if CLITICS.iter().any(|clitic| clitic.eq_ignore_ascii_case(token)) {
        return true;
    }
    let Some(previous) = around.previous_here() else { return false };
    let is_split = |(first, second): &(&str, &str)| {
        first.eq_ignore_ascii_case(previous) && second.eq_ignore_ascii_case(token)
    };
    SPLIT_WORDS.iter().any(is_split)
        || (token == "t" && around.before_previous == Some("'n"))
        || (token == "t" && previous == "'n'")
}

/// Returns whether the next token follows this one without a space.
pub(super) fn joins_next(around: &TokenContext<'_, '_>) -> bool {
    match around.token {
        "(" | "[" | "{" | "$" | "#" => true,
        "--" => dash_joins_next(around),
        // `bull's-eye`; otherwise a hyphen at the end of a printed line.
        "-" => around.previous_here().is_some_and(|word| word.contains('\'')),
        _ => around.mark == Some(Mark::Opening),
    }
}

/// A dash before a quotation ends a clause: `he cried:-- "Come"`; but a play has `ANNA:--"Come"`.
fn dash_joins_next(around: &TokenContext<'_, '_>) -> bool {
    let is_speaker = |word: &str| word.len() > 1 && !word.contains(char::is_lowercase);
    let ends_clause = matches!(around.previous, Some("," | ":" | ";"));
    let opens = around.next_mark == Some(Mark::Opening);
    let has_space = opens && ends_clause && !around.before_previous.is_some_and(is_speaker);
    around.next_here().is_some() && !has_space
}

/// Returns whether a token is the stop that the tokeniser adds after an abbreviation at a sentence's end: `etc. .`
pub(super) fn is_extra_stop(around: &TokenContext<'_, '_>) -> bool {
    let is_abbreviation =
        |word: &str| word.len() > 1 && word.ends_with('.') && !word.starts_with('.');
    around.token == "."
        && around.previous_here().is_some_and(is_abbreviation)
        && around.rest.iter().all(|token| matches!(token.text, "'" | "''" | ")"))
}
