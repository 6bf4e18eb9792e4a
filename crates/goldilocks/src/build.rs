//! Books → a question set (§2), with the manifest that says how to build the same again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use corpus::{Prose, Tagger};
use questions::{
    BookQuestions, Builder, Counts, NearCopy, QuestionSet, Rules, Shortfall, Split, SplitFile,
    SplitShares, WriteOptions, compact, draw_splits_of_groups, near_copies,
};
use rayon::prelude::*;
use serde::Serialize;

use crate::books::{Source, TextBook, sources, tagged_sources};
use crate::progress::{check_cancelled, during};
use crate::{Error, Event, Program, Reporter, Result, Warning};

/// What [`build()`] reads and how.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// .txt, .html and .epub files, or folders of them; none, and no text: the embedded tales.
    pub books: Vec<PathBuf>,
    /// Books whose texts are at hand.
    pub texts: Vec<TextBook>,
    /// Whether the books are tagged already: lines of a word, its part of speech and its entity class, separated by
    /// tabs, with an empty line after each sentence. Names such as `train__BOOK.txt` give their splits.
    pub tagged: bool,
    /// The rules of the test.
    pub rules: Rules,
    /// How many questions are kept.
    pub counts: Counts,
    /// Which book is for which split; none: those of the names or of the tales, else drawn. Of books of which one is a
    /// near-copy of another, all are drawn into one split.
    pub splits: Option<SplitFile>,
    /// How many books are drawn for validation and test.
    pub shares: SplitShares,
    /// Whether all books of an author are drawn into one split.
    pub by_author: bool,
    /// Seed of every random choice: splits, candidates, which questions are kept.
    pub seed: u64,
    /// Whether books are read as those of the released CBT were: title pages, contents and captions stay in, and
    /// an empty line ends no sentence.
    pub as_released: bool,
    /// Whether books that are damaged, empty or too short are left out, each with a warning.
    pub skip_bad: bool,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            books: Vec::new(),
            texts: Vec::new(),
            tagged: false,
            rules: Rules::default(),
            counts: Counts::All,
            splits: None,
            shares: SplitShares::default(),
            by_author: false,
            seed: 1,
            as_released: false,
            skip_bad: false,
        }
    }
}

/// A set that was built, and from what.
#[derive(Debug)]
pub struct Build {
    /// The set of all questions.
    pub set: QuestionSet,
    /// The books that they come from.
    pub books: Vec<BuiltBook>,
    /// Whether their splits were drawn.
    pub is_drawn: bool,
    /// Pairs of books of which the first is a near-copy of the other or of a part of it.
    pub near_copies: Vec<(String, String)>,
    /// How to build them again.
    pub options: BuildOptions,
}

/// What the manifest records of a book.
#[derive(Clone, Debug, Serialize)]
pub struct BuiltBook {
    /// File name without folder and ending.
    pub name: String,
    /// The split that it is in.
    pub split: Split,
    /// SHA-256 of its text.
    pub sha256: String,
    /// How many sentences it has.
    #[serde(rename = "sentences")]
    pub n_sentences: usize,
    /// The number of words, punctuation included.
    #[serde(rename = "words")]
    pub n_words: usize,
}

/// Builds a question set from books.
///
/// # Errors
/// The first book that can't be read, unless bad ones are skipped; rules out of range; a book without a split.
pub fn build(options: &BuildOptions, reporter: &dyn Reporter) -> Result<Build> {
    let sources = options.sources()?;
    // A book without a split is an error before the work.
    let given = options.given_splits(&sources)?;
    let tagger = Tagger::shipped();
    let known = |word: &str| tagger.knows(word);
    let builder = Builder::new(options.rules.clone(), options.seed, &known)?;

    let steps = Some(sources.len());
    reporter.report(Event::Begin { stage: "build", what: String::new(), steps });
    let read = |source: &Source| -> Result<ReadBook> {
        check_cancelled(reporter)?;
        let (book, sha256) = source.book(options.as_released, tagger)?;
        let split = Split::Train;
        let questions = builder.questions_of(source.path(), &book, split)?;
        let n_words = book.sentences.iter().map(Vec::len).sum();
        let n_sentences = book.sentences.len();
        let prose = (!options.tagged).then(|| Prose::of(&book.sentences, tagger));
        let author = if options.by_author { source.author()? } else { None };
        reporter.report(Event::Step { n: 1, what: Some(book.name.clone()) });
        let line = BuiltBook { name: book.name, split, sha256, n_sentences, n_words };
        Ok(ReadBook { questions, line, prose, author })
    };
    // A book that may be left out is an error that does not stop the others.
    let read = |source| match read(source) {
        Err(error) if options.skip_bad && is_bad_book(&error) => Ok(Err(error)),
        other => other.map(Ok),
    };
    // Of several bad books the first is named, whichever thread finds its own earlier.
    let read: Vec<Result<_>> = sources.par_iter().map(read).collect();
    let read = read.into_iter().collect::<Result<Vec<_>>>()?;
    reporter.report(Event::End);
    let read = without_bad(&sources, read, reporter)?;

    let (good, read): (Vec<&Source>, Vec<ReadBook>) = read.into_iter().unzip();
    read.iter().for_each(|book| book.warn_unless_prose(reporter));
    let authors: Vec<_> = read.iter().map(|book| book.author.clone()).collect();
    let (questions, mut books): (Vec<BookQuestions>, Vec<BuiltBook>) =
        read.into_iter().map(|book| (book.questions, book.line)).unzip();
    let copies = during(reporter, "compare", "text that books share", || near_copies(&questions));
    let names: Vec<String> = books.iter().map(|book| book.name.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let splits: Vec<Split> = match &given {
        Some(given) => sources
            .iter()
            .zip(given)
            .filter(|(source, _)| good.iter().any(|kept| std::ptr::eq(*kept, *source)))
            .map(|(_, &split)| split)
            .collect(),
        None => options.draw(&names, &authors, &copies, reporter),
    };
    warn_of_shared_text(&names, &splits, &copies, reporter);
    books.iter_mut().zip(&splits).for_each(|(book, &split)| book.split = split);
    let questions =
        questions.into_iter().zip(splits).map(|(book, split)| book.in_split(split)).collect();

    let built = builder.finish(questions, options.counts)?;
    for Shortfall { split, class, found, wanted } in built.shortfalls {
        reporter.report(Event::Warning(Warning::Shortfall { split, class, found, wanted }));
    }
    let name = |book: usize| books[book].name.clone();
    let near_copies = copies.iter().map(|pair| (name(pair.book), name(pair.other))).collect();
    let is_drawn = given.is_none();
    Ok(Build { set: built.set, books, is_drawn, near_copies, options: options.clone() })
}

/// A book with its questions, before it has a split.
struct ReadBook {
    questions: BookQuestions,
    line: BuiltBook,
    prose: Option<Prose>,
    author: Option<String>,
}

impl ReadBook {
    fn warn_unless_prose(&self, reporter: &dyn Reporter) {
        if let Some(prose) = self.prose.filter(|prose| !prose.is_english()) {
            let Prose { known_words, with_verb } = prose;
            let book = self.line.name.clone();
            let warning = Warning::NotProse { book, known_words, with_verb };
            reporter.report(Event::Warning(warning));
        }
    }
}

/// The books that could be read; warns of the others.
fn without_bad<'s>(
    sources: &'s [Source],
    read: Vec<Result<ReadBook>>,
    reporter: &dyn Reporter,
) -> Result<Vec<(&'s Source, ReadBook)>> {
    let mut good = Vec::new();
    for (source, result) in sources.iter().zip(read) {
        match result {
            Ok(book) => good.push((source, book)),
            Err(error) => {
                let error = error.to_string();
                reporter.report(Event::Warning(Warning::BookSkipped { error }));
            }
        }
    }
    let n_bad = sources.len() - good.len();
    if n_bad > 0 && good.is_empty() {
        return Err(Error::NoReadableBook { n_books: n_bad });
    }
    if n_bad > 0 {
        let of = sources.len();
        reporter.report(Event::Warning(Warning::BooksSkipped { n: n_bad, of }));
    }
    Ok(good)
}

/// Warns of near-copies in several splits.
pub(crate) fn warn_of_shared_text(
    names: &[&str],
    splits: &[Split],
    copies: &[NearCopy],
    reporter: &dyn Reporter,
) {
    let is_leak = |pair: &&NearCopy| splits[pair.book] != splits[pair.other];
    let Some(first) = copies.iter().find(is_leak) else { return };
    let named = |book: usize| (names[book].to_owned(), splits[book]);
    reporter.report(Event::Warning(Warning::SharedText {
        n_pairs: copies.iter().filter(is_leak).count(),
        book: named(first.book),
        other: named(first.other),
        share: first.share,
    }));
}

/// A number for each book; those that belong together have the same one.
fn groups(n_books: usize, authors: &[Option<String>], copies: &[NearCopy]) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..n_books).collect();
    let mut join = |a: usize, b: usize| {
        let (from, to) = (groups[a].max(groups[b]), groups[a].min(groups[b]));
        groups.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
    };
    let mut first_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (book, author) in authors.iter().enumerate() {
        if let Some(author) = author {
            let first = *first_of.entry(author).or_insert(book);
            join(first, book);
        }
    }
    copies.iter().for_each(|pair| join(pair.book, pair.other));
    groups
}

impl Build {
    /// Writes the compact form with its manifest.
    ///
    /// # Errors
    /// If the folder is there and not to be replaced, or can't be written.
    pub fn write(
        &self,
        folder: &Path,
        overwrite: bool,
        program: &Program,
        reporter: &dyn Reporter,
    ) -> Result<()> {
        let write = || {
            let manifest = self.manifest(program);
            let options = WriteOptions { overwrite, manifest, ..WriteOptions::default() };
            compact::write(&self.set, folder, &options)
        };
        Ok(during(reporter, "write", folder.display().to_string(), write)?)
    }

    /// What the manifest of the set says beyond its contents, by inputs' hashes, rules, seed and version: what it takes
    /// to build the same folder again.
    pub fn manifest(&self, program: &Program) -> toml::Table {
        #[derive(Serialize)]
        struct Manifest<'a> {
            version: String,
            seed: u64,
            as_released: bool,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            tagged: bool,
            counts: &'static str,
            rules: &'a Rules,
            books: &'a [BuiltBook],
        }
        let Self {
            books,
            options: BuildOptions { rules, counts, seed, as_released, tagged, .. },
            ..
        } = self;
        let manifest = Manifest {
            version: program.to_string(),
            seed: *seed,
            as_released: *as_released,
            tagged: *tagged,
            counts: if *counts == Counts::All { "all" } else { "cbt" },
            rules,
            books,
        };
        toml::Table::try_from(manifest).expect("every field has a form in TOML")
    }
}

impl BuildOptions {
    /// Whether the books are the embedded tales.
    pub fn is_of_tales(&self) -> bool {
        self.books.is_empty() && self.texts.is_empty()
    }

    pub(crate) fn sources(&self) -> Result<Vec<Source>> {
        if self.tagged {
            return tagged_sources(&self.books);
        }
        let texts = self.texts.iter().cloned().map(Source::Text);
        match self.books.is_empty() && !self.texts.is_empty() {
            true => Ok(texts.collect()),
            false => Ok(sources(&self.books)?.into_iter().chain(texts).collect()),
        }
    }

    /// The splits that are not drawn: those of the options, of the tales or of the books' names.
    pub(crate) fn given_splits(&self, sources: &[Source]) -> Result<Option<Vec<Split>>> {
        let file = match &self.splits {
            Some(file) => file.clone(),
            None if self.is_of_tales() => {
                SplitFile::from_text("splits.tsv".as_ref(), corpus::tales::SPLITS)?
            }
            None => return Ok(sources.iter().map(Source::split).collect()),
        };
        let splits = sources.iter().map(|source| file.split(&source.name()));
        Ok(Some(splits.collect::<Result<_, _>>()?))
    }

    /// Draws the split of each book.
    pub(crate) fn draw(
        &self,
        names: &[&str],
        authors: &[Option<String>],
        copies: &[NearCopy],
        reporter: &dyn Reporter,
    ) -> Vec<Split> {
        let n_unknown = authors.iter().filter(|author| author.is_none()).count();
        if self.by_author && n_unknown > 0 {
            let warning = Warning::NoAuthor { n: n_unknown, of: names.len() };
            reporter.report(Event::Warning(warning));
        }
        let groups = groups(names.len(), authors, copies);
        draw_splits_of_groups(names, &groups, self.shares, self.seed)
    }
}

/// Whether the fault is the book's own: one that is not there was named wrongly.
pub(crate) fn is_bad_book(error: &Error) -> bool {
    use corpus::Error::{Binary, CorruptEpub, Empty, Io, TooLong};
    matches!(
        error,
        Error::Questions(questions::Error::TooFewSentences { .. })
            | Error::Corpus(
                Binary { .. } | CorruptEpub { .. } | Empty { .. } | Io { .. } | TooLong { .. }
            )
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authors_and_near_copies_join_books_across_each_other() {
        let authors = [Some("a"), None, Some("b"), Some("a"), None].map(|a| a.map(str::to_owned));
        let copies = [NearCopy { book: 2, other: 3, share: 0.5 }];
        assert_eq!(groups(5, &authors, &copies), [0, 1, 0, 0, 4]);
        assert_eq!(groups(3, &[None, None, None], &[]), [0, 1, 2]);
    }
}
