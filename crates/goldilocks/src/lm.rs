//! Language models by themselves: text → n-grams → model folder → perplexity.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

use models::{Manifest, Provenance};
use ngram::{Model, Options, Table, Text};
use questions::BOOK_TITLE;
use rayon::prelude::*;
use serde::Serialize;

use crate::progress::during;
use crate::{Error, Event, Program, Reporter, Result, Warning};

/// Estimates a language model of a text: one sentence per line, words separated by spaces.
///
/// # Errors
/// If the text can't be read, or there is no sentence in it.
pub fn estimate(path: &Path, options: &Options, reporter: &dyn Reporter) -> Result<Table> {
    let estimate = || -> Result<ngram::Estimate> {
        let mut text = Text::default();
        let file = fs::File::open(path).map_err(Error::io(path))?;
        let mut file = BufReader::with_capacity(1 << 20, file);
        let mut line = String::new();
        while file.read_line(&mut line).map_err(Error::io(path))? > 0 {
            if let Some(words) = sentence(&line) {
                text.push(words)?;
            }
            line.clear();
        }
        Ok(ngram::estimate(&text.sort(options.order)?, options)?)
    };
    let estimate = during(reporter, "estimate", path.display().to_string(), estimate)?;
    for ngram::Fallback { length, reason } in &estimate.fallbacks {
        reporter.report(Event::Warning(Warning::Discounts {
            path: path.to_owned(),
            length: *length,
            reason: reason.to_string(),
            taken: ngram::Discounts::FALLBACK.0,
        }));
    }
    Ok(estimate.table)
}

/// Where the n-grams of a model folder come from.
#[derive(Clone, Copy, Debug)]
pub enum NgramSource<'a> {
    /// They were estimated from this text.
    Text(&'a Path),
    /// They were read from this ARPA file.
    Arpa(&'a Path),
}

/// Saves n-grams as the folder of a `kneser-ney` model; `quantise` keeps 256 values for each length, in a smaller file.
///
/// # Errors
/// If the folder is there and not to be replaced, or can't be written.
#[expect(clippy::too_many_arguments, reason = "each is another thing, and none has a default")]
pub fn save(
    table: &Table,
    origin: NgramSource<'_>,
    quantise: bool,
    folder: &Path,
    overwrite: bool,
    program: &Program,
) -> Result<()> {
    let (model, settings) = models::from_language_model(Model::new(table, quantise));
    let (kind, source) = match origin {
        NgramSource::Text(path) => ("text", path),
        NgramSource::Arpa(path) => ("arpa", path),
    };
    let source = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut provenance = Provenance::new(&settings, format!("{kind} {source}"), 0);
    provenance.program = Program { code: provenance.program.code, ..program.clone() };
    Ok(models::save(&*model, &Manifest::new(provenance), folder, overwrite)?)
}

/// Opens the language model of a model folder.
///
/// # Errors
/// If there is no model, or no language model in it.
pub fn open(folder: &Path) -> Result<Model> {
    let (_, manifest) = models::load(folder)?;
    let path = folder.join(models::NGRAMS);
    if !path.exists() {
        return Err(Error::NoLanguageModel {
            path: folder.to_owned(),
            model: manifest.provenance.model,
        });
    }
    Ok(Model::open(&path)?)
}

/// Measures the perplexity of a text, one sentence per line, for the language model of a model folder; with the feature
/// `transformer`, also for a Transformer.
///
/// # Errors
/// If there is no language model, the text can't be read, or there is no sentence in it.
pub fn perplexity(model: &Path, text: &Path) -> Result<Perplexity> {
    #[cfg(feature = "transformer")]
    if let Some(measured) = crate::checkpoint::perplexity(model, text) {
        return measured;
    }
    Perplexity::of(&open(model)?, text)
}

/// The words of a line; none if it is not a sentence.
pub(crate) fn sentence(line: &str) -> Option<impl Iterator<Item = &str>> {
    let mut words = line.split_ascii_whitespace().peekable();
    (!line.starts_with(BOOK_TITLE) && words.peek().is_some()).then_some(words)
}

/// How well a model predicts a text.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Perplexity {
    /// How many sentences the text has.
    pub sentences: usize,
    /// The number of words that were predicted.
    pub words: usize,
    /// How many of them the model does not know.
    pub unknown_words: usize,
    /// Of all words and sentence ends, natural logarithm.
    pub log_prob: f64,
    /// Of the unknown words.
    pub unknown_log_prob: f64,
    /// e to minus the mean of `log_prob` over words and sentence ends.
    pub perplexity: f64,
    /// The same without the unknown words.
    pub perplexity_of_known: f64,
    /// How many tokens of its own a model predicted that knows no words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<usize>,
}

impl Perplexity {
    /// Measures the perplexity of a text, one sentence per line.
    ///
    /// # Errors
    /// If the text can't be read, or there is no sentence in it.
    pub fn of(model: &Model, path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(Error::io(path))?;
        let lines: Vec<&str> = text.lines().collect();
        // Sums of 1,024 lines each, added in their order: the same for any number of threads.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_empty_lines_are_not_sentences() {
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
