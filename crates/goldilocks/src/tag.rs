//! A book → tagged words; tagged books → the tagger's weights.

use std::fs;
use std::path::{Path, PathBuf};

use corpus::tagger::{self, TrainingConfig};
use corpus::{Book, Tagger};
use rayon::prelude::*;

use crate::books::Source;
use crate::{Error, Event, Reporter, Result};

/// Splits and tags a book. `as_released` as in [`crate::BuildOptions`].
///
/// # Errors
/// If the book can't be read.
pub fn tag(book: &Path, as_released: bool) -> Result<Book> {
    let source = Source::File(book.to_owned());
    Ok(source.book(as_released, Tagger::shipped())?.0)
}

/// Trains the tagger on tagged books, files or folders of them, of which those whose names begin with `prefix` are read.
///
/// # Errors
/// If a book can't be read, or a folder has none.
pub fn train_tagger(books: &[PathBuf], prefix: &str, reporter: &dyn Reporter) -> Result<Tagger> {
    let mut files = Vec::new();
    for path in books {
        if path.is_dir() {
            files.extend(files_in(path, prefix)?);
        } else {
            files.push(path.clone());
        }
    }
    let what = format!("reading {} book{}", files.len(), if files.len() == 1 { "" } else { "s" });
    reporter.report(Event::Begin { stage: "train", what, steps: None });
    let books: Vec<Book> =
        files.par_iter().map(|file| Book::read_tagged(file)).collect::<Result<_, _>>()?;
    let tagger = tagger::train(&books, &TrainingConfig::default(), |step| {
        let what = match step {
            tagger::Progress::Lexicon => "words counted and clustered".to_owned(),
            tagger::Progress::PartsOfSpeech { epoch, accuracy } => {
                format!("parts of speech, epoch {epoch}: {:.2} %", 100.0 * accuracy)
            }
            tagger::Progress::Entities { epoch, accuracy } => {
                format!("entities, epoch {epoch}: {:.2} %", 100.0 * accuracy)
            }
        };
        reporter.report(Event::Step { n: 0, what: Some(what) });
    });
    reporter.report(Event::End);
    Ok(tagger)
}

fn files_in(folder: &Path, prefix: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::io(folder))?;
    let entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(Error::io(folder))?;
    let mut files: Vec<PathBuf> = entries
        .iter()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(fs::DirEntry::path)
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(Error::NoTaggedBooks { path: folder.to_owned() });
    }
    Ok(files)
}
