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

/// Runs the program where no file may have more than some blocks of 512 bytes: writing fails as on a full disk.
#[cfg(unix)]
fn cramped(folder: &Path, blocks: u64, arguments: &[&str]) -> (Option<i32>, String) {
    let script = format!("ulimit -f {blocks}; trap '' XFSZ; exec \"$@\"");
    let program = env!("CARGO_BIN_EXE_goldilocks");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", program]).args(arguments).current_dir(folder);
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_no_half_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| ran(folder.path(), arguments);
    let contents = |set: &str| -> BTreeMap<String, Vec<u8>> {
        let place = folder.path().join(set);
        let names = files_below(&place).into_iter().filter(|name| !name.ends_with(".toml"));
        names.map(|name| (name.clone(), fs::read(place.join(name)).unwrap())).collect()
    };
    run(&["plan", "-o", "whole", "--shard-bytes", "60K"]);
    run(&["build", "--plan", "whole"]);
    let unmerged = contents("whole");
    run(&["plan", "-o", "set", "--shard-bytes", "60K"]);
    let refused = |blocks, arguments: &[&str], at: &str| {
        let (code, said) = cramped(folder.path(), blocks, arguments);
        assert_eq!(code, Some(1), "{arguments:?}: {said}");
        assert!(said.contains(&format!("error: {at}")), "{said}");
    };
    refused(0, &["plan", "-o", "other"], "other/plan.jsonl: ");
    // There is room for the shorter half of the shards.
    let mut lengths: Vec<u64> =
        shards(&folder.path().join("whole")).values().map(|bytes| bytes.len() as u64).collect();
    lengths.sort_unstable();
    let room = lengths[lengths.len() / 2] / 512 - 1;
    refused(room, &["build", "--plan", "set"], "set/data/train-0000");
    let mut n_refused = 0;
    for number in 0..lengths.len() {
        let number = number.to_string();
        let task = ["build", "--plan", "set", "--shard", &number];
        n_refused += usize::from(cramped(folder.path(), room, &task).0 != Some(0));
    }
    assert!(0 < n_refused && n_refused < lengths.len(), "{n_refused} of {}", lengths.len());
    let built = contents("set");
    assert!(built.iter().all(|(name, bytes)| unmerged[name] == *bytes));
    // What was refused is missing, and nothing else is made when there is room.
    let said = run(&["build", "--plan", "set"]);
    assert_eq!(said.matches("there already").count(), lengths.len() - n_refused);
    assert!(contents("set") == unmerged);

    run(&["merge", "whole"]);
    refused(0, &["merge", "set"], "set/books.jsonl: ");
    assert!(!folder.path().join("set/merged.toml").exists());
    run(&["merge", "set"]);
    assert!(contents("set") == contents("whole"));

    refused(20, &["stats", "set"], "set/stats/00000.bin: ");
    let counted = run(&["stats", "whole"]);
    assert_eq!(run(&["stats", "set"]), counted);
    run(&["train", "word-distance", "whole", "-o", "model"]);
    run(&["answer", "model", "whole", "-o", "all"]);
    refused(20, &["answer", "model", "set", "-o", "some"], "some/");
    let all = contents("all");
    assert!(contents("some").iter().all(|(name, bytes)| all.get(name).is_none_or(|b| b == bytes)));
    run(&["answer", "model", "set", "-o", "some"]);
    assert!(contents("some") == all);
}

#[test]
fn a_book_that_is_damaged_after_the_plan_costs_its_shard() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("books")).unwrap();
    for name in ["ash", "beech", "cedar"] {
        let text: String =
            (0..60).map(|n| format!("The {name} saw {n} bears near the wood. ")).collect();
        fs::write(folder.path().join("books").join(name).with_extension("txt"), text).unwrap();
    }
    ran(folder.path(), &["plan", "books", "-o", "set", "--split-by", "hash", "--shard-bytes", "1"]);
    let beech = folder.path().join("books/beech.txt");
    let whole = fs::read(&beech).unwrap();
    fs::write(&beech, "The beech").unwrap();
    let said = goldilocks(folder.path(), &["build", "--plan", "set"]);
    assert_eq!(shards(&folder.path().join("set")).len(), 2, "{said}");
    assert!(
        said.contains(" is not built: DIR/books/beech.txt: has changed since it was planned"),
        "{said}"
    );
    assert!(said.contains("error: set: 1 of 3 shards is not built: "), "{said}");
    fs::write(&beech, whole).unwrap();
    assert_eq!(ran(folder.path(), &["build", "--plan", "set"]).matches("there already").count(), 2);
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
