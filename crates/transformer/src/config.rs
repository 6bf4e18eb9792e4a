//! `config.json` → [`Config`]: the shape of a network. What is not known is refused, not ignored.

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::{Error, Result};

/// What `quantization_config` calls weights whose rows are whole numbers of eight bits with a scale.
pub(crate) const EIGHT_BITS: &str = "goldilocks-int8";

/// A family of networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// Llama, and models of its architecture: SmolLM2, TinyLlama.
    Llama,
    /// Llama with normalised queries and keys.
    Qwen3,
}

impl Architecture {
    const ALL: [Self; 2] = [Self::Llama, Self::Qwen3];

    /// Its name in `config.json`.
    pub fn class(self) -> &'static str {
        match self {
            Self::Llama => "LlamaForCausalLM",
            Self::Qwen3 => "Qwen3ForCausalLM",
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Llama => "llama",
            Self::Qwen3 => "qwen3",
        })
    }
}

/// The shape of a network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Config {
    pub architecture: Architecture,
    /// Rows of the embedding.
    pub n_tokens: usize,
    /// The size of a hidden state.
    pub width: usize,
    /// Width of the feed-forward layers.
    pub hidden: usize,
    pub n_layers: usize,
    /// The number of query heads.
    pub n_heads: usize,
    /// Heads of keys and values; each serves as many heads of queries.
    pub n_key_heads: usize,
    pub head_dim: usize,
    /// The most tokens of a text.
    pub n_positions: usize,
    pub norm_epsilon: f32,
    /// Whether the output has the weights of the embedding.
    pub is_tied: bool,
    pub rotary_base: f64,
    pub rotary_scaling: Scaling,
}

/// How the frequencies of rotary positions are stretched for longer texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scaling {
    None,
    /// All divided by a factor.
    Linear {
        factor: f64,
    },
    /// Low frequencies divided, high ones kept, those between mixed (Llama 3).
    Llama3 {
        factor: f64,
        low: f64,
        high: f64,
        n_positions: f64,
    },
}

/// The file as it is written. The keys that are read are those that change what is computed.
#[derive(Deserialize)]
struct File {
    vocab_size: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    max_position_embeddings: usize,
    rms_norm_eps: f32,
    #[serde(default)]
    tie_word_embeddings: bool,
    rope_theta: Option<f64>,
    rope_scaling: Option<Rope>,
    /// The same two in newer files.
    rope_parameters: Option<Rope>,
    hidden_act: Option<String>,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    #[serde(default)]
    use_sliding_window: bool,
    #[serde(default)]
    layer_types: Vec<String>,
    quantization_config: Option<Value>,
}

#[derive(Deserialize)]
struct Rope {
    #[serde(alias = "type")]
    rope_type: Option<String>,
    rope_theta: Option<f64>,
    factor: Option<f64>,
    low_freq_factor: Option<f64>,
    high_freq_factor: Option<f64>,
    original_max_position_embeddings: Option<f64>,
}

impl Config {
    /// Parses the text of `config.json` and checks that it describes a network that is known here.
    pub fn read(path: &Path, text: &str) -> Result<Self> {
        let damaged = |reason: String| Error::Damaged { path: path.to_owned(), reason };
        let value: Value =
            serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
        // The name first: other networks have other keys.
        let architecture = architecture(path, &value)?;
        let file: File =
            serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
        file.check_variant(path)?;
        let rotary_base = file.rotary_base();
        let n_key_heads = file.num_key_value_heads.unwrap_or(file.num_attention_heads);
        let head_dim = file.head_dim.unwrap_or(match architecture {
            Architecture::Llama => file.hidden_size / file.num_attention_heads.max(1),
            Architecture::Qwen3 => 128,
        });
        let config = Self {
            architecture,
            n_tokens: file.vocab_size,
            width: file.hidden_size,
            hidden: file.intermediate_size,
            n_layers: file.num_hidden_layers,
            n_heads: file.num_attention_heads,
            n_key_heads,
            head_dim,
            n_positions: file.max_position_embeddings,
            norm_epsilon: file.rms_norm_eps,
            is_tied: file.tie_word_embeddings,
            rotary_base,
            rotary_scaling: file.scaling(path)?,
        };
        config.check().map_err(damaged)?;
        Ok(config)
    }

    fn check(&self) -> std::result::Result<(), String> {
        const LARGEST: usize = 1 << 24;
        for (key, value) in [
            ("vocab_size", self.n_tokens),
            ("hidden_size", self.width),
            ("intermediate_size", self.hidden),
            ("num_hidden_layers", self.n_layers),
            ("num_attention_heads", self.n_heads),
            ("num_key_value_heads", self.n_key_heads),
            ("head_dim", self.head_dim),
            ("max_position_embeddings", self.n_positions),
        ] {
            if !(1..=LARGEST).contains(&value) {
                return Err(format!("`{key}`: expected 1 to {LARGEST}, found {value}"));
            }
        }
        if !self.n_heads.is_multiple_of(self.n_key_heads) {
            return Err(format!(
                "`num_attention_heads`: expected a multiple of {}, found {}",
                self.n_key_heads, self.n_heads
            ));
        }
        if !self.head_dim.is_multiple_of(2) {
            return Err(format!("`head_dim`: expected an even number, found {}", self.head_dim));
        }
        if !(self.norm_epsilon > 0.0 && self.norm_epsilon < 1.0) {
            return Err(format!("`rms_norm_eps`: expected 0 to 1, found {}", self.norm_epsilon));
        }
        if !(self.rotary_base > 1.0 && self.rotary_base.is_finite()) {
            return Err(format!("`rope_theta`: expected more than 1, found {}", self.rotary_base));
        }
        Ok(())
    }
}

fn architecture(path: &Path, value: &Value) -> Result<Architecture> {
    let named = value.get("architectures").and_then(|names| names.get(0)).and_then(Value::as_str);
    let of_type = value.get("model_type").and_then(Value::as_str);
    let found = Architecture::ALL.into_iter().find(|known| match named {
        Some(name) => name == known.class(),
        None => of_type == Some(&known.to_string()),
    });
    found.ok_or_else(|| Error::OtherArchitecture {
        path: path.to_owned(),
        found: named.or(of_type).unwrap_or("none").to_owned(),
    })
}

impl File {
    /// Refuses what would be computed in another way.
    fn check_variant(&self, path: &Path) -> Result<()> {
        let activation = self.hidden_act.as_deref().unwrap_or("silu");
        let is_known = |value: &Value| value["quant_method"] == EIGHT_BITS;
        let quantised = match &self.quantization_config {
            Some(value) if !is_known(value) => "there",
            _ => "absent",
        };
        let full = "full_attention";
        let layers =
            self.layer_types.iter().find(|layer| *layer != full).map_or(full, String::as_str);
        let flag = |value: bool| if value { "true" } else { "false" };
        for (key, found, expected) in [
            ("hidden_act", activation, "silu"),
            ("attention_bias", flag(self.attention_bias), "false"),
            ("mlp_bias", flag(self.mlp_bias), "false"),
            ("use_sliding_window", flag(self.use_sliding_window), "false"),
            ("layer_types", layers, full),
            ("quantization_config", quantised, "absent"),
        ] {
            if found != expected {
                let [key, found, expected] = [key, found, expected].map(str::to_owned);
                return Err(Error::OtherVariant { path: path.to_owned(), key, found, expected });
            }
        }
        Ok(())
    }

    fn rotary_base(&self) -> f64 {
        let newer = self.rope_parameters.as_ref().and_then(|rope| rope.rope_theta);
        newer.or(self.rope_theta).unwrap_or(10_000.0)
    }

    fn scaling(&self, path: &Path) -> Result<Scaling> {
        let Some(rope) = self.rope_parameters.as_ref().or(self.rope_scaling.as_ref()) else {
            return Ok(Scaling::None);
        };
        let positive = |key: &str, value: Option<f64>| match value {
            Some(value) if value > 0.0 && value.is_finite() => Ok(value),
            _ => Err(Error::Damaged {
                path: path.to_owned(),
                reason: format!("rotary positions: expected a positive number as `{key}`"),
            }),
        };
        match rope.rope_type.as_deref().unwrap_or("default") {
            "default" => Ok(Scaling::None),
            "linear" => Ok(Scaling::Linear { factor: positive("factor", rope.factor)? }),
            "llama3" => Ok(Scaling::Llama3 {
                factor: positive("factor", rope.factor)?,
                low: positive("low_freq_factor", rope.low_freq_factor)?,
                high: positive("high_freq_factor", rope.high_freq_factor)?,
                n_positions: positive(
                    "original_max_position_embeddings",
                    rope.original_max_position_embeddings,
                )?,
            }),
            other => Err(Error::OtherVariant {
                path: path.to_owned(),
                key: "rope_type".to_owned(),
                found: format!("`{other}`"),
                expected: "`default`, `linear` or `llama3`".to_owned(),
            }),
        }
    }
}
