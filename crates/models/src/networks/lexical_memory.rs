//! Lexical memory, §3: a language model whose memories are the words before, one each, read in several hops
//! (Sukhbaatar et al. 2015).
//!
//! The candidate and the words after it are scored, each by the words before it, whether these are in the
//! context or in the query.

use std::ops::Range;

use neural::{Cloze, Initial, LexicalConfig, LexicalMemory, Runs, Sampler};
use serde::Deserialize;

use crate::networks::family::{self, NetworkFamily, Source};
use crate::networks::learner::Pieces;
use crate::networks::settings::{Defaults, N_SHARED, NetworkConfig, shared};
use crate::{Method, Result, Setting};

const OWN: [Setting; 5] = [
    Setting::whole("max_memories", "200", 1..=10_000)
        .symbol("n")
        .doc("Words before a word that are its memories."),
    Setting::whole("hops", "7", 1..=100).symbol("K").doc("Number of hops through the memories."),
    Setting::real("initial", "0.05", 0.0..=10.0)
        .doc("Initial weights are drawn from a normal distribution with this standard deviation."),
    Setting::whole("run", "16", 1..=1000)
        .doc("Consecutive words that are learnt from together: they share most of their memories."),
    Setting::whole("batch", "8", 1..=65_536)
        .doc("Runs of words per mini-batch: they are learnt from together, on the same weights."),
];

pub(crate) const METHOD: Method = Method {
    name: "memnn-lexical",
    section: "§3.1",
    summary: "Language model that attends to the words before a word, one memory each, in \
              several hops.",
    settings: &Setting::join::<{ N_SHARED + 5 }>(&[
        &shared(Defaults {
            dim: "200",
            learning_rate: "0.01",
            shrink: "1.5",
            epochs: "30",
            patience: "5",
            clip: "50",
            // Appendix A: «lowercased for all Memory Networks».
            lowercase: "true",
        }),
        &OWN,
    ]),
    ..family::method::<Config>()
};

#[derive(Clone, Debug, Deserialize)]
struct Config {
    max_memories: usize,
    hops: usize,
    run: usize,
    batch: usize,
    #[serde(flatten)]
    shared: NetworkConfig,
}

impl NetworkFamily for Config {
    type Network = LexicalMemory;
    type Pieces<'t> = TextRuns<'t>;

    fn network(&self, n_words: usize, sampler: Option<Sampler>) -> Result<LexicalMemory> {
        let config = LexicalConfig {
            words: n_words,
            dim: self.shared.dim,
            memories: self.max_memories,
            hops: self.hops,
            initial: self.shared.initial(Initial::Normal),
            dropout: self.shared.dropout,
        };
        Ok(LexicalMemory::new(config, sampler))
    }

    fn pieces<'t>(&self, source: &'t Source<'t>) -> (TextRuns<'t>, usize) {
        let places = Runs::places(&source.text, self.run);
        (TextRuns { source, places, config: self.clone() }, self.batch)
    }

    fn config(&self) -> &NetworkConfig {
        &self.shared
    }

    // §3.1: the context and the query are one sequence of words.
    fn reads(&self, context: Vec<u32>, cloze: Cloze) -> Cloze {
        family::with_burn_in(context, cloze)
    }
}

/// A text in runs of words, drawn in any order.
struct TextRuns<'t> {
    source: &'t Source<'t>,
    places: Vec<Range<usize>>,
    config: Config,
}

impl Pieces for TextRuns<'_> {
    type Batch = Runs;

    fn len(&self) -> usize {
        self.places.len()
    }

    fn is_running(&self) -> bool {
        false
    }

    fn n_targets(&self, runs: &[u32]) -> usize {
        runs.iter().map(|&run| self.places[run as usize].len()).sum()
    }

    fn batch(&self, runs: &[u32]) -> Runs {
        let places: Vec<Range<usize>> =
            runs.iter().map(|&run| self.places[run as usize].clone()).collect();
        Runs::of_text(&self.source.text, self.config.max_memories, self.config.run, &places)
    }
}
