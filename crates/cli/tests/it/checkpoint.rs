//! `goldilocks answer` with a Transformer in Hugging Face's layout: a tiny one with random weights.

use std::fs;
use std::path::Path;

use expect_test::{Expect, expect};
use tempfile::TempDir;

use crate::run::{files_below, goldilocks};

const QUESTIONS: &str = "1 The fox sat .\n2 The hen ran .\n3 The XXXXX slept .\tfox\t\tfox|hen\n\n";

/// A folder with a set and a copy of a checkpoint.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("set.txt"), QUESTIONS).unwrap();
    fs::create_dir(folder.path().join("tiny")).unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../transformer/tests/golden/llama");
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join("tiny").join(path.file_name().unwrap())).unwrap();
    }
    folder
}

fn says(folder: &TempDir, arguments: &str, expected: &Expect) {
    expected.assert_eq(&goldilocks(folder.path(), &arguments.split(' ').collect::<Vec<_>>()));
}

#[test]
fn a_folder_of_weights_answers_and_leaves_a_note_of_what_it_is() {
    let folder = folder();
    says(
        &folder,
        "answer tiny set.txt -o some.jsonl",
        &expect![[r#"
        exit 0
        1 question answered in some.jsonl
    "#]],
    );
    let note = fs::read_to_string(folder.path().join("some.toml")).unwrap();
    for part in ["[[answers]]", "model = \"llama\"", "config = ", "tokenizer = ", "weights = "] {
        assert!(note.contains(part), "{part}: {note}");
    }
    says(
        &folder,
        "evaluate some.jsonl",
        &expect![[r#"
        exit 0
        some.jsonl, unknown split
          All             .000  .000–.793  n = 1

        warning: the predictions were not checked against their questions: `--questions SET` does that
    "#]],
    );
}

#[test]
fn it_shows_where_it_looks_reads_running_text_and_is_written_with_smaller_numbers() {
    let folder = folder();
    says(
        &folder,
        "explain tiny set.txt --question 1",
        &expect![[r#"
            exit 0
            Question (f045d78eb0482ec1)

            Model     llama
            Query     The [     ] slept.

                 .22 ████████    1  The ▸fox◂ sat. …
                 .01             2  … The ▸hen◂ ran.

            Scores    hen −62.63   fox −68.77
            Answer    hen: wrong, the answer is fox
        "#]],
    );
    fs::write(folder.path().join("text.txt"), "The fox sat .\nThe hen ran .\n").unwrap();
    let said = goldilocks(folder.path(), &["lm", "perplexity", "tiny", "text.txt"]);
    for part in ["exit 0\n", "  perplexity of 8 words in 2 sentences\n", "  of 21 tokens\n"] {
        assert!(said.contains(part), "{said}");
    }
    says(
        &folder,
        "export tiny small --weights int8",
        &expect![[r#"
        exit 0
        small
    "#]],
    );
    let names = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"];
    assert_eq!(files_below(&folder.path().join("small")), names);
    says(
        &folder,
        "answer small set.txt -o small.jsonl",
        &expect![[r#"
        exit 0
        1 question answered in small.jsonl
    "#]],
    );
    says(
        &folder,
        "export tiny small",
        &expect![[r#"
        exit 1
        error: small: already exists
        hint: choose another `-o`, or add `--force` to replace it
    "#]],
    );
    says(
        &folder,
        "export set.txt other",
        &expect![[r#"
            exit 1
            error: set.txt: not a Transformer: it has no `config.json`
            hint: expected `reader-small`, or a folder in Hugging Face's layout
        "#]],
    );
    assert!(!folder.path().join("other").exists());
}

#[test]
fn what_it_can_not_do_is_said_and_nothing_is_written() {
    let folder = folder();
    let before = files_below(folder.path());
    says(
        &folder,
        "answer tiny set.txt -o some.jsonl --set scoring=choice",
        &expect![[r#"
        exit 1
        error: answer: --set, --estimate and --prices are for servers: a model in a folder has the settings of its training
    "#]],
    );
    let config = folder.path().join("tiny/config.json");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("LlamaForCausalLM", "GemmaForCausalLM")).unwrap();
    says(
        &folder,
        "answer tiny set.txt -o some.jsonl",
        &expect![[r#"
        exit 1
        error: tiny/config.json: the architecture is `GemmaForCausalLM`: expected `LlamaForCausalLM` or `Qwen3ForCausalLM`
        hint: serve it with a program that knows it, and answer with the server's address
    "#]],
    );
    fs::write(&config, text).unwrap();
    fs::remove_file(folder.path().join("tiny/model-00002-of-00002.safetensors")).unwrap();
    says(
        &folder,
        "answer tiny set.txt -o some.jsonl",
        &expect![[r#"
        exit 1
        error: tiny/model-00002-of-00002.safetensors: damaged checkpoint: the file is missing
        hint: copy the folder again: it needs config.json, tokenizer.json, and model.safetensors or its parts with model.safetensors.index.json
    "#]],
    );
    fs::write(folder.path().join("tiny/model-00002-of-00002.safetensors"), "").unwrap();
    assert_eq!(files_below(folder.path()), before);
}
