//! `goldilocks build`: books → a folder of questions (§2); news: see `build_news`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;
use corpus::Tagger;
use questions::{
    BookQuestions, Builder, Built, Counts, QuestionSet, Rules, Split, SplitFile, WordClass,
    draw_splits,
};
use rayon::prelude::*;

use super::build_news;
use crate::books::{Source, sources};
use crate::cli::VERSION;
use crate::failure::Failure;
use crate::progress::Progress;

/// Options of `build`.
#[derive(clap::Args, Debug, Default)]
pub struct Options {
    /// .txt and .epub files, or folders of them; with `--like cnn`, .jsonl files of anonymised news articles
    /// [default: the embedded tales, or news]
    #[arg(value_name = "BOOK")]
    books: Vec<PathBuf>,
    /// Folder to write the questions into
    #[arg(short, long, value_name = "DIR", default_value = "questions")]
    output: PathBuf,
    /// cbt: leave nothing out of the books, as the released CBT did: title pages, contents, captions; cnn: ask for
    /// an entity of an article's first sentences
    #[arg(long, value_name = "SET")]
    like: Option<super::Like>,
    /// Seed of every random choice: splits, candidates, which questions are kept
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::seed())]
    seed: u64,
    /// Lines of `split TAB file name`: which book is for train, valid and test [default: drawn]
    #[arg(long, value_name = "FILE")]
    split: Option<PathBuf>,
    /// Keep at most as many questions of each class as the released CBT has [default: all]
    #[arg(long, value_name = "SET", value_parser = ["cbt"])]
    counts: Option<String>,
    /// With `--like cnn`: how many of an article's sentences are asked about [default: 3]
    #[arg(long, value_name = "N")]
    leads: Option<NonZeroUsize>,
    /// With `--like cnn`: real questions of CNN QA, of which those for training join the others
    #[arg(long, value_name = "SET")]
    with: Option<PathBuf>,
    /// Classes of words to ask for
    #[arg(long, value_name = "CLASS", value_delimiter = ',', value_parser = super::word_class)]
    classes: Vec<WordClass>,
    /// Sentences before the query
    #[arg(long, value_name = "N")]
    context: Option<usize>,
    /// Keep each context and query in one chapter, as the paper says and the release does not
    #[arg(long)]
    within_chapters: bool,
    /// Change any rule; a built folder's manifest.toml lists all of them
    #[arg(long = "set", value_name = "RULE=VALUE")]
    rules: Vec<String>,
    /// Leave out books that are damaged, empty or too short for a question, each with a warning, instead of stopping
    #[arg(long)]
    skip_bad: bool,
    /// Replace the output folder if it is there
    #[arg(long)]
    force: bool,
}

/// What the manifest says of a book.
struct BookLine {
    name: String,
    split: Split,
    sha256: String,
    n_sentences: usize,
    n_words: usize,
}

/// Builds and writes; prints how many questions of each class and split there are.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    if options.output.exists() && !options.force {
        return Err(Failure::OutputExists { path: options.output.clone() }.into());
    }
    if options.like == Some(super::Like::Cnn) {
        return build_news::run(&options.news()?, progress);
    }
    for (flag, is_given) in
        [("--leads", options.leads.is_some()), ("--with", options.with.is_some())]
    {
        if is_given {
            let message = "expected `--like cnn` beside it: it is about news articles".to_owned();
            return Err(Failure::Setting { what: flag, message }.into());
        }
    }
    let (built, lines) = build(options, progress)?;
    options.show(&built, &lines)
}

/// Builds the embedded tales into a folder, whatever is there.
pub fn build_tales(folder: &Path, seed: u64, progress: Progress) -> Result<QuestionSet> {
    let options = Options { output: folder.to_owned(), seed, force: true, ..Options::default() };
    Ok(build(&options, progress)?.0.set)
}

fn build(options: &Options, progress: Progress) -> Result<(Built, Vec<BookLine>)> {
    let rules = options.rules()?;
    let sources = sources(&options.books)?;
    let splits = options.splits(&sources)?;
    let tagger = Tagger::shipped();
    let known = |word: &str| tagger.knows(word);
    let builder = Builder::new(rules.clone(), options.seed, &known)?;

    let bar = progress.steps("build", sources.len() as u64);
    let read = |(source, &split): (&Source, &Split)| -> Result<(BookQuestions, BookLine)> {
        let (book, sha256) = source.book(options.like.is_none(), tagger)?;
        let questions = builder.read(source.path(), &book, split)?;
        let n_words = book.sentences.iter().map(Vec::len).sum();
        let n_sentences = book.sentences.len();
        bar.set_message(book.name.clone());
        bar.inc(1);
        Ok((questions, BookLine { name: book.name, split, sha256, n_sentences, n_words }))
    };
    // A book that may be left out is an error that does not stop the others.
    let read = |book| match read(book) {
        Err(error) if options.skip_bad && is_bad_book(&error) => Ok(Err(error)),
        other => other.map(Ok),
    };
    // Of several bad books the first is named, whichever thread finds its own earlier.
    let read: Vec<Result<_>> = sources.par_iter().zip(&splits).map(read).collect();
    let read = read.into_iter().collect::<Result<Vec<_>>>()?;
    bar.finish_and_clear();
    let (books, lines) = options.without_bad(&sources, read)?;

    let built = builder.finish(books, options.counts())?;
    let writing = progress.spinner("write", options.output.display().to_string());
    let manifest = options.manifest(&rules, &lines)?;
    questions::compact::write(&built.set, &options.output, manifest, options.force)?;
    writing.finish_and_clear();
    warn(&built);
    Ok((built, lines))
}

impl Options {
    /// What is asked for, as far as news are concerned.
    fn news(&self) -> Result<build_news::Options<'_>> {
        let of_books = [
            ("--split", self.split.is_some()),
            ("--counts", self.counts.is_some()),
            ("--classes", !self.classes.is_empty()),
            ("--context", self.context.is_some()),
            ("--within-chapters", self.within_chapters),
            ("--set", !self.rules.is_empty()),
        ];
        if let Some((flag, _)) = of_books.into_iter().find(|(_, is_given)| *is_given) {
            let message = "expected no such flag with `--like cnn`: it is about books".to_owned();
            return Err(Failure::Setting { what: flag, message }.into());
        }
        Ok(build_news::Options {
            articles: &self.books,
            with: self.with.as_deref(),
            leads: self.leads.map_or(build_news::DEFAULT_LEADS, NonZeroUsize::get),
            seed: self.seed,
            skip_bad: self.skip_bad,
            output: &self.output,
            force: self.force,
        })
    }

    fn rules(&self) -> Result<Rules> {
        let mut table = toml::Table::new();
        for text in &self.rules {
            let (rule, value) = super::setting(text)?;
            table.insert(rule, value);
        }
        let mut rules = Rules::from_table(&table)?;
        if !self.classes.is_empty() {
            rules.classes.clone_from(&self.classes);
        }
        if let Some(context) = self.context {
            rules.context_sentences = context;
        }
        rules.within_chapters |= self.within_chapters;
        Ok(rules)
    }

    fn splits(&self, sources: &[Source]) -> Result<Vec<Split>> {
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        let file = match &self.split {
            Some(path) => SplitFile::read(path)?,
            None if self.books.is_empty() => {
                SplitFile::from_text("splits.tsv".as_ref(), corpus::tales::SPLITS)?
            }
            None => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                return Ok(draw_splits(&names, self.seed));
            }
        };
        Ok(names.iter().map(|name| file.split(name)).collect::<Result<_, _>>()?)
    }

    /// The books that could be read, in the splits that are drawn among them; tells of the others.
    fn without_bad(
        &self,
        sources: &[Source],
        read: Vec<Result<(BookQuestions, BookLine)>>,
    ) -> Result<(Vec<BookQuestions>, Vec<BookLine>)> {
        let mut good = Vec::new();
        for (source, result) in sources.iter().zip(read) {
            match result {
                Ok(book) => good.push((source.clone(), book)),
                Err(error) => crate::failure::warn(format_args!("left out: {error:#}")),
            }
        }
        let n_bad = sources.len() - good.len();
        let (sources, books): (Vec<Source>, Vec<_>) = good.into_iter().unzip();
        if n_bad == 0 {
            return Ok(books.into_iter().unzip());
        }
        if books.is_empty() {
            return Err(Failure::NoGoodBook { n_books: n_bad }.into());
        }
        let all = super::counted(n_bad + books.len(), "book");
        crate::failure::warn(format_args!("{} of {all} left out", super::thousands(n_bad)));
        let in_split = |((questions, line), split): ((BookQuestions, BookLine), Split)| {
            (questions.in_split(split), BookLine { split, ..line })
        };
        Ok(books.into_iter().zip(self.splits(&sources)?).map(in_split).unzip())
    }

    fn counts(&self) -> Counts {
        if self.counts.is_some() {
            Counts::AtMost(report::paper::CBT_QUESTIONS)
        } else {
            Counts::All
        }
    }

    /// Inputs by hash, rules, seed and version: what it takes to build the same folder again.
    fn manifest(&self, rules: &Rules, lines: &[BookLine]) -> Result<toml::Table> {
        let books = lines.iter().map(|line| {
            let mut book = toml::Table::new();
            book.insert("name".into(), line.name.clone().into());
            book.insert("split".into(), line.split.code().into());
            book.insert("sha256".into(), line.sha256.clone().into());
            book.insert("sentences".into(), (line.n_sentences as i64).into());
            book.insert("words".into(), (line.n_words as i64).into());
            toml::Value::Table(book)
        });
        let mut manifest = toml::Table::new();
        manifest.insert("version".into(), VERSION.into());
        manifest.insert("seed".into(), i64::try_from(self.seed)?.into());
        manifest.insert("cuts".into(), self.like.is_none().into());
        manifest.insert("counts".into(), if self.counts.is_some() { "cbt" } else { "all" }.into());
        manifest.insert("rules".into(), toml::Value::try_from(rules)?);
        manifest.insert("books".into(), toml::Value::Array(books.collect()));
        Ok(manifest)
    }

    fn show(&self, built: &Built, lines: &[BookLine]) -> Result<()> {
        let what = if self.books.is_empty() { "tale" } else { "book" };
        let sum = |count: fn(&BookLine) -> usize| super::thousands(lines.iter().map(count).sum());
        super::print(format_args!(
            "{} from {}: {} words in {} sentences (seed {})\n\n",
            super::counted(built.set.len(), "question"),
            super::counted(lines.len(), what),
            sum(|line| line.n_words),
            sum(|line| line.n_sentences),
            self.seed,
        ))?;
        super::print(format_args!("{}", counts_table(&built.set)))?;
        if self.split.is_none() && !self.books.is_empty() && lines.len() < 3 {
            let drawn = lines.iter().map(|line| format!("{} is {}", line.name, line.split.code()));
            super::print(format_args!(
                "\nSplits, drawn: {}. `--split FILE` gives others; of three books or more, each split gets one.\n",
                drawn.collect::<Vec<_>>().join(", ")
            ))?;
        }
        super::print(format_args!("\n{}\n", self.output.display()))
    }
}

fn counts_table(set: &questions::QuestionSet) -> String {
    let mut counts = [[0; WordClass::ALL.len()]; Split::ALL.len()];
    for index in 0..set.len() {
        if let (Some(split), Some(class)) = (set.example(index).split, set.example(index).class) {
            counts[split as usize][class as usize] += 1;
        }
    }
    let mut table = format!("{:8}", "");
    WordClass::ALL.iter().for_each(|class| table += &format!("{:>16}", class.label()));
    for split in Split::ALL {
        table += &format!("\n{:8}", split.code());
        for count in counts[split as usize] {
            table += &format!("{:>16}", super::thousands(count));
        }
    }
    table + "\n"
}

/// Whether the fault is the book's own: one that is not there was named wrongly.
fn is_bad_book(error: &anyhow::Error) -> bool {
    use corpus::Error::{Binary, DamagedEpub, Empty, Io, TooLong};
    let is_short = matches!(error.downcast_ref(), Some(questions::Error::TooFewSentences { .. }));
    let read = error.downcast_ref();
    is_short
        || matches!(
            read,
            Some(Binary { .. } | DamagedEpub { .. } | Empty { .. } | Io { .. } | TooLong { .. })
        )
}

fn warn(built: &Built) {
    for shortfall in &built.shortfalls {
        crate::failure::warn(format_args!(
            "{} {}: {} questions where the released set has {}: all of them are kept",
            shortfall.split.code(),
            shortfall.class.code(),
            super::thousands(shortfall.found),
            super::thousands(shortfall.wanted),
        ));
    }
}
