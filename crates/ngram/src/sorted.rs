//! Counting, first half: text → the positions where n-grams end, in suffix order.
//!
//! Positions are sorted by their word, then by the word before it, and so on back to the start of the
//! sentence or the length of the longest n-gram. Equal n-grams of any length are then adjacent: an n-gram is
//! a run of positions that share their last n words, and contains the runs of the longer n-grams that end in
//! it. Only positions are moved, so the memory does not grow with the length of the n-grams.

use base::Vocabulary;
use rayon::prelude::*;

use crate::text::START;

/// A text whose positions are sorted.
pub struct SortedText {
    pub(crate) vocabulary: Vocabulary,
    pub(crate) words: Vec<u32>,
    pub(crate) order: usize,
    /// Positions in `words` where n-grams end, in suffix order.
    pub(crate) ends: Vec<u32>,
    /// How many last words each position shares with the one before it in that order.
    pub(crate) shared: Vec<u8>,
    /// How many words lead up to each position, itself and `<s>` included; at most the order.
    pub(crate) lengths: Vec<u8>,
}

/// The words before a position, nearest first, two per number; 0 is before `<s>`. Then the position.
type Key = (u64, u64, u32, u32);

impl SortedText {
    pub(crate) fn new(vocabulary: Vocabulary, words: Vec<u32>, order: usize) -> Self {
        let mut ends = by_word(&words, vocabulary.len());
        let mut shared = vec![0; ends.len()];
        let mut lengths = vec![0; ends.len()];
        let mut runs = Vec::new();
        let mut rest = (&mut ends[..], &mut shared[..], &mut lengths[..]);
        while let Some(&first) = rest.0.first() {
            let same = |&end: &u32| words[end as usize] == words[first as usize];
            let length = rest.0.iter().take_while(|end| same(end)).count();
            let (ends, shared, lengths) = (
                rest.0.split_off_mut(..length),
                rest.1.split_off_mut(..length),
                rest.2.split_off_mut(..length),
            );
            runs.extend(ends.zip(shared).zip(lengths));
        }
        runs.into_par_iter().for_each_init(Vec::new, |keys, ((ends, shared), lengths)| {
            sort_run(&words, order, ends, keys);
            for (position, &key) in keys.iter().enumerate() {
                ends[position] = key.3;
                lengths[position] = length(key).min(order) as u8;
                let before = position.checked_sub(1).map(|before| keys[before]);
                shared[position] =
                    before.map_or(0, |before| n_shared(before, key).min(order)) as u8;
            }
        });
        Self { vocabulary, words, order, ends, shared, lengths }
    }
}

/// All positions but those of `<s>`, by their words; those of one word in the order of the text.
fn by_word(words: &[u32], n_words: usize) -> Vec<u32> {
    let mut starts = vec![0u32; n_words + 1];
    let predicted = || words.iter().enumerate().filter(|&(_, &word)| word != START.0);
    predicted().for_each(|(_, &word)| starts[word as usize + 1] += 1);
    for word in 0..n_words {
        starts[word + 1] += starts[word];
    }
    let mut ends = vec![0; starts[n_words] as usize];
    for (position, &word) in predicted() {
        let next = &mut starts[word as usize];
        ends[*next as usize] = position as u32;
        *next += 1;
    }
    ends
}

fn sort_run(words: &[u32], order: usize, ends: &[u32], keys: &mut Vec<Key>) {
    keys.clear();
    keys.extend(ends.iter().map(|&end| {
        let mut before = [0u64; 5];
        for (distance, slot) in before[..order - 1].iter_mut().enumerate() {
            let word = words[end as usize - 1 - distance];
            *slot = u64::from(word) + 1;
            if word == START.0 {
                break;
            }
        }
        let [first, second, third, fourth, fifth] = before;
        (first << 32 | second, third << 32 | fourth, fifth as u32, end)
    }));
    // The position makes every key unique, so any sort gives the same order.
    keys.sort_unstable();
}

/// The number of words: that of the position and those before it.
fn length((near, far, last, _): Key) -> usize {
    let present = [near >> 32, near & 0xffff_ffff, far >> 32, far & 0xffff_ffff, u64::from(last)];
    1 + present.iter().take_while(|&&word| word != 0).count()
}

/// How many last words two positions with the same word share; the padding before `<s>` may count too.
fn n_shared(a: Key, b: Key) -> usize {
    if a.0 != b.0 {
        1 + usize::from(a.0 >> 32 == b.0 >> 32)
    } else if a.1 != b.1 {
        3 + usize::from(a.1 >> 32 == b.1 >> 32)
    } else {
        5 + usize::from(a.2 == b.2)
    }
}
