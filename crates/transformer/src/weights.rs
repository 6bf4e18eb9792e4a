//! [`Weights`]: the matrices of a network, each row after row with one row per output.

use crate::Result;
use crate::config::{Architecture, Config};
use crate::tensors::Tensors;

/// All weights of a network.
pub(crate) struct Weights {
    /// One row per token.
    pub embedding: Vec<f32>,
    pub layers: Vec<Layer>,
    pub norm: Vec<f32>,
    /// One row per token; none where it is the embedding.
    output: Option<Vec<f32>>,
}

/// The weights of a layer.
pub(crate) struct Layer {
    pub attention_norm: Vec<f32>,
    pub queries: Vec<f32>,
    pub keys: Vec<f32>,
    pub values: Vec<f32>,
    /// Norms of each head's queries and keys, where there are any.
    pub head_norms: Option<[Vec<f32>; 2]>,
    pub attention_output: Vec<f32>,
    pub hidden_norm: Vec<f32>,
    pub gate: Vec<f32>,
    pub up: Vec<f32>,
    pub down: Vec<f32>,
}

impl Weights {
    /// Takes them from the tensors of a folder, all of which must be of this architecture.
    pub fn take(config: &Config, mut tensors: Tensors) -> Result<Self> {
        let shape = [config.n_tokens, config.width];
        let embedding = tensors.take("model.embed_tokens.weight", &shape)?;
        let layers = (0..config.n_layers).map(|number| Layer::take(config, number, &mut tensors));
        let layers = layers.collect::<Result<Vec<Layer>>>()?;
        let norm = tensors.take("model.norm.weight", &[config.width])?;
        let output = match config.is_tied {
            true => None,
            false => Some(tensors.take(OUTPUT, &shape)?),
        };
        tensors.finish()?;
        Ok(Self { embedding, layers, norm, output })
    }

    /// The output's weights, one row per token.
    pub fn output(&self) -> &[f32] {
        self.output.as_ref().unwrap_or(&self.embedding)
    }

    /// Returns whether a tensor of a file is part of the network: frequencies of positions are computed, and
    /// a tied output is the embedding.
    pub fn is_wanted(config: &Config, name: &str) -> bool {
        let is_output = config.is_tied && name == OUTPUT;
        !is_output && !name.ends_with(".rotary_emb.inv_freq")
    }
}

const OUTPUT: &str = "lm_head.weight";

impl Layer {
    fn take(config: &Config, number: usize, tensors: &mut Tensors) -> Result<Self> {
        let Config { width, hidden, n_heads, n_key_heads, head_dim, .. } = *config;
        let mut take = |name: &str, shape: &[usize]| {
            tensors.take(&format!("model.layers.{number}.{name}.weight"), shape)
        };
        let head_norms = match config.architecture {
            Architecture::Llama => None,
            Architecture::Qwen3 => Some([
                take("self_attn.q_norm", &[head_dim])?,
                take("self_attn.k_norm", &[head_dim])?,
            ]),
        };
        Ok(Self {
            attention_norm: take("input_layernorm", &[width])?,
            queries: take("self_attn.q_proj", &[n_heads * head_dim, width])?,
            keys: take("self_attn.k_proj", &[n_key_heads * head_dim, width])?,
            values: take("self_attn.v_proj", &[n_key_heads * head_dim, width])?,
            head_norms,
            attention_output: take("self_attn.o_proj", &[width, n_heads * head_dim])?,
            hidden_norm: take("post_attention_layernorm", &[width])?,
            gate: take("mlp.gate_proj", &[hidden, width])?,
            up: take("mlp.up_proj", &[hidden, width])?,
            down: take("mlp.down_proj", &[width, hidden])?,
        })
    }
}
