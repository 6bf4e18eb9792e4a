//! A shard of a plan → its file and its receipt: what every worker runs, whoever started it.

use std::collections::VecDeque;
use std::fs;

use corpus::Tagger;
use questions::{Builder, Counts, EmptyFields, QuestionSet, parquet};
use rayon::prelude::*;

use super::receipt::build_missing;
use super::shards::no_shard;
use super::{MERGED, Plan, PlannedBook, Receipt, Shard, ShardBook, files};
use crate::build::is_bad_book;
use crate::progress::check_cancelled;
use crate::{BuildOptions, Error, Event, Program, Reporter, Result, Warning};

/// The outcome of [`build_shard`].
#[derive(Debug)]
pub struct ShardOutcome {
    /// The receipt of the shard, new or of an earlier run.
    pub receipt: Receipt,
    /// Whether the shard was there already.
    pub was_there: bool,
}

/// Builds a shard of a plan, unless it is there: the file first, its receipt last. Ids of identical questions are
/// numbered by [`super::merge()`].
///
/// # Errors
/// The first book that can't be read or has changed; a plan of another version of the program; a receipt of
/// another plan, unless the shard is to be replaced.
pub fn build_shard(
    plan: &Plan,
    number: usize,
    overwrite: bool,
    program: &Program,
    reporter: &dyn Reporter,
) -> Result<ShardOutcome> {
    let n = plan.shards().len();
    let shard = plan.shards().get(number).ok_or_else(|| no_shard(number, n))?;
    plan.check_worker(program)?;
    if !overwrite && let Some(receipt) = Receipt::find(plan, shard)? {
        return Ok(ShardOutcome { receipt, was_there: true });
    }
    // What was merged is not whole while a shard of it changes.
    let merged = plan.folder().join(MERGED);
    match fs::remove_file(&merged) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::io(merged)(error));
        }
        _ => {}
    }
    let receipt = write(plan, shard, reporter)?;
    receipt.write(plan, shard)?;
    Ok(ShardOutcome { receipt, was_there: false })
}

/// Builds all shards of a plan that are not there, one after the other, and passes each on. Where a book can't be read or
/// has changed, its shard is left out with a warning, and the others are built.
///
/// # Errors
/// Those of [`build_shard`] but for books; at the end, the shards that were left out.
pub fn build_shards(
    plan: &Plan,
    overwrite: bool,
    program: &Program,
    reporter: &dyn Reporter,
    mut built: impl FnMut(&ShardOutcome),
) -> Result<()> {
    let of = plan.shards().len();
    let mut missing = Vec::new();
    for number in 0..of {
        match build_shard(plan, number, overwrite, program, reporter) {
            Ok(outcome) => built(&outcome),
            Err(error) if is_of_a_book(&error) => {
                missing.push(number);
                let error = error.to_string();
                reporter.report(Event::Warning(Warning::ShardSkipped { number, error }));
            }
            Err(error) => return Err(error),
        }
    }
    match missing.is_empty() {
        true => Ok(()),
        false => {
            let (path, remedy) = (plan.folder().to_owned(), build_missing(plan.folder()));
            Err(Error::ShardsMissing { path, missing, of, remedy })
        }
    }
}

/// Whether a book is at fault, so that shards of other books can be built.
fn is_of_a_book(error: &Error) -> bool {
    is_bad_book(error)
        || matches!(error, Error::ChangedBook { .. } | Error::Corpus(corpus::Error::Missing { .. }))
}

/// A book that has been read.
struct ReadBook {
    /// Its questions, if there are any.
    set: Option<QuestionSet>,
    line: ShardBook,
}

fn write(plan: &Plan, shard: &Shard, reporter: &dyn Reporter) -> Result<Receipt> {
    let path = plan.folder().join(&shard.file);
    let options = plan.options();
    let tagger = Tagger::shipped();
    let known = |word: &str| tagger.knows(word);
    let builder = Builder::new(options.rules.clone(), options.seed, &known)?;
    let mut books: VecDeque<&PlannedBook> = plan.books(shard).iter().collect();
    let (mut lines, mut rows) = (Vec::new(), 0);
    let steps = Some(books.len());
    reporter.report(Event::Begin { stage: "build", what: shard.file.clone(), steps });
    let (sha256, bytes) = files::write(&path, |out| {
        let mut writer = parquet::Writer::new(out, &path)?;
        // As many books at a time as there are threads: memory does not grow with the shard.
        while !books.is_empty() {
            let some: Vec<&PlannedBook> =
                books.drain(..books.len().min(rayon::current_num_threads())).collect();
            let read = |book: &&PlannedBook| read(plan, book, &options, &builder, reporter);
            let some: Vec<Result<ReadBook>> = some.par_iter().map(read).collect();
            for book in some {
                let ReadBook { set, line } = book?;
                if let Some(set) = set {
                    // Twins are numbered by the merge.
                    let id = |question: usize| set.unnumbered_id(question).to_string();
                    writer.push(&set, &EmptyFields::default(), id)?;
                }
                lines.push(line);
            }
        }
        rows = writer.finish()?;
        Ok(())
    })?;
    reporter.report(Event::End);
    let plan = plan.hash().to_owned();
    Ok(Receipt { plan, file: shard.file.clone(), sha256, bytes, rows, kept: None, books: lines })
}

fn read(
    plan: &Plan,
    planned: &PlannedBook,
    options: &BuildOptions,
    builder: &Builder<'_>,
    reporter: &dyn Reporter,
) -> Result<ReadBook> {
    check_cancelled(reporter)?;
    let source = plan.source(planned)?;
    if let Some(path) = &planned.path {
        // Of a file that is not there, the reader below says so.
        let found = fs::metadata(path).map_or(planned.bytes, |file| file.len());
        if found != planned.bytes {
            let (path, expected) = (path.clone(), planned.bytes);
            return Err(Error::ChangedBook { path, expected, found });
        }
    }
    let (book, sha256) = source.book(options.as_released, Tagger::shipped())?;
    let questions = builder.questions_of(source.path(), &book, planned.split)?;
    let line = ShardBook {
        name: book.name,
        sha256,
        sentences: book.sentences.len(),
        words: book.sentences.iter().map(Vec::len).sum(),
        questions: questions.found(),
        refused: questions.n_refused(),
    };
    let set = match line.questions.iter().sum::<usize>() {
        0 => None,
        _ => Some(builder.finish(vec![questions], Counts::All)?.set),
    };
    reporter.report(Event::Step { n: 1, what: Some(line.name.clone()) });
    Ok(ReadBook { set, line })
}
