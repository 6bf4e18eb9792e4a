//! [`Reader`]: a common prefix of several texts and the continuation of each → Σ ln p of each continuation.

use std::sync::Arc;

use crate::network::{Cache, Pass, log_probs, project};
use crate::{Checkpoint, Error, Result};

/// Tokens that are read at a time; more would need more memory and not less time.
const MOST_ROWS: usize = 512;
/// Scores of tokens that are kept at a time.
const MOST_SCORES: usize = 8 << 20;

/// Reads texts with one network, on one thread; caches the last prefix, so that texts which share it cost less.
pub struct Reader {
    checkpoint: Arc<Checkpoint>,
    cache: Cache,
    pass: Pass,
}

impl Reader {
    pub(crate) fn new(checkpoint: Arc<Checkpoint>) -> Self {
        let config = &checkpoint.config;
        let cache = Cache::new(config.n_layers, config.n_key_heads, config.head_dim);
        let pass = Pass::new(config);
        Self { checkpoint, cache, pass }
    }

    /// The model that it reads with.
    pub fn checkpoint(&self) -> &Arc<Checkpoint> {
        &self.checkpoint
    }

    /// Forgets what it has read. The last digits of scores depend on how much of a text was known before.
    pub fn forget(&mut self) {
        self.cache.truncate(0);
    }

    /// ln p of each continuation of a text.
    ///
    /// # Errors
    /// [`Error::NothingShared`] where the text is empty, [`Error::TooLong`] for more tokens than the model
    /// has positions.
    ///
    /// # Panics
    /// If a token is not one of the model's: [`Checkpoint::tokens`] gives no others.
    pub fn continuations(&mut self, shared: &[u32], rests: &[&[u32]]) -> Result<Vec<f64>> {
        let checkpoint = self.checkpoint.clone();
        let config = &checkpoint.config;
        let longest = rests.iter().map(|rest| rest.len()).max().unwrap_or(0);
        let (found, limit) = (shared.len() + longest, config.n_positions);
        if found > limit {
            return Err(Error::TooLong { found, limit });
        }
        let Some(last) = shared.len().checked_sub(1) else { return Err(Error::NothingShared) };
        // The last token is always read: what follows it is asked for.
        let known = self.cache.n_known(shared).min(last);
        self.cache.truncate(known);
        let mut rows = Vec::new();
        for part in shared[known..].chunks(MOST_ROWS) {
            rows = self.pass.read(&checkpoint, &mut self.cache, &[part], true);
        }
        rows.drain(..rows.len() - config.width);
        // A continuation's last token is asked for, and needs not be read.
        let read = rests.iter().filter_map(|rest| rest.split_last()).map(|(_, read)| read);
        let read: Vec<&[u32]> = read.filter(|read| !read.is_empty()).collect();
        for part in in_parts(&read) {
            rows.extend(self.pass.read(&checkpoint, &mut self.cache, part, false));
        }
        Ok(self.sums(&rows, rests))
    }

    /// Adds ln p of the tokens of each continuation; the first row is that of the last shared token, and the
    /// others are those of the continuations without their last.
    fn sums(&self, rows: &[f32], rests: &[&[u32]]) -> Vec<f64> {
        let (config, weights) = (&self.checkpoint.config, &self.checkpoint.weights);
        // Which tokens are asked for at each row, and of which continuation.
        let mut asked: Vec<Vec<(usize, u32)>> = vec![Vec::new()];
        for (number, rest) in rests.iter().enumerate() {
            let Some((&first, others)) = rest.split_first() else { continue };
            asked[0].push((number, first));
            asked.extend(others.iter().map(|&token| vec![(number, token)]));
        }
        let mut sums = vec![0.0; rests.len()];
        let n_rows = (MOST_SCORES / config.n_tokens).max(1);
        let mut scores = Vec::new();
        for (rows, asked) in rows.chunks(n_rows * config.width).zip(asked.chunks(n_rows)) {
            scores.resize(asked.len() * config.n_tokens, 0.0);
            project(&mut scores, 0.0, (rows, config.width), weights.output());
            for (scores, asked) in scores.chunks_mut(config.n_tokens).zip(asked) {
                let tokens = asked.iter().map(|&(_, token)| token);
                for (&(number, _), log_prob) in asked.iter().zip(log_probs(scores, tokens)) {
                    sums[number] += log_prob;
                }
            }
        }
        sums
    }

    /// The scores of every token at each place of a text, before the softmax: `transformers` calls them
    /// logits.
    ///
    /// # Shapes
    /// `tokens` × tokens of the model
    ///
    /// # Errors
    /// [`Error::TooLong`] for more tokens than the model has positions.
    pub fn scores(&mut self, tokens: &[u32]) -> Result<Vec<f32>> {
        let checkpoint = self.checkpoint.clone();
        let (config, weights) = (&checkpoint.config, &checkpoint.weights);
        let (found, limit) = (tokens.len(), config.n_positions);
        if found > limit {
            return Err(Error::TooLong { found, limit });
        }
        self.forget();
        let mut scores = Vec::with_capacity(tokens.len() * config.n_tokens);
        for part in tokens.chunks(MOST_ROWS) {
            let rows = self.pass.read(&checkpoint, &mut self.cache, &[part], true);
            let mut of_part = vec![0.0; part.len() * config.n_tokens];
            project(&mut of_part, 0.0, (&rows, config.width), weights.output());
            scores.append(&mut of_part);
        }
        Ok(scores)
    }
}

/// Continuations that are read at the same time.
fn in_parts<'s, 't>(read: &'s [&'t [u32]]) -> Vec<&'s [&'t [u32]]> {
    let (mut parts, mut first, mut n_rows) = (Vec::new(), 0, 0);
    for (number, segment) in read.iter().enumerate() {
        if n_rows > 0 && n_rows + segment.len() > MOST_ROWS {
            parts.push(&read[first..number]);
            (first, n_rows) = (number, 0);
        }
        n_rows += segment.len();
    }
    if first < read.len() {
        parts.push(&read[first..]);
    }
    parts
}
