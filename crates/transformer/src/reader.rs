//! [`Reader`]: a text and branches that leave it at some of its tokens → Σ ln p of each branch.

use std::sync::Arc;

use crate::config::Config;
use crate::network::{Cache, Pass, Watch, log_probs, project};
use crate::{Checkpoint, Error, Result};

/// Tokens that are read at a time; more would need more memory and not less time.
const MOST_ROWS: usize = 512;
/// Scores of tokens that are kept at a time.
const MOST_SCORES: usize = 8 << 20;

/// One way in which a text may go on.
#[derive(Clone, Copy, Debug)]
pub struct Branch<'a> {
    /// How many tokens of the text come before it.
    pub after: usize,
    /// Its tokens.
    pub tokens: &'a [u32],
}

/// Reads texts with one network, on one thread; caches the last text, so that texts which begin as it does cost less.
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
    /// Those of [`Self::branches`].
    pub fn continuations(&mut self, shared: &[u32], rests: &[&[u32]]) -> Result<Vec<f64>> {
        let after = shared.len();
        let branches: Vec<Branch<'_>> =
            rests.iter().map(|&tokens| Branch { after, tokens }).collect();
        self.branches(shared, &branches)
    }

    /// ln p of each branch of a text, all of them in one pass after the text.
    ///
    /// # Errors
    /// [`Error::NothingShared`] where nothing comes before a branch, [`Error::TooLong`] for more tokens than the
    /// model has positions.
    ///
    /// # Panics
    /// If a token is not one of the model's: [`Checkpoint::tokens`] gives no others.
    pub fn branches(&mut self, text: &[u32], branches: &[Branch<'_>]) -> Result<Vec<f64>> {
        let limit = self.checkpoint.config.n_positions;
        let longest = branches.iter().map(|branch| branch.after + branch.tokens.len()).max();
        if let Some(found) = longest.filter(|&found| found > limit) {
            return Err(Error::TooLong { found, limit });
        }
        // Where branches begin: what follows there is asked for.
        let mut forks: Vec<usize> = branches.iter().map(|branch| branch.after).collect();
        forks.sort_unstable();
        forks.dedup();
        let (Some(&first), Some(&last)) = (forks.first(), forks.last()) else {
            return Ok(Vec::new());
        };
        if first == 0 {
            return Err(Error::NothingShared);
        }
        let mut rows = self.read(&text[..last], &forks, &mut |_| ());
        // A branch's last token is asked for, and needs not be read.
        let read = branches
            .iter()
            .filter_map(|branch| branch.tokens.split_last().map(|(_, read)| (branch.after, read)));
        let read: Vec<(usize, &[u32])> = read.filter(|(_, read)| !read.is_empty()).collect();
        for part in in_parts(&read) {
            rows.extend(self.pass.branches(&self.checkpoint, &mut self.cache, part));
        }
        Ok(self.sums(&rows, &forks, branches))
    }

    /// How much a text's last token looks at each token, the mean over layers and heads.
    ///
    /// # Errors
    /// Those of [`Self::branches`].
    pub fn attention(&mut self, text: &[u32]) -> Result<Vec<f32>> {
        let Config { n_layers, n_heads, n_positions, .. } = self.checkpoint.config;
        match text.len() {
            0 => return Err(Error::NothingShared),
            found if found > n_positions => {
                return Err(Error::TooLong { found, limit: n_positions });
            }
            _ => {}
        }
        let mut sums = vec![0.0; text.len()];
        // Only the last token sees as many.
        self.read(text, &[text.len()], &mut |weights: &[f32]| {
            if weights.len() == text.len() {
                sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
            }
        });
        let share = 1.0 / (n_layers * n_heads) as f32;
        Ok(sums.into_iter().map(|sum| sum * share).collect())
    }

    /// Reads a text, as far as it is not known, and returns the rows of the last tokens before each fork.
    fn read(&mut self, text: &[u32], forks: &[usize], watch: &mut Watch<'_>) -> Vec<f32> {
        let known = self.cache.n_known(text).min(forks[0] - 1);
        self.cache.truncate(known);
        let (mut rows, mut start) = (Vec::new(), known);
        for part in text[known..].chunks(MOST_ROWS) {
            let end = start + part.len();
            let within = forks.iter().filter(|&&fork| (start + 1..=end).contains(&fork));
            let wanted: Vec<usize> = within.map(|fork| fork - 1 - start).collect();
            rows.extend(self.pass.extend(
                &self.checkpoint,
                &mut self.cache,
                (part, &wanted),
                watch,
            ));
            start = end;
        }
        rows
    }

    /// Adds ln p of the tokens of each branch; the first rows are those before each fork, and the others are those of
    /// the branches without their last tokens.
    fn sums(&self, rows: &[f32], forks: &[usize], branches: &[Branch<'_>]) -> Vec<f64> {
        let (config, weights) = (&self.checkpoint.config, &self.checkpoint.weights);
        // Which tokens are asked for at each row, and of which branch.
        let mut asked: Vec<Vec<(usize, u32)>> = vec![Vec::new(); forks.len()];
        for (number, branch) in branches.iter().enumerate() {
            let Some((&first, others)) = branch.tokens.split_first() else { continue };
            let fork = forks.binary_search(&branch.after).expect("every branch begins at a fork");
            asked[fork].push((number, first));
            asked.extend(others.iter().map(|&token| vec![(number, token)]));
        }
        let mut sums = vec![0.0; branches.len()];
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
        let (found, limit) = (tokens.len(), self.checkpoint.config.n_positions);
        if found > limit {
            return Err(Error::TooLong { found, limit });
        }
        self.forget();
        let places: Vec<usize> = (1..=tokens.len()).collect();
        let rows =
            if tokens.is_empty() { Vec::new() } else { self.read(tokens, &places, &mut |_| ()) };
        let (config, weights) = (&self.checkpoint.config, &self.checkpoint.weights);
        let mut scores = vec![0.0; tokens.len() * config.n_tokens];
        project(&mut scores, 0.0, (&rows, config.width), weights.output());
        Ok(scores)
    }
}

/// Branches that are read at the same time.
fn in_parts<'s, 't>(read: &'s [(usize, &'t [u32])]) -> Vec<&'s [(usize, &'t [u32])]> {
    let (mut parts, mut first, mut n_rows) = (Vec::new(), 0, 0);
    for (number, (_, tokens)) in read.iter().enumerate() {
        if n_rows > 0 && n_rows + tokens.len() > MOST_ROWS {
            parts.push(&read[first..number]);
            (first, n_rows) = (number, 0);
        }
        n_rows += tokens.len();
    }
    if first < read.len() {
        parts.push(&read[first..]);
    }
    parts
}
