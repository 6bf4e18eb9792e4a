//! The learnt weights as the tagger uses them: for each feature a few tags with a weight each,
//! rounded to one byte.

use super::key_table::KeyTable;

/// Weights of features for up to `L` tags.
pub struct Weights<const L: usize> {
    pub(super) keys: Vec<u32>,
    /// Where a feature's entries begin, and where those of the last one end.
    pub(super) starts: Vec<u32>,
    pub(super) entries: Vec<Entry>,
    table: KeyTable,
}

/// What a feature says of one tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Index of the tag, below `L`.
    pub tag: u8,
    /// For it or, if negative, against it.
    pub weight: i8,
}

/// One sum of weights for each tag. A feature adds at most 127, and no word has 250 features.
pub type Scores<const L: usize> = [i16; L];

impl<const L: usize> Weights<L> {
    /// Takes ascending keys, the start of each one's entries (and the end of the last), and entries
    /// whose tags are below `L`.
    pub fn new(keys: Vec<u32>, starts: Vec<u32>, entries: Vec<Entry>) -> Self {
        assert_eq!(keys.len() + 1, starts.len(), "one start for each key, and the last one's end");
        let mut table = KeyTable::with_capacity(keys.len());
        for (row, &key) in (0u32..).zip(&keys) {
            table.get_or_insert(key, row);
        }
        Self { keys, starts, entries, table }
    }

    /// Adds a feature's weights to the scores of the tags.
    #[inline]
    pub fn add(&self, key: u32, scores: &mut Scores<L>) {
        if let Some(row) = self.table.get(key) {
            let row = row as usize;
            for entry in &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize] {
                scores[usize::from(entry.tag)] += i16::from(entry.weight);
            }
        }
    }
}
