//! The running text of books, and the place of a question in it.
//!
//! `cbt_{train,valid,test}.txt`, or a folder `tokenised/` of `SPLIT__BOOK.txt`: one sentence a line, words
//! joined by spaces → [`BookText`]s. A line that begins with `_BOOK_TITLE_` begins a book and is never text;
//! empty lines are passed over.
//!
//! A question stands where its whole context stands, within one book of its split. Where it stands in several
//! places, the next one from the question before it on is taken, else the first: files are in the books' order.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::BuildHasher;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::path::{Path, PathBuf};

use corpus::WordId;

use crate::error::{At, Error, Flaw, Result};
use crate::{BookText, QuestionSet, Split, sentence};

/// How a line that begins a book begins.
pub(crate) const BOOK_TITLE: &str = "_BOOK_TITLE_";
/// What the released files have behind the name of a book.
pub(crate) const TITLE_ENDING: &str = ".txt.out";

/// A file of running text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TextFile {
    path: PathBuf,
    split: Split,
    /// The book of text before the first title.
    book: String,
}

/// The files of running text of some splits: in the folder of a question set, or beside it.
pub(crate) fn files(folder: &Path, splits: &[Split]) -> Result<Vec<TextFile>> {
    let mut files = Vec::new();
    let beside = [folder.join("tokenised"), folder.join("..").join("tokenised")];
    let tokenised = beside.iter().find(|folder| folder.is_dir());
    for &split in splits {
        let book = format!("cbt_{}", split.code());
        let path = folder.join(format!("{book}.txt"));
        if path.is_file() {
            files.push(TextFile { path, split, book });
        } else if let Some(tokenised) = tokenised {
            files.extend(tokenised_files(tokenised, split)?);
        }
    }
    Ok(files)
}

fn tokenised_files(folder: &Path, split: Split) -> Result<Vec<TextFile>> {
    let failed = |cause| Error::Read { path: folder.to_owned(), cause };
    let prefix = format!("{}__", split.code());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let book = name.strip_prefix(&prefix).and_then(|name| name.strip_suffix(".txt"));
        if let Some(book) = book.map(str::to_owned) {
            files.push(TextFile { path, split, book });
        }
    }
    files.sort_by(|a, b| a.book.cmp(&b.book));
    Ok(files)
}

/// Adds the books of a file to a set.
pub(crate) fn read(set: &mut QuestionSet, file: &TextFile) -> Result<()> {
    let bytes =
        fs::read(&file.path).map_err(|cause| Error::Read { path: file.path.clone(), cause })?;
    if u32::try_from(set.n_words() + bytes.len()).is_err() {
        return Err(Error::TooLarge { path: file.path.clone() });
    }
    read_books(set, &bytes, file)
}

fn read_books(set: &mut QuestionSet, bytes: &[u8], file: &TextFile) -> Result<()> {
    let mut name = file.book.clone();
    let mut start = set.n_sentences();
    let mut words = Vec::new();
    let finish = |set: &mut QuestionSet, name: String, start: usize| {
        let sentences = start..set.n_sentences();
        if !sentences.is_empty() {
            set.push_book(BookText { name, split: Some(file.split), sentences });
        }
    };
    for (line, bytes) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let text = std::str::from_utf8(bytes).map_err(|_| Error::Malformed {
            path: file.path.clone(),
            at: At::Line(line),
            flaw: Flaw::NotUtf8,
        })?;
        let text = text.strip_suffix('\r').unwrap_or(text);
        if let Some(title) = text.strip_prefix(BOOK_TITLE) {
            let title = title.trim_start_matches([' ', ':']).trim_end();
            let title = title.strip_suffix(TITLE_ENDING).unwrap_or(title).to_owned();
            finish(set, std::mem::replace(&mut name, title), start);
            start = set.n_sentences();
        } else if !text.is_empty() {
            words.clear();
            words.extend(sentence::words(text).map(|word| set.intern(word)));
            set.push_sentence(words.iter().copied());
        }
    }
    finish(set, name, start);
    Ok(())
}

/// Finds contexts in the books of a set.
pub(crate) struct Index<'s> {
    set: &'s QuestionSet,
    /// Hash and number of every sentence in a book, in order.
    sentences: Vec<(u64, usize)>,
}

/// Where a context stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its first sentence in the set with the books.
    pub first: usize,
    /// The book.
    pub book: usize,
}

impl<'s> Index<'s> {
    pub(crate) fn new(set: &'s QuestionSet) -> Self {
        let places = set.books().iter().flat_map(|book| book.sentences.clone());
        let mut sentences: Vec<(u64, usize)> =
            places.map(|place| (hash(set.sentence(place)), place)).collect();
        sentences.sort_unstable();
        Self { set, sentences }
    }

    /// The places of all questions of a part whose words have the numbers of the books' set.
    pub(crate) fn places(&self, part: &QuestionSet) -> Vec<Option<Place>> {
        let mut previous: Option<(Range<usize>, Place)> = None;
        let find = |question| {
            let context = part.context(question);
            let split = part.split(question);
            let guess = previous.as_ref().map_or(0, |(range, place)| {
                place.first + context.start.saturating_sub(range.start)
            });
            let place = match &previous {
                Some((range, place)) if *range == context => Some(*place),
                _ => self
                    .at(part, &context, split, guess)
                    .or_else(|| self.search(part, &context, split, guess)),
            };
            if let Some(place) = place {
                previous = Some((context, place));
            }
            place
        };
        (0..part.len()).map(find).collect()
    }

    /// Looks up the longest sentence of the context, which is the rarest as a rule.
    fn search(
        &self,
        part: &QuestionSet,
        context: &Range<usize>,
        split: Option<Split>,
        from: usize,
    ) -> Option<Place> {
        let longest = context.clone().max_by_key(|&sentence| part.sentence(sentence).len())?;
        let offset = longest - context.start;
        let key = hash(part.sentence(longest));
        let start = self.sentences.partition_point(|&(hash, _)| hash < key);
        let same = self.sentences[start..].iter().take_while(|&&(hash, _)| hash == key);
        let firsts: Vec<usize> = same.filter_map(|&(_, place)| place.checked_sub(offset)).collect();
        let (before, after) = firsts.split_at(firsts.partition_point(|&first| first < from));
        let mut in_order = after.iter().chain(before);
        in_order.find_map(|&first| self.at(part, context, split, first))
    }

    /// The place that begins with that sentence, if the context stands there.
    fn at(
        &self,
        part: &QuestionSet,
        context: &Range<usize>,
        split: Option<Split>,
        first: usize,
    ) -> Option<Place> {
        let books = self.set.books();
        let book = books.partition_point(|book| book.sentences.end <= first);
        let fits = |book: &&BookText| {
            book.sentences.start <= first
                && first + context.len() <= book.sentences.end
                && (split.is_none() || book.split == split)
        };
        books.get(book).filter(fits)?;
        let mut pairs = (first..).zip(context.clone());
        let stands = !context.is_empty()
            && pairs.all(|(ours, theirs)| self.set.sentence(ours) == part.sentence(theirs));
        stands.then_some(Place { first, book })
    }
}

fn hash(sentence: &[WordId]) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(sentence)
}
