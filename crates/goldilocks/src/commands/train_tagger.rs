//! `goldilocks train-tagger`: makes the tagger's weights again from a folder of tagged books.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use corpus::Book;
use corpus::tagger::{self, Recipe};
use rayon::prelude::*;

use crate::failure::Failure;
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
    /// Read only files of a folder whose names begin so
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,
    /// Replace the output if it is there
    #[arg(long)]
    force: bool,
}

/// Reads the books in the order of their names, trains, writes.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    super::check_output(&options.output, options.force)?;
    let mut files = Vec::new();
    for path in &options.books {
        match path.is_dir() {
            true => files.extend(files_in(path, &options.prefix)?),
            false => files.push(path.clone()),
        }
    }
    let bar = progress.spinner("train", format!("reading {}", super::counted(files.len(), "book")));
    let books: Vec<Book> =
        files.par_iter().map(|file| Book::read_tagged(file)).collect::<Result<_, _>>()?;
    let tagger = tagger::train(&books, &Recipe::default(), |step| {
        bar.set_message(match step {
            tagger::Progress::Lexicon => "words counted and clustered".to_owned(),
            tagger::Progress::PartsOfSpeech { epoch, accuracy } => {
                format!("parts of speech, epoch {epoch}: {:.2} %", 100.0 * accuracy)
            }
            tagger::Progress::Entities { epoch, accuracy } => {
                format!("entities, epoch {epoch}: {:.2} %", 100.0 * accuracy)
            }
        });
    });
    bar.finish_and_clear();
    tagger.write(&options.output)?;
    super::print(format_args!("{}\n", options.output.display()))
}

fn files_in(folder: &Path, prefix: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Failure::file(folder))?;
    let entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(Failure::file(folder))?;
    let mut files: Vec<PathBuf> = entries
        .iter()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(fs::DirEntry::path)
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(Failure::NoTaggedBooks { path: folder.to_owned() }.into());
    }
    Ok(files)
}
