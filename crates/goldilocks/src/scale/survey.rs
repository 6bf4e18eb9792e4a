//! Books → what a plan must know of them beyond their names: which can't be read, who wrote them, which share text.

use corpus::Book;
use questions::{NearCopy, near_copies_of, ngrams_of_text};
use rayon::prelude::*;

use crate::books::Source;
use crate::build::is_bad_book;
use crate::progress::check_cancelled;
use crate::{BuildOptions, Error, Event, Reporter, Result, Warning};

/// The text whose 8-grams are held in memory: of more, every second, fourth, eighth, … is looked at. That finds the
/// same near-copies: they share ten times more than other books, and of a book of 60,000 words in 24 GB of them 117
/// 8-grams are left.
const ALL_NGRAMS: u64 = 64 << 20;

/// Books that can be read and are long enough.
pub struct Survey {
    /// Where they are read from.
    pub sources: Vec<Source>,
    /// Who wrote each of them, if that is asked for and known.
    pub authors: Vec<Option<String>>,
    /// Which of them are nearly the same text.
    pub copies: Vec<NearCopy>,
}

struct SurveyedBook {
    source: Source,
    author: Option<String>,
    ngrams: Vec<u64>,
}

/// Reads all books; those that are bad are left out, each with a warning, if they are to be skipped.
pub fn survey(
    options: &BuildOptions,
    sources: Vec<Source>,
    n_bytes: u64,
    reporter: &dyn Reporter,
) -> Result<Survey> {
    let of = sources.len();
    let one_of = n_bytes.div_ceil(ALL_NGRAMS).max(1).next_power_of_two();
    reporter.report(Event::Begin { stage: "survey", what: String::new(), steps: Some(of) });
    let survey = |source: Source| {
        check_cancelled(reporter)?;
        let name = source.name();
        let read = read(options, source, one_of);
        reporter.report(Event::Step { n: 1, what: Some(name) });
        match read {
            Err(error) if options.skip_bad && is_bad_book(&error) => Ok(Err(error)),
            other => other.map(Ok),
        }
    };
    let surveyed: Vec<Result<_>> = sources.into_par_iter().map(survey).collect();
    reporter.report(Event::End);
    let (mut sources, mut authors, mut ngrams) = (Vec::new(), Vec::new(), Vec::new());
    for result in surveyed {
        match result? {
            Ok(book) => {
                sources.push(book.source);
                authors.push(book.author);
                ngrams.push(book.ngrams);
            }
            Err(error) => {
                let error = error.to_string();
                reporter.report(Event::Warning(Warning::BookSkipped { error }));
            }
        }
    }
    match of - sources.len() {
        0 => {}
        _ if sources.is_empty() => return Err(Error::NoReadableBook { n_books: of }),
        n => reporter.report(Event::Warning(Warning::BooksSkipped { n, of })),
    }
    Ok(Survey { sources, authors, copies: near_copies_of(&ngrams) })
}

fn read(options: &BuildOptions, source: Source, one_of: u64) -> Result<SurveyedBook> {
    let sentences: Vec<Vec<String>> = match &source {
        Source::Tagged(path) => {
            let sentences = Book::read_tagged(path)?.sentences.into_iter();
            sentences
                .map(|words| words.into_iter().map(|word| word.text.to_string()).collect())
                .collect()
        }
        _ => {
            let (text, _) = source.text(options.as_released)?;
            match options.as_released {
                true => corpus::tokenise(&text),
                false => corpus::tokenise_paragraphs(&text),
            }
        }
    };
    let (found, needed) = (sentences.len(), options.rules.context_sentences + 1);
    if found < needed {
        let path = source.path().to_owned();
        return Err(questions::Error::TooFewSentences { path, found, needed }.into());
    }
    let mut ngrams = ngrams_of_text(sentences.iter().flatten().map(String::as_str));
    ngrams.retain(|hash| hash.is_multiple_of(one_of));
    let author = if options.by_author { source.author()? } else { None };
    Ok(SurveyedBook { source, author, ngrams })
}
