//! The running text that language models learn from (§4.2, §4.4): books → their sentences, or, where a set
//! has questions only, the sentences of their contexts.

use base::WordId;
use questions::Sentences;

use crate::{Error, Event, Result, SplitView, Training};

/// The sentences of each book; none of them is empty.
pub(crate) type Books<'a> = Vec<Vec<&'a [WordId]>>;

/// The text of the training books; contexts in their place are warned of.
///
/// # Errors
/// [`Error::NothingToTrainOn`] if there is neither.
pub(crate) fn to_learn_from<'a>(model: &'static str, training: &Training<'a>) -> Result<Books<'a>> {
    let books = books(&training.train);
    if !books.is_empty() {
        return Ok(books);
    }
    let books = of_contexts(&training.train);
    if books.is_empty() {
        return Err(Error::NothingToTrainOn {
            model,
            expected: "running text or questions of the training split",
            hint: "look at the splits of the set",
        });
    }
    training.reporter.report(Event::Warning(
        "the set has no running text of training books: the language model is that of the \
         contexts of the training questions"
            .to_owned(),
    ));
    Ok(books)
}

/// The text of the validation books, or of the contexts of the validation questions.
pub(crate) fn to_validate_on<'a>(training: &Training<'a>) -> Books<'a> {
    let books = books(&training.valid);
    if books.is_empty() { of_contexts(&training.valid) } else { books }
}

fn books<'a>(part: &SplitView<'a>) -> Books<'a> {
    let sentences = |book: Sentences<'a>| with_words(book.iter()).collect::<Vec<_>>();
    part.books().map(sentences).filter(|book| !book.is_empty()).collect()
}

/// Chosen: contexts overlap and follow each other, so that together they are one book.
fn of_contexts<'a>(part: &SplitView<'a>) -> Books<'a> {
    let sentences: Vec<&[WordId]> = with_words(part.context_sentences()).collect();
    if sentences.is_empty() { Vec::new() } else { vec![sentences] }
}

fn with_words<'a>(
    sentences: impl Iterator<Item = &'a [WordId]>,
) -> impl Iterator<Item = &'a [WordId]> {
    sentences.filter(|sentence| !sentence.is_empty())
}
