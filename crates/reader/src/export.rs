//! [`export`]: weights and tokenizer → a folder in Hugging Face's layout, which this program and others load.

use std::collections::HashMap;
use std::path::Path;

use base::files::write_file;
use half::bf16;
use neural::Tables;
use numerics::Table;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::json;

use crate::config::ROTARY_BASE;
use crate::files::{write_json, write_text};
use crate::pieces::DOCUMENT;
use crate::{Config, Error, Pieces, Result};

/// Writes `config.json`, `model.safetensors`, `tokenizer.json` and `tokenizer_config.json` into a folder that is there.
///
/// # Errors
/// If a file can't be written.
pub fn export(folder: &Path, weights: &Tables, pieces: &Pieces, config: &Config) -> Result<()> {
    let about = json!({
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": pieces.len(),
        "hidden_size": config.width,
        "intermediate_size": config.feed_forward,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.heads,
        "head_dim": config.head_dim,
        "max_position_embeddings": config.length,
        "rms_norm_eps": 1e-6,
        "rope_theta": ROTARY_BASE,
        "hidden_act": "silu",
        "attention_bias": false,
        "attention_dropout": 0.0,
        "use_sliding_window": false,
        "tie_word_embeddings": true,
        "bos_token_id": 0,
        "eos_token_id": 0,
        "torch_dtype": "bfloat16",
    });
    write_json(&folder.join("config.json"), &about)?;
    write_text(&folder.join("tokenizer.json"), &pieces.to_text()?)?;
    let about = json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": DOCUMENT,
        "eos_token": DOCUMENT,
        "model_max_length": config.length,
    });
    write_json(&folder.join("tokenizer_config.json"), &about)?;
    write_weights(&folder.join("model.safetensors"), weights)
}

fn write_weights(path: &Path, weights: &Tables) -> Result<()> {
    let narrowed: Vec<(&str, Vec<usize>, Vec<u8>)> =
        weights.iter().map(|(name, table)| (name.as_str(), shape(table), narrow(table))).collect();
    let views = narrowed.iter().map(|(name, shape, bytes)| {
        let view = TensorView::new(Dtype::BF16, shape.clone(), bytes);
        Ok((*name, view.map_err(|error| Error::damaged(path, error))?))
    });
    let views: Vec<(&str, TensorView<'_>)> = views.collect::<Result<_>>()?;
    // With one key alone the order is always the same.
    let about = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    let bytes = safetensors::serialize(views, Some(about));
    let bytes = bytes.map_err(|error| Error::damaged(path, error))?;
    let failed = Error::file(path);
    write_file(path, &failed, |file| std::io::Write::write_all(file, &bytes).map_err(&failed))
}

/// Norms are vectors.
fn shape(table: &Table<f32>) -> Vec<usize> {
    match table.rows() {
        1 => vec![table.dim()],
        rows => vec![rows, table.dim()],
    }
}

fn narrow(table: &Table<f32>) -> Vec<u8> {
    table.values().iter().flat_map(|&value| bf16::from_f32(value).to_le_bytes()).collect()
}
