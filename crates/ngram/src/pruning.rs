//! Pruning: counts in the text → which n-grams the model keeps. What the others had goes to the shorter
//! n-grams that they end in.

/// Leaves out long n-grams that are rare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruning {
    /// N-grams that stand at most so often in the text are left out; 0 keeps all.
    pub at_most: u32,
    /// The length from which on they are; at least 2.
    pub from: usize,
}

impl Default for Pruning {
    fn default() -> Self {
        Self { at_most: 0, from: 3 }
    }
}

impl Pruning {
    /// Whether an n-gram stays. One that stays has its beginning and its end kept too, since those stand in
    /// the text at least as often.
    pub(crate) fn keeps(self, length: usize, raw_count: u32) -> bool {
        length < self.from.max(2) || raw_count > self.at_most
    }
}
