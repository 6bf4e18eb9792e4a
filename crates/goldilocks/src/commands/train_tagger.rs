//! `goldilocks train-tagger`: makes the tagger's weights again from a folder of tagged books.

use std::path::PathBuf;

use anyhow::Result;

use crate::failure::Failure;
use crate::progress::Progress;

/// Options of `train-tagger`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Files of `word TAB pos TAB ner`, or folders of them
    #[arg(value_name = "BOOK", required = true)]
    books: Vec<PathBuf>,
    /// File to write the weights to
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the output if it is there
    #[arg(long)]
    force: bool,
}
