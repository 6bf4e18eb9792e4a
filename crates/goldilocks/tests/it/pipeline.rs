//! The whole way, from the tales to the report: twice the same bytes, with any number of threads, killed or not.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::run::{files_below, goldilocks};

/// Every file below a folder with its bytes.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| {
        let bytes = fs::read(folder.join(&name)).unwrap();
        (name, bytes)
    };
    files_below(folder).into_iter().map(read).collect()
}

#[test]
fn a_build_is_the_same_for_any_number_of_threads() {
    let built = |threads: &str| {
        let folder = TempDir::new().unwrap();
        let said = goldilocks(folder.path(), &["build", "-o", "set", "--threads", threads]);
        assert!(said.starts_with("exit 0\n"), "{said}");
        contents(folder.path())
    };
    let one = built("1");
    assert_eq!(one.len(), 3, "a manifest and two files: {:?}", one.keys());
    assert!(one == built("2") && one == built("4"));
}

#[test]
fn every_form_holds_the_same_questions() {
    let folder = TempDir::new().unwrap();
    let run = |arguments: &[&str]| {
        let said = goldilocks(folder.path(), arguments);
        assert!(said.starts_with("exit 0\n"), "{said}");
        said
    };
    run(&["build", "-o", "set"]);
    run(&["convert", "set", "a.jsonl"]);
    run(&["convert", "a.jsonl", "b.parquet"]);
    run(&["convert", "b.parquet", "c.jsonl"]);
    run(&["convert", "set", "released", "--to", "cbt"]);
    run(&["convert", "released", "compact"]);
    run(&["convert", "compact", "d.jsonl"]);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("a.jsonl") == read("c.jsonl"), "JSON lines → Parquet → JSON lines");
    let sorted = |name: &str| {
        let text = read(name);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    // The released layout has a file a class, so the questions come in another order.
    assert_eq!(sorted("a.jsonl"), sorted("d.jsonl"));
}

#[test]
fn anonymised_questions_hold_placeholders_alone() {
    let folder = TempDir::new().unwrap();
    goldilocks(folder.path(), &["build", "-o", "set"]);
    let said = goldilocks(folder.path(), &["convert", "set", "a.jsonl", "--anonymise", "7"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    let text = fs::read_to_string(folder.path().join("a.jsonl")).unwrap();
    for line in text.lines() {
        let question: serde_json::Value = serde_json::from_str(line).unwrap();
        let options = question["options"].as_array().unwrap();
        let expected: Vec<String> = (0..10).map(|n| format!("@candidate{n}")).collect();
        assert_eq!(options, &expected);
        assert!(expected.iter().any(|placeholder| question["answer"] == *placeholder));
    }
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_bytes() {
    let whole = TempDir::new().unwrap();
    goldilocks(whole.path(), &["reproduce"]);
    let expected = contents(whole.path());
    assert!(expected.contains_key("reproduction/table-2/report/index.html"));
    let killed = TempDir::new().unwrap();
    for milliseconds in [20, 60, 120, 200, 300] {
        let mut run = Command::new(env!("CARGO_BIN_EXE_goldilocks"))
            .arg("reproduce")
            .current_dir(killed.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        // SIGKILL; it may have ended already.
        let _ = run.kill();
        run.wait().unwrap();
    }
    goldilocks(killed.path(), &["reproduce"]);
    let found = contents(killed.path());
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&expected), names(&found));
    for (name, bytes) in &expected {
        assert!(found[name] == *bytes, "{name} differs");
    }
}

#[test]
fn a_second_run_has_nothing_to_do() {
    let folder = TempDir::new().unwrap();
    let first = goldilocks(folder.path(), &["reproduce", "validation"]);
    let second = goldilocks(folder.path(), &["reproduce", "validation"]);
    assert!(first.contains("Done in"), "{first}");
    assert!(second.contains("Nothing had changed"), "{second}");
    let table = |said: &str| said.lines().filter(|line| !line.contains(" s")).count();
    assert!(table(&first) > 5);
    let quiet = goldilocks(folder.path(), &["reproduce", "validation", "--quiet"]);
    assert!(first.contains(quiet.trim_start_matches("exit 0\n")), "{quiet}");
}
