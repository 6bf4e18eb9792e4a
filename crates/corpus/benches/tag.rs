//! Speed of the tagger on one core, in tokens a second, on text made up on the spot.

use divan::{Bencher, counter::ItemsCount};
use goldilocks_corpus::Tagger;

fn main() {
    divan::main();
}

/// Sentences of 5 to 24 words that are drawn, some far more often than others, from 3,000 made-up
/// words and 300 names among the commonest English ones, as in a book.
fn made_up_book(n_sentences: usize) -> Vec<Vec<String>> {
    const COMMON: &str = "the and to of a he was in that it you she I his had with for her as on \
        but they at him said not be so all have there were them when up out one little then went \
        day two morning old good , , , . `` '' ;";
    const SYLLABLES: [&str; 12] =
        ["ba", "lor", "ing", "tu", "ed", "mi", "ran", "ly", "so", "ness", "ke", "er"];
    let common: Vec<&str> = COMMON.split_whitespace().collect();
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let mut word = || {
        if draw(10) < 6 {
            return common[draw(common.len())].to_owned();
        }
        let number = draw(3_000).min(draw(3_000));
        let mut word: String =
            [number, number / 12, number / 144].map(|n| SYLLABLES[n % 12]).concat();
        if number % 10 == 0 {
            word[..1].make_ascii_uppercase();
        }
        word
    };
    let sentence = |i: usize| (0..5 + i % 20).map(|_| word()).chain([".".to_owned()]).collect();
    (0..n_sentences).map(sentence).collect()
}

#[divan::bench(args = [500, 5_000])]
fn tag(bencher: Bencher, n_sentences: usize) {
    let book = made_up_book(n_sentences);
    let n_tokens: usize = book.iter().map(Vec::len).sum();
    let tagger = Tagger::shipped();
    bencher
        .counter(ItemsCount::new(n_tokens))
        .with_inputs(|| book.clone())
        .bench_values(|book| tagger.tag(book));
}

#[divan::bench]
fn unpack() -> Tagger {
    Tagger::from_bytes(include_bytes!("../weights/stanford.tagger")).expect("they are shipped")
}
