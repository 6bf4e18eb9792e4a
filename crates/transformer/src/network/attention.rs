//! [`Attention`]: every token looks at those before it, in blocks of rows whose products are whole matrices.

use numerics::{MatRef, multiply};

use super::cache::LayerCache;
use super::elementwise::softmax;
use crate::config::Config;

/// Tokens of a segment whose scores are computed at a time: what they must not see of each other is computed
/// in vain.
const BLOCK: usize = 64;

/// The shape of attention, and its buffers.
pub(super) struct Attention {
    n_heads: usize,
    n_key_heads: usize,
    head_dim: usize,
    queries: Vec<f32>,
    scores: Vec<f32>,
    results: Vec<f32>,
}

impl Attention {
    pub fn new(config: &Config) -> Self {
        let Config { n_heads, n_key_heads, head_dim, .. } = *config;
        let [queries, scores, results] = [(); 3].map(|()| Vec::new());
        Self { n_heads, n_key_heads, head_dim, queries, scores, results }
    }

    /// Writes, for each row, the mean of the values weighted by its attention. The keys and values of the last
    /// segment are left in the memory of the cache, after those that are in use.
    ///
    /// # Shapes
    /// queries, `into` n × heads · head_dim, keys and values n × key heads · head_dim
    pub fn run(
        &mut self,
        [queries, keys, values]: [&[f32]; 3],
        lengths: &[usize],
        cache: &mut LayerCache,
        into: &mut Vec<f32>,
    ) {
        let Self { n_key_heads, head_dim, .. } = *self;
        into.resize(queries.len(), 0.0);
        let start = cache.keys[0].len() / head_dim;
        let width = n_key_heads * head_dim;
        for head in 0..n_key_heads {
            let mut first = 0;
            for &length in lengths {
                cache.truncate_head(head, start * head_dim);
                for (cached, rows) in [(&mut cache.keys, keys), (&mut cache.values, values)] {
                    for row in rows[first * width..].chunks_exact(width).take(length) {
                        cached[head].extend_from_slice(&row[head * head_dim..][..head_dim]);
                    }
                }
                let cached = [&cache.keys[head][..], &cache.values[head][..]];
                for block in (0..length).step_by(BLOCK) {
                    let n_rows = BLOCK.min(length - block);
                    let rows = (first + block, n_rows, start + block);
                    self.block(head, queries, cached, rows, into);
                }
                first += length;
            }
        }
    }

    /// The rows from one on, for all heads of queries that share a head of keys.
    #[expect(
        clippy::too_many_arguments,
        reason = "what is read, which part of it, and what is written"
    )]
    fn block(
        &mut self,
        head: usize,
        queries: &[f32],
        [keys, values]: [&[f32]; 2],
        (first, n_rows, n_before): (usize, usize, usize),
        into: &mut [f32],
    ) {
        let Self { n_heads, n_key_heads, head_dim, .. } = *self;
        let (group, width) = (n_heads / n_key_heads, n_heads * head_dim);
        // Where the queries of a row and a head lie, group after group.
        let places = (head * group..(head + 1) * group)
            .flat_map(|head| (first..first + n_rows).map(move |row| row * width + head * head_dim));
        self.queries.clear();
        for place in places.clone() {
            self.queries.extend_from_slice(&queries[place..][..head_dim]);
        }
        let n_seen = n_before + n_rows;
        let scale = 1.0 / (head_dim as f32).sqrt();
        self.scores.resize(group * n_rows * n_seen, 0.0);
        let keys = MatRef::new(&keys[..n_seen * head_dim], head_dim).transposed();
        multiply(&mut self.scores, 0.0, scale, MatRef::new(&self.queries, head_dim), keys);
        for (number, row) in self.scores.chunks_exact_mut(n_seen).enumerate() {
            let (seen, hidden) = row.split_at_mut(n_before + number % n_rows + 1);
            softmax(seen);
            hidden.fill(0.0);
        }
        self.results.resize(group * n_rows * head_dim, 0.0);
        let values = MatRef::new(&values[..n_seen * head_dim], head_dim);
        multiply(&mut self.results, 0.0, 1.0, MatRef::new(&self.scores, n_seen), values);
        for (place, result) in places.zip(self.results.chunks_exact(head_dim)) {
            into[place..][..head_dim].copy_from_slice(result);
        }
    }
}
