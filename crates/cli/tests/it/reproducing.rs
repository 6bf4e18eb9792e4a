//! `reproduce`: which rows are made, in which order, and what is reported when it stops early.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use expect_test::expect;
use tempfile::TempDir;

use crate::run::goldilocks;

/// Two rows: one that takes a moment, and one that would take hours.
const SHORT_AND_LONG: &str = "title = 'Own'\ntables = ['validation']\nfigure_2 = true\nsplits = ['valid']\n\
    [[rows]]\nmodel = 'memnn-window-selfsup'\nname = 'long'\nsettings = { dim = 2, epochs = 1000, patience = 1000 }\n\
    [[rows]]\nmodel = 'word-distance'\nsettings = { max_penalty = 5 }\n";

fn run(folder: &Path, line: &str) -> String {
    goldilocks(folder, &line.split(' ').collect::<Vec<_>>())
}

/// The lines of a run that say what was made, without times.
fn made(said: &str) -> Vec<&str> {
    let lines = said.lines().filter(|line| line.starts_with("  model "));
    lines.filter_map(|line| line.split_whitespace().nth(2)).collect()
}

#[test]
fn rows_are_chosen_by_name_and_the_report_keeps_those_of_earlier_runs() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let said = run(folder, "reproduce --only sliding-window,max-frequency-context -o out");
    assert_eq!(made(&said), ["max-frequency-context", "sliding-window"]);
    let said = run(folder, "reproduce --only word-distance -o out");
    assert_eq!(made(&said), ["word-distance"]);
    let csv = fs::read_to_string(folder.join("out/report/table-2.csv")).unwrap();
    for row in ["max-frequency-context", "sliding-window", "word-distance"] {
        assert!(csv.contains(&format!(",{row},")), "{row}: {csv}");
    }
    let said = run(folder, "reproduce validation --only word-distance -o valid");
    assert_eq!(made(&said), ["word-distance"]);
    fs::write(folder.join("own.toml"), SHORT_AND_LONG).unwrap();
    let said = run(folder, "reproduce --experiment own.toml --skip long -o own");
    assert_eq!(made(&said), ["word-distance"]);
    expect![[r#"
        exit 1
        The Goldilocks Principle: Table 2, on the embedded tales, seed 1

        error: no row is named `word-distanse`
        hint: did you mean `word-distance`?
    "#]]
    .assert_eq(&run(folder, "reproduce --only word-distanse -o out"));
}

#[test]
fn the_file_of_a_table_is_shown_and_runs_as_it_is() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let said = run(folder, "reproduce --show table-2");
    let text = said.strip_prefix("exit 0\n").unwrap();
    fs::write(folder.join("own.toml"), text).unwrap();
    let said = run(folder, "reproduce --experiment own.toml --only word-distance -o out");
    assert_eq!(made(&said), ["word-distance"]);
    fs::write(folder.join("wrong.toml"), "title = 'x'\nrows = ['word-distance']\n").unwrap();
    expect![[r#"
        exit 1
        error: wrong.toml: TOML parse error at line 2, column 9
          |
        2 | rows = ['word-distance']
          |         ^^^^^^^^^^^^^^^
        invalid type: string "word-distance", expected expected a row, such as `{ model = "word-distance" }`

        hint: a row is a table: `[[rows]]`, then `model = "word-distance"`; `goldilocks reproduce --show` prints all of table-2
    "#]]
    .assert_eq(&run(folder, "reproduce --experiment wrong.toml"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_a_report_of_the_rows_that_are_done() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("own.toml"), SHORT_AND_LONG).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_goldilocks"))
        .args(["reproduce", "--experiment", "own.toml", "-o", "out"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The long row has begun when its first checkpoint is there.
    let begun = folder.join("out/models/.long.checkpoints");
    while !begun.exists() {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(folder.join("out/predictions/word-distance.toml").exists(), "cheap rows come first");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let (table, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(table.contains("Word distance model"), "{table}");
    assert!(folder.join("out/report/index.html").exists());
    assert!(said.contains("stopping: the rows that are done are reported"), "{said}");
    assert!(said.contains("Left: long."), "{said}");
    assert!(said.ends_with("interrupted; run the same command again to resume\n"), "{said}");
}

#[test]
fn explanations_that_a_kill_prevented_are_made_by_the_next_run() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("own.toml"), SHORT_AND_LONG).unwrap();
    let line = "reproduce --experiment own.toml --only word-distance -o out";
    run(folder, line);
    let read = |name: &str| fs::read(folder.join("out").join(name)).unwrap();
    let names = ["explanations/word-distance.jsonl", "predictions/word-distance.toml"];
    let whole = names.map(read);
    // Killed after the answers, before they were explained.
    names.iter().for_each(|name| fs::remove_file(folder.join("out").join(name)).unwrap());
    let said = run(folder, line);
    assert!(said.contains("Everything is up to date"), "{said}");
    assert!(names.map(read) == whole);
}

#[test]
fn rows_of_a_set_of_ones_own_are_estimated_before_they_begin() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let own = SHORT_AND_LONG.replace("name = 'long'", "").replace("epochs = 1000", "epochs = 2");
    fs::write(folder.join("own.toml"), own).unwrap();
    run(folder, "build -o tales");
    let said = run(folder, "reproduce --experiment own.toml --questions tales -o out");
    let estimate = said.split_once("  still to train, as short trials on this machine tell:\n");
    let estimate = estimate.unwrap_or_else(|| panic!("{said}")).1;
    assert!(estimate.starts_with("    memnn-window-selfsup  about "), "{estimate}");
    assert_eq!(made(&said), ["word-distance", "memnn-window-selfsup"]);
    let again = run(folder, "reproduce --experiment own.toml --questions tales -o out");
    assert!(!again.contains("still to train"), "{again}");
}
