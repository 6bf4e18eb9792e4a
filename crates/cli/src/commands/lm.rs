//! `goldilocks lm`: language models by themselves: text → model folder → perplexity, and ARPA in and out.

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::lm::{self, Origin, Perplexity};
use goldilocks::ngram::{self, Options as Estimation, Pruning};
use goldilocks::{Error, models};

use super::counted;
use crate::cli::program;
use crate::progress::Progress;

/// Options of `lm`. A TEXT has one sentence per line, its words separated by spaces; a line that begins with
/// `_BOOK_TITLE_` is left out.
#[derive(clap::Args, Debug)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Estimate a language model of a text, with modified Kneser-Ney smoothing
    Estimate {
        /// One sentence per line, words separated by spaces
        text: PathBuf,
        #[command(flatten)]
        output: Output,
        /// Length of the longest n-grams
        #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=6))]
        order: u8,
        /// Leave out n-grams of three words or more that occur at most COUNT times in the text
        #[arg(long, value_name = "COUNT", default_value_t = 0)]
        prune: u32,
    },
    /// Perplexity of a text
    Perplexity {
        /// A folder that `train kneser-ney` or `lm` wrote
        #[arg(value_name = "MODELDIR")]
        model: PathBuf,
        /// One sentence per line, words separated by spaces
        text: PathBuf,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Write a language model as an ARPA file
    Export {
        /// A folder that `train kneser-ney` or `lm` wrote
        #[arg(value_name = "MODELDIR")]
        model: PathBuf,
        /// The ARPA file to write
        #[arg(short, long, value_name = "ARPA")]
        output: PathBuf,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
    },
    /// Make a `kneser-ney` model from an ARPA file
    Import {
        /// An ARPA file
        arpa: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Compare a language model with its checksum
    Check {
        /// A folder that `train kneser-ney` or `lm` wrote
        #[arg(value_name = "MODELDIR")]
        model: PathBuf,
    },
}

#[derive(clap::Args, Debug)]
struct Output {
    /// Folder to write the model into
    #[arg(short = 'o', long = "output", value_name = "MODELDIR")]
    folder: PathBuf,
    /// Keep 256 probabilities and backoffs for each length of n-grams: a smaller file
    #[arg(long)]
    quantise: bool,
    /// Overwrite an existing model
    #[arg(long)]
    force: bool,
}

/// Does what was asked for.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    match &options.action {
        Action::Estimate { text, output, order, prune } => {
            models::check_place(&output.folder, output.force).map_err(Error::from)?;
            let pruning = Pruning { at_most: *prune, ..Pruning::default() };
            let options = Estimation { order: usize::from(*order), pruning };
            output.write(&lm::estimate(text, &options, progress)?, Origin::Text(text))
        }
        Action::Perplexity { model, text, json } => {
            let perplexity = Perplexity::of(&lm::open(model)?, text)?;
            if *json {
                return super::print(format_args!(
                    "{}\n",
                    serde_json::to_string_pretty(&perplexity)?
                ));
            }
            super::print(format_args!("{}", lines(&perplexity)))
        }
        Action::Export { model, output, force } => {
            if output.exists() && !force {
                return Err(Error::Exists { path: output.clone() }.into());
            }
            let table = lm::open(model)?.to_table().map_err(Error::from)?;
            ngram::write_arpa(&table, output).map_err(Error::from)?;
            super::print(format_args!("{}\n", output.display()))
        }
        Action::Import { arpa, output } => {
            models::check_place(&output.folder, output.force).map_err(Error::from)?;
            let table = ngram::read_arpa(arpa).map_err(Error::from)?;
            output.write(&table, Origin::Arpa(arpa))
        }
        Action::Check { model } => {
            let language = lm::open(model)?;
            language.check().map_err(Error::from)?;
            let n_grams = counted(language.n_grams().sum(), "n-gram");
            super::print(format_args!("{}: {n_grams}, as written\n", model.display()))
        }
    }
}

impl Output {
    fn write(&self, table: &ngram::Table, origin: Origin<'_>) -> Result<()> {
        lm::save(table, origin, self.quantise, &self.folder, self.force, &program())?;
        super::print(format_args!("{}\n", self.folder.display()))
    }
}

fn lines(perplexity: &Perplexity) -> String {
    format!(
        "{:.2}  perplexity of {} in {}\n{:.2}  without {} that the model does not know\n",
        perplexity.perplexity,
        counted(perplexity.words, "word"),
        counted(perplexity.sentences, "sentence"),
        perplexity.perplexity_of_known,
        counted(perplexity.unknown_words, "word"),
    )
}
