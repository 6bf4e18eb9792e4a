//! `goldilocks plan`, `build --plan` and `merge`: a set in shards, by any number of workers.

use std::path::{Path, PathBuf};

use anyhow::Result;
use goldilocks::BuildOptions;
use goldilocks::questions::Counts;
use goldilocks::report::paper::CBT_QUESTIONS;
use goldilocks::scale::{self, Plan, PlanOptions, ShardOutcome};

use super::build::{BookArgs, counts_table};
use super::{counted, print, shard_number};
use crate::args;
use crate::cli::program;
use crate::failure::CliError;
use crate::progress::Progress;
use crate::stdio;

/// Options of `plan`.
#[derive(clap::Args, Debug)]
pub struct Options {
    #[command(flatten)]
    books: BookArgs,
    /// Folder of the set
    #[arg(short, long, value_name = "SET", default_value = "questions")]
    output: PathBuf,
    /// The most bytes of books in a shard (K, M or G allowed)
    #[arg(long, value_name = "BYTES", default_value = "32M", value_parser = args::bytes)]
    shard_bytes: u64,
    /// Keep at most as many questions of each class as the released CBT has, drawn when the shards are merged
    /// [default: all]
    #[arg(long, value_name = "SET", value_parser = ["cbt"])]
    counts: Option<String>,
    /// Keep all books of an author in one split
    #[arg(long, value_name = "WHOM", value_parser = ["author"], conflicts_with_all = ["splits", "split_by"])]
    by: Option<String>,
    /// How splits are chosen where no file gives them: drawn, or by a hash of each name, so that a book that joins later
    /// moves no other
    #[arg(long, value_name = "HOW", default_value = "draw", value_parser = ["draw", "hash"], conflicts_with = "splits")]
    split_by: String,
    /// Replace a plan that is there
    #[arg(long)]
    force: bool,
}

/// Options of `merge`.
#[derive(clap::Args, Debug)]
pub struct MergeOptions {
    /// A planned set whose shards are built
    #[arg(value_name = "SET")]
    set: PathBuf,
}

/// Plans a set; prints how many shards it has.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    if options.books.books.iter().any(|book| stdio::is_dash(book)) {
        let message = "expected files, which workers can read, found standard input".to_owned();
        return Err(CliError::Setting { what: "book", message }.into());
    }
    let counts = match options.counts {
        Some(_) => Counts::AtMost(CBT_QUESTIONS),
        None => Counts::All,
    };
    let planning = PlanOptions {
        build: BuildOptions { counts, by_author: options.by.is_some(), ..options.books.options()? },
        splits_by_hash: options.split_by == "hash",
        shard_bytes: options.shard_bytes,
    };
    let plan = scale::plan(&planning, &options.output, options.force, &program(), progress)?;
    if progress.is_quiet() {
        return Ok(());
    }
    let (shards, books) = (plan.shards().len(), plan.all_books().len());
    print(format_args!(
        "{} of {} in {}\n",
        counted(shards, "shard"),
        counted(books, "book"),
        options.output.display()
    ))
}

/// Builds one shard, or all that are not there, of a planned set.
pub fn build_shards(
    set: &Path,
    shard: Option<Option<usize>>,
    force: bool,
    progress: &Progress,
) -> Result<()> {
    let plan = Plan::open(set)?;
    if let Some(number) = shard {
        let number = shard_number("shard", number)?;
        let outcome = scale::build_shard(&plan, number, force, &program(), progress)?;
        return print_shard(&outcome, progress);
    }
    let mut printed = Ok(());
    scale::build_shards(&plan, force, &program(), progress, |outcome| {
        if printed.is_ok() {
            printed = print_shard(outcome, progress);
        }
    })?;
    printed
}

fn print_shard(
    ShardOutcome { receipt, was_there }: &ShardOutcome,
    progress: &Progress,
) -> Result<()> {
    if progress.is_quiet() {
        return Ok(());
    }
    let there = if *was_there { ", there already" } else { "" };
    print(format_args!("{}: {}{there}\n", receipt.file, counted(receipt.rows, "question")))
}

/// Completes a planned set; prints how many questions of each class and split there are.
pub fn run_merge(options: &MergeOptions, progress: &Progress) -> Result<()> {
    let merged = scale::merge(&Plan::open(&options.set)?, &program(), progress)?;
    if progress.is_quiet() {
        return Ok(());
    }
    print(format_args!(
        "{} from {} in {}, {}\n\n{}\n{}\n",
        counted(merged.questions, "question"),
        counted(merged.books, "book"),
        counted(merged.shards, "shard"),
        counted(usize::try_from(merged.bytes).unwrap_or(usize::MAX), "byte"),
        counts_table(&merged.counts),
        options.set.display(),
    ))
}
