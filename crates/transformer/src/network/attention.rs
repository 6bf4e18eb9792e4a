//! [`Attention`]: every token looks at cached tokens and at those before it on its own branch, in blocks of rows
//! whose products are whole matrices.

use std::ops::Range;

use numerics::{MatRef, axpy, dot, multiply};

use super::Watch;
use super::cache::LayerCache;
use super::elementwise::softmax;
use crate::config::Config;

/// Rows whose scores are computed at a time: what a row does not see of the others' cached tokens is computed in vain.
const BLOCK: usize = 64;

/// What a row of a pass sees: the first cached tokens, and the rows of its branch up to itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Its position in its text.
    pub position: usize,
    /// How many cached tokens it sees.
    pub n_cached: usize,
    /// How many rows of the pass it sees, itself the last of them; none where its own key is cached.
    pub n_own: usize,
}

impl Place {
    fn own(&self, row: usize) -> Range<usize> {
        row + 1 - self.n_own..row + 1
    }
}

/// The rows of a layer.
///
/// # Shapes
/// queries n × heads · head_dim, keys and values n × key heads · head_dim
pub(super) struct Rows<'a> {
    pub queries: &'a [f32],
    /// Of the branches; what is cached is not looked up here.
    pub keys: &'a [f32],
    pub values: &'a [f32],
    pub places: &'a [Place],
}

/// The shape of attention, and its buffers.
pub(super) struct Attention {
    n_heads: usize,
    n_key_heads: usize,
    head_dim: usize,
    queries: Vec<f32>,
    scores: Vec<f32>,
    own: Vec<f32>,
    results: Vec<f32>,
}

impl Attention {
    pub fn new(config: &Config) -> Self {
        let Config { n_heads, n_key_heads, head_dim, .. } = *config;
        let [queries, scores, own, results] = [(); 4].map(|()| Vec::new());
        Self { n_heads, n_key_heads, head_dim, queries, scores, own, results }
    }

    /// Writes, for each row, the mean of the values weighted by its attention.
    ///
    /// # Shapes
    /// `into` n × heads · head_dim
    pub fn run(
        &mut self,
        rows: &Rows<'_>,
        cache: &LayerCache,
        into: &mut Vec<f32>,
        watch: &mut Watch<'_>,
    ) {
        into.resize(rows.queries.len(), 0.0);
        for head in 0..self.n_key_heads {
            for first in (0..rows.places.len()).step_by(BLOCK) {
                let n = BLOCK.min(rows.places.len() - first);
                self.block(head, rows, first..first + n, cache, into, watch);
            }
        }
    }

    /// Some rows, for all heads of queries that share a head of keys.
    #[expect(clippy::too_many_arguments, reason = "which rows, what they see, and what is written")]
    fn block(
        &mut self,
        head: usize,
        rows: &Rows<'_>,
        block: Range<usize>,
        cache: &LayerCache,
        into: &mut [f32],
        watch: &mut Watch<'_>,
    ) {
        let Self { n_heads, n_key_heads, head_dim, .. } = *self;
        let (group, width) = (n_heads / n_key_heads, n_heads * head_dim);
        // A row and where its queries of a head lie, group after group.
        let places = (head * group..(head + 1) * group)
            .flat_map(|head| block.clone().map(move |row| (row, row * width + head * head_dim)));
        self.queries.clear();
        for (_, start) in places.clone() {
            self.queries.extend_from_slice(&rows.queries[start..][..head_dim]);
        }
        let n_seen =
            rows.places[block.clone()].iter().map(|place| place.n_cached).max().unwrap_or(0);
        let scale = 1.0 / (head_dim as f32).sqrt();
        self.scores.resize(self.queries.len() / head_dim * n_seen, 0.0);
        let keys = MatRef::new(&cache.keys[head][..n_seen * head_dim], head_dim).transposed();
        multiply(&mut self.scores, 0.0, scale, MatRef::new(&self.queries, head_dim), keys);
        self.results.resize(self.queries.len(), 0.0);
        // Where the key and the value of a row lie.
        let own = |row: usize| {
            (row * n_key_heads + head) * head_dim..(row * n_key_heads + head + 1) * head_dim
        };
        self.own.clear();
        let queries = self.queries.chunks_exact(head_dim);
        let scores = self.scores.chunks_exact_mut(n_seen);
        for (((row, _), query), scores) in places.clone().zip(queries).zip(scores) {
            let place = rows.places[row];
            let (seen, hidden) = scores.split_at_mut(place.n_cached);
            hidden.fill(0.0);
            let first = self.own.len();
            let others = place.own(row).map(|other| &rows.keys[own(other)]);
            self.own.extend(others.map(|key| scale * dot(query, key)));
            softmax(seen, &mut self.own[first..]);
            watch(seen);
        }
        let values = MatRef::new(&cache.values[head][..n_seen * head_dim], head_dim);
        multiply(&mut self.results, 0.0, 1.0, MatRef::new(&self.scores, n_seen), values);
        let results = self.results.chunks_exact_mut(head_dim);
        let mut weights = self.own.iter();
        for ((row, start), result) in places.zip(results) {
            for (other, &weight) in rows.places[row].own(row).zip(&mut weights) {
                axpy(weight, &rows.values[own(other)], result);
            }
            into[start..][..head_dim].copy_from_slice(result);
        }
    }
}
