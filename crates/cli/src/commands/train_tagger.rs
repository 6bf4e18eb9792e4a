//! `goldilocks train-tagger`: makes the tagger's weights again from a folder of tagged books.

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::Error;

use crate::progress::Progress;

/// Options of `train-tagger`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Files of `word TAB pos TAB ner` with a blank line after a sentence, or folders of them
    #[arg(value_name = "BOOK", required = true)]
    books: Vec<PathBuf>,
    /// File to write the weights to
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// In folders, read only files whose names begin with this
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,
    /// Overwrite existing output
    #[arg(long)]
    force: bool,
}

/// Reads the books in the order of their names, trains, writes.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    super::check_output(&options.output, options.force)?;
    let tagger = goldilocks::train_tagger(&options.books, &options.prefix, progress)?;
    tagger.write(&options.output).map_err(Error::from)?;
    progress.summary(format_args!("{}\n", options.output.display()))
}
