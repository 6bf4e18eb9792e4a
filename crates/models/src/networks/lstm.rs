//! LSTM language models, §4.4: the candidate with which the query is the most probable sentence, read by
//! itself or after the whole context.
//!
//! Both rows of Table 2 are one network, trained on the running text of the training books; they differ in
//! what is read before the query.

use neural::{Attention, Cloze, Initial, LstmConfig, LstmLm, Sampler, Streams, Window};
use serde::Deserialize;

use crate::networks::family::{self, NetworkFamily, Source};
use crate::networks::learner::Pieces;
use crate::networks::settings::{Defaults, N_SHARED, NetworkConfig, shared};
use crate::{Method, Result, Setting};

/// The defaults of LSTMs, contextual or not.
pub(crate) const DEFAULTS: Defaults = Defaults {
    dim: "512",
    learning_rate: "0.5",
    shrink: "2",
    epochs: "13",
    patience: "3",
    clip: "5",
    lowercase: "false",
};

/// The settings of LSTMs, contextual or not.
pub(crate) const OF_LSTM: [Setting; 5] = [
    TIED,
    Setting::real("initial", "0.08", 0.0..=10.0)
        .doc("Initial weights are drawn uniformly from minus to plus this."),
    Setting::whole("streams", "32", 1..=4096)
        .doc("Pieces of the running text that are read in parallel."),
    Setting::whole("steps", "35", 1..=1000)
        .doc("Words of a piece through which the gradient is propagated back."),
    Setting::flag("forgets", "false").doc(
        "Whether the state is reset at the start of each sentence of running text, as for a query.",
    ),
];

pub(crate) const TIED: Setting = Setting::flag("tied", "false")
    .doc("Whether the output layer has the weights of the embeddings.");

pub(crate) const QUERY: Method = Method {
    name: "lstm-query",
    section: "§4.4",
    summary: "LSTM language model: chooses the candidate with which the query is most probable.",
    settings: &Setting::join::<{ N_SHARED + 5 }>(&[&shared(DEFAULTS), &OF_LSTM]),
    ..family::method::<Lstm<false>>()
};

pub(crate) const CONTEXT_QUERY: Method = Method {
    name: "lstm-context-query",
    section: "§4.4",
    summary: "LSTM language model that reads the context before the query.",
    settings: QUERY.settings,
    ..family::method::<Lstm<true>>()
};

/// An LSTM that reads the context before the query, or the query alone.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Lstm<const READS_CONTEXT: bool> {
    tied: bool,
    streams: usize,
    steps: usize,
    forgets: bool,
    #[serde(flatten)]
    shared: NetworkConfig,
}

/// An LSTM, contextual or not.
pub(crate) fn network(
    n_words: usize,
    config: &NetworkConfig,
    (is_tied, attention): (bool, Option<Attention>),
    sampler: Option<Sampler>,
) -> LstmLm {
    let network = LstmConfig {
        words: n_words,
        units: config.dim,
        attention,
        is_tied,
        initial: config.initial(Initial::Uniform),
        dropout: config.dropout,
    };
    LstmLm::new(network, sampler)
}

impl<const READS_CONTEXT: bool> NetworkFamily for Lstm<READS_CONTEXT> {
    type Network = LstmLm;
    type Pieces<'t> = Streams<'t>;

    fn network(&self, n_words: usize, sampler: Option<Sampler>) -> Result<LstmLm> {
        Ok(network(n_words, &self.shared, (self.tied, None), sampler))
    }

    fn pieces<'t>(&self, source: &'t Source<'t>) -> (Streams<'t>, usize) {
        (Streams::new(&source.text, self.streams, self.steps).forgetting(self.forgets), 1)
    }

    fn config(&self) -> &NetworkConfig {
        &self.shared
    }

    // §4.4, burn in: the context is read like any text before the query.
    fn reads(&self, context: Vec<u32>, cloze: Cloze) -> Cloze {
        if READS_CONTEXT { family::with_burn_in(context, cloze) } else { cloze }
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
