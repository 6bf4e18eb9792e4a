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

/// The hashes of a text's distinct 8-grams, in order: of its words in lower case, without punctuation.
///
/// They are of the words and not of numbers of them, so those of any two texts can be compared. Two of 6 million 64-bit
/// hashes are equal by chance once in a million runs.
pub fn ngrams_of_text<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<u64> {
    let words: Vec<u64> = words.into_iter().filter_map(word_hash).collect();
    distinct(&words)
}

/// The hash of a word in lower case; none for punctuation: editions of one text differ in their quotation marks, dashes
/// and commas.
pub(crate) fn word_hash(word: &str) -> Option<u64> {
    let is_word = word.chars().any(char::is_alphanumeric);
    is_word.then(|| FixedState::default().hash_one(word.to_lowercase()))
}

/// How many n-grams each pair of texts has in common, of those that have any.
pub(crate) fn count_pairs(ngrams: &[Vec<u64>]) -> PairCounts {
    let mut occurrences: Vec<(u64, u32)> = Vec::with_capacity(ngrams.iter().map(Vec::len).sum());
    for (text, hashes) in (0..).zip(ngrams) {
        occurrences.extend(hashes.iter().map(|&hash| (hash, text)));
    }
    let mut counts = PairCounts::new();
    count_shared(&mut occurrences, &mut counts);
    counts
}

/// How many n-grams two texts share, by their numbers.
pub type PairCounts = BTreeMap<(u32, u32), usize>;

/// Counts for each pair of texts the n-grams that both have. Each n-gram comes as its hash with the number of a text that
/// has it; all occurrences of a hash must come together.
pub fn count_shared(occurrences: &mut [(u64, u32)], counts: &mut PairCounts) {
    occurrences.par_sort_unstable();
    for run in occurrences.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() <= BOILERPLATE) {
        for (index, &(_, first)) in run.iter().enumerate() {
            for &(_, second) in &run[index + 1..] {
                *counts.entry((first, second)).or_default() += 1;
            }
        }
    }
}

/// How many n-grams two texts share: from the hashes of each, distinct and in order.
pub fn n_shared(first: &[u64], second: &[u64]) -> usize {
    let (fewer, more) = if first.len() < second.len() { (first, second) } else { (second, first) };
    fewer.iter().filter(|hash| more.binary_search(hash).is_ok()).count()
}

/// Of two texts that share n-grams, the one of which the greater part is in the other, then the other, with their shares:
/// each is how many they share and of how many.
pub(crate) fn in_order(
    (first, second): (usize, usize),
    shared: usize,
    n_ngrams: impl Fn(usize) -> usize,
) -> [(usize, f64); 2] {
    let share = |text: usize| (text, shared as f64 / n_ngrams(text) as f64);
    let (first, second) = (share(first), share(second));
    if first.1 >= second.1 { [first, second] } else { [second, first] }
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
        assert_eq!(n_shared(&distinct(&first), &distinct(&second)), 3);
        assert_eq!(n_shared(&distinct(&second), &[]), 0);
    }
}
