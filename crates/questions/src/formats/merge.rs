//! Several sets read in parallel, and the books they are about → one set.

use std::ops::Range;

use rayon::prelude::*;

use crate::formats::running_text::{BookPosition, Index};
use crate::{LineError, NewQuestion, QuestionSet};

/// Adds parts to the set of their books, in order. A question whose context is in a book refers to the
/// book's sentences; returns how many do not, if there are books.
pub(crate) fn merge(
    books: QuestionSet,
    mut parts: Vec<QuestionSet>,
) -> Result<(QuestionSet, usize), LineError> {
    let mut set = books;
    parts.iter_mut().for_each(|part| set.absorb_vocabulary(part));
    let has_books = !set.books().is_empty();
    let index = Index::new(&set);
    let locations: Vec<Vec<Option<BookPosition>>> =
        parts.par_iter().map(|part| index.locations(part)).collect();
    let outside = locations.iter().flatten().filter(|location| location.is_none()).count();
    drop(index);
    for (part, locations) in parts.into_iter().zip(locations) {
        append(&mut set, &part, &locations)?;
    }
    Ok((set, if has_books { outside } else { 0 }))
}

fn append(
    set: &mut QuestionSet,
    part: &QuestionSet,
    locations: &[Option<BookPosition>],
) -> Result<(), LineError> {
    // The part's sentences from `.start` on that were copied to the end of the set.
    let mut copied: Range<usize> = 0..0;
    for (question, location) in locations.iter().enumerate() {
        let range = part.context(question);
        let first = match location {
            Some(location) => location.first,
            None => {
                if !(copied.start..=copied.end).contains(&range.start) {
                    copied = range.start..range.start;
                }
                for sentence in copied.end..range.end {
                    set.push_sentence(part.sentence(sentence).iter().copied());
                }
                copied.end = copied.end.max(range.end);
                set.n_sentences() - (copied.end - range.start)
            }
        };
        let example = part.example(question);
        set.push_checked(NewQuestion {
            context: first..first + range.len(),
            query: example.question.query,
            candidates: example.question.candidates,
            answer: example.answer,
            class: example.class,
            split: example.split,
            book: location.map(|location| location.book),
        })?;
    }
    Ok(())
}
