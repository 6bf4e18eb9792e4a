//! A set in shards: the same bytes whoever builds it, in whatever order, however often it is killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::run::{files_below, goldilocks};

const KILLS: u64 = 50;

fn ran(folder: &Path, arguments: &[&str]) -> String {
    let said = goldilocks(folder, arguments);
    assert!(said.starts_with("exit 0\n"), "{arguments:?}: {said}");
    said
}

/// The shards below a set's folder; what a worker has not finished has another name.
fn shards(set: &Path) -> BTreeMap<String, Vec<u8>> {
    let names = files_below(set).into_iter().filter(|name| name.ends_with(".parquet"));
    names.map(|name| (name.clone(), fs::read(set.join(name)).unwrap())).collect()
}

#[test]
fn a_set_in_shards_has_the_rows_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| ran(folder.path(), arguments);
    run(&["build", "-o", "one"]);
    run(&["convert", "one", "one.jsonl"]);
    run(&["convert", "one", "one.parquet"]);
    run(&["convert", "one.parquet", "parquet.jsonl"]);
    for (set, bytes) in [("few", "1G"), ("many", "40K")] {
        run(&["plan", "-o", set, "--shard-bytes", bytes]);
        run(&["build", "--plan", set]);
        run(&["merge", set]);
        run(&["convert", set, &format!("{set}.jsonl")]);
    }
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let one = read("one.jsonl");
    for other in ["parquet", "few", "many"] {
        assert!(read(&format!("{other}.jsonl")) == one, "{other}");
    }
    assert_eq!(shards(&folder.path().join("few")).len(), 3);
}

#[test]
fn a_task_of_a_slurm_array_builds_its_shard() {
    let folder = tempfile::tempdir().unwrap();
    ran(folder.path(), &["plan", "-o", "set"]);
    let task = |number: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_goldilocks"));
        command.args(["build", "--plan", "set", "--quiet", "--shard"]);
        command.current_dir(folder.path()).env("SLURM_ARRAY_TASK_ID", number);
        command.stderr(Stdio::null()).status().unwrap().success()
    };
    assert!(task("1") && !task("x") && !task("99"));
    let names: Vec<String> = shards(&folder.path().join("set")).into_keys().collect();
    assert_eq!(names, ["data/validation-00000-of-00001.parquet"]);
    let said = goldilocks(folder.path(), &["merge", "set"]);
    assert!(said.contains("error: set: 2 of 3 shards are not built: 0, 2\n"), "{said}");
    assert!(said.contains("hint: `goldilocks build --plan set` builds"), "{said}");
}

#[test]
fn a_set_in_shards_is_answered_and_evaluated_file_by_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| ran(folder.path(), arguments);
    run(&["plan", "-o", "set", "--shard-bytes", "20K"]);
    run(&["build", "--plan", "set"]);
    let refused = goldilocks(folder.path(), &["answer", "model", "set", "-o", "answers"]);
    assert!(refused.contains("error: set: its shards are not merged\n"), "{refused}");
    assert!(refused.contains("hint: `goldilocks merge set` completes it"), "{refused}");
    run(&["merge", "set"]);
    run(&["train", "word-distance", "set", "-o", "model"]);
    run(&["answer", "model", "set", "-o", "one.jsonl"]);
    // A worker for the first shard of the validation split, the others after it; a second run has nothing to do.
    let first = fs::read_dir(folder.path().join("set/data")).unwrap().count();
    let names = files_below(&folder.path().join("set"));
    let train = names.iter().filter(|name| name.starts_with("data/train")).count();
    let task = |number: usize| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_goldilocks"));
        command.args(["answer", "model", "set", "-o", "answers", "--quiet", "--shard"]);
        command.current_dir(folder.path()).env("SLURM_ARRAY_TASK_ID", number.to_string());
        command.status().unwrap().success()
    };
    assert!(task(0) && task(train) && !task(first));
    assert_eq!(files_below(&folder.path().join("answers")).len(), 2);
    let incomplete = goldilocks(folder.path(), &["evaluate", "answers"]);
    assert!(incomplete.contains("is missing: expected the predictions of"), "{incomplete}");
    run(&["answer", "model", "set", "-o", "answers"]);
    assert!(!run(&["answer", "model", "set", "-o", "answers"]).contains(" answered in "));
    let answers = files_below(&folder.path().join("answers"));
    let of_split = |split: &str| -> Vec<u8> {
        let files = answers.iter().filter(|name| name.starts_with(split));
        files.flat_map(|name| fs::read(folder.path().join("answers").join(name)).unwrap()).collect()
    };
    let joined = [of_split("validation"), of_split("test")].concat();
    assert!(joined == fs::read(folder.path().join("one.jsonl")).unwrap());

    let figures = |arguments: &[&str]| run(&[&["evaluate", "--json"], arguments].concat());
    let one = figures(&["one.jsonl", "--questions", "set"]).replace("one.jsonl", "answers");
    assert_eq!(figures(&["answers", "--questions", "set"]), one);
    // Other settings are other predictions.
    let other = ["answer", "model", "set", "-o", "answers", "--query-only"];
    assert!(goldilocks(folder.path(), &other).contains("error: answers: already exists"));
    run(&[&other[..], &["--force"]].concat());
    assert!(figures(&["answers"]) != one);
}

#[test]
fn the_figures_of_a_set_in_shards_are_counted_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| ran(folder.path(), arguments);
    run(&["build", "-o", "one"]);
    run(&["plan", "-o", "set", "--shard-bytes", "40K"]);
    run(&["build", "--plan", "set"]);
    run(&["merge", "set"]);
    let first = run(&["stats", "set", "--shard", "1"]);
    assert!(first.contains("shard 1 of ") && !first.contains("there already"), "{first}");
    assert!(run(&["stats", "set", "--shard", "1"]).contains(", there already\n"));
    assert_eq!(run(&["stats", "set"]), run(&["stats", "one"]));
    assert!(run(&["stats", "set", "--bucket", "0"]).contains("bucket 0 of 1, there already\n"));
    let json =
        |set: &str| run(&["stats", set, "--json"]).replace(&format!("\"set\": \"{set}\""), "");
    assert_eq!(json("set"), json("one"));
}

#[test]
fn workers_that_are_killed_leave_no_half_shard() {
    let folder = tempfile::tempdir().unwrap();
    let plan = |set: &str| ran(folder.path(), &["plan", "-o", set, "--shard-bytes", "20K"]);
    plan("whole");
    ran(folder.path(), &["build", "--plan", "whole"]);
    let (mut unmerged, whole) = (BTreeMap::new(), folder.path().join("whole"));
    unmerged.append(&mut shards(&whole));
    ran(folder.path(), &["merge", "whole"]);
    plan("killed");
    let set = folder.path().join("killed");
    let mut most = 0;
    for kill in 0..KILLS {
        // Each kill begins where there is much to do.
        if shards(&set).len() == unmerged.len() {
            fs::remove_dir_all(set.join("data")).unwrap();
            fs::remove_dir_all(set.join("receipts")).unwrap();
        }
        let mut worker = Command::new(env!("CARGO_BIN_EXE_goldilocks"));
        worker.args(["build", "--plan", "killed", "--quiet"]).current_dir(folder.path());
        let mut worker = worker.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(40 + kill * 7919 % 400));
        worker.kill().unwrap();
        worker.wait().unwrap();
        for (name, bytes) in shards(&set) {
            assert!(unmerged[&name] == bytes, "kill {kill}: {name} is not as it should be");
        }
        most = most.max(shards(&set).len());
    }
    assert!(most > 1, "no worker was killed after its first shard");
    let said = ran(folder.path(), &["build", "--plan", "killed"]);
    assert_eq!(said.matches(".parquet: ").count(), unmerged.len());
    assert!(
        goldilocks(folder.path(), &["build", "--plan", "killed", "--shard", "0"])
            .contains(", there already")
    );
    ran(folder.path(), &["merge", "killed"]);
    assert!(shards(&set) == shards(&whole));
    let partial = files_below(&set).into_iter().filter(|name| name.ends_with(".partial"));
    assert_eq!(partial.collect::<Vec<_>>(), Vec::<String>::new());
}
