//! Methods that learn nothing (§4.1).

pub(crate) mod max_frequency;
pub(crate) mod sliding_window;
pub(crate) mod word_distance;

use std::path::Path;
use std::sync::Arc;

use base::Vocabulary;

use crate::words::lowercase::Lowercase;
use crate::{Model, Result, Scorer};

/// A model that has nothing to save: it makes its scorer from the lower-cased words of any set.
struct Untrained(fn(Lowercase) -> Box<dyn Scorer>);

impl Model for Untrained {
    fn scorer(self: Arc<Self>, words: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        self.0(Lowercase::new(words))
    }

    fn save(&self, _: &Path) -> Result<()> {
        Ok(())
    }
}
