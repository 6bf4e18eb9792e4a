//! `goldilocks lm`: a text becomes a model, ARPA and a model again; what is no text, model or ARPA file is named.

use std::fs;

use expect_test::{Expect, expect};
use tempfile::TempDir;

use crate::run::goldilocks;

const TEXT: &str = "the bear ate the soup .\nthe bear slept .\n";

/// A folder with a text and a model of it.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("text"), TEXT).unwrap();
    let arguments = ["lm", "estimate", "text", "-o", "model", "--order", "2"];
    let said = goldilocks(folder.path(), &arguments);
    assert!(said.starts_with("exit 0\nmodel\n"), "{said}");
    folder
}

fn says(folder: &TempDir, arguments: &str, expected: &Expect) {
    expected.assert_eq(&goldilocks(folder.path(), &arguments.split(' ').collect::<Vec<_>>()));
}

#[test]
fn a_text_becomes_a_model_and_arpa_and_a_model_again() {
    let folder = folder();
    let perplexity = expect![[r#"
        exit 0
        2.21  perplexity of 10 words in 2 sentences
        2.21  without 0 words that the model does not know
    "#]];
    says(&folder, "lm perplexity model text", &perplexity);
    says(
        &folder,
        "lm export model -o m.arpa",
        &expect![[r#"
        exit 0
        m.arpa
    "#]],
    );
    says(
        &folder,
        "lm import m.arpa -o imported",
        &expect![[r#"
        exit 0
        imported
    "#]],
    );
    says(&folder, "lm perplexity imported text", &perplexity);
    says(
        &folder,
        "lm check imported",
        &expect![[r#"
        exit 0
        imported: 18 n-grams, as written
    "#]],
    );
    // Nothing is replaced unless asked.
    says(
        &folder,
        "lm export model -o m.arpa",
        &expect![[r#"
            exit 1
            error: m.arpa: already exists
            hint: choose another `-o`, or add `--force` to replace it
        "#]],
    );
    says(
        &folder,
        "lm estimate text -o model",
        &expect![[r#"
            exit 1
            error: model: already exists
            hint: choose another `-o`, or add `--force` to replace it
        "#]],
    );
}

#[test]
fn a_limit_of_memory_gives_the_same_model_and_what_it_lacks_is_named() {
    let folder = folder();
    let arguments = ["lm", "estimate", "text", "-o", "large", "--order", "2", "--memory", "64M"];
    let said = goldilocks(folder.path(), &arguments);
    assert!(said.starts_with("exit 0\nlarge\n"), "{said}");
    let bytes = |model: &str| fs::read(folder.path().join(model).join("ngrams.bin")).unwrap();
    assert!(bytes("large") == bytes("model"));
    says(
        &folder,
        "lm estimate text -o out --memory 1M",
        &expect![[r#"
            exit 1
            error: too little memory: expected at least 64 MiB, found 1
            hint: allow more with `--memory`
        "#]],
    );
    says(
        &folder,
        "lm estimate text -o out --memory 1G --temporary gone",
        &expect![[r#"
            exit 1
            error: gone: cannot keep temporary files: no such file or folder
            hint: make room, or choose another folder with `--temporary`
        "#]],
    );
    assert!(!folder.path().join("out").exists());
}

#[test]
fn what_is_no_text_is_named() {
    let folder = folder();
    fs::write(folder.path().join("empty"), "\n").unwrap();
    fs::write(folder.path().join("latin"), b"caf\xe9").unwrap();
    says(
        &folder,
        "lm estimate empty -o out",
        &expect![[r#"
            exit 1
            error: nothing to estimate a language model on: expected a sentence, found none
            hint: a text has one sentence per line
        "#]],
    );
    says(
        &folder,
        "lm estimate model -o out",
        &expect![[r#"
        exit 1
        error: model: Is a directory (os error 21)
        hint: name a file, not a folder
    "#]],
    );
    says(
        &folder,
        "lm estimate latin -o out",
        &expect![[r#"
            exit 1
            error: latin: stream did not contain valid UTF-8
            hint: check that it is the right file: expected text in UTF-8
        "#]],
    );
    says(
        &folder,
        "lm perplexity model empty",
        &expect![[r#"
            exit 1
            error: nothing to estimate a language model on: expected a sentence, found none
            hint: a text has one sentence per line
        "#]],
    );
    assert!(!folder.path().join("out").exists());
}

#[test]
fn what_is_no_model_is_named() {
    let folder = folder();
    let path = folder.path().join("model/ngrams.bin");
    says(
        &folder,
        "lm perplexity text text",
        &expect![[r#"
        exit 1
        error: text: not a model: it has no `model.toml`
        hint: make it with `goldilocks train MODEL SET -o text`
    "#]],
    );
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 12;
    bytes[last] ^= 1;
    fs::write(&path, &bytes).unwrap();
    says(
        &folder,
        "lm check model",
        &expect![[r#"
            exit 1
            error: model/ngrams.bin: corrupt language model: wrong checksum of the body
            hint: rebuild it: `goldilocks train` trains the model again, `goldilocks lm import` imports its ARPA file
        "#]],
    );
    says(
        &folder,
        "lm export model -o m.arpa",
        &expect![[r#"
            exit 1
            error: model/ngrams.bin: corrupt language model: wrong checksum of the body
            hint: rebuild it: `goldilocks train` trains the model again, `goldilocks lm import` imports its ARPA file
        "#]],
    );
}

#[test]
fn a_model_file_that_is_cut_off_or_missing_is_named() {
    let folder = folder();
    let path = folder.path().join("model/ngrams.bin");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..200]).unwrap();
    says(
        &folder,
        "lm perplexity model text",
        &expect![[r#"
            exit 1
            error: model/ngrams.bin: corrupt language model: expected 412 bytes, found 200
            hint: rebuild it: `goldilocks train` trains the model again, `goldilocks lm import` imports its ARPA file
        "#]],
    );
    fs::remove_file(&path).unwrap();
    says(
        &folder,
        "lm check model",
        &expect![[r#"
            exit 1
            error: model/ngrams.bin: damaged model: the file is missing
            hint: make it with `goldilocks train MODEL SET -o DIR`
        "#]],
    );
    fs::create_dir(&path).unwrap();
    says(
        &folder,
        "lm check model",
        &expect![[r#"
        exit 1
        error: model/ngrams.bin: is a directory
    "#]],
    );
}

#[test]
fn what_is_no_arpa_file_is_named() {
    let folder = folder();
    says(
        &folder,
        "lm export model -o m.arpa",
        &expect![[r#"
        exit 0
        m.arpa
    "#]],
    );
    let arpa = fs::read(folder.path().join("m.arpa")).unwrap();
    fs::write(folder.path().join("cut.arpa"), &arpa[..arpa.len() - 10]).unwrap();
    says(
        &folder,
        "lm import cut.arpa -o out",
        &expect![[r#"
            exit 1
            error: cut.arpa:25: invalid ARPA file: expected a probability, 2 words and optionally a backoff, found `-0.23150578	slept`
            hint: check that the file is complete: it begins with `\data\` and ends with `\end\`
        "#]],
    );
    says(
        &folder,
        "lm import text -o out",
        &expect![[r#"
            exit 1
            error: text:1: invalid ARPA file: expected `\data\`, found `the bear ate the soup .`
            hint: check that the file is complete: it begins with `\data\` and ends with `\end\`
        "#]],
    );
    says(
        &folder,
        "lm import model -o out",
        &expect![[r#"
        exit 1
        error: model: Is a directory (os error 21)
    "#]],
    );
    assert!(!folder.path().join("out").exists());
}
