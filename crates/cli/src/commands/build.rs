//! `goldilocks build`: books → a folder of questions (§2).

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use goldilocks::questions::{Counts, QuestionSet, Rules, Split, SplitFile, SplitShares, WordClass};
use goldilocks::report::paper::CBT_QUESTIONS;
use goldilocks::{Build, BuildOptions, BuiltBook, Error};

use super::{counted, print, thousands};
use crate::args;
use crate::cli::program;
use crate::failure::CliError;
use crate::progress::Progress;
use crate::stdio;
use crate::terminal;

/// Which books, and how they become questions: of `build` and `plan`.
#[derive(clap::Args, Debug)]
pub struct BookArgs {
    /// .txt, .html and .epub files, or folders of them; `-` is standard input [default: the embedded tales]
    #[arg(value_name = "BOOK")]
    pub books: Vec<PathBuf>,
    /// BOOKs are tagged already: lines of word, part of speech and entity class, separated by tabs, an empty line after
    /// each sentence; names such as train__BOOK.txt give splits
    #[arg(long, requires = "books")]
    tagged: bool,
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
    /// Share of the books drawn for validation, of three books or more
    #[arg(long, value_name = "SHARE", default_value_t = SplitShares::default().valid, value_parser = share, conflicts_with = "splits")]
    valid: f64,
    /// Share of the books drawn for test
    #[arg(long, value_name = "SHARE", default_value_t = SplitShares::default().test, value_parser = share, conflicts_with = "splits")]
    test: f64,
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
}

/// Options of `build`.
#[derive(clap::Args, Debug)]
pub struct Options {
    #[command(flatten)]
    books: BookArgs,
    /// Folder to write the questions into
    #[arg(short, long, value_name = "DIR", default_value = "questions")]
    output: PathBuf,
    /// Keep at most as many questions of each class as the released CBT has [default: all]
    #[arg(long, value_name = "SET", value_parser = ["cbt"])]
    counts: Option<String>,
    /// Keep all books of an author in one split; near-copies of a book are always kept with it
    #[arg(long, value_name = "WHOM", value_parser = ["author"], conflicts_with = "splits")]
    by: Option<String>,
    /// Build the shards of a planned set that are not there; the plan says from which books and how
    #[arg(long, value_name = "SET", conflicts_with_all = ["books", "output", "counts", "by", "like", "seed", "splits",
        "classes", "valid", "test", "context", "within_chapters", "rules", "skip_bad"])]
    plan: Option<PathBuf>,
    /// Build this shard alone; without a number, that of SLURM_ARRAY_TASK_ID
    #[arg(long, value_name = "N", requires = "plan")]
    shard: Option<Option<usize>>,
    /// Overwrite an existing output folder, or shard
    #[arg(long)]
    force: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| "expected a share of at least 0 and less than 1, such as 0.1".to_owned())
}

/// Builds and writes; prints how many questions of each class and split there are.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    if let Some(set) = &options.plan {
        return super::plan::build_shards(set, options.shard, options.force, progress);
    }
    if options.output.exists() && !options.force {
        return Err(Error::Exists { path: options.output.clone() }.into());
    }
    let built = goldilocks::build(&options.build_options()?, progress)?;
    built.write(&options.output, options.force, &program(), progress)?;
    if progress.is_quiet() { Ok(()) } else { options.show(&built) }
}

impl BookArgs {
    /// For the library: all questions of these books.
    pub fn options(&self) -> Result<BuildOptions> {
        let shares = SplitShares { valid: self.valid, test: self.test };
        if shares.valid + shares.test >= 1.0 {
            let message = format!(
                "`--valid {}` and `--test {}` leave no book for training: expected shares of less than 1 together",
                self.valid, self.test
            );
            return Err(CliError::Setting { what: "share", message }.into());
        }
        Ok(BuildOptions {
            books: stdio::inputs(&self.books, "txt")?,
            texts: Vec::new(),
            tagged: self.tagged,
            rules: self.rules()?,
            counts: Counts::All,
            splits: self.splits.as_deref().map(SplitFile::read).transpose().map_err(Error::from)?,
            shares,
            by_author: false,
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
}

impl Options {
    fn build_options(&self) -> Result<BuildOptions> {
        let counts = match self.counts {
            Some(_) => Counts::AtMost(CBT_QUESTIONS),
            None => Counts::All,
        };
        Ok(BuildOptions { counts, by_author: self.by.is_some(), ..self.books.options()? })
    }

    fn show(&self, built: &Build) -> Result<()> {
        let books = &built.books;
        let typed = &self.books;
        let what = if typed.books.is_empty() { "tale" } else { "book" };
        let sum = |count: fn(&BuiltBook) -> usize| thousands(books.iter().map(count).sum());
        let summary = format!(
            "{} from {}: {} words in {} sentences (seed {})",
            counted(built.set.len(), "question"),
            counted(books.len(), what),
            sum(|book| book.n_words),
            sum(|book| book.n_sentences),
            typed.seed,
        );
        print(format_args!("{}\n", terminal::wrapped(&summary, terminal::width())))?;
        print(format_args!("{}", counts_table(&counts_of(&built.set))))?;
        if built.is_drawn {
            print(format_args!("\n{}", drawn_splits(built, terminal::width())))?;
        }
        print(format_args!("\n{}\n", self.output.display()))
    }
}

/// Which books are for validation and test; books that were kept together because they are nearly the same.
fn drawn_splits(built: &Build, width: usize) -> String {
    let mut text = "Splits, drawn (`--splits FILE` gives others):\n".to_owned();
    for split in [Split::Valid, Split::Test] {
        let books = built.books.iter().filter(|book| book.split == split);
        let names: Vec<&str> = books.map(|book| book.name.as_str()).collect();
        let names = if names.is_empty() { "no book".to_owned() } else { names.join(", ") };
        text += &terminal::hanging(&format!("  {}", split.code()), &names, 9, width);
    }
    let mut copies: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (book, other) in &built.near_copies {
        copies.entry(other).or_default().push(book);
    }
    if !copies.is_empty() {
        text += &terminal::hanging(
            "",
            "kept in one split, since they are nearly the same text, or part of it:",
            2,
            width,
        );
    }
    for (book, copies) in copies {
        text += &terminal::hanging("", &format!("{book} with {}", copies.join(", ")), 4, width);
    }
    if built.books.len() < 3 {
        text += "  with three or more books, each split gets at least one\n";
    }
    text
}

/// Questions by split and class.
type CountsOf = [[usize; WordClass::ALL.len()]; Split::ALL.len()];

fn counts_of(set: &QuestionSet) -> CountsOf {
    let mut counts = CountsOf::default();
    for index in 0..set.len() {
        let example = set.example(index);
        if let (Some(split), Some(class)) = (example.split, example.class) {
            counts[split as usize][class as usize] += 1;
        }
    }
    counts
}

/// A row for each split.
pub fn counts_table(counts: &CountsOf) -> String {
    let head = [""].into_iter().chain(WordClass::ALL.map(WordClass::label)).map(str::to_owned);
    let row = |split: Split| {
        let counts = counts[split as usize].into_iter().map(thousands);
        [split.code().to_owned()].into_iter().chain(counts).collect()
    };
    let rows: Vec<Vec<String>> = [head.collect()].into_iter().chain(Split::ALL.map(row)).collect();
    terminal::columns(&rows)
}
