//! Supervised embedding models, §4.3 (Weston et al. 2010): S(q, w) = φ(q)ᵀ Aᵀ B φ(w).
//!
//! The rows of Table 2 differ in what q is: context and query, the query, the window around the blank, and
//! that window with one dictionary for each position. B is called `decode` here: a model is a memory
//! network without hops.

use serde::Deserialize;

use crate::composition::Composition;
use crate::epochs::{BATCH, DECAY, EPOCHS, LEARNING_RATE, PATIENCE, Schedule};
use crate::learnt::{SavedAs, WEIGHTS};
use crate::memory_format::{Format, windows};
use crate::settings::Range;
use crate::soft_model::{Design, INIT, SAMPLES};
use crate::windows::Encoding;
use crate::{Entry, Setting, Settings};

const DIM: Setting = Setting {
    name: "dim",
    symbol: "p",
    default: "300",
    range: Range::Whole(1, 4096),
    word: None,
    doc: "Length of an embedding.",
};
const WINDOW: Setting = Setting {
    name: "window",
    symbol: "b",
    default: "5",
    range: Range::Whole(1, 101),
    word: None,
    doc: "Words of the window around the blank; an odd number.",
};

const SETTINGS: &[Setting] =
    &[DIM, LEARNING_RATE, EPOCHS, PATIENCE, DECAY, BATCH, SAMPLES, INIT, WEIGHTS];
const WINDOW_SETTINGS: &[Setting] =
    &[DIM, WINDOW, LEARNING_RATE, EPOCHS, PATIENCE, DECAY, BATCH, SAMPLES, INIT, WEIGHTS];

#[derive(Deserialize)]
struct Config {
    dim: usize,
    #[serde(default)]
    window: usize,
    samples: Option<usize>,
    init: f64,
    weights: SavedAs,
    #[serde(flatten)]
    schedule: Schedule,
}

fn design(
    settings: &Settings,
    composition: Composition,
    format: impl Fn(&Config, usize) -> Format + 'static,
) -> Design {
    let config: Config = settings.config();
    Design {
        composition,
        dim: config.dim,
        hops: 0,
        tied: false,
        time_scale: 0.0,
        samples: config.samples,
        init: config.init,
        weights: config.weights,
        schedule: config.schedule.clone(),
        format: Box::new(move |words| format(&config, words)),
    }
}

fn context_query(settings: &Settings) -> Design {
    design(settings, Composition::Mean, |_, _| Format::ContextAndQuery)
}

fn query(settings: &Settings) -> Design {
    design(settings, Composition::Sum, |_, _| Format::Query)
}

fn window(settings: &Settings, encoding: Encoding) -> Design {
    design(settings, Composition::Sum, move |config, words| {
        Format::QueryWindow(windows(config.window, encoding, None, words))
    })
}

pub(crate) const CONTEXT_QUERY: Entry = Entry {
    name: "embedding-context-query",
    row: "Embedding Model (context+query)",
    section: "§4.3",
    settings: SETTINGS,
    learns: true,
    train: |settings, training| context_query(settings).train(settings, training),
    load: |saved| context_query(&saved.settings).load(saved),
};
pub(crate) const QUERY: Entry = Entry {
    name: "embedding-query",
    row: "Embedding Model (query)",
    train: |settings, training| query(settings).train(settings, training),
    load: |saved| query(&saved.settings).load(saved),
    ..CONTEXT_QUERY
};
pub(crate) const WINDOW_BAG: Entry = Entry {
    name: "embedding-window",
    row: "Embedding Model (window)",
    settings: WINDOW_SETTINGS,
    train: |settings, training| window(settings, Encoding::Bag).train(settings, training),
    load: |saved| window(&saved.settings, Encoding::Bag).load(saved),
    ..CONTEXT_QUERY
};
pub(crate) const WINDOW_POSITION: Entry = Entry {
    name: "embedding-window-position",
    row: "Embedding Model (window+position)",
    settings: WINDOW_SETTINGS,
    train: |settings, training| window(settings, Encoding::Positions).train(settings, training),
    load: |saved| window(&saved.settings, Encoding::Positions).load(saved),
    ..CONTEXT_QUERY
};
