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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use neural::{Batch, Decoder};

    use super::*;
    use crate::Compute;
    use crate::config::tiny;

    /// `transformer` gives what `transformers` gives (its golden tests); here it gives what was learnt.
    #[test]
    fn what_is_exported_has_the_log_probs_of_what_was_learnt() {
        let text = corpus::tales::TALES[0].text;
        let pieces = Pieces::train([text].into_iter(), 400).unwrap();
        let config = Config { length: 48, ..tiny() };
        let network = || Decoder::new(config.network(pieces.len()));
        let cpu = Compute::cpu();
        let mut trainer = cpu.trainer(network(), config.training(1), None).unwrap();
        let numbers: Vec<u32> = std::iter::once(0)
            .chain(pieces.split(text).unwrap().into_iter().map(u32::from))
            .collect();
        let row = |n: usize| {
            let (pieces, targets) = (numbers[..n].to_vec(), numbers[1..=n].to_vec());
            Batch { rows: 1, pieces, targets }
        };
        for _ in 0..30 {
            trainer.step(&row(40), 0.02).unwrap();
        }
        // As the file holds them.
        let mut weights = trainer.weights().unwrap();
        for (_, table) in &mut weights {
            for row in 0..table.rows() {
                let values = table.row_mut(row).iter_mut();
                values.for_each(|value| *value = bf16::from_f32(*value).to_f32());
            }
        }
        trainer.begin_with(&weights).unwrap();
        let learnt = trainer.log_probs(&row(40)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        export(folder.path(), &weights, &pieces, &config).unwrap();
        let checkpoint = Arc::new(transformer::Checkpoint::open(folder.path()).unwrap());
        assert_eq!(checkpoint.tokens(text).unwrap(), numbers);
        let mut reader = checkpoint.reader();
        for (place, log_prob) in learnt.iter().enumerate() {
            let [before, next] = [&numbers[..=place], &numbers[place + 1..place + 2]];
            let found = reader.continuations(before, &[next]).unwrap()[0];
            assert!((found - log_prob).abs() < 1e-4, "{place}: {found} {log_prob}");
        }
        let sum: f64 = learnt.iter().sum();
        assert!(sum > -40.0 * 5.0, "{sum}: it has learnt something");
    }
}
