//! The network: tokens → the hidden state of each after the last layer.

mod attention;
mod cache;
mod elementwise;
mod rotary;

use numerics::{MatRef, multiply};

pub(crate) use cache::Cache;
pub(crate) use elementwise::log_probs;

use self::attention::Attention;
use self::elementwise::{rms_norm, swiglu};
use self::rotary::Rotary;
use crate::Checkpoint;
use crate::config::Config;
use crate::weights::Layer;

/// Buffers of a pass, reused by the next one.
pub(crate) struct Pass {
    rotary: Rotary,
    attention: Attention,
    normed: Vec<f32>,
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
}

impl Pass {
    pub fn new(config: &Config) -> Self {
        let [normed, queries, keys, values, gate, up] = [(); 6].map(|()| Vec::new());
        let (rotary, attention) = (Rotary::new(config), Attention::new(config));
        Self { rotary, attention, normed, queries, keys, values, gate, up }
    }

    /// Reads segments, each of which continues the cached tokens and does not see the others. Returns one
    /// row per token, normalised for the output. A single segment may be kept: then the cache ends with it.
    ///
    /// # Shapes
    /// Σ of the segments' lengths × width
    pub fn read(
        &mut self,
        checkpoint: &Checkpoint,
        cache: &mut Cache,
        segments: &[&[u32]],
        keep: bool,
    ) -> Vec<f32> {
        let (config, weights) = (&checkpoint.config, &checkpoint.weights);
        assert!(!keep || segments.len() == 1, "one segment can be kept");
        let tokens = || segments.iter().flat_map(|segment| segment.iter());
        let row =
            |token: &u32| &weights.embedding[*token as usize * config.width..][..config.width];
        let mut rows: Vec<f32> = tokens().flat_map(row).copied().collect();
        let start = cache.len();
        let positions: Vec<usize> =
            segments.iter().flat_map(|segment| start..start + segment.len()).collect();
        let lengths: Vec<usize> = segments.iter().map(|segment| segment.len()).collect();
        for (number, layer) in weights.layers.iter().enumerate() {
            self.attend(config, layer, &mut rows, &positions);
            let (into, layer_cache) = (&mut self.normed, cache.layer(number));
            let projected = [&self.queries[..], &self.keys[..], &self.values[..]];
            self.attention.run(projected, &lengths, layer_cache, into);
            if !keep {
                layer_cache.truncate(start, config.head_dim);
            }
            let attended = (&self.normed[..], config.n_heads * config.head_dim);
            project(&mut rows, 1.0, attended, &layer.attention_output);
            self.feed_forward(config, layer, &mut rows);
        }
        if keep {
            cache.extend(segments[0]);
        }
        rms_norm(&mut self.normed, &rows, &weights.norm, config.norm_epsilon);
        std::mem::take(&mut self.normed)
    }

    /// Queries, keys and values of all rows, at their positions.
    fn attend(&mut self, config: &Config, layer: &Layer, rows: &mut [f32], positions: &[usize]) {
        rms_norm(&mut self.normed, rows, &layer.attention_norm, config.norm_epsilon);
        let normed = (&self.normed[..], config.width);
        let n_rows = positions.len();
        for (into, matrix, n_heads) in [
            (&mut self.queries, &layer.queries, config.n_heads),
            (&mut self.keys, &layer.keys, config.n_key_heads),
            (&mut self.values, &layer.values, config.n_key_heads),
        ] {
            into.resize(n_rows * n_heads * config.head_dim, 0.0);
            project(into, 0.0, normed, matrix);
        }
        if let Some([queries, keys]) = &layer.head_norms {
            for (rows, norm) in [(&mut self.queries, queries), (&mut self.keys, keys)] {
                rms_norm(&mut self.normed, rows, norm, config.norm_epsilon);
                rows.copy_from_slice(&self.normed);
            }
        }
        self.rotary.turn(&mut self.queries, positions);
        self.rotary.turn(&mut self.keys, positions);
    }

    fn feed_forward(&mut self, config: &Config, layer: &Layer, rows: &mut [f32]) {
        rms_norm(&mut self.normed, rows, &layer.hidden_norm, config.norm_epsilon);
        let n_rows = rows.len() / config.width;
        for (into, matrix) in [(&mut self.gate, &layer.gate), (&mut self.up, &layer.up)] {
            into.resize(n_rows * config.hidden, 0.0);
            project(into, 0.0, (&self.normed, config.width), matrix);
        }
        swiglu(&mut self.gate, &mut self.up);
        project(rows, 1.0, (&self.gate, config.hidden), &layer.down);
    }
}

/// `into = keep · into + rows · matrixᵀ`.
///
/// # Shapes
/// `rows` n × width, `matrix` outputs × width, `into` n × outputs.
pub(crate) fn project(into: &mut [f32], keep: f32, (rows, width): (&[f32], usize), matrix: &[f32]) {
    multiply(into, keep, 1.0, MatRef::new(rows, width), MatRef::new(matrix, width).transposed());
}
