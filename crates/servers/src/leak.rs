//! Has the model memorised these books? Beginnings of sentences → the share that it continues as the book does.

use base::seeds::{Use, generator};
use corpus::detokenise::{Style, join, passage};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::{Protocol, Result, Transport};

/// Sentences before the one that is continued.
const N_BEFORE: usize = 3;

/// Words of the sentence that are given, and words that must be continued.
const N_GIVEN: usize = 8;
const N_CONTINUED: usize = 8;

/// A passage that breaks off within a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeakPassage {
    /// What the model is given.
    pub text: String,
    /// The continuation in the book.
    pub continuation: String,
}

/// How many passages were continued as the book does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeakCount {
    /// The number of passages.
    pub n: usize,
    /// Those whose next eight words were the book's.
    pub n_exact: usize,
}

/// At most `n` passages, drawn by the seed, from sentences that follow each other.
pub fn passages_of(sentences: &[Vec<&str>], n: usize, seed: u64) -> Vec<LeakPassage> {
    let is_word = |token: &str| token.starts_with(char::is_alphanumeric);
    let passage_of = |window: &[Vec<&str>]| {
        let n_given: usize = window[..N_BEFORE].iter().map(Vec::len).sum();
        let last = &window[N_BEFORE];
        let words: Vec<usize> = (0..last.len()).filter(|&place| is_word(last[place])).collect();
        let (cut, end) = (*words.get(N_GIVEN)?, *words.get(N_GIVEN + N_CONTINUED - 1)?);
        let printed = passage(window, Style::Plain);
        let text = join(&printed[..n_given + cut]);
        Some(LeakPassage { text, continuation: join(&printed[n_given + cut..=n_given + end]) })
    };
    let mut passages: Vec<LeakPassage> =
        sentences.windows(N_BEFORE + 1).filter_map(passage_of).collect();
    passages.dedup();
    passages.shuffle(&mut generator(seed, Use::Leaks, &[]));
    passages.truncate(n);
    passages
}

/// Asks a model to continue passages.
///
/// # Errors
/// Those of [`Protocol::complete`].
pub fn leaks(
    transport: &dyn Transport,
    protocol: &dyn Protocol,
    passages: &[LeakPassage],
) -> Result<LeakCount> {
    let mut count = LeakCount::default();
    for LeakPassage { text, continuation } in passages {
        let continued = protocol.complete(transport, text, 4 * N_CONTINUED)?;
        let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        count.n += 1;
        count.n_exact += usize::from(folded(&continued).starts_with(&folded(continuation)));
    }
    Ok(count)
}
