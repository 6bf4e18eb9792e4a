//! Counting, second half: sorted positions → the n-grams of one length in suffix order, with adjusted counts.

use crate::sorted::SortedText;

/// The n-grams of one length, in suffix order.
pub(crate) struct Grams {
    /// A position of the text where each ends.
    pub ends: Vec<u32>,
    /// The adjusted count a(·) of each.
    pub counts: Vec<u32>,
    /// How often each occurs in the text.
    pub raw_counts: Vec<u32>,
    /// The n-gram that ends at each position of the text; [`NONE`] where the sentence is too short for one.
    pub at: Vec<u32>,
}

/// In place of the index of an n-gram that does not exist.
pub(crate) const NONE: u32 = u32::MAX;

impl Grams {
    /// The n-grams of a length, for a model whose longest have length `order`.
    pub fn new(sorted: &SortedText, length: usize, order: usize) -> Self {
        let (mut ends, mut counts, mut raw_counts) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = vec![NONE; sorted.words.len()];
        for (position, &end) in sorted.ends.iter().enumerate() {
            let (shared, available) =
                (sorted.shared[position].into(), sorted.lengths[position].into());
            if length > available {
                continue;
            }
            if length > shared {
                ends.push(end);
                counts.push(0);
                raw_counts.push(0);
            }
            let gram = ends.len() - 1;
            at[end as usize] = gram as u32;
            raw_counts[gram] += 1;
            // Chen & Goodman 1998, Eq. (24) to (25): below the longest n-grams, the number of different words
            // before it; n-grams that begin with `<s>` have none and keep their count.
            let begins_sentence = available == length && length < sorted.order;
            let is_adjusted = length < order && !begins_sentence;
            if !is_adjusted || length + 1 > shared {
                counts[gram] += 1;
            }
        }
        Self { ends, counts, raw_counts, at }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }
}
