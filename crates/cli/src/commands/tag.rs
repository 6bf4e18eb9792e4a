//! `goldilocks tag FILE`: how a book is split and tagged, one word per line.

use std::path::PathBuf;

use anyhow::Result;

use crate::stdio;

/// Options of `tag`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A .txt, .html or .epub file; `-` is standard input
    #[arg(value_name = "FILE")]
    book: PathBuf,
    /// Read the book as the released CBT did: title pages, contents and captions stay in, and a heading is part of
    /// the next sentence
    #[arg(long, value_name = "SET", value_parser = ["cbt"])]
    like: Option<String>,
}

/// Prints `word TAB pos TAB ner`, a blank line after a sentence.
pub fn run(options: &Options) -> Result<()> {
    let book = goldilocks::tag(&stdio::input(&options.book, "txt")?, options.like.is_some())?;
    super::print(format_args!("{}", book.to_tagged()))
}
