//! LSTM language models, §4.4: the candidate with which the query is the most probable sentence, read by
//! itself or after the whole context.
//!
//! Both rows of Table 2 are one network, trained on the running text of the training books; they differ in
//! what is read before the query.

use neural::{Attention, Cloze, Initial, LstmConfig, LstmLm, Sampler, Streams, Window};
use serde::Deserialize;

use crate::contract::settings::Range;
use crate::learning::options::{self, WEIGHTS};
use crate::networks::answers;
use crate::networks::family::{self, NetworkFamily, Source};
use crate::networks::learner::Pieces;
use crate::networks::settings::{
    CLIP, DIM, DROPOUT, EPSILON, INITIAL, OPTIMISER, Recipe, SAMPLES, SCHEDULE, SHRINK, TIED,
    WEIGHT_DECAY,
};
use crate::words::lexicon::{LOWERCASE, MIN_COUNT};
use crate::{Method, Result, Setting};

pub(crate) const STREAMS: Setting = Setting {
    name: "streams",
    symbol: "",
    default: "32",
    range: Range::Whole(1, 4096),
    word: None,
    doc: "Pieces of the running text that are read side by side.",
};
pub(crate) const STEPS: Setting = Setting {
    name: "steps",
    symbol: "",
    default: "35",
    range: Range::Whole(1, 1000),
    word: None,
    doc: "Words of a piece through which the gradient goes back.",
};
pub(crate) const FORGETS: Setting = Setting {
    name: "forgets",
    symbol: "",
    default: "false",
    range: Range::Flag,
    word: None,
    doc: "Whether running text is read as a query is that stands alone: nothing is remembered where a \
          sentence begins.",
};

const SETTINGS: &[Setting] = &[
    DIM,
    Setting { default: "0.5", ..options::LEARNING_RATE },
    SCHEDULE,
    SHRINK,
    Setting { default: "13", ..options::EPOCHS },
    Setting { default: "3", ..options::PATIENCE },
    OPTIMISER,
    WEIGHT_DECAY,
    EPSILON,
    CLIP,
    DROPOUT,
    TIED,
    INITIAL,
    STREAMS,
    STEPS,
    FORGETS,
    SAMPLES,
    MIN_COUNT,
    LOWERCASE,
    WEIGHTS,
];

pub(crate) const QUERY: Method = Method {
    name: "lstm-query",
    section: "§4.4",
    settings: SETTINGS,
    sources: family::SOURCES,
    trains_by_epochs: true,
    train: |settings, training| {
        family::train(Lstm::new(settings.config(), false), settings, training)
    },
    load: |saved| answers::load(Lstm::new(saved.settings.config(), false), saved),
};

pub(crate) const CONTEXT_QUERY: Method = Method {
    name: "lstm-context-query",
    train: |settings, training| {
        family::train(Lstm::new(settings.config(), true), settings, training)
    },
    load: |saved| answers::load(Lstm::new(saved.settings.config(), true), saved),
    ..QUERY
};

#[derive(Clone, Debug, Deserialize)]
struct Config {
    tied: bool,
    streams: usize,
    steps: usize,
    forgets: bool,
    #[serde(flatten)]
    recipe: Recipe,
}

#[derive(Clone)]
struct Lstm {
    config: Config,
    reads_context: bool,
}

impl Lstm {
    fn new(config: Config, reads_context: bool) -> Self {
        Self { config, reads_context }
    }
}

/// The network of some settings, for tests of all networks.
#[cfg(test)]
pub(crate) fn of(settings: &crate::Settings) -> impl NetworkFamily {
    Lstm::new(settings.config(), false)
}

/// An LSTM, contextual or not.
pub(crate) fn network(
    n_words: usize,
    recipe: &Recipe,
    (is_tied, attention): (bool, Option<Attention>),
    sampler: Option<Sampler>,
) -> LstmLm {
    let config = LstmConfig {
        words: n_words,
        units: recipe.dim,
        attention,
        is_tied,
        initial: recipe.initial(Initial::Uniform),
        dropout: recipe.dropout,
    };
    LstmLm::new(config, sampler)
}

impl NetworkFamily for Lstm {
    type Network = LstmLm;
    type Pieces<'t> = Streams<'t>;

    fn network(&self, n_words: usize, sampler: Option<Sampler>) -> Result<LstmLm> {
        Ok(network(n_words, &self.config.recipe, (self.config.tied, None), sampler))
    }

    fn pieces<'t>(&self, source: &'t Source<'t>) -> (Streams<'t>, usize) {
        let Config { streams, steps, forgets, .. } = self.config;
        (Streams::new(&source.text, streams, steps).forgetting(forgets), 1)
    }

    fn recipe(&self) -> &Recipe {
        &self.config.recipe
    }

    // §4.4, burn in: the context is read like any text before the query.
    fn reads(&self, context: Vec<u32>, cloze: Cloze) -> Cloze {
        if self.reads_context { family::burnt_in(context, cloze) } else { cloze }
    }
}

impl Pieces for Streams<'_> {
    type Batch = Window;

    fn len(&self) -> usize {
        Streams::len(self)
    }

    fn is_running(&self) -> bool {
        true
    }

    fn n_targets(&self, windows: &[u32]) -> usize {
        windows.iter().map(|&number| Streams::n_targets(self, number as usize)).sum()
    }

    fn batch(&self, windows: &[u32]) -> Window {
        self.window(windows[0] as usize)
    }
}
