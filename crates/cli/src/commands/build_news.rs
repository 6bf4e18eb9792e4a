//! `goldilocks build-news`: anonymised news articles → questions like those of CNN QA (§5.1).

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::Result;
use goldilocks::questions::Split;
use goldilocks::{Error, NewsOptions};

use super::{counted, print, thousands};
use crate::args::{self, SkipArgs};
use crate::cli::program;
use crate::progress::Progress;
use crate::stdio;

/// Options of `build-news`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// .jsonl files of anonymised articles; `-` is standard input [default: the embedded news]
    #[arg(value_name = "ARTICLES")]
    articles: Vec<PathBuf>,
    /// Folder to write the questions into
    #[arg(short, long, value_name = "DIR", default_value = "questions")]
    output: PathBuf,
    /// How many of an article's first sentences are asked about [default: 3; all 8 of the embedded news]
    #[arg(long, value_name = "N")]
    leads: Option<NonZeroUsize>,
    /// Real questions of CNN QA, of which those for training join the others
    #[arg(long, value_name = "SET")]
    with: Option<PathBuf>,
    /// Seed of every random choice: the numbers of entities, the articles that are held out
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
    #[command(flatten)]
    skip: SkipArgs,
    /// Overwrite an existing output folder
    #[arg(long)]
    force: bool,
}

/// Builds and writes; prints how many questions each split has.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let Options { output, force, seed, .. } = options;
    if output.exists() && !force {
        return Err(Error::Exists { path: output.clone() }.into());
    }
    let leads = match options.articles.is_empty() {
        true => NewsOptions::embedded(*seed).leads,
        false => NewsOptions::default().leads,
    };
    let news = NewsOptions {
        articles: stdio::inputs(&options.articles, "jsonl")?,
        with: options.with.clone(),
        leads: options.leads.map_or(leads, NonZeroUsize::get),
        seed: *seed,
        skip_bad: options.skip.skip_bad,
    };
    let built = goldilocks::build_news(&news, progress)?;
    built.write(output, *force, &program(), progress)?;
    if progress.is_quiet() {
        return Ok(());
    }
    let set = &built.set;
    let (questions, articles) =
        (counted(set.len(), "question"), counted(set.books().len(), "article"));
    print(format_args!("{questions} from {articles} (seed {seed})\n\n"))?;
    for split in Split::ALL {
        let n = thousands(set.of_split(split).len());
        print(format_args!("{:8}{n:>10}\n", split.code()))?;
    }
    print(format_args!("\n{}\n", output.display()))
}
