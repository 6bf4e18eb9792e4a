//! [`prepare`]: a set and further books → a tokenizer and all text in pieces, in the working folder, so that a training
//! that resumes, perhaps on another machine, needs neither.
//!
//! ```text
//! tokenizer.json   text.u16   valid.u16   train.u16   books.sketch   prepared.json
//! ```

use std::path::{Path, PathBuf};

use questions::{BookSketch, HeldOut, QuestionSet, Split};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::files::{read_json, read_numbers, write_bytes, write_json, write_numbers, write_text};
use crate::passages::{self, Wanted};
use crate::pieces::{DOCUMENT_ID, Pieces};
use crate::plain::Plain;
use crate::{Config, Error, Event, Reporter, Result};

/// What a reader learns from.
#[derive(Debug)]
pub struct Sources<'a> {
    /// Questions of all splits with the running text of their books.
    pub set: &'a QuestionSet,
    /// Further books to read, in the order of their use.
    pub further: Vec<PathBuf>,
    /// Whether books that share text with held-out ones are left out; else they are an error.
    pub leaves_out_leaks: bool,
}

/// The share of 8-grams from which on two books share text, as in the leak report of a set.
const LEAST_SHARE: f64 = 0.01;
/// Bytes of text that the tokenizer is trained on.
const TOKENIZER_TEXT: usize = 120 << 20;
/// Books that are read at the same time.
const AT_ONCE: usize = 64;

/// What was prepared, and from what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// The fingerprint of the set.
    pub set: String,
    /// The hash of the further books' names and texts.
    pub further: String,
    /// The setting `pieces`.
    pub pieces: usize,
    /// The setting `length`, which decides how much of a context fits.
    pub length: usize,
    /// What the questions were drawn by.
    pub wanted: Wanted,
    /// Books that were left out, since they share text with held-out ones.
    pub left_out: Vec<String>,
    /// How many pieces of `text.u16` the set's validation books have, its training books, and the further ones.
    pub parts: [usize; 3],
    /// Books of each of these parts.
    pub books: [usize; 3],
    hashes: Hashes,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Hashes {
    text: String,
    train: String,
    valid: String,
}

/// What a training reads.
pub struct Prepared {
    /// From what it was made.
    pub index: Index,
    /// The tokenizer.
    pub pieces: Pieces,
    /// All text: validation books, training books, further ones. Each book begins with the document piece.
    pub text: Vec<u16>,
    /// Questions to learn from.
    pub train: Vec<u16>,
    /// Questions to be answered.
    pub valid: Vec<u16>,
    /// The sketches of all books that are learnt from ([`questions::KnownBooks`]); none in a folder of an earlier version.
    pub sketches: Vec<u8>,
}

const TOKENIZER: &str = "tokenizer.json";
const INDEX: &str = "prepared.json";
/// Which books are learnt from: in the working folder, and in that of the reader.
pub const SKETCHES: &str = "books.sketch";

/// Prepares all text in a folder, or reads what is there of the same sources and settings.
///
/// # Errors
/// If a book can't be read, or shares text with a held-out one, or the folder can't be written.
pub fn prepare(
    folder: &Path,
    sources: &Sources<'_>,
    config: &Config,
    seed: u64,
    reporter: &dyn Reporter,
) -> Result<Prepared> {
    let further = hash_of(&sources.further)?;
    let wanted = Wanted::new(config, seed);
    if folder.join(INDEX).exists() {
        let prepared = Prepared::open(folder)?;
        prepared.check(folder, &sources.set.fingerprint(), &further, &wanted)?;
        prepared.check_settings(folder, config)?;
        return Ok(prepared);
    }
    let set = sources.set;
    let valid = books_of(set, Split::Valid);
    let own = books_of(set, Split::Train);
    if own.is_empty() {
        return Err(Error::NoText);
    }
    let Read { books: others, left_out } = read(sources, reporter)?;
    let sketches = own.iter().chain(&others).filter_map(|book| book.sketch);
    let sketches: Vec<u8> = sketches.flat_map(BookSketch::to_bytes).collect();
    write_bytes(&folder.join(SKETCHES), &sketches)?;
    reporter.report(Event::Stage { what: "train the tokenizer".to_owned() });
    let mut n_bytes = 0;
    let texts = own.iter().chain(&others).flat_map(|book| book.plain.parts()).take_while(|part| {
        n_bytes += part.len();
        n_bytes < TOKENIZER_TEXT
    });
    let pieces = Pieces::train(texts, config.pieces)?;
    reporter.report(Event::Stage { what: "split the text into pieces".to_owned() });
    let books = [valid.len(), own.len(), others.len()];
    let (mut text, mut parts) = (Vec::new(), [0; 3]);
    for (part, books) in parts.iter_mut().zip([valid, own, others]) {
        let split: Vec<Vec<u16>> =
            books.into_par_iter().map(|book| split(&pieces, &book)).collect::<Result<_>>()?;
        let before = text.len();
        split.into_iter().for_each(|book| text.extend(book));
        *part = text.len() - before;
    }
    reporter.report(Event::Stage { what: "split the questions into pieces".to_owned() });
    let train = passages::draw(set, Split::Train, &wanted, config.length, &pieces)?;
    let valid = passages::draw(set, Split::Valid, &wanted, config.length, &pieces)?;
    let write = |name: &str, numbers: &[u16]| write_numbers(&folder.join(name), numbers);
    let hashes = Hashes {
        text: write("text.u16", &text)?,
        train: write("train.u16", &train)?,
        valid: write("valid.u16", &valid)?,
    };
    write_text(&folder.join(TOKENIZER), &pieces.to_text()?)?;
    let index = Index {
        set: set.fingerprint(),
        further,
        pieces: config.pieces,
        length: config.length,
        wanted,
        left_out,
        parts,
        books,
        hashes,
    };
    write_json(&folder.join(INDEX), &index)?;
    Ok(Prepared { index, pieces, text, train, valid, sketches })
}

impl Prepared {
    /// Reads what [`prepare`] has left.
    ///
    /// # Errors
    /// If it is missing or damaged.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(INDEX);
        if !path.exists() {
            return Err(Error::NothingPrepared { path: folder.to_owned() });
        }
        let index: Index = read_json(&path)?;
        let read = |name: &str, hash: &str| read_numbers(&folder.join(name), hash);
        let sketches = match folder.join(SKETCHES) {
            path if path.exists() => std::fs::read(&path).map_err(Error::file(&path))?,
            _ => Vec::new(),
        };
        Ok(Self {
            pieces: Pieces::read(&folder.join(TOKENIZER))?,
            text: read("text.u16", &index.hashes.text)?,
            train: read("train.u16", &index.hashes.train)?,
            valid: read("valid.u16", &index.hashes.valid)?,
            sketches,
            index,
        })
    }

    fn check(&self, folder: &Path, set: &str, further: &str, wanted: &Wanted) -> Result<()> {
        let index = &self.index;
        let [found, expected] = [&index.wanted, wanted].map(|it| format!("{it:?}"));
        same(folder, "question set", set, &index.set)?;
        same(folder, "further text", further, &index.further)?;
        same(folder, "choice of questions", &expected, &found)
    }

    /// Checks that texts were split as a reader with these settings reads them.
    ///
    /// # Errors
    /// [`Error::OtherTraining`] if they were not.
    pub(crate) fn check_settings(&self, folder: &Path, config: &Config) -> Result<()> {
        let Index { pieces, length, .. } = self.index;
        same(folder, "number of `pieces`", &config.pieces.to_string(), &pieces.to_string())?;
        same(folder, "`length`", &config.length.to_string(), &length.to_string())
    }

    /// What identifies all that is learnt from.
    pub fn hash(&self) -> String {
        let Hashes { text, train, valid } = &self.index.hashes;
        [text.as_str(), train, valid].concat()
    }

    /// The text of the set's validation books.
    pub fn held_out(&self) -> &[u16] {
        &self.text[..self.index.parts[0]]
    }

    /// The text of the set's training books.
    pub fn own(&self) -> &[u16] {
        let [held, own, _] = self.index.parts;
        &self.text[held..held + own]
    }

    /// All text to learn from.
    pub fn all(&self) -> &[u16] {
        &self.text[self.index.parts[0]..]
    }
}

fn same(path: &Path, what: &'static str, expected: &str, found: &str) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let [expected, found] = [expected, found].map(str::to_owned);
    Err(Error::OtherTraining { path: path.to_owned(), what, expected, found })
}

/// A book to read.
struct Book {
    plain: Plain,
    /// None if it has only a few words.
    sketch: Option<BookSketch>,
}

impl Book {
    fn of<S: AsRef<str>>(sentences: &[Vec<S>]) -> Self {
        let sketch = BookSketch::of(sentences.iter().flatten().map(AsRef::as_ref));
        Self { plain: Plain::of(sentences), sketch }
    }

    fn is_empty(&self) -> bool {
        self.plain.text().is_empty()
    }
}

fn books_of(set: &QuestionSet, split: Split) -> Vec<Book> {
    let books: Vec<_> = set.books().iter().filter(|book| book.split == Some(split)).collect();
    let read = books.into_par_iter().map(|book| {
        let sentences: Vec<Vec<&str>> = book
            .sentences
            .clone()
            .map(|sentence| {
                set.sentence(sentence).iter().map(|&word| set.vocabulary().word(word)).collect()
            })
            .collect();
        Book::of(&sentences)
    });
    read.filter(|book| !book.is_empty()).collect()
}

/// Further books, and the names of those that were left out.
struct Read {
    books: Vec<Book>,
    left_out: Vec<String>,
}

fn read(sources: &Sources<'_>, reporter: &dyn Reporter) -> Result<Read> {
    let held_out = HeldOut::of(sources.set, &[Split::Valid, Split::Test]);
    if held_out.is_empty() && !sources.further.is_empty() {
        return Err(Error::NothingHeldOut);
    }
    let mut read = Read { books: Vec::new(), left_out: Vec::new() };
    for (number, paths) in sources.further.chunks(AT_ONCE).enumerate() {
        if reporter.is_cancelled() {
            return Err(Error::Interrupted);
        }
        let (done, of) = (number * AT_ONCE, sources.further.len());
        reporter.report(Event::Stage { what: format!("read further books: {done} of {of}") });
        let books = paths.par_iter().map(|path| {
            let file = corpus::BookFile::read(path)?;
            let sentences = corpus::tokenise_paragraphs(&corpus::gutenberg::cut(&file.text));
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let words = sentences.iter().flatten().map(String::as_str);
            let overlap = held_out.overlap(&name, words, LEAST_SHARE);
            Ok((name, overlap.is_some(), Book::of(&sentences)))
        });
        for book in books.collect::<Vec<Result<_>>>() {
            let (name, is_leak, book) = book?;
            if is_leak {
                read.left_out.push(name);
            } else if !book.is_empty() {
                read.books.push(book);
            }
        }
    }
    if !read.left_out.is_empty() && !sources.leaves_out_leaks {
        return Err(Error::Leaks { books: read.left_out });
    }
    Ok(read)
}

/// A hash of files by their content, in their order.
fn hash_of(paths: &[PathBuf]) -> Result<String> {
    let hashes: Vec<String> = paths
        .par_iter()
        .map(|path| Ok(base::hash::sha256(&std::fs::read(path).map_err(Error::file(path))?)))
        .collect::<Result<_>>()?;
    Ok(base::hash::sha256(hashes.concat().as_bytes()))
}

fn split(pieces: &Pieces, book: &Book) -> Result<Vec<u16>> {
    let mut split = vec![DOCUMENT_ID];
    for part in book.plain.parts() {
        split.extend(pieces.split(part)?);
    }
    Ok(split)
}
