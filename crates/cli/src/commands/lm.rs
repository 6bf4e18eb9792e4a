//! `goldilocks lm`: language models by themselves: text → model folder → perplexity, and ARPA in and out.

use std::path::{Path, PathBuf};

use anyhow::Result;
use goldilocks::lm::{self, EstimateOptions, NgramSource, OnDisk, Perplexity};
use goldilocks::ngram::{self, Model, Pruning};
use goldilocks::{Error, models};

use super::counted;
use crate::args::{self, JsonArgs, QuietArgs, WorkArgs};
use crate::cli::program;
use crate::interrupt::{NOTHING, OnInterrupt};
use crate::stdio;

/// Options of `lm`. A TEXT has one sentence per line, its words separated by spaces; a line that begins with
/// `_BOOK_TITLE_` is left out.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  goldilocks lm estimate text.txt -o model --order 5
  goldilocks lm perplexity model other.txt
  goldilocks lm export model -o model.arpa")]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Estimate a language model of a text, with modified Kneser-Ney smoothing
    #[command(after_help = "\
Examples:
  goldilocks lm estimate text.txt -o model --order 5
  goldilocks lm estimate text.txt -o small --prune 1 --quantise
  goldilocks lm estimate library.txt -o large --memory 8G --temporary /scratch")]
    Estimate {
        /// One sentence per line, words separated by spaces; `-` is standard input
        text: PathBuf,
        #[command(flatten)]
        output: Output,
        /// Length of the longest n-grams
        #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=6))]
        order: u8,
        /// Leave out n-grams of three words or more that occur at most COUNT times in the text
        #[arg(long, value_name = "COUNT", default_value_t = 0)]
        prune: u32,
        /// Use at most this much memory (K, M or G allowed); what does not fit is sorted on disk
        #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = args::bytes)]
        memory: u64,
        /// Folder of the temporary files, about 80 bytes a word [default: next to the output]
        #[arg(long, value_name = "DIR")]
        temporary: Option<PathBuf>,
        #[command(flatten)]
        work: WorkArgs,
    },
    /// Measure the perplexity of a text
    #[command(after_help = "\
Examples:
  goldilocks lm perplexity model text.txt
  goldilocks lm perplexity model - --json
  goldilocks lm perplexity reader-small text.txt")]
    Perplexity {
        /// A folder that `train kneser-ney` or `lm` wrote, `reader-small`, or a Transformer in Hugging Face's layout
        #[arg(value_name = "MODEL")]
        model: PathBuf,
        /// One sentence per line, words separated by spaces; `-` is standard input
        text: PathBuf,
        #[command(flatten)]
        json: JsonArgs,
        #[command(flatten)]
        work: WorkArgs,
    },
    /// Write a language model as an ARPA file
    #[command(after_help = "\
Examples:
  goldilocks lm export model -o model.arpa
  goldilocks lm export model -o - | gzip > model.arpa.gz")]
    Export {
        /// A folder that `train kneser-ney` or `lm` wrote
        #[arg(value_name = "MODEL")]
        model: PathBuf,
        /// The ARPA file to write; `-` is standard output
        #[arg(short, long, value_name = "ARPA")]
        output: PathBuf,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        quiet: QuietArgs,
    },
    /// Make a `kneser-ney` model from an ARPA file
    #[command(after_help = "\
Example:
  goldilocks lm import model.arpa -o model")]
    Import {
        /// An ARPA file; `-` is standard input
        arpa: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Compare a language model with its checksum
    #[command(after_help = "\
Example:
  goldilocks lm check model")]
    Check {
        /// A folder that `train kneser-ney` or `lm` wrote
        #[arg(value_name = "MODEL")]
        model: PathBuf,
    },
}

#[derive(clap::Args, Debug)]
struct Output {
    /// Folder to write the model into
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    folder: PathBuf,
    /// Keep 256 probabilities and backoffs for each length of n-grams: a smaller file
    #[arg(long)]
    quantise: bool,
    /// Overwrite an existing model
    #[arg(long)]
    force: bool,
}

/// Does what was asked for.
pub fn run(options: Options) -> Result<()> {
    match &options.action {
        Action::Estimate { text, output, order, prune, memory, temporary, work } => {
            let progress = work.start(OnInterrupt::Stop(NOTHING))?;
            models::check_place(&output.folder, output.force).map_err(Error::from)?;
            let pruning = Pruning { at_most: *prune, ..Pruning::default() };
            let options = EstimateOptions {
                ngrams: ngram::Options { order: usize::from(*order), pruning },
                quantise: output.quantise,
                on_disk: Some(OnDisk {
                    memory: *memory,
                    temporary: temporary.clone().unwrap_or_else(|| output.beside()),
                }),
            };
            let model = lm::estimate(&stdio::input(text, "txt")?, &options, &progress)?;
            output.write(model, NgramSource::Text(text))
        }
        Action::Perplexity { model, text, json, work } => {
            work.start(OnInterrupt::Stop(NOTHING))?;
            let perplexity = lm::perplexity(model, &stdio::input(text, "txt")?)?;
            if json.json {
                return super::print(format_args!(
                    "{}\n",
                    serde_json::to_string_pretty(&perplexity)?
                ));
            }
            super::print(format_args!("{}", lines(&perplexity)))
        }
        Action::Export { model, output, force, quiet } => {
            super::check_output(output, *force)?;
            let to = stdio::Output::new(output, "arpa")?;
            let table = lm::open(model)?.to_table().map_err(Error::from)?;
            ngram::write_arpa(&table, to.path()).map_err(Error::from)?;
            let name = to.name();
            to.finish(&quiet.start(OnInterrupt::Stop(NOTHING))?, format_args!("{name}\n"))
        }
        Action::Import { arpa, output } => {
            models::check_place(&output.folder, output.force).map_err(Error::from)?;
            let table = ngram::read_arpa(&stdio::input(arpa, "arpa")?).map_err(Error::from)?;
            output.write(Model::new(&table, output.quantise)?, NgramSource::Arpa(arpa))
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
    /// The folder that the output will be in, or the nearest one that exists.
    fn beside(&self) -> PathBuf {
        let above = self.folder.ancestors().skip(1).find(|folder| folder.is_dir());
        above.unwrap_or(Path::new(".")).to_owned()
    }

    fn write(&self, model: Model, origin: NgramSource<'_>) -> Result<()> {
        lm::save(model, origin, &self.folder, self.force, &program())?;
        super::print(format_args!("{}\n", self.folder.display()))
    }
}

fn lines(perplexity: &Perplexity) -> String {
    let first = format!(
        "{:.2}  perplexity of {} in {}\n",
        perplexity.perplexity,
        counted(perplexity.words, "word"),
        counted(perplexity.sentences, "sentence"),
    );
    let second = match perplexity.tokens {
        Some(n) => {
            let of_tokens = (-perplexity.log_prob / n as f64).exp();
            format!("{of_tokens:.2}  of {}\n", counted(n, "token"))
        }
        None => format!(
            "{:.2}  without {} that the model does not know\n",
            perplexity.perplexity_of_known,
            counted(perplexity.unknown_words, "word"),
        ),
    };
    first + &second
}
