//! Several sets read in parallel, and the books they are about → one set.

use std::ops::Range;

use rayon::prelude::*;

use crate::formats::running_text::{Index, Place};
use crate::{LineError, NewQuestion, QuestionSet};

/// Adds parts to the set of their books, in order. A question whose context is in a book refers to the
/// book's sentences; gives how many do not, where there are books.
pub(crate) fn merge(
    books: QuestionSet,
    mut parts: Vec<QuestionSet>,
) -> Result<(QuestionSet, usize), LineError> {
    let mut set = books;
    parts.iter_mut().for_each(|part| set.absorb_vocabulary(part));
    let has_books = !set.books().is_empty();
    let index = Index::new(&set);
    let places: Vec<Vec<Option<Place>>> = parts.par_iter().map(|part| index.places(part)).collect();
    let outside = places.iter().flatten().filter(|place| place.is_none()).count();
    drop(index);
    for (part, places) in parts.into_iter().zip(places) {
        append(&mut set, &part, &places)?;
    }
    Ok((set, if has_books { outside } else { 0 }))
}

fn append(
    set: &mut QuestionSet,
    part: &QuestionSet,
    places: &[Option<Place>],
) -> Result<(), LineError> {
    // The part's sentences from `.start` on that were copied to the end of the set.
    let mut copied: Range<usize> = 0..0;
    for (question, place) in places.iter().enumerate() {
        let range = part.context(question);
        let first = match place {
            Some(place) => place.first,
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
        let added = set.push_checked(NewQuestion {
            context: first..first + range.len(),
            query: example.question.query,
            candidates: example.question.candidates,
            answer: example.answer,
            class: example.class,
            split: example.split,
            book: place.map(|place| place.book),
        })?;
        if let Some(field) = part.candidate_field(question) {
            set.set_raw_candidates(added, field.to_owned());
        }
    }
    Ok(())
}
