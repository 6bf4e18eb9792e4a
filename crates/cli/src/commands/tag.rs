//! `goldilocks tag FILE`: how a book is split and tagged, one word per line.

use std::path::PathBuf;

use anyhow::Result;

/// Options of `tag`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A .txt or .epub file
    #[arg(value_name = "FILE")]
    book: PathBuf,
    /// Leave nothing out, as the released CBT did: title pages, contents and captions stay
    #[arg(long, value_name = "SET", value_parser = ["cbt"])]
    like: Option<String>,
}

/// Prints `word TAB pos TAB ner`, a blank line after a sentence.
pub fn run(options: &Options) -> Result<()> {
    let book = goldilocks::tag(&options.book, options.like.is_some())?;
    super::print(format_args!("{}", book.to_tagged()))
}
