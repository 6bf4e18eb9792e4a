//! Which quotation marks open and which close.
//!
//! The tokeniser writes `'` and `''` for marks before a single letter or another mark, whether they open or close.
//! Each is decided from its neighbours and from what is open in its sentence, never from earlier sentences: a passage
//! may begin within a speech.

use super::Token;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Opening,
    Closing,
}

impl Mark {
    fn opening(is_opening: bool) -> Self {
        if is_opening { Self::Opening } else { Self::Closing }
    }
}

/// The quotation marks of the sentence so far.
#[derive(Default)]
struct Open {
    is_single: bool,
    is_double: bool,
    last_single: Option<Mark>,
}

/// For each token, what kind of quotation mark it is.
pub(super) fn marks(tokens: &[Token<'_>]) -> Vec<Option<Mark>> {
    let mut marks: Vec<Option<Mark>> = Vec::with_capacity(tokens.len());
    let mut open = Open::default();
    for (place, token) in tokens.iter().enumerate() {
        if token.is_first {
            open = Open::default();
        }
        let next = |ahead: usize| tokens.get(place + ahead).map(|token| token.text);
        let previous = if token.is_first { None } else { place.checked_sub(1) };
        let previous = previous.map(|place| (tokens[place].text, marks[place]));
        let mark = match token.text {
            "``" | "`" | "“" | "‘" => Some(Mark::Opening),
            "”" | "’" => Some(Mark::Closing),
            "''" => Some(Mark::opening(double_opens(next(1), next(2), &open))),
            "'" => Some(Mark::opening(single_opens(previous, next(1), &open))),
            _ => None,
        };
        if let Some(mark) = mark {
            let is_open = mark == Mark::Opening;
            if matches!(token.text, "``" | "''" | "“" | "”") {
                open.is_double = is_open;
            } else {
                open.is_single = is_open;
                open.last_single = Some(mark);
            }
        }
        marks.push(mark);
    }
    marks
}

/// `''` opens before a nested quotation, where none is open: `"'Come,' he said, …"`.
fn double_opens(next: Option<&str>, after: Option<&str>, open: &Open) -> bool {
    let opens_nested = match next {
        Some("`") => true,
        Some("'") => after.is_some_and(|after| is_letter(after) || matches!(after, "``" | "--")),
        _ => false,
    };
    opens_nested && !open.is_double
}

fn single_opens(previous: Option<(&str, Option<Mark>)>, next: Option<&str>, open: &Open) -> bool {
    let Some((previous, mark)) = previous else { return true };
    let Some(next) = next else {
        // The end of the text: the mark of a next sentence, if the speech of this one has ended.
        let has_ended = open.last_single == Some(Mark::Closing);
        return has_ended && matches!(previous, "." | "?" | "!" | "'");
    };
    let may_open =
        is_letter(next) || next == "``" || (next == "--" && matches!(previous, "," | ";" | ":"));
    may_open
        && match previous {
            "'" => mark == Some(Mark::Closing),
            "''" => true,
            "?" | "!" => open.last_single == Some(Mark::Closing),
            _ => !open.is_single,
        }
}

/// A single capital letter, nearly always *I* or *A*.
fn is_letter(token: &str) -> bool {
    let mut letters = token.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_none()
}
