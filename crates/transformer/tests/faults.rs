//! Damaged and foreign folders: each is refused with a message that names the file and what is wrong with it.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use goldilocks_transformer::{Checkpoint, Files, NumberFormat, export};
use tempfile::TempDir;

/// A copy of a tiny checkpoint.
fn copy_of(name: &str) -> TempDir {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let folder = TempDir::new().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    assert!(Checkpoint::open(folder.path()).is_ok());
    folder
}

fn refused(name: &str, spoil: impl FnOnce(&Path)) -> String {
    let folder = copy_of(name);
    spoil(folder.path());
    let error = Checkpoint::open(folder.path()).err().expect("it is refused");
    let place = folder.path().display().to_string();
    error.to_string().replace(&place, "DIR")
}

/// Replaces a text in a file.
fn replace(path: PathBuf, from: &str, to: &str) {
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

fn in_config(from: &str, to: &str) -> String {
    refused("qwen3", |folder| replace(folder.join("config.json"), from, to))
}

#[test]
fn other_networks_are_refused_by_name() {
    let said = [
        in_config("Qwen3ForCausalLM", "MambaForCausalLM"),
        in_config("Qwen3ForCausalLM", "Qwen3MoeForCausalLM"),
        in_config("\"silu\"", "\"gelu\""),
        in_config("\"attention_bias\": false", "\"attention_bias\": true"),
        in_config("\"use_sliding_window\": false", "\"use_sliding_window\": true"),
        in_config("\"full_attention\"", "\"sliding_attention\""),
        in_config("\"rope_type\": \"default\"", "\"rope_type\": \"yarn\""),
        in_config("\"use_cache\"", "\"quantization_config\": {\"bits\": 4}, \"use_cache\""),
    ];
    let expected: Expect = expect![[r#"
        DIR/config.json: the architecture is `MambaForCausalLM`: expected `LlamaForCausalLM` or `Qwen3ForCausalLM`
        DIR/config.json: the architecture is `Qwen3MoeForCausalLM`: expected `LlamaForCausalLM` or `Qwen3ForCausalLM`
        DIR/config.json: `hidden_act` is gelu: expected silu
        DIR/config.json: `attention_bias` is true: expected false
        DIR/config.json: `use_sliding_window` is true: expected false
        DIR/config.json: `layer_types` is sliding_attention: expected full_attention
        DIR/config.json: `rope_type` is `yarn`: expected `default`, `linear` or `llama3`
        DIR/config.json: `quantization_config` is there: expected absent
    "#]];
    expected.assert_eq(&(said.join("\n") + "\n"));
}

#[test]
fn damaged_configurations_say_what_was_expected() {
    let said = [
        in_config("{", "["),
        in_config("\"vocab_size\": 270", "\"vocab_size\": \"many\""),
        in_config("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 0"),
        in_config("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 99999999999"),
        in_config("\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3"),
        in_config("\"head_dim\": 8", "\"head_dim\": 7"),
        in_config("\"rms_norm_eps\": 1e-06", "\"rms_norm_eps\": -1"),
        in_config("1000.0", "0"),
        in_config("\"rope_type\": \"default\"", "\"rope_type\": \"linear\""),
    ];
    let expected: Expect = expect![[r#"
        DIR/config.json: damaged checkpoint: expected `,` or `]` at line 2 column 18
        DIR/config.json: damaged checkpoint: invalid type: string "many", expected usize
        DIR/config.json: damaged checkpoint: `num_hidden_layers`: expected 1 to 16777216, found 0
        DIR/config.json: damaged checkpoint: `num_hidden_layers`: expected 1 to 16777216, found 99999999999
        DIR/config.json: damaged checkpoint: `num_attention_heads`: expected a multiple of 3, found 4
        DIR/config.json: damaged checkpoint: `head_dim`: expected an even number, found 7
        DIR/config.json: damaged checkpoint: `rms_norm_eps`: expected 0 to 1, found -1
        DIR/config.json: damaged checkpoint: `rope_theta`: expected more than 1, found 0
        DIR/config.json: damaged checkpoint: rotary positions: expected a positive number as `factor`
    "#]];
    expected.assert_eq(&(said.join("\n") + "\n"));
}

#[test]
fn weights_that_do_not_fit_are_named() {
    let index = |from: &str, to: &str| {
        refused("llama", |folder| replace(folder.join("model.safetensors.index.json"), from, to))
    };
    let weights = |spoil: fn(&mut Vec<u8>)| {
        refused("qwen3", |folder| {
            let path = folder.join("model.safetensors");
            let mut bytes = fs::read(&path).unwrap();
            spoil(&mut bytes);
            fs::write(path, bytes).unwrap();
        })
    };
    let said = [
        refused("qwen3", |folder| fs::remove_file(folder.join("model.safetensors")).unwrap()),
        refused("llama", |folder| {
            fs::remove_file(folder.join("model-00002-of-00002.safetensors")).unwrap();
        }),
        weights(|bytes| bytes.truncate(9_000)),
        weights(|bytes| bytes.clear()),
        weights(|bytes| bytes[..8].fill(255)),
        // The largest numbers of half precision are infinite.
        weights(|bytes| bytes.iter_mut().rev().take(2).for_each(|byte| *byte = 0x7c)),
        in_config("\"hidden_size\": 24", "\"hidden_size\": 26"),
        in_config("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3"),
        in_config("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1"),
        in_config("Qwen3ForCausalLM", "LlamaForCausalLM"),
        in_config("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false"),
        index("model-00001-of-00002.safetensors", "../model.safetensors"),
        index("\"weight_map\"", "\"weights\""),
        index("\"lm_head.weight\"", "\"lm_head.bias\""),
    ];
    let expected: Expect = expect![[r#"
        DIR/model.safetensors: damaged checkpoint: the file is missing
        DIR/model-00002-of-00002.safetensors: damaged checkpoint: the file is missing
        DIR/model.safetensors: damaged checkpoint: incomplete metadata, file not fully covered
        DIR/model.safetensors: damaged checkpoint: header too small
        DIR/model.safetensors: damaged checkpoint: header too large
        DIR/model.safetensors: tensor `model.norm.weight`: expected finite numbers, found NaN
        DIR/model.safetensors: tensor `model.embed_tokens.weight`: expected the shape [270, 26], found [270, 24]
        DIR: tensor `model.layers.2.self_attn.q_norm.weight`: it is missing
        DIR/model.safetensors: tensor `model.layers.1.input_layernorm.weight`: the architecture has no such tensor
        DIR/model.safetensors: tensor `model.layers.0.self_attn.k_norm.weight`: the architecture has no such tensor
        DIR: tensor `lm_head.weight`: it is missing
        DIR/model.safetensors.index.json: damaged checkpoint: expected the name of a file, found `../model.safetensors`
        DIR/model.safetensors.index.json: damaged checkpoint: missing field `weight_map` at line 29 column 1
        DIR: tensor `lm_head.bias`: it is missing
    "#]];
    expected.assert_eq(&(said.join("\n") + "\n"));
}

/// Whole numbers mean nothing without the scale of their row.
#[test]
fn eight_bits_without_their_scales_are_refused() {
    let without = |from: &str, to: &str| {
        refused("qwen3", |folder| {
            for (name, bytes) in export(Files::Folder(folder), NumberFormat::Int8).unwrap() {
                fs::write(folder.join(name), bytes).unwrap();
            }
            assert!(Checkpoint::open(folder).is_ok());
            let path = folder.join("model.safetensors");
            let mut bytes = fs::read(&path).unwrap();
            let place = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
            bytes[place..place + from.len()].copy_from_slice(to.as_bytes());
            fs::write(path, bytes).unwrap();
        })
    };
    let scale = "model.layers.1.mlp.up_proj.weight_scale";
    let said = [
        without(scale, &scale.replace("_scale", "_spare")),
        without("\"F32\",\"shape\":[40]", "\"I32\",\"shape\":[40]"),
    ];
    let expected: Expect = expect![[r#"
        DIR/model.safetensors: tensor `model.layers.1.mlp.up_proj.weight`: expected 40 scales of its rows, as F32
        DIR/model.safetensors: tensor `model.layers.0.mlp.gate_proj.weight`: expected 40 scales of its rows, as F32
    "#]];
    expected.assert_eq(&(said.join("\n") + "\n"));
}

#[test]
fn tokenizers_of_other_models_are_refused() {
    let tokenizer = |from: &str, to: &str| {
        refused("qwen3", |folder| replace(folder.join("tokenizer.json"), from, to))
    };
    let said = [
        refused("qwen3", |folder| fs::remove_file(folder.join("tokenizer.json")).unwrap()),
        tokenizer("\"BPE\"", "\"Letters\""),
        tokenizer("{", ""),
        tokenizer("\"!\": 1,", "\"!\": 5000,"),
        refused("qwen3", |folder| {
            let text = "{\"version\":\"1.0\",\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]}}";
            fs::write(folder.join("tokenizer.json"), text).unwrap();
        }),
    ];
    let expected: Expect = expect![[r#"
        DIR/tokenizer.json: damaged checkpoint: the file is missing
        DIR/tokenizer.json: damaged checkpoint: data did not match any variant of untagged enum ModelUntagged at line 366 column 1
        DIR/tokenizer.json: damaged checkpoint: invalid type: string "version", expected struct Tokenizer at line 2 column 11
        DIR/tokenizer.json: the tokenizer does not fit the model: `!` has the number 5000, the model has 270 tokens
        DIR/tokenizer.json: the tokenizer does not fit the model: it has 1 tokens, the model has 270
    "#]];
    expected.assert_eq(&(said.join("\n") + "\n"));
}

#[test]
fn a_token_before_every_text_that_the_model_does_not_have_is_an_error() {
    let folder = copy_of("llama");
    let path = folder.path().join("tokenizer.json");
    let text = fs::read_to_string(&path).unwrap();
    let (before, behind) = text.split_once("\"ids\"").expect("what is put before a text");
    let behind = behind.replacen('0', "4000", 1);
    fs::write(&path, format!("{before}\"ids\"{behind}")).unwrap();
    let checkpoint = Checkpoint::open(folder.path()).unwrap();
    let error = checkpoint.tokens("The bear").unwrap_err().to_string();
    assert!(error.ends_with("it gives the number 4000, the model has 272 tokens"), "{error}");
}
