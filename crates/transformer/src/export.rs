//! A checkpoint → the files of another one, with its numbers in some format.

use serde_json::{Value, json};

use crate::checkpoint::{CONFIG, TOKENIZER};
use crate::config::{Config, EIGHT_BITS};
use crate::tensors::{Tensors, WHOLE};
use crate::weights::Weights;
use crate::{Checkpoint, Error, Files, NumberFormat, Result};

const TOKENIZER_CONFIG: &str = "tokenizer_config.json";

/// The files of a checkpoint, by their names, with its numbers in a format. `transformers` loads those in
/// [`NumberFormat::F32`] and [`NumberFormat::Bf16`].
///
/// # Errors
/// Those of [`Checkpoint::read`].
pub fn export(files: Files<'_>, format: NumberFormat) -> Result<Vec<(&'static str, Vec<u8>)>> {
    // What is damaged is not passed on.
    drop(Checkpoint::read(files)?);
    let text = files.text(CONFIG)?;
    let config = Config::read(&files.path(CONFIG), &text)?;
    let tensors = Tensors::read(files, |name| Weights::is_wanted(&config, name))?;
    let damaged = |error: serde_json::Error| Error::Damaged {
        path: files.path(CONFIG),
        reason: error.to_string(),
    };
    let mut written: serde_json::Map<String, Value> =
        serde_json::from_str(&text).map_err(damaged)?;
    written.remove("torch_dtype");
    written.remove("quantization_config");
    let (dtype, quantisation) = match format {
        NumberFormat::F32 => ("float32", None),
        NumberFormat::Bf16 => ("bfloat16", None),
        NumberFormat::Int8 | NumberFormat::Int6 => {
            ("float32", Some(json!({ "quant_method": EIGHT_BITS })))
        }
    };
    // `transformers` skips a quantisation that it does not know; a type of model it refuses.
    let model_type = match format {
        NumberFormat::Int8 | NumberFormat::Int6 => EIGHT_BITS.to_owned(),
        NumberFormat::F32 | NumberFormat::Bf16 => config.architecture.to_string(),
    };
    let architectures = json!([config.architecture.class()]);
    written.insert("architectures".to_owned(), architectures);
    written.insert("model_type".to_owned(), model_type.into());
    written.insert("dtype".to_owned(), dtype.into());
    written.extend(quantisation.map(|value| ("quantization_config".to_owned(), value)));
    let tokenizer_config = match files.optional(TOKENIZER_CONFIG)? {
        Some(bytes) => bytes.into_owned(),
        // The class that takes `tokenizer.json` as it is.
        None => pretty(&json!({
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": config.n_positions,
        })),
    };
    Ok(vec![
        (CONFIG, pretty(&written.into())),
        (WHOLE, tensors.into_file(format)),
        (TOKENIZER, files.read(TOKENIZER)?.into_owned()),
        (TOKENIZER_CONFIG, tokenizer_config),
    ])
}

fn pretty(value: &Value) -> Vec<u8> {
    let mut text = serde_json::to_string_pretty(value).expect("what was JSON has a form in JSON");
    text.push('\n');
    text.into_bytes()
}
