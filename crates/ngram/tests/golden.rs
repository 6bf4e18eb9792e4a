//! Model files of earlier versions still open and give the same scores, and estimation still writes the same
//! bytes.
//!
//! If the format changes on purpose, raise its version and write the files again:
//! `UPDATE_EXPECT=1 cargo test`.

#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::path::Path;

use expect_test::{Expect, expect, expect_file};
use goldilocks_ngram::{Model, Options, Pruning, Text, estimate};

fn golden(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn estimated(options: &Options, quantise: bool) -> Model {
    let mut text = Text::default();
    for line in fs::read_to_string(golden("text.txt")).unwrap().lines() {
        text.push(line.split(' ')).unwrap();
    }
    Model::new(&estimate(&text.sort(5).unwrap(), options).unwrap().table, quantise).unwrap()
}

fn check(name: &str, options: &Options, quantise: bool, scores: &Expect) {
    let path = golden(name);
    let folder = tempfile::tempdir().unwrap();
    let written = folder.path().join(name);
    estimated(options, quantise).write(&written).unwrap();
    let written = fs::read(written).unwrap();
    #[expect(clippy::disallowed_methods, reason = "as expect_test does for its snapshots")]
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &written).unwrap();
    }
    let model = Model::open(&path).unwrap();
    model.check().unwrap();
    let score =
        |sentence: &str| format!("{sentence}: {:?}\n", model.log_probs(sentence.split(' ')));
    let lines = ["the goose went home", "again the owl sold nothing"].map(score);
    scores.assert_eq(&lines.concat());
    assert!(fs::read(&path).unwrap() == written, "{name}: estimation gives other bytes");
}

#[test]
fn a_plain_model() {
    let options = Options { order: 4, ..Options::default() };
    check(
        "plain.bin",
        &options,
        false,
        &expect![[r#"
        the goose went home: [-0.44769344, -1.0804187, -1.1434602, -0.23124363, -0.21495466]
        again the owl sold nothing: [-4.5728173, -2.3797228, -5.11569, -3.134182, -5.8857174, -1.8860054]
    "#]],
    );
}

#[test]
fn a_pruned_and_quantised_model() {
    let options = Options { order: 3, pruning: Pruning { at_most: 1, from: 3 } };
    check(
        "quantised.bin",
        &options,
        true,
        &expect![[r#"
        the goose went home: [-0.44769344, -1.1404465, -2.6503727, -1.7476407, -1.4858404]
        again the owl sold nothing: [-4.5728173, -2.3797228, -5.11569, -3.134182, -5.8857174, -1.8860054]
    "#]],
    );
}

#[test]
fn an_arpa_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.arpa");
    let model = estimated(&Options { order: 2, ..Options::default() }, false);
    goldilocks_ngram::write_arpa(&model.to_table().unwrap(), &path).unwrap();
    expect_file![golden("bigrams.arpa")].assert_eq(&fs::read_to_string(&path).unwrap());
}
