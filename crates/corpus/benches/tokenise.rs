//! How many tokens a second the tokeniser makes, from prose and from texts made to be slow.
//!
//! `cargo bench -p goldilocks-corpus --bench tokenise`

use divan::Bencher;
use divan::counter::ItemsCount;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn main() {
    divan::main();
}

const WORDS: [&str; 40] = [
    "the",
    "a",
    "bear",
    "porridge",
    "bowl",
    "little",
    "great",
    "huge",
    "she",
    "he",
    "was",
    "said",
    "looked",
    "upon",
    "chair",
    "bed",
    "wood",
    "and",
    "of",
    "in",
    "to",
    "with",
    "Goldilocks",
    "didn't",
    "bear's",
    "I'll",
    "three-legged",
    "Mr.",
    "o'clock",
    "somebody",
    "ate",
    "window",
    "slept",
    "morning",
    "there",
    "very",
    "soft",
    "hard",
    "cold",
    "hot",
];

/// Prose of about as many words: sentences of five to thirty words, every third spoken.
fn prose(words: usize) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut text = String::new();
    let mut written = 0;
    while written < words {
        let is_spoken = rng.random_ratio(1, 3);
        text.push_str(if is_spoken { "\n\"Oh, " } else { "Then " });
        let length = rng.random_range(5..30);
        for _ in 0..length {
            text.push_str(WORDS.choose(&mut rng).expect("there are words"));
            text.push_str(if rng.random_ratio(1, 12) { ", " } else { " " });
        }
        text.push_str(if is_spoken { "now!\" said the bear.\n" } else { "again. " });
        written += length + 4;
    }
    text
}

#[divan::bench]
fn prose_of_a_book(bencher: Bencher) {
    let text = prose(100_000);
    let tokens: usize = goldilocks_corpus::tokenise(&text).iter().map(Vec::len).sum();
    bencher.counter(ItemsCount::new(tokens)).bench(|| goldilocks_corpus::tokenise(&text));
}

/// A megabyte of the same over and over; each must take time in proportion.
#[divan::bench(sample_count = 10, args = [
    "\"", "'", ".", ". ", "-", "!", "[", "(", "a", "a'", "o'", "n't", "'n'", "a.", "a. ", "I.  ", "etc. ", "ma'a", "a-",
    "a&b", "&a", "1,", "_", "\u{ad}", "é", "’", "<a", "x.y", "I...",
])]
fn a_megabyte_of(bencher: Bencher, piece: &str) {
    let text = piece.repeat(1_000_000 / piece.len());
    bencher.bench(|| goldilocks_corpus::tokenise(&text));
}

/// The same for the cuts.
#[divan::bench(sample_count = 10, args = [
    "[Illustration ", "[Illustration\n", "{", "CONTENTS\n\n", "The Bear\n", "Contents\n\nThe Bear\n\nThe Bowl\n\n",
    "Transcriber's Note\n\n", "\n", "*** START OF THE PROJECT GUTENBERG\n", "+\n",
])]
fn a_megabyte_to_cut(bencher: Bencher, piece: &str) {
    let text = format!("CONTENTS\n\n{}", piece.repeat(1_000_000 / piece.len()));
    bencher.bench(|| goldilocks_corpus::gutenberg::cut(&text).len());
}
