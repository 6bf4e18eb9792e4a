//! How well a network predicts running text: lines of words → Σ ln p of its tokens.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use corpus::detokenise::plain_text;
use rayon::prelude::*;
use transformer::{Branch, Checkpoint, Files, Reader};

use crate::lm::{Perplexity, sentence};
use crate::{Error, Result};

/// Reads a text, one sentence per line, as a book would print it, in windows: what the network reads at a time is a half
/// that is known and a half that is asked for.
pub(super) fn perplexity(files: Files<'_>, path: &Path) -> Result<Perplexity> {
    let checkpoint = Arc::new(Checkpoint::read(files)?);
    let text = fs::read_to_string(path).map_err(Error::io(path))?;
    let sentences: Vec<Vec<&str>> =
        text.lines().filter_map(sentence).map(Iterator::collect).collect();
    let words = sentences.iter().map(Vec::len).sum();
    if words == 0 {
        return Err(ngram::Error::NoText.into());
    }
    let tokens = checkpoint.tokens(&plain_text(&sentences))?;
    // What the tokenizer puts before every text, if anything.
    let start = checkpoint.tokens("")?;
    let most = checkpoint.n_positions().saturating_sub(start.len()).max(2);
    let half = most / 2;
    let tokens = &tokens[start.len()..];
    // Where each window begins, what it is asked for begins, and both end.
    let parts = (0..tokens.len()).step_by(half);
    let windows: Vec<(usize, usize, usize)> = parts
        .map(|first| (first.saturating_sub(half), first, (first + half).min(tokens.len())))
        .collect();
    let read = |reader: &mut Reader, &(begin, first, end): &(usize, usize, usize)| {
        let window = [&start[..], &tokens[begin..end]].concat();
        // The first token of all has no probability.
        let first = (start.len() + first - begin).max(1);
        let asked = first..window.len();
        let branches: Vec<Branch<'_>> =
            asked.map(|after| Branch { after, tokens: &window[after..=after] }).collect();
        reader.forget();
        Ok((branches.len(), reader.branches(&window, &branches)?.iter().sum()))
    };
    let sums: Vec<(usize, f64)> =
        windows.par_iter().map_init(|| checkpoint.reader(), read).collect::<Result<_>>()?;
    let n_tokens: usize = sums.iter().map(|(n, _)| n).sum();
    let log_prob: f64 = sums.iter().map(|(_, sum)| sum).sum();
    let perplexity = (-log_prob / (words + sentences.len()) as f64).exp();
    Ok(Perplexity {
        sentences: sentences.len(),
        words,
        log_prob,
        perplexity,
        perplexity_of_known: perplexity,
        tokens: Some(n_tokens),
        ..Perplexity::default()
    })
}
