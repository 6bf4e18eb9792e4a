//! The learnt weights as the tagger uses them: for each feature a few tags with their weights,
//! rounded to one byte.

use super::key_table::KeyTable;

/// Weights of features for up to `L` tags.
pub struct Weights<const L: usize> {
    pub(super) keys: Vec<u32>,
    /// Where a feature's entries begin, and where those of the last one end.
    pub(super) starts: Vec<u32>,
    pub(super) entries: Vec<TagWeight>,
    /// For each key the start of its entries and, in the lowest bits, how many there are.
    table: KeyTable,
}

const COUNT_BITS: u32 = 6;
const COUNT_MASK: u32 = (1 << COUNT_BITS) - 1;
/// The index of the last entry must fit next to a count.
pub const MAX_ENTRIES: usize = 1 << 25;

/// What a feature says of one tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagWeight {
    /// Index of the tag, below `L`.
    pub tag: u8,
    /// For it or, if negative, against it.
    pub weight: i8,
}

/// One sum of weights for each tag. A feature adds at most 127, and no word has 250 features.
pub type Scores<const L: usize> = [i16; L];

impl<const L: usize> Weights<L> {
    /// Takes ascending keys, the start of each one's at most `L` entries (and the end of the last),
    /// and at most [`MAX_ENTRIES`] entries whose tags are below `L`.
    pub fn new(keys: Vec<u32>, starts: Vec<u32>, entries: Vec<TagWeight>) -> Self {
        assert_eq!(keys.len() + 1, starts.len(), "one start for each key, and the last one's end");
        let mut table = KeyTable::with_capacity(keys.len());
        for (&key, span) in keys.iter().zip(starts.windows(2)) {
            table.get_or_insert(key, span[0] << COUNT_BITS | (span[1] - span[0]));
        }
        Self { keys, starts, entries, table }
    }

    /// Adds the weights of some features to the scores of the tags.
    #[inline]
    pub fn add(&self, features: &[u32], scores: &mut Scores<L>) {
        self.table.for_each(features, |span| {
            let start = (span >> COUNT_BITS) as usize;
            let count = (span & COUNT_MASK) as usize;
            for entry in &self.entries[start..start + count] {
                scores[usize::from(entry.tag)] += i16::from(entry.weight);
            }
        });
    }
}
