//! `-` is standard input and output, and `--quiet` leaves results alone.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use expect_test::expect;
use tempfile::TempDir;

use crate::run::{files_below, goldilocks};

/// Runs a command line with a text as standard input; returns the exit code, stdout and stderr.
fn piped(folder: &Path, line: &str, input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_goldilocks"))
        .args(line.split(' '))
        .current_dir(folder)
        .env_remove("COLUMNS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that stops early does not read to the end.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn quiet(folder: &Path, line: &str) {
    let said = goldilocks(folder, &line.split(' ').collect::<Vec<_>>());
    assert_eq!(said, "exit 0\n", "{line}");
}

#[test]
fn questions_and_predictions_go_through_pipes() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    quiet(folder, "build -q -o set");
    quiet(folder, "train -q word-distance set -o model");
    quiet(folder, "answer -q model set -o file.jsonl --split test --class NE");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();

    let (code, questions, note) = piped(folder, "convert set - --to jsonl --split test", "");
    assert!(code == 0 && note.ends_with(" questions in standard output\n"), "{note}");
    quiet(folder, "convert -q set test.jsonl --split test");
    assert!(questions == read("test.jsonl"));

    let line = "answer model - -o - --class NE";
    let (code, predictions, note) = piped(folder, line, &questions);
    assert!(code == 0 && note.ends_with(" questions answered in standard output\n"), "{note}");
    assert!(predictions == read("file.jsonl"));

    let (_, of_pipe, _) = piped(folder, "evaluate - --json", &predictions);
    let (_, of_file, _) = piped(folder, "evaluate file.jsonl --json", "");
    assert_eq!(of_pipe, of_file.replace("file.jsonl", "-"));
    let (_, of_pipe, _) = piped(folder, "evaluate -", &predictions);
    assert!(of_pipe.starts_with("-, test\n  Named Entities  "), "{of_pipe}");
    let (code, both, _) = piped(folder, "combine - file.jsonl -o - -q", &predictions);
    assert_eq!((code, both.lines().count()), (0, predictions.lines().count()));
    // Nothing else is left: no file called `-`.
    let names = files_below(folder);
    assert!(!names.iter().any(|name| name.contains('-') || name.contains("std")), "{names:?}");
}

#[test]
fn books_and_texts_come_through_pipes() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let (_, tagged, _) = piped(folder, "tag -", "The bear ate soup.\n");
    assert_eq!(tagged, "The\tDT\tO\nbear\tNN\tO\nate\tVBD\tO\nsoup\tNN\tO\n.\t.\tO\n\n");
    let text = "the bear ate the soup\nthe bear slept\nthe soup was cold\n".repeat(3);
    let (code, _, said) = piped(folder, "lm estimate - -o lm --order 2", &text);
    assert_eq!(code, 0, "{said}");
    let (_, of_pipe, _) = piped(folder, "lm perplexity lm - --json", "the bear ate\n");
    fs::write(folder.join("text.txt"), "the bear ate\n").unwrap();
    let (_, of_file, _) = piped(folder, "lm perplexity lm text.txt --json", "");
    assert_eq!(of_pipe, of_file);
    let (_, arpa, _) = piped(folder, "lm export lm -o -", "");
    quiet(folder, "lm export lm -o lm.arpa -q");
    assert!(arpa == fs::read_to_string(folder.join("lm.arpa")).unwrap());
    let (code, _, _) = piped(folder, "lm import - -o again", &arpa);
    assert_eq!(code, 0);
}

#[test]
fn what_is_wrong_with_a_pipe_is_named_by_its_dash() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let error = |line: &str, input: &str| piped(folder, line, input).2;
    expect![[r#"
        error: -: only 1 sentence was found: a question needs 21
        hint: check that this is the whole book: `goldilocks tag - | less` shows how it was split; `build --skip-bad` leaves it out
    "#]]
    .assert_eq(&error("build - -o out", "The end."));
    expect![[r#"
        error: -:1: not a JSON object: expected ident at column 2
        hint: a line is one whole JSON object; check whether its writer was stopped
    "#]]
    .assert_eq(&error("evaluate -", "no predictions"));
    expect![[r#"
        error: `-`: standard input can be read once
    "#]]
    .assert_eq(&error("evaluate - -", "no predictions"));
    expect![[r#"
        error: form: compact is a folder: expected cbt, jsonl or parquet for standard output
    "#]]
    .assert_eq(&error("convert - - --to compact", ""));
}
