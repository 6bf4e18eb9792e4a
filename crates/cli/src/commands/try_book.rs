//! `goldilocks try BOOK`: the questions of one book, answered without training and by readers, and a report.

use std::path::{Path, PathBuf};

use anyhow::Result;
use goldilocks::{TryOptions, checkpoint, try_book};

use crate::args;
use crate::cli::program;
use crate::date::today;
use crate::progress::Progress;

/// Options of `try`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A .txt, .html or .epub file [default: one of the embedded tales]
    #[arg(value_name = "BOOK")]
    book: Option<PathBuf>,
    /// Models besides the methods that need no training: folders that `goldilocks train` wrote or Transformers in
    /// Hugging Face's layout [default: `reader-small`, if the program has it]
    #[arg(long, value_name = "MODEL", num_args = 1..)]
    models: Vec<PathBuf>,
    /// Ask at most N questions of each class, drawn by the seed
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
    /// Folder to write the report into [default: BOOK-report]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Overwrite an existing report
    #[arg(long)]
    force: bool,
}

/// Builds, answers, writes; prints the table and where readers were wrong.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let small = Path::new(checkpoint::READER_SMALL);
    let models = match &options.models[..] {
        [] if checkpoint::is_at(small) => vec![small.to_owned()],
        models => models.to_vec(),
    };
    let book = options.book.as_ref().map(|book| format!(" {}", book.display()));
    let trying = TryOptions {
        book: options.book.clone(),
        models,
        sample: options.sample as usize,
        seed: options.seed,
        program: program(),
        date: today(),
        command: format!("goldilocks try{}", book.unwrap_or_default()),
    };
    let folder = options.output.clone();
    let folder = folder.unwrap_or_else(|| format!("{}-report", trying.name()).into());
    let tried = try_book(&trying, &folder, options.force, progress)?;
    super::print(format_args!("{}\n", tried.tables))?;
    let mistakes = tried.mistakes_in_words();
    if !mistakes.is_empty() {
        super::print(format_args!("Wrong answers, one of each class:\n{mistakes}\n"))?;
    }
    super::print(format_args!("{}\n", folder.join("index.html").display()))
}
