//! Language models by themselves: text → n-grams → model folder → perplexity.

use std::cell::Cell;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use models::{Manifest, Provenance};
use ngram::{LargeEstimate, LargeText, Limits, Model, SentenceScorer, Stage, Text};
use questions::BOOK_TITLE;
use rayon::prelude::*;
use serde::Serialize;

use crate::progress::{check_cancelled, during};
use crate::{Error, Event, Program, Reporter, Result, Warning};

/// How a language model is estimated.
#[derive(Clone, Debug, Default)]
pub struct EstimateOptions {
    /// Its order, and which n-grams are left out.
    pub ngrams: ngram::Options,
    /// Keeps 256 probabilities and backoffs for each length of n-grams, in a smaller file.
    pub quantise: bool,
    /// Sorts on disk; else everything is held in memory. The model has the same bytes.
    pub on_disk: Option<OnDisk>,
}

/// Estimation on disk.
#[derive(Clone, Debug)]
pub struct OnDisk {
    /// How many bytes of memory it uses at most.
    pub memory: u64,
    /// The folder of its temporary files.
    pub temporary: PathBuf,
}

/// Estimates a language model of a text: one sentence per line, words separated by spaces.
///
/// # Errors
/// If the text can't be read, or there is no sentence in it; on disk, if that is full.
pub fn estimate(path: &Path, options: &EstimateOptions, reporter: &dyn Reporter) -> Result<Model> {
    let (model, fallbacks) = match &options.on_disk {
        None => during(reporter, "estimate", path.display().to_string(), || {
            let mut text = Text::default();
            for_each_sentence(path, reporter, |words| text.push(words))?;
            let sorted = text.sort(options.ngrams.order)?;
            let estimate = ngram::estimate(&sorted, &options.ngrams)?;
            drop(sorted);
            Ok::<_, Error>((Model::new(&estimate.table, options.quantise)?, estimate.fallbacks))
        })?,
        Some(on_disk) => estimate_on_disk(path, on_disk, options, reporter)?,
    };
    for ngram::Fallback { length, reason } in fallbacks {
        reporter.report(Event::Warning(Warning::Discounts {
            path: path.to_owned(),
            length,
            reason,
            taken: ngram::Discounts::FALLBACK.0,
        }));
    }
    Ok(model)
}

fn estimate_on_disk(
    path: &Path,
    on_disk: &OnDisk,
    options: &EstimateOptions,
    reporter: &dyn Reporter,
) -> Result<(Model, Vec<ngram::Fallback>)> {
    let at = Cell::new(None);
    let watch = |stage| {
        if at.replace(Some(stage)) != Some(stage) {
            let (stage, what) = match stage {
                Stage::Sorting => ("sort", "n-grams".to_owned()),
                Stage::Counting => ("count", "n-grams".to_owned()),
                Stage::Estimating { length } => ("estimate", format!("{length}-grams")),
                Stage::Writing => ("write", "model".to_owned()),
            };
            reporter.report(Event::End);
            reporter.report(Event::Begin { stage, what, steps: None });
        }
        !reporter.is_cancelled()
    };
    let limits = Limits { memory: on_disk.memory, folder: &on_disk.temporary, watch: &watch };
    let estimate = during(reporter, "read", path.display().to_string(), || {
        let mut text = LargeText::new(&limits)?;
        for_each_sentence(path, reporter, |words| text.push(words))?;
        Ok(text.estimate(&options.ngrams, options.quantise)?)
    });
    match estimate {
        Ok(LargeEstimate { model, fallbacks, .. }) => Ok((model, fallbacks)),
        Err(Error::Ngram(ngram::Error::Cancelled)) => Err(Error::Interrupted),
        Err(error) => Err(error),
    }
}

fn for_each_sentence(
    path: &Path,
    reporter: &dyn Reporter,
    mut push: impl FnMut(&mut dyn Iterator<Item = &str>) -> ngram::Result<()>,
) -> Result<()> {
    let file = fs::File::open(path).map_err(Error::io(path))?;
    let mut file = BufReader::with_capacity(1 << 20, file);
    let mut line = String::new();
    for number in 1u64.. {
        line.clear();
        if file.read_line(&mut line).map_err(Error::io(path))? == 0 {
            break;
        }
        if let Some(mut words) = sentence(&line) {
            push(&mut words)?;
        }
        if number.is_multiple_of(4096) {
            check_cancelled(reporter)?;
        }
    }
    Ok(())
}

/// Where the n-grams of a model folder come from.
#[derive(Clone, Copy, Debug)]
pub enum NgramSource<'a> {
    /// They were estimated from this text.
    Text(&'a Path),
    /// They were read from this ARPA file.
    Arpa(&'a Path),
}

/// Saves a language model as the folder of a `kneser-ney` model.
///
/// # Errors
/// If the folder is there and not to be replaced, or can't be written.
pub fn save(
    model: Model,
    origin: NgramSource<'_>,
    folder: &Path,
    overwrite: bool,
    program: &Program,
) -> Result<()> {
    let (model, settings) = models::from_language_model(model);
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
        let mut scorer = SentenceScorer::new(model);
        let mut tokens = Vec::new();
        for words in lines.iter().filter_map(|line| sentence(line)) {
            tokens.clear();
            tokens.extend(words.map(|word| model.token(word)));
            let log_probs = scorer.tokens(tokens.iter().copied());
            for (&token, &log_prob) in tokens.iter().chain([&ngram::END]).zip(log_probs) {
                sum.log_prob += f64::from(log_prob);
                if token == ngram::UNKNOWN {
                    sum.unknown_words += 1;
                    sum.unknown_log_prob += f64::from(log_prob);
                }
            }
            sum.words += tokens.len();
            sum.sentences += 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimation_on_disk_makes_the_same_file_and_reports_its_stages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let lines: String =
            (0..3000).map(|n| format!("word{} word{} end\n", n % 97, n % 89)).collect();
        fs::write(&path, lines).unwrap();
        let events = std::sync::Mutex::new(Vec::new());
        let reporter = |event| {
            if let Event::Begin { stage, .. } = event {
                events.lock().unwrap().push(stage);
            }
        };
        let temporary = folder.path().to_owned();
        let on_disk = OnDisk { memory: 100 << 20, temporary };
        let options = EstimateOptions { on_disk: Some(on_disk), ..EstimateOptions::default() };
        let bytes = |options: &EstimateOptions| {
            let file = folder.path().join("ngrams.bin");
            estimate(&path, options, &reporter).unwrap().write(&file).unwrap();
            fs::read(file).unwrap()
        };
        assert!(bytes(&options) == bytes(&EstimateOptions::default()));
        let mut stages = events.into_inner().unwrap();
        // Each length of n-grams is a stage of its own.
        stages.dedup();
        assert_eq!(stages, ["read", "sort", "count", "estimate", "write", "estimate"]);

        struct Impatient;
        impl Reporter for Impatient {
            fn report(&self, _: Event) {}
            fn is_cancelled(&self) -> bool {
                true
            }
        }
        assert!(matches!(estimate(&path, &options, &Impatient), Err(Error::Interrupted)));
    }

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
        let model = Model::new(&ngram::read_arpa(&file).unwrap(), false).unwrap();
        let found = Perplexity::of(&model, &text).unwrap();
        assert_eq!((found.sentences, found.words, found.unknown_words), (2, 4, 1));
        assert!((found.perplexity - 4.0).abs() < 1e-4, "{}", found.perplexity);
        assert!((found.perplexity_of_known - 4.0).abs() < 1e-4, "{}", found.perplexity_of_known);
    }
}
