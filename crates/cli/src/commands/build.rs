//! `goldilocks build`: books → a folder of questions (§2).

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::questions::{Counts, QuestionSet, Rules, Split, SplitFile, WordClass};
use goldilocks::report::paper::CBT_QUESTIONS;
use goldilocks::{Build, BuildOptions, BuiltBook, Error};

use super::{counted, print, thousands};
use crate::args;
use crate::cli::program;
use crate::progress::Progress;
use crate::stdio;

/// Options of `build`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// .txt, .html and .epub files, or folders of them; `-` is standard input [default: the embedded tales]
    #[arg(value_name = "BOOK")]
    books: Vec<PathBuf>,
    /// BOOKs are tagged already: lines of word, part of speech and entity class, separated by tabs, an empty line after
    /// each sentence; names such as train__BOOK.txt give splits
    #[arg(long, requires = "books")]
    tagged: bool,
    /// Folder to write the questions into
    #[arg(short, long, value_name = "DIR", default_value = "questions")]
    output: PathBuf,
    /// Follow the released CBT in what the rules leave open: title pages, contents and captions stay in, a heading is
    /// part of the next sentence, and eight words of Stanford's lists are named entities
    #[arg(long, value_name = "SET", value_parser = ["cbt"])]
    like: Option<String>,
    /// Seed of every random choice: splits, candidates, which questions are kept
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
    /// Lines of `split TAB file name`: which book is for train, valid and test [default: drawn]
    #[arg(long, value_name = "FILE")]
    splits: Option<PathBuf>,
    /// Keep at most as many questions of each class as the released CBT has [default: all]
    #[arg(long, value_name = "SET", value_parser = ["cbt"])]
    counts: Option<String>,
    /// Classes of words to ask for, separated by commas [default: all]
    #[arg(long, value_name = "CLASS", value_delimiter = ',', value_parser = args::word_class(), ignore_case = true)]
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
    let built = goldilocks::build(&options.books()?, progress)?;
    built.write(&options.output, options.force, &program(), progress)?;
    if progress.is_quiet() { Ok(()) } else { options.show(&built) }
}

impl Options {
    fn books(&self) -> Result<BuildOptions> {
        Ok(BuildOptions {
            books: stdio::inputs(&self.books, "txt")?,
            texts: Vec::new(),
            tagged: self.tagged,
            rules: self.rules()?,
            counts: if self.counts.is_some() { Counts::AtMost(CBT_QUESTIONS) } else { Counts::All },
            splits: self.splits.as_deref().map(SplitFile::read).transpose().map_err(Error::from)?,
            seed: self.seed,
            as_released: self.like.is_some(),
            skip_bad: self.skip_bad,
        })
    }

    fn rules(&self) -> Result<Rules> {
        let mut table = toml::Table::new();
        for text in &self.rules {
            let (rule, value) = args::setting(text)?;
            table.insert(rule, value);
        }
        let base = if self.like.is_some() { Rules::released() } else { Rules::default() };
        let mut rules = base.with(&table).map_err(Error::from)?;
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
        if self.splits.is_none() && !self.books.is_empty() && books.len() < 3 {
            let drawn = books.iter().map(|book| format!("{} is {}", book.name, book.split.code()));
            print(format_args!(
                "\nSplits, drawn: {}. `--splits FILE` gives others; with three or more books, each split gets at least one.\n",
                drawn.collect::<Vec<_>>().join(", ")
            ))?;
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
