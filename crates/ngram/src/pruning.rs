//! Pruning: counts in the text → which n-grams the model keeps. The probability of the others goes to the
//! shorter n-grams that they end in.

/// Leaves out long n-grams that are rare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruning {
    /// N-grams that occur at most this often in the text are left out; 0 keeps all.
    pub at_most: u32,
    /// The shortest length that is pruned; at least 2.
    pub from: usize,
}

impl Default for Pruning {
    fn default() -> Self {
        Self { at_most: 0, from: 3 }
    }
}

impl Pruning {
    /// Returns whether an n-gram is kept. Its beginning and its end are then kept too, since they occur in
    /// the text at least as often.
    pub(crate) fn keeps(self, length: usize, raw_count: u32) -> bool {
        length < self.from.max(2) || raw_count > self.at_most
    }
}
