//! `goldilocks build`: books, or news articles, → a folder of questions (§2).

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::Result;
use goldilocks::questions::{Counts, QuestionSet, Rules, Split, WordClass};
use goldilocks::report::paper::CBT_QUESTIONS;
use goldilocks::{Build, BuildOptions, BuiltBook, DEFAULT_LEADS, Error, NewsOptions, build_news};

use super::{counted, print, thousands};
use crate::args::{self, Like};
use crate::cli::program;
use crate::failure::Failure;
use crate::progress::Progress;

/// Options of `build`.
#[derive(clap::Args, Debug)]
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
    like: Option<Like>,
    /// Seed of every random choice: splits, candidates, which questions are kept
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
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
    #[arg(long, value_name = "CLASS", value_delimiter = ',', value_parser = args::word_class)]
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
    /// Skip books that are damaged, empty or too short for a question, each with a warning
    #[arg(long)]
    skip_bad: bool,
    /// Overwrite an existing output folder
    #[arg(long)]
    force: bool,
}

/// Builds and writes; prints how many questions of each class and split there are.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    if options.output.exists() && !options.force {
        return Err(Error::Exists { path: options.output.clone() }.into());
    }
    let (output, force) = (&options.output, options.force);
    if options.like == Some(Like::Cnn) {
        let built = build_news(&options.news()?, progress)?;
        built.write(output, force, &program(), progress)?;
        return options.show_news(&built.set);
    }
    for (flag, is_given) in
        [("--leads", options.leads.is_some()), ("--with", options.with.is_some())]
    {
        if is_given {
            let message = "is about news articles: expected `--like cnn` with it".to_owned();
            return Err(Failure::Setting { what: flag, message }.into());
        }
    }
    let built = goldilocks::build(&options.books()?, progress)?;
    built.write(output, force, &program(), progress)?;
    options.show(&built)
}

impl Options {
    fn books(&self) -> Result<BuildOptions> {
        Ok(BuildOptions {
            books: self.books.clone(),
            rules: self.rules()?,
            counts: if self.counts.is_some() { Counts::AtMost(CBT_QUESTIONS) } else { Counts::All },
            splits: self.split.clone(),
            seed: self.seed,
            keep_front_matter: self.like.is_some(),
            skip_bad: self.skip_bad,
        })
    }

    fn news(&self) -> Result<NewsOptions> {
        let of_books = [
            ("--split", self.split.is_some()),
            ("--counts", self.counts.is_some()),
            ("--classes", !self.classes.is_empty()),
            ("--context", self.context.is_some()),
            ("--within-chapters", self.within_chapters),
            ("--set", !self.rules.is_empty()),
        ];
        if let Some((flag, _)) = of_books.into_iter().find(|(_, is_given)| *is_given) {
            let message = "is about books: it can't be used with `--like cnn`".to_owned();
            return Err(Failure::Setting { what: flag, message }.into());
        }
        Ok(NewsOptions {
            articles: self.books.clone(),
            with: self.with.clone(),
            leads: self.leads.map_or(DEFAULT_LEADS, NonZeroUsize::get),
            seed: self.seed,
            skip_bad: self.skip_bad,
        })
    }

    fn rules(&self) -> Result<Rules> {
        let mut table = toml::Table::new();
        for text in &self.rules {
            let (rule, value) = args::setting(text)?;
            table.insert(rule, value);
        }
        let mut rules = Rules::from_table(&table).map_err(Error::from)?;
        if !self.classes.is_empty() {
            rules.classes.clone_from(&self.classes);
        }
        if let Some(context) = self.context {
            rules.context_sentences = context;
        }
        rules.within_chapters |= self.within_chapters;
        Ok(rules)
    }

    fn show(&self, built: &Build) -> Result<()> {
        let books = &built.books;
        let what = if self.books.is_empty() { "tale" } else { "book" };
        let sum = |count: fn(&BuiltBook) -> usize| thousands(books.iter().map(count).sum());
        print(format_args!(
            "{} from {}: {} words in {} sentences (seed {})\n\n",
            counted(built.set.len(), "question"),
            counted(books.len(), what),
            sum(|book| book.n_words),
            sum(|book| book.n_sentences),
            self.seed,
        ))?;
        print(format_args!("{}", counts_table(&built.set)))?;
        if self.split.is_none() && !self.books.is_empty() && books.len() < 3 {
            let drawn = books.iter().map(|book| format!("{} is {}", book.name, book.split.code()));
            print(format_args!(
                "\nSplits, drawn: {}. `--split FILE` gives others; of three books or more, each split gets one.\n",
                drawn.collect::<Vec<_>>().join(", ")
            ))?;
        }
        print(format_args!("\n{}\n", self.output.display()))
    }

    fn show_news(&self, set: &QuestionSet) -> Result<()> {
        let articles = counted(set.books().len(), "article");
        let questions = counted(set.len(), "question");
        print(format_args!("{questions} from {articles} (seed {})\n\n", self.seed))?;
        for split in Split::ALL {
            let n = thousands(set.of_split(split).len());
            print(format_args!("{:8}{n:>10}\n", split.code()))?;
        }
        print(format_args!("\n{}\n", self.output.display()))
    }
}

fn counts_table(set: &QuestionSet) -> String {
    let mut counts = [[0; WordClass::ALL.len()]; Split::ALL.len()];
    for index in 0..set.len() {
        let example = set.example(index);
        if let (Some(split), Some(class)) = (example.split, example.class) {
            counts[split as usize][class as usize] += 1;
        }
    }
    let mut table = format!("{:8}", "");
    WordClass::ALL.iter().for_each(|class| table += &format!("{:>16}", class.label()));
    for split in Split::ALL {
        table += &format!("\n{:8}", split.code());
        for count in counts[split as usize] {
            table += &format!("{:>16}", thousands(count));
        }
    }
    table + "\n"
}
