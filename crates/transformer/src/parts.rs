//! [`Parts`]: a network taken apart, for those who compute it by other means.
//!
//! They know fewer kinds of networks, so what differs is put into the weights:
//!
//! - A head of keys and values that serves several heads of queries is there once for each of them.
//! - With another ε in its norms, the stream is multiplied by √(ε′ / ε): x / √(mean x² + ε) is what they compute of it
//!   with their ε′. The output's norm undoes it where the output has the weights of the embedding.

use numerics::Table;
use numerics::device::RmsNorm;

use crate::Checkpoint;
use crate::config::Config;
use crate::network::angles;
use crate::weights::Layer;

/// The shape of a network and its weights, by the names that checkpoints of Qwen3 and Llama have for them.
pub struct Parts {
    /// Rows of the embedding.
    pub n_tokens: usize,
    /// The size of a hidden state.
    pub width: usize,
    /// Width of the feed-forward layers.
    pub hidden: usize,
    /// The number of layers.
    pub n_layers: usize,
    /// Heads of queries, of keys and of values.
    pub n_heads: usize,
    /// Numbers of a head.
    pub head_dim: usize,
    /// Whether queries and keys are normalised.
    pub has_head_norms: bool,
    /// Whether the output has the weights of the embedding.
    pub is_tied: bool,
    /// Of each of the first positions the cosines of its angles, then their sines: positions × head_dim.
    pub angles: Vec<f32>,
    /// The weights, one row per output.
    pub tables: Vec<(String, Table<f32>)>,
}

impl Parts {
    /// Takes a network apart, for texts of no more than some tokens.
    pub fn of(checkpoint: &Checkpoint, most_tokens: usize) -> Self {
        let (config, weights) = (&checkpoint.config, &checkpoint.weights);
        let epsilon = f64::from(config.norm_epsilon);
        let of_stream = (RmsNorm::<()>::EPSILON / epsilon).sqrt() as f32;
        // Nearly always: nothing is rounded again.
        let is_same = (of_stream - 1.0).abs() < 1e-6;
        let of_stream = if is_same { 1.0 } else { of_stream };
        let mut tables = Tables { config, of_stream, tables: Vec::new() };
        let width = config.width;
        tables.add("model.embed_tokens", &weights.embedding, width, of_stream);
        let undone = if config.is_tied { 1.0 / of_stream } else { 1.0 };
        tables.add("model.norm", &weights.norm, width, undone);
        if !config.is_tied {
            tables.add("lm_head", weights.output(), width, 1.0);
        }
        for (number, layer) in weights.layers.iter().enumerate() {
            tables.add_layer(&format!("model.layers.{number}"), layer);
        }
        let n_positions = most_tokens.min(config.n_positions);
        Self {
            n_tokens: config.n_tokens,
            width,
            hidden: config.hidden,
            n_layers: config.n_layers,
            n_heads: config.n_heads,
            head_dim: config.head_dim,
            has_head_norms: weights.layers.iter().any(|layer| layer.head_norms.is_some()),
            is_tied: config.is_tied,
            angles: angles(config, n_positions),
            tables: tables.tables,
        }
    }
}

/// Tables that become more.
struct Tables<'a> {
    config: &'a Config,
    of_stream: f32,
    tables: Vec<(String, Table<f32>)>,
}

impl Tables<'_> {
    fn add(&mut self, name: &str, values: &[f32], width: usize, factor: f32) {
        let mut table = Table::from_values(values.len() / width, width, values)
            .expect("whole rows, as the checkpoint was checked");
        if factor != 1.0 {
            for row in 0..table.rows() {
                table.row_mut(row).iter_mut().for_each(|value| *value *= factor);
            }
        }
        self.tables.push((format!("{name}.weight"), table));
    }

    fn add_layer(&mut self, name: &str, layer: &Layer) {
        let Config { width, hidden, n_heads, head_dim, .. } = *self.config;
        let Self { of_stream, .. } = *self;
        // Where queries and keys are normalised, with the same ε.
        let normed = if layer.head_norms.is_some() { of_stream } else { 1.0 };
        let [keys, values] = [&layer.keys, &layer.values].map(|matrix| self.for_each_head(matrix));
        for (part, values, width, factor) in [
            ("input_layernorm", &layer.attention_norm, width, 1.0),
            ("self_attn.q_proj", &layer.queries, width, normed),
            ("self_attn.k_proj", &keys, width, normed),
            ("self_attn.v_proj", &values, width, 1.0),
            ("self_attn.o_proj", &layer.attention_output, n_heads * head_dim, of_stream),
            ("post_attention_layernorm", &layer.hidden_norm, width, 1.0),
            ("mlp.gate_proj", &layer.gate, width, 1.0),
            ("mlp.up_proj", &layer.up, width, 1.0),
            ("mlp.down_proj", &layer.down, hidden, of_stream),
        ] {
            self.add(&format!("{name}.{part}"), values, width, factor);
        }
        for (part, norm) in ["q_norm", "k_norm"].iter().zip(layer.head_norms.iter().flatten()) {
            self.add(&format!("{name}.self_attn.{part}"), norm, head_dim, 1.0);
        }
    }

    /// The rows of each head of keys or values, once for each head of queries that it serves.
    fn for_each_head(&self, matrix: &[f32]) -> Vec<f32> {
        let Config { width, n_heads, n_key_heads, head_dim, .. } = *self.config;
        let heads = matrix.chunks_exact(head_dim * width);
        heads
            .flat_map(|head| std::iter::repeat_n(head, n_heads / n_key_heads))
            .flatten()
            .copied()
            .collect()
    }
}
