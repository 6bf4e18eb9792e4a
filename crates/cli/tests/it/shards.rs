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
