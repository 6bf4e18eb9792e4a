//! Books → a question set (§2), with the manifest that says how to build the same again.

use std::path::{Path, PathBuf};

use corpus::Tagger;
use questions::{
    BookQuestions, Builder, Counts, QuestionSet, Rules, Shortfall, Split, SplitFile, WriteOptions,
    compact, draw_splits,
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
    /// Which book is for which split; none: those of the names or of the tales, else drawn.
    pub splits: Option<SplitFile>,
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
            seed: 1,
            as_released: false,
            skip_bad: false,
        }
    }
}

/// A set that was built, and from what.
#[derive(Debug)]
pub struct Build {
    /// The questions.
    pub set: QuestionSet,
    /// The books that they come from.
    pub books: Vec<BuiltBook>,
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
    /// How many words.
    #[serde(rename = "words")]
    pub n_words: usize,
}

/// Builds a question set from books.
///
/// # Errors
/// The first book that can't be read, unless bad ones are skipped; rules out of range; a book without a split.
pub fn build(options: &BuildOptions, reporter: &dyn Reporter) -> Result<Build> {
    let sources = options.sources()?;
    let splits = options.draw(&sources)?;
    let tagger = Tagger::shipped();
    let known = |word: &str| tagger.knows(word);
    let builder = Builder::new(options.rules.clone(), options.seed, &known)?;

    let steps = Some(sources.len());
    reporter.report(Event::Begin { stage: "build", what: String::new(), steps });
    let read = |(source, &split): (&Source, &Split)| -> Result<(BookQuestions, BuiltBook)> {
        check_cancelled(reporter)?;
        let (book, sha256) = source.book(options.as_released, tagger)?;
        let questions = builder.questions_of(source.path(), &book, split)?;
        let n_words = book.sentences.iter().map(Vec::len).sum();
        let n_sentences = book.sentences.len();
        reporter.report(Event::Step { n: 1, what: Some(book.name.clone()) });
        Ok((questions, BuiltBook { name: book.name, split, sha256, n_sentences, n_words }))
    };
    // A book that may be left out is an error that does not stop the others.
    let read = |book| match read(book) {
        Err(error) if options.skip_bad && is_bad_book(&error) => Ok(Err(error)),
        other => other.map(Ok),
    };
    // Of several bad books the first is named, whichever thread finds its own earlier.
    let read: Vec<Result<_>> = sources.par_iter().zip(&splits).map(read).collect();
    let read = read.into_iter().collect::<Result<Vec<_>>>()?;
    reporter.report(Event::End);
    let (questions, books) = options.without_bad(&sources, read, reporter)?;

    let built = builder.finish(questions, options.counts)?;
    for Shortfall { split, class, found, wanted } in built.shortfalls {
        reporter.report(Event::Warning(Warning::Shortfall { split, class, found, wanted }));
    }
    Ok(Build { set: built.set, books, options: options.clone() })
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

    fn sources(&self) -> Result<Vec<Source>> {
        if self.tagged {
            return tagged_sources(&self.books);
        }
        let texts = self.texts.iter().cloned().map(Source::Text);
        match self.books.is_empty() && !self.texts.is_empty() {
            true => Ok(texts.collect()),
            false => Ok(sources(&self.books)?.into_iter().chain(texts).collect()),
        }
    }

    /// The split of each book.
    fn draw(&self, sources: &[Source]) -> Result<Vec<Split>> {
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        let file = match &self.splits {
            Some(file) => file.clone(),
            None if self.is_of_tales() => {
                SplitFile::from_text("splits.tsv".as_ref(), corpus::tales::SPLITS)?
            }
            None => {
                let named: Option<Vec<Split>> = sources.iter().map(Source::split).collect();
                if let Some(splits) = named {
                    return Ok(splits);
                }
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                return Ok(draw_splits(&names, self.seed));
            }
        };
        Ok(names.iter().map(|name| file.split(name)).collect::<Result<_, _>>()?)
    }

    /// The books that could be read, in the splits that are drawn among them; warns of the others.
    fn without_bad(
        &self,
        sources: &[Source],
        read: Vec<Result<(BookQuestions, BuiltBook)>>,
        reporter: &dyn Reporter,
    ) -> Result<(Vec<BookQuestions>, Vec<BuiltBook>)> {
        let mut good = Vec::new();
        for (source, result) in sources.iter().zip(read) {
            match result {
                Ok(book) => good.push((source.clone(), book)),
                Err(error) => {
                    let error = error.to_string();
                    reporter.report(Event::Warning(Warning::BookSkipped { error }));
                }
            }
        }
        let n_bad = sources.len() - good.len();
        let (sources, books): (Vec<Source>, Vec<_>) = good.into_iter().unzip();
        if n_bad == 0 {
            return Ok(books.into_iter().unzip());
        }
        if books.is_empty() {
            return Err(Error::NoReadableBook { n_books: n_bad });
        }
        let of = n_bad + books.len();
        reporter.report(Event::Warning(Warning::BooksSkipped { n: n_bad, of }));
        let in_split = |((questions, line), split): ((BookQuestions, BuiltBook), Split)| {
            (questions.in_split(split), BuiltBook { split, ..line })
        };
        Ok(books.into_iter().zip(self.draw(&sources)?).map(in_split).unzip())
    }
}

/// Whether the fault is the book's own: one that is not there was named wrongly.
fn is_bad_book(error: &Error) -> bool {
    use corpus::Error::{Binary, CorruptEpub, Empty, Io, TooLong};
    matches!(
        error,
        Error::Questions(questions::Error::TooFewSentences { .. })
            | Error::Corpus(
                Binary { .. } | CorruptEpub { .. } | Empty { .. } | Io { .. } | TooLong { .. }
            )
    )
}
