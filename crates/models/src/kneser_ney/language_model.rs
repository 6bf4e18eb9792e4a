//! What the two Kneser-Ney rows share (§4.2): a language model of the training books, its order tuned on the
//! validation questions, and the log-probabilities of the words of a query with each candidate in it.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use base::{ByClass, Vocabulary, WordId};
use ngram::{
    Discounts, Fallback, MAX_ORDER, Options, Pruning, SortedText, Text, TokenId, estimate,
};
use questions::{Question, WordClass};
use serde::{Deserialize, Serialize};

use crate::words::running_text;
use crate::{Error, Event, Result, Setting, Training};

/// The language model's file in a model folder.
pub const NGRAMS: &str = "ngrams.bin";

/// The paper's order, which «performed best on the validation set».
const PAPER_ORDER: usize = 5;

pub(crate) const ORDER: Setting = Setting::whole("order", "auto", 1..=MAX_ORDER as i64).symbol("n").or("auto").doc("Length of the longest n-grams; `auto` takes the paper's 5, unless another of 1 to 6 is better on the \
     validation questions by more than the standard error.");
pub(crate) const PRUNE: Setting = Setting::whole("prune", "0", 0..=1_000_000)
    .doc("N-grams of three or more words that occur at most this often in the text are left out.");
pub(crate) const QUANTISE: Setting = Setting::flag("quantise", "false").doc("Whether the probabilities and backoffs of each length are rounded to 256 values: a third of the file.");

/// How a language model is made.
#[derive(Clone, Copy, Deserialize)]
pub(crate) struct Config {
    pub order: Option<usize>,
    pub prune: u32,
    pub quantise: bool,
}

/// Accuracies on the validation questions of several ways to score; empty without questions whose answer is known.
pub(crate) fn accuracies<'a>(
    training: &Training<'a>,
    score: impl Fn(&Question<'a>) -> Vec<Vec<f32>> + Sync,
) -> Vec<ByClass<f64>> {
    let credits = training.valid.credits(score);
    let credits: Vec<(Option<WordClass>, &[f64])> =
        credits.iter().map(|(class, credits)| (*class, &credits[..])).collect();
    let n_ways = credits.first().map_or(0, |(_, credits)| credits.len());
    let of_way = |way: usize| {
        ByClass::of(
            &credits,
            |(class, _)| class,
            |credits| {
                let sum: f64 = credits.iter().map(|(_, credits)| credits[way]).sum();
                (!credits.is_empty()).then_some(sum / credits.len() as f64)
            },
        )
    };
    (0..n_ways).filter_map(of_way).collect()
}

/// An order that was tried.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Trial {
    order: usize,
    valid: ByClass<f64>,
}

/// Estimates a language model of the training books; also returns the orders that were tried for it.
pub(crate) fn train(
    model: &'static str,
    config: Config,
    training: &Training<'_>,
) -> Result<(Arc<ngram::Model>, Vec<Trial>)> {
    let sorted = text(model, training)?.sort(config.order.unwrap_or(MAX_ORDER))?;
    let make = |order| -> Result<(ngram::Model, Vec<Fallback>)> {
        let pruning = Pruning { at_most: config.prune, ..Pruning::default() };
        let estimate = estimate(&sorted, &Options { order, pruning })?;
        Ok((ngram::Model::new(&estimate.table, config.quantise)?, estimate.fallbacks))
    };
    let (orders, chosen) = match config.order {
        Some(order) => (vec![], order),
        None => tune(&make, training)?,
    };
    let (language, fallbacks) = make(chosen)?;
    drop::<SortedText>(sorted);
    warn(&fallbacks, training);
    Ok((Arc::new(language), orders))
}

/// The running text of the training books, or what there is of it.
fn text(model: &'static str, training: &Training<'_>) -> Result<Text> {
    let vocabulary = training.train.vocabulary();
    let mut text = Text::default();
    for sentence in running_text::to_learn_from(model, training)?.into_iter().flatten() {
        text.push(sentence.iter().map(|&word| vocabulary.word(word)))?;
    }
    Ok(text)
}

fn tune(
    make: &impl Fn(usize) -> Result<(ngram::Model, Vec<Fallback>)>,
    training: &Training<'_>,
) -> Result<(Vec<Trial>, usize)> {
    let mut trials = Vec::new();
    if training.valid.examples().all(|example| example.answer.is_none()) {
        training.reporter.report(Event::Warning(format!(
            "no validation questions with answers to tune `order` on: {PAPER_ORDER} is taken"
        )));
        return Ok((trials, PAPER_ORDER));
    }
    for order in 1..=MAX_ORDER {
        training.check_cancelled()?;
        let language = Arc::new(make(order)?.0);
        let scorer = LanguageScorer::new(&language, training.valid.vocabulary());
        let score = |question: &Question<'_>| vec![scorer.query(question).log_probs()];
        let valid = accuracies(training, score).remove(0);
        let valid_accuracy = valid.mean_over(&WordClass::ALL);
        training
            .reporter
            .report(Event::Tried { setting: format!("order={order}"), valid_accuracy });
        trials.push(Trial { order, valid });
    }
    let mean = |order: usize| trials[order - 1].valid.mean_over(&WordClass::ALL);
    let best = (1..=MAX_ORDER).max_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap_or(PAPER_ORDER);
    // Chosen: the paper's order unless another is better by more than the standard error of an accuracy.
    let accuracy = mean(best);
    let standard_error = (accuracy * (1.0 - accuracy) / training.valid.len() as f64).sqrt();
    let is_better = accuracy - mean(PAPER_ORDER) > standard_error;
    Ok((trials, if is_better { best } else { PAPER_ORDER }))
}

fn warn(fallbacks: &[Fallback], training: &Training<'_>) {
    if fallbacks.is_empty() {
        return;
    }
    let reasons: Vec<String> = fallbacks
        .iter()
        .map(|Fallback { length, reason }| format!("{length}-grams ({reason})"))
        .collect();
    let [d1, d2, d3] = Discounts::FALLBACK.0;
    training.reporter.report(Event::Warning(format!(
        "the text is too small to estimate the discounts of {}: {d1}, {d2} and {d3} are taken",
        reasons.join(", ")
    )));
}

/// Opens the language model of a model folder.
pub(crate) fn open(folder: &Path) -> Result<ngram::Model> {
    let path = folder.join(NGRAMS);
    ngram::Model::open(&path).map_err(|error| match error {
        ngram::Error::File { reason, .. } if reason.kind() == ErrorKind::NotFound => {
            Error::Damaged { path, line: None, reason: "the file is missing".to_owned() }
        }
        error => error.into(),
    })
}

/// A language model with the words of a question set.
pub(crate) struct LanguageScorer {
    model: Arc<ngram::Model>,
    /// The language model's tokens of the set's words.
    words: Vec<TokenId>,
}

/// The words of a query that a candidate can influence: itself, and those after it up to the order.
pub(crate) struct ScoredQuery {
    /// Of each candidate: the log-probabilities of those words, the candidate first.
    pub of_candidates: Vec<Vec<f32>>,
}

impl LanguageScorer {
    pub fn new(model: &Arc<ngram::Model>, vocabulary: &Vocabulary) -> Self {
        let words = vocabulary.iter().map(|word| model.token(word)).collect();
        Self { model: model.clone(), words }
    }

    /// Scores the query as a whole sentence. What comes before the blank and far after it has the same
    /// probability with every candidate, and is left out.
    pub fn query(&self, question: &Question<'_>) -> ScoredQuery {
        let Question { query, blank, .. } = *question;
        let token = |word: &WordId| self.words[word.index()];
        let reach = self.model.order() - 1;
        let near = blank.saturating_sub(reach);
        let before = if near == 0 { self.model.sentence_start() } else { ngram::State::EMPTY };
        let before = query[near..blank]
            .iter()
            .fold(before, |state, word| self.model.advance(&state, token(word)).1);
        let after = query[blank + 1..].iter().map(token).chain([ngram::END]).take(reach);
        let after: Vec<TokenId> = after.collect();
        let score = |candidate: &WordId| {
            let mut state = before;
            let words = [token(candidate)].into_iter().chain(after.iter().copied());
            let log_prob = |word| {
                let (log_prob, next) = self.model.advance(&state, word);
                state = next;
                log_prob
            };
            words.map(log_prob).collect()
        };
        ScoredQuery { of_candidates: question.candidates.iter().map(score).collect() }
    }
}

impl ScoredQuery {
    /// The log-probability of the query with each candidate, but for what all have in common.
    pub fn log_probs(&self) -> Vec<f32> {
        self.of_candidates.iter().map(|log_probs| log_probs.iter().sum()).collect()
    }
}
