//! Memory networks with soft attention, §3.1 and §3.2: window memory and sentential memory.
//!
//! Both embed the query and the memories, hop through the memories K times and decode the last state into
//! a distribution over the dictionary. A window memory is the words around a mention of a candidate, a
//! sentential memory is a sentence of the context.

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
    default: "100",
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
    doc: "Words of a window; an odd number.",
};
const HOPS: Setting = Setting {
    name: "hops",
    symbol: "K",
    default: "1",
    range: Range::Whole(1, 10),
    word: None,
    doc: "How often the memories are read.",
};
const ENCODING: Setting = Setting {
    name: "encoding",
    symbol: "",
    default: "positions",
    range: Range::Choice(&["positions", "bag"]),
    word: None,
    doc: "Windows: one dictionary for each position, or one for all.",
};
const SENTENCE_ENCODING: Setting =
    Setting { doc: "Sentences: position encoding, or a bag of words.", ..ENCODING };
const TIED: Setting = Setting {
    name: "tied",
    symbol: "U = A",
    default: "false",
    range: Range::Flag,
    word: None,
    doc: "Whether words are decoded with the embeddings that they are read with.",
};
const TIME: Setting = Setting {
    name: "time",
    symbol: "",
    default: "true",
    range: Range::Flag,
    word: None,
    doc: "Whether memories know their place in the passage.",
};
const TIME_SCALE: Setting = Setting {
    name: "time_scale",
    symbol: "",
    default: "1",
    range: Range::Real(0.0, 1000.0),
    word: None,
    doc: "What the place of the last memory adds to its match.",
};
const MAX_MEMORIES: Setting = Setting {
    name: "max_memories",
    symbol: "n",
    default: "all",
    range: Range::Whole(1, 100_000),
    word: Some("all"),
    doc: "Memories of a question, the latest ones.",
};

#[derive(Deserialize)]
struct Config {
    dim: usize,
    #[serde(default)]
    window: usize,
    encoding: Encoding,
    hops: usize,
    tied: bool,
    time: bool,
    time_scale: f64,
    max_memories: Option<usize>,
    samples: Option<usize>,
    init: f64,
    weights: SavedAs,
    #[serde(flatten)]
    schedule: Schedule,
}

impl Config {
    fn design(
        self,
        composition: Composition,
        format: impl Fn(&Self, usize) -> Format + 'static,
    ) -> Design {
        Design {
            composition,
            dim: self.dim,
            hops: self.hops,
            tied: self.tied,
            time_scale: if self.time { self.time_scale } else { 0.0 },
            samples: self.samples,
            init: self.init,
            weights: self.weights,
            schedule: self.schedule.clone(),
            format: Box::new(move |words| format(&self, words)),
        }
    }
}

fn window(settings: &Settings) -> Design {
    settings.config::<Config>().design(Composition::Sum, |config, words| {
        Format::Windows(windows(config.window, config.encoding, config.max_memories, words))
    })
}

fn sentential(settings: &Settings) -> Design {
    let config: Config = settings.config();
    let composition = match config.encoding {
        Encoding::Positions => Composition::PositionEncoding,
        Encoding::Bag => Composition::Sum,
    };
    config.design(composition, |config, _| Format::Sentences(config.max_memories))
}

pub(crate) const WINDOW_MEMORY: Entry = Entry {
    name: "memnn-window",
    row: "MemNNs (window memory)",
    section: "§3.2",
    settings: &[
        DIM,
        WINDOW,
        ENCODING,
        HOPS,
        TIED,
        TIME,
        TIME_SCALE,
        MAX_MEMORIES,
        LEARNING_RATE,
        EPOCHS,
        PATIENCE,
        DECAY,
        BATCH,
        SAMPLES,
        INIT,
        WEIGHTS,
    ],
    learns: true,
    train: |settings, training| window(settings).train(settings, training),
    load: |saved| window(&saved.settings).load(saved),
};
pub(crate) const SENTENTIAL_MEMORY: Entry = Entry {
    name: "memnn-sentential",
    row: "MemNNs (sentential memory + PE)",
    section: "§3.2",
    settings: &[
        DIM,
        SENTENCE_ENCODING,
        HOPS,
        TIED,
        TIME,
        TIME_SCALE,
        MAX_MEMORIES,
        LEARNING_RATE,
        EPOCHS,
        PATIENCE,
        DECAY,
        BATCH,
        SAMPLES,
        INIT,
        WEIGHTS,
    ],
    learns: true,
    train: |settings, training| sentential(settings).train(settings, training),
    load: |saved| sentential(&saved.settings).load(saved),
};
