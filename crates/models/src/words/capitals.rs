//! Where a capital belongs: at the start of a sentence or of a quotation.

use base::WordId;
use questions::Question;

/// The share of the probability that goes to what is not written as it should be.
pub(crate) const MISFIT: f32 = 0.05;

/// Words that a sentence or a quotation starts after.
const STARTERS: [&str; 7] = ["``", "`", "\"", ".", "?", "!", ":"];

/// Whether a sentence or a quotation starts at the blank.
pub(crate) fn is_start(question: &Question<'_>) -> bool {
    match question.blank.checked_sub(1) {
        None => true,
        Some(before) => starts_after(question, question.query[before]),
    }
}

/// Whether a sentence or a quotation starts after a word.
pub(crate) fn starts_after(question: &Question<'_>, word: WordId) -> bool {
    STARTERS.contains(&question.word(word))
}
