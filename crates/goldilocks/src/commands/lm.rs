//! `goldilocks lm`: language models by themselves: text → model folder → perplexity, and ARPA in and out.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Result;
use ngram::{Model, Options as Estimation, Pruning, Text};
use questions::BOOK_TITLE;
use rayon::prelude::*;
use serde::Serialize;

use super::counted;
use crate::cli::VERSION;
use crate::failure::{Failure, warn};
use crate::progress::Progress;

/// Options of `lm`. A TEXT has one sentence a line, its words separated by spaces; a line that begins with
/// `_BOOK_TITLE_` is no text.
#[derive(clap::Args, Debug)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Estimate a language model of a text, with modified Kneser-Ney smoothing
    Estimate {
        /// One sentence a line, words separated by spaces
        text: PathBuf,
        #[command(flatten)]
        output: Output,
        /// Length of the longest n-grams
        #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=6))]
        order: u8,
        /// Leave out n-grams of three words or more that stand at most so often in the text
        #[arg(long, value_name = "COUNT", default_value_t = 0)]
        prune: u32,
    },
    /// Perplexity of a text
    Perplexity {
        /// A folder that `train kneser-ney` or `lm` wrote
        #[arg(value_name = "MODELDIR")]
        model: PathBuf,
        /// One sentence a line, words separated by spaces
        text: PathBuf,
        /// For programs
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
        /// Replace the file if it is there
        #[arg(long)]
        force: bool,
    },
    /// Make a `kneser-ney` model of an ARPA file
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
    /// Replace the model if it is there
    #[arg(long)]
    force: bool,
}

/// Does what was asked for.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    match &options.action {
        Action::Estimate { text, output, order, prune } => {
            models::check_place(&output.folder, output.force)?;
            let pruning = Pruning { at_most: *prune, ..Pruning::default() };
            let options = Estimation { order: usize::from(*order), pruning };
            output.write(&estimate(text, &options, progress)?, "text", text)
        }
        Action::Perplexity { model, text, json } => {
            let perplexity = Perplexity::of(&open(model)?, text)?;
            if *json {
                return super::print(format_args!(
                    "{}\n",
                    serde_json::to_string_pretty(&perplexity)?
                ));
            }
            super::print(format_args!("{}", perplexity.lines()))
        }
        Action::Export { model, output, force } => {
            if output.exists() && !force {
                return Err(Failure::OutputExists { path: output.clone() }.into());
            }
            let table = open(model)?.to_table()?;
            ngram::write_arpa(&table, output)?;
            super::print(format_args!("{}\n", output.display()))
        }
        Action::Import { arpa, output } => {
            models::check_place(&output.folder, output.force)?;
            output.write(&ngram::read_arpa(arpa)?, "arpa", arpa)
        }
        Action::Check { model } => {
            let language = open(model)?;
            language.check()?;
            let n_grams = counted(language.n_grams().sum(), "n-gram");
            super::print(format_args!("{}: {n_grams}, as written\n", model.display()))
        }
    }
}

impl Output {
    fn write(&self, table: &ngram::Table, kind: &str, source: &Path) -> Result<()> {
        let (model, settings) = models::from_language_model(Model::new(table, self.quantise));
        let source = source.file_name().unwrap_or_default().to_string_lossy();
        let provenance = [("version", VERSION), (kind, &source)];
        let provenance: BTreeMap<String, String> =
            provenance.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        models::save(&*model, &settings, provenance, &self.folder, self.force)?;
        super::print(format_args!("{}\n", self.folder.display()))
    }
}

fn open(folder: &Path) -> Result<Model> {
    let (_, manifest) = models::load(folder)?;
    let path = folder.join(models::NGRAMS);
    if !path.exists() {
        return Err(
            Failure::NoLanguageModel { path: folder.to_owned(), model: manifest.model }.into()
        );
    }
    Ok(Model::open(&path)?)
}

fn estimate(path: &Path, options: &Estimation, progress: Progress) -> Result<ngram::Table> {
    let bar = progress.spinner("estimate", path.display().to_string());
    let mut text = Text::default();
    let file = fs::File::open(path).map_err(Failure::file(path))?;
    let mut file = BufReader::with_capacity(1 << 20, file);
    let mut line = String::new();
    while file.read_line(&mut line).map_err(Failure::file(path))? > 0 {
        if let Some(words) = sentence(&line) {
            text.push(words)?;
        }
        line.clear();
    }
    let estimate = ngram::estimate(&text.sort(options.order)?, options)?;
    bar.finish_and_clear();
    for fallback in &estimate.fallbacks {
        let [d1, d2, d3] = ngram::Discounts::FALLBACK.0;
        let ngram::Fallback { length, reason } = fallback;
        warn(format_args!(
            "{}: the text is too small to estimate the discounts of {length}-grams ({reason}): {d1}, {d2} and {d3} are taken",
            path.display()
        ));
    }
    Ok(estimate.table)
}

/// The words of a line; none if it is no sentence.
fn sentence(line: &str) -> Option<impl Iterator<Item = &str>> {
    let mut words = line.split_ascii_whitespace().peekable();
    (!line.starts_with(BOOK_TITLE) && words.peek().is_some()).then_some(words)
}

/// How well a model foretells a text.
#[derive(Clone, Copy, Default, Serialize)]
struct Perplexity {
    sentences: usize,
    words: usize,
    unknown_words: usize,
    /// Of all words and sentence ends, natural logarithm.
    log_prob: f64,
    /// Of the unknown words.
    unknown_log_prob: f64,
    /// e to minus the mean of `log_prob` over words and sentence ends.
    perplexity: f64,
    /// The same without the unknown words.
    perplexity_of_known: f64,
}

impl Perplexity {
    fn of(model: &Model, path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(Failure::file(path))?;
        let lines: Vec<&str> = text.lines().collect();
        // Sums of so many lines each, added in their order: the same for any number of threads.
        let parts: Vec<Self> =
            lines.par_chunks(1024).map(|lines| Self::of_lines(model, lines)).collect();
        let mut sum = Self::default();
        for part in parts {
            sum.sentences += part.sentences;
            sum.words += part.words;
            sum.unknown_words += part.unknown_words;
            sum.log_prob += part.log_prob;
            sum.unknown_log_prob += part.unknown_log_prob;
        }
        let predicted = (sum.words + sum.sentences) as f64;
        if predicted == 0.0 {
            return Err(ngram::Error::NoText.into());
        }
        let known = predicted - sum.unknown_words as f64;
        sum.perplexity = (-sum.log_prob / predicted).exp();
        sum.perplexity_of_known = (-(sum.log_prob - sum.unknown_log_prob) / known).exp();
        Ok(sum)
    }

    fn of_lines(model: &Model, lines: &[&str]) -> Self {
        let mut sum = Self::default();
        let start = model.sentence_start();
        for words in lines.iter().filter_map(|line| sentence(line)) {
            let mut state = start;
            let mut score = |word| {
                let (log_prob, next) = model.advance(&state, word);
                state = next;
                sum.log_prob += f64::from(log_prob);
                if word == ngram::UNKNOWN {
                    sum.unknown_words += 1;
                    sum.unknown_log_prob += f64::from(log_prob);
                }
            };
            for word in words {
                score(model.token(word));
                sum.words += 1;
            }
            score(ngram::END);
            sum.sentences += 1;
        }
        sum
    }

    fn lines(&self) -> String {
        format!(
            "{:.2}  perplexity of {} in {}\n{:.2}  without {} that the model does not know\n",
            self.perplexity,
            counted(self.words, "word"),
            counted(self.sentences, "sentence"),
            self.perplexity_of_known,
            counted(self.unknown_words, "word"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_empty_lines_are_no_sentences() {
        let words = |line| sentence(line).map(|words| words.collect::<Vec<_>>());
        assert_eq!(words("The bear  slept .\n"), Some(vec!["The", "bear", "slept", "."]));
        assert_eq!(words("_BOOK_TITLE_ : The_Bear.txt\n"), None);
        assert_eq!(words(" \n"), None);
    }

    #[test]
    fn a_model_that_gives_every_word_a_quarter_has_perplexity_four() {
        // log10(1/4) for each of the two words, the unknown and the end.
        let arpa = "\\data\\\nngram 1=5\n\n\\1-grams:\n-0.60206 <unk>\n0 <s>\n-0.60206 </s>\n-0.60206 bear\n-0.60206 soup\n\n\\end\\\n";
        let folder = tempfile::tempdir().unwrap();
        let [text, file] = ["text", "arpa"].map(|name| folder.path().join(name));
        fs::write(&text, "bear soup wolf\n_BOOK_TITLE_ : x\nsoup\n").unwrap();
        fs::write(&file, arpa).unwrap();
        let model = Model::new(&ngram::read_arpa(&file).unwrap(), false);
        let found = Perplexity::of(&model, &text).unwrap();
        assert_eq!((found.sentences, found.words, found.unknown_words), (2, 4, 1));
        assert!((found.perplexity - 4.0).abs() < 1e-4, "{}", found.perplexity);
        assert!((found.perplexity_of_known - 4.0).abs() < 1e-4, "{}", found.perplexity_of_known);
    }
}
