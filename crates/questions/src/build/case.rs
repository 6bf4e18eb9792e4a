//! Words without regard to case: *With*, *WITH* and *with* → one number.

use base::{Vocabulary, WordId};

use crate::{BLANK, BLANK_WORD};

/// The lower-cased forms of a set's words, and for each word the number of its form.
///
/// The blank is no word: its form is its own.
pub(crate) fn lower_cased(words: &Vocabulary) -> (Vocabulary, Vec<WordId>) {
    let mut forms = Vocabulary::default();
    let form_of = words.iter().enumerate().map(|(index, word)| {
        if index == BLANK.index() {
            forms.intern(BLANK_WORD)
        } else {
            forms.intern(&word.to_lowercase())
        }
    });
    let form_of = form_of.collect();
    (forms, form_of)
}
