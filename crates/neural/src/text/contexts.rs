//! [`Contexts`]: the words that come before the sentence of each word that is to be predicted.

/// Several contexts of the same length, and what may be looked at from each place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contexts {
    /// How many there are.
    pub n: usize,
    /// The words of each context, padded, one context after the other.
    pub words: Vec<u32>,
    /// For each place the first word of its context that counts and the one after the last.
    pub bounds: Vec<u32>,
}

impl Contexts {
    /// Whole contexts, padded to the longest, for one place each.
    pub fn whole(contexts: &[&[u32]]) -> Self {
        // Where all are empty, there is padding alone, which no bound lets in.
        let length = contexts.iter().map(|words| words.len()).max().unwrap_or(0).max(1);
        let padded = |words: &&[u32]| {
            let padding = std::iter::repeat_n(0, length - words.len());
            words.iter().copied().chain(padding).collect::<Vec<u32>>()
        };
        Self {
            n: contexts.len(),
            words: contexts.iter().flat_map(padded).collect(),
            bounds: contexts.iter().flat_map(|words| [0, words.len() as u32]).collect(),
        }
    }

    /// How many words each has, padding among them.
    pub fn length(&self) -> usize {
        self.words.len() / self.n.max(1)
    }

    /// The same with each bound `times` times, one after the other.
    pub(crate) fn repeated(mut self, times: usize) -> Self {
        let bounds = self.bounds.chunks_exact(2);
        self.bounds = bounds.flat_map(|bounds| bounds.repeat(times)).collect();
        self
    }
}
