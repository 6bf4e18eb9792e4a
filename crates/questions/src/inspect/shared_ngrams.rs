//! How much text books share, by the word sequences that both have.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use rayon::prelude::*;

/// The length of the word sequences that books are compared by.
const NGRAM: usize = 8;
/// What is in more books than this is not a leak from one to another. Chosen: news articles end in the same few
/// sentences, and every pair of them would count.
const BOILERPLATE: usize = 200;

/// The hashes of a text's distinct n-grams, in order; `words` are numbers or hashes of its words.
pub(crate) fn distinct<W: std::hash::Hash>(words: &[W]) -> Vec<u64> {
    let hasher = FixedState::default();
    let mut hashes: Vec<u64> = words.windows(NGRAM).map(|ngram| hasher.hash_one(ngram)).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// How many n-grams each pair of texts has in common, of those that have any.
pub(crate) fn count_pairs(ngrams: &[Vec<u64>]) -> BTreeMap<(u32, u32), usize> {
    let mut occurrences: Vec<(u64, u32)> = Vec::with_capacity(ngrams.iter().map(Vec::len).sum());
    for (text, hashes) in (0..).zip(ngrams) {
        occurrences.extend(hashes.iter().map(|&hash| (hash, text)));
    }
    occurrences.par_sort_unstable();
    let mut shared = BTreeMap::new();
    for run in occurrences.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() <= BOILERPLATE) {
        for (index, &(_, first)) in run.iter().enumerate() {
            for &(_, second) in &run[index + 1..] {
                *shared.entry((first, second)).or_default() += 1;
            }
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_counts_each_sequence_once_and_a_pair_what_both_have() {
        let first: Vec<u32> = (0..20).collect();
        let twice = [first.clone(), first.clone()].concat();
        let second: Vec<u32> = (10..40).collect();
        assert_eq!(distinct(&first).len(), 13);
        // Seven more run over the seam.
        assert_eq!(distinct(&twice).len(), 20);
        let pairs = count_pairs(&[distinct(&first), distinct(&second), distinct(&[1, 2, 3])]);
        assert_eq!(pairs.into_iter().collect::<Vec<_>>(), [((0, 1), 3)]);
    }
}
