//! Many questions, read in chunks and in parallel → one set, in the order of the files.
//!
//! A few chunks are held at a time. Questions about one article share its text, whichever chunks they came in.

use std::hash::BuildHasher;
use std::ops::Range;
use std::path::Path;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::numbering::Numbering;
use crate::error::{Error, LineError, Result};
use crate::{BookText, NewQuestion, OpenOptions, QuestionSet, Split, Warnings};

/// Some consecutive questions, and how many others had errors.
#[derive(Default)]
pub(crate) struct Chunk {
    pub set: QuestionSet,
    /// Looks up the words of the set.
    pub numbering: Numbering,
    /// Questions of another source than CNN, which were not read.
    pub of_other_sources: usize,
    bad: usize,
    first_bad: Option<Error>,
}

impl Chunk {
    /// Counts a question that could not be read; returns whether to continue.
    pub fn count(&mut self, read: Result<()>, options: &OpenOptions) -> bool {
        let Err(error) = read else { return true };
        self.bad += 1;
        self.first_bad.get_or_insert(error);
        options.skip_bad
    }
}

/// Reads chunks, a few at a time: while they are read in parallel, the chunks before them join the set.
pub(crate) fn collect_chunks<W: Sync>(
    path: &Path,
    options: &OpenOptions,
    mut waves: impl Iterator<Item = Result<W>> + Send,
    read: impl Fn(&W) -> Vec<Chunk> + Sync,
) -> Result<(QuestionSet, Warnings)> {
    let mut collector = Collector::new(options, path);
    let mut chunks = Vec::new();
    loop {
        let next = || waves.next().transpose().map(|wave| wave.map(|wave| read(&wave)));
        let (added, next) = rayon::join(|| collector.add(std::mem::take(&mut chunks)), next);
        added?;
        match next? {
            Some(next) => chunks = next,
            None => return collector.finish(),
        }
    }
}

/// The set that chunks are added to, in their order.
struct Collector<'o> {
    options: &'o OpenOptions,
    path: &'o Path,
    set: QuestionSet,
    /// The books of the set by name and split.
    books: HashTable<usize>,
    warnings: Warnings,
    first_bad: Option<Error>,
}

impl<'o> Collector<'o> {
    fn new(options: &'o OpenOptions, path: &'o Path) -> Self {
        Self {
            options,
            path,
            set: QuestionSet::default(),
            books: HashTable::new(),
            warnings: Warnings::default(),
            first_bad: None,
        }
    }

    fn add(&mut self, chunks: Vec<Chunk>) -> Result<()> {
        for mut chunk in chunks {
            match chunk.first_bad {
                Some(error) if !self.options.skip_bad => return Err(error),
                Some(error) if self.first_bad.is_none() => {
                    self.warnings.first_bad = Some(error.to_string());
                    self.first_bad = Some(error);
                }
                _ => {}
            }
            self.warnings.bad += chunk.bad;
            self.warnings.of_other_sources += chunk.of_other_sources;
            self.set.absorb_vocabulary(&mut chunk.set);
            let too_large = |_| Error::TooLarge { path: self.path.to_owned() };
            (0..chunk.set.len())
                .try_for_each(|question| self.append(&chunk.set, question))
                .map_err(too_large)?;
        }
        Ok(())
    }

    fn append(&mut self, chunk: &QuestionSet, question: usize) -> Result<(), LineError> {
        let set = &mut self.set;
        let range = chunk.context(question);
        let book = chunk.book(question).map(|book| &chunk.books()[book]);
        let known = book.and_then(|book| {
            let is_it = |&index: &usize| key(&set.books()[index]) == key(book);
            self.books.find(hash(book), is_it).copied()
        });
        let is_same = |stored: &Range<usize>| {
            let mut pairs = stored.clone().zip(range.clone());
            stored.len() == range.len()
                && pairs.all(|(ours, theirs)| set.sentence(ours) == chunk.sentence(theirs))
        };
        let shared = known.map(|known| set.books()[known].sentences.clone()).filter(is_same);
        let context = shared.unwrap_or_else(|| set.push_sentences(chunk, range.clone()));
        let book = known.or_else(|| {
            let book = BookText { sentences: context.clone(), ..book?.clone() };
            let hash_of = |&index: &usize| hash(&set.books()[index]);
            self.books.insert_unique(hash(&book), set.books().len(), hash_of);
            Some(set.push_book(book))
        });
        let example = chunk.example(question);
        set.push_checked(NewQuestion {
            context,
            query: example.question.query,
            candidates: example.question.candidates,
            answer: example.answer,
            class: example.class,
            split: example.split,
            book,
        })?;
        Ok(())
    }

    /// The set, or the first error where nothing could be read at all.
    fn finish(self) -> Result<(QuestionSet, Warnings)> {
        match self.first_bad {
            Some(error) if self.set.is_empty() => Err(error),
            _ => Ok((self.set, self.warnings)),
        }
    }
}

/// What identifies a book.
fn key(book: &BookText) -> (&str, Option<Split>) {
    (&book.name, book.split)
}

fn hash(book: &BookText) -> u64 {
    FixedState::default().hash_one(key(book))
}
