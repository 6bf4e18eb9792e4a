//! Lexical memory, §3: a language model whose memories are the words before, one each, read in several hops
//! (Sukhbaatar et al. 2015).
//!
//! The candidate and the words after it are scored, each by the words before it, whether these are in the
//! context or in the query.

use std::ops::Range;

use neural::{Cloze, Initial, LexicalConfig, LexicalMemory, Runs, Sampler};
use serde::Deserialize;

use crate::learning::options::{self, WEIGHTS};
use crate::networks::answers;
use crate::networks::family::{self, NetworkFamily, Source};
use crate::networks::learner::Pieces;
use crate::networks::settings::{
    CLIP, DIM, DROPOUT, EPSILON, OPTIMISER, Recipe, SAMPLES, SCHEDULE, SHRINK, WEIGHT_DECAY,
};
use crate::words::lexicon::{LOWERCASE, MIN_COUNT};
use crate::{Method, Range as ValueRange, Result, Setting};

const MAX_MEMORIES: Setting = Setting {
    name: "max_memories",
    symbol: "n",
    default: "200",
    range: ValueRange::Whole(1, 10_000),
    word: None,
    doc: "Words before a word that are its memories.",
};
const HOPS: Setting = Setting {
    name: "hops",
    symbol: "K",
    default: "7",
    range: ValueRange::Whole(1, 100),
    word: None,
    doc: "How often the memories are read.",
};
const DEVIATION: Setting = Setting {
    name: "initial",
    symbol: "",
    default: "0.05",
    range: ValueRange::Real(0.0, 10.0),
    word: None,
    doc: "First weights are drawn from a normal distribution with this deviation.",
};
const RUN: Setting = Setting {
    name: "run",
    symbol: "",
    default: "16",
    range: ValueRange::Whole(1, 1000),
    word: None,
    doc: "Consecutive words that are learnt from together: they share most of their memories.",
};
const RUNS: Setting = Setting {
    name: "batch",
    symbol: "",
    default: "8",
    range: ValueRange::Whole(1, 65_536),
    word: None,
    doc: "Runs of words that are learnt from at the same time, on the same weights.",
};

pub(crate) const METHOD: Method = Method {
    name: "memnn-lexical",
    section: "§3.1",
    settings: &[
        Setting { default: "200", ..DIM },
        MAX_MEMORIES,
        HOPS,
        Setting { default: "0.01", ..options::LEARNING_RATE },
        SCHEDULE,
        Setting { default: "1.5", ..SHRINK },
        Setting { default: "30", ..options::EPOCHS },
        Setting { default: "5", ..options::PATIENCE },
        OPTIMISER,
        WEIGHT_DECAY,
        EPSILON,
        Setting { default: "50", ..CLIP },
        DROPOUT,
        DEVIATION,
        RUN,
        RUNS,
        SAMPLES,
        MIN_COUNT,
        // Appendix A: «lowercased for all Memory Networks».
        Setting { default: "true", ..LOWERCASE },
        WEIGHTS,
    ],
    sources: family::SOURCES,
    trains_by_epochs: true,
    train: |settings, training| family::train(settings.config::<Config>(), settings, training),
    load: |saved| answers::load(saved.settings.config::<Config>(), saved),
};

#[derive(Clone, Debug, Deserialize)]
struct Config {
    max_memories: usize,
    hops: usize,
    run: usize,
    batch: usize,
    #[serde(flatten)]
    recipe: Recipe,
}

impl NetworkFamily for Config {
    type Network = LexicalMemory;
    type Pieces<'t> = TextRuns<'t>;

    fn network(&self, n_words: usize, sampler: Option<Sampler>) -> Result<LexicalMemory> {
        let config = LexicalConfig {
            words: n_words,
            dim: self.recipe.dim,
            memories: self.max_memories,
            hops: self.hops,
            initial: self.recipe.initial(Initial::Normal),
            dropout: self.recipe.dropout,
        };
        Ok(LexicalMemory::new(config, sampler))
    }

    fn pieces<'t>(&self, source: &'t Source<'t>) -> (TextRuns<'t>, usize) {
        let places = Runs::places(&source.text, self.run);
        (TextRuns { source, places, config: self.clone() }, self.batch)
    }

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    // §3.1: the context and the query are one sequence of words.
    fn reads(&self, context: Vec<u32>, cloze: Cloze) -> Cloze {
        family::burnt_in(context, cloze)
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
