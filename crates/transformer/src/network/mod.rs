//! The network: tokens → the hidden state of each that is asked for, after the last layer.

mod attention;
mod cache;
mod elementwise;
mod rotary;

use numerics::{MatRef, multiply};

pub(crate) use cache::Cache;
pub(crate) use elementwise::log_probs;
pub(crate) use rotary::angles;

use self::attention::{Attention, Place, Rows};
use self::cache::LayerCache;
use self::elementwise::{rms_norm, swiglu};
use self::rotary::Rotary;
use crate::Checkpoint;
use crate::config::Config;
use crate::weights::Layer;

/// Sees the weights of attention of each row on the cached tokens, for each layer and head.
pub(crate) type Watch<'a> = dyn FnMut(&[f32]) + 'a;

/// Buffers of a pass, reused by the next one.
pub(crate) struct Pass {
    rotary: Rotary,
    attention: Attention,
    normed: Vec<f32>,
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    attended: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
}

impl Pass {
    pub fn new(config: &Config) -> Self {
        let [normed, queries, keys, values, attended, gate, up] = [(); 7].map(|()| Vec::new());
        let (rotary, attention) = (Rotary::new(config), Attention::new(config));
        Self { rotary, attention, normed, queries, keys, values, attended, gate, up }
    }

    /// Reads tokens that continue the cached ones, and keeps them. Returns the rows of those at some places among
    /// them, in ascending order, normalised for the output.
    ///
    /// # Shapes
    /// `wanted` × width
    pub fn extend(
        &mut self,
        checkpoint: &Checkpoint,
        cache: &mut Cache,
        (tokens, wanted): (&[u32], &[usize]),
        watch: &mut Watch<'_>,
    ) -> Vec<f32> {
        let config = &checkpoint.config;
        let seen = cache.len();
        let place = |n| Place { position: seen + n, n_cached: seen + n + 1, n_own: 0 };
        let mut places: Vec<Place> = (0..tokens.len()).map(place).collect();
        let mut rows = embedded(checkpoint, tokens);
        for (number, layer) in checkpoint.weights.layers.iter().enumerate() {
            self.keys_and_values(config, layer, &rows, &places);
            let layer_cache = cache.layer(number);
            layer_cache.extend(&self.keys, &self.values, config.head_dim);
            // Nobody sees more of the last layer than keys and values.
            if number + 1 == config.n_layers {
                rows = picked(&rows, config.width, wanted);
                self.normed = picked(&self.normed, config.width, wanted);
                places = wanted.iter().map(|&row| places[row]).collect();
            }
            self.attend((config, layer), (&mut rows, &places), layer_cache, watch);
            self.feed_forward(config, layer, &mut rows);
        }
        cache.extend(tokens);
        self.finished(checkpoint, &rows)
    }

    /// Reads branches, each of which continues the first cached tokens, as many as are given with it, and does not
    /// see the others. Nothing is kept. Returns one row per token, normalised for the output.
    ///
    /// # Shapes
    /// Σ of the branches' lengths × width
    pub fn branches(
        &mut self,
        checkpoint: &Checkpoint,
        cache: &mut Cache,
        branches: &[(usize, &[u32])],
    ) -> Vec<f32> {
        let config = &checkpoint.config;
        let places = |&(n_cached, tokens): &(usize, &[u32])| {
            let place = move |n| Place { position: n_cached + n, n_cached, n_own: n + 1 };
            (0..tokens.len()).map(place)
        };
        let places: Vec<Place> = branches.iter().flat_map(places).collect();
        let tokens: Vec<u32> = branches.iter().flat_map(|(_, tokens)| *tokens).copied().collect();
        let mut rows = embedded(checkpoint, &tokens);
        for (number, layer) in checkpoint.weights.layers.iter().enumerate() {
            self.keys_and_values(config, layer, &rows, &places);
            let layer_cache = cache.layer(number);
            self.attend((config, layer), (&mut rows, &places), layer_cache, &mut |_| ());
            self.feed_forward(config, layer, &mut rows);
        }
        self.finished(checkpoint, &rows)
    }

    /// Keys and values of all rows, the keys at their positions.
    fn keys_and_values(&mut self, config: &Config, layer: &Layer, rows: &[f32], places: &[Place]) {
        let Config { width, n_key_heads, head_dim, norm_epsilon, .. } = *config;
        rms_norm(&mut self.normed, rows, &layer.attention_norm, norm_epsilon);
        let normed = (&self.normed[..], width);
        for (into, matrix) in [(&mut self.keys, &layer.keys), (&mut self.values, &layer.values)] {
            into.resize(places.len() * n_key_heads * head_dim, 0.0);
            project(into, 0.0, normed, matrix);
        }
        let norm = layer.head_norms.as_ref().map(|[_, keys]| (&keys[..], norm_epsilon));
        self.rotary.place(&mut self.keys, norm, places);
    }

    /// Adds to each row what it sees; the rows are normalised already.
    fn attend(
        &mut self,
        (config, layer): (&Config, &Layer),
        (rows, places): (&mut [f32], &[Place]),
        cache: &LayerCache,
        watch: &mut Watch<'_>,
    ) {
        let Config { width, n_heads, head_dim, norm_epsilon, .. } = *config;
        self.queries.resize(places.len() * n_heads * head_dim, 0.0);
        project(&mut self.queries, 0.0, (&self.normed, width), &layer.queries);
        let norm = layer.head_norms.as_ref().map(|[queries, _]| (&queries[..], norm_epsilon));
        self.rotary.place(&mut self.queries, norm, places);
        let seen = Rows { queries: &self.queries, keys: &self.keys, values: &self.values, places };
        self.attention.run(&seen, cache, &mut self.attended, watch);
        project(rows, 1.0, (&self.attended, n_heads * head_dim), &layer.attention_output);
    }

    fn feed_forward(&mut self, config: &Config, layer: &Layer, rows: &mut [f32]) {
        rms_norm(&mut self.normed, rows, &layer.hidden_norm, config.norm_epsilon);
        let n_rows = rows.len() / config.width;
        for (into, matrix) in [(&mut self.gate, &layer.gate), (&mut self.up, &layer.up)] {
            into.resize(n_rows * config.hidden, 0.0);
            project(into, 0.0, (&self.normed, config.width), matrix);
        }
        swiglu(&mut self.gate, &self.up);
        project(rows, 1.0, (&self.gate, config.hidden), &layer.down);
    }

    fn finished(&mut self, checkpoint: &Checkpoint, rows: &[f32]) -> Vec<f32> {
        let (norm, epsilon) = (&checkpoint.weights.norm, checkpoint.config.norm_epsilon);
        rms_norm(&mut self.normed, rows, norm, epsilon);
        std::mem::take(&mut self.normed)
    }
}

fn embedded(checkpoint: &Checkpoint, tokens: &[u32]) -> Vec<f32> {
    let (width, table) = (checkpoint.config.width, &checkpoint.weights.embedding);
    tokens.iter().flat_map(|&token| &table[token as usize * width..][..width]).copied().collect()
}

/// Some rows of many.
fn picked(rows: &[f32], width: usize, wanted: &[usize]) -> Vec<f32> {
    wanted.iter().flat_map(|row| &rows[row * width..][..width]).copied().collect()
}

/// `into = keep · into + rows · matrixᵀ`.
///
/// # Shapes
/// `rows` n × width, `matrix` outputs × width, `into` n × outputs.
pub(crate) fn project(into: &mut [f32], keep: f32, (rows, width): (&[f32], usize), matrix: &[f32]) {
    multiply(into, keep, 1.0, MatRef::new(rows, width), MatRef::new(matrix, width).transposed());
}
