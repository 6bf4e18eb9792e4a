//! The whole way, from the tales to the report: twice the same bytes, with any number of threads, killed or not.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::reproduction::REPRODUCTION;
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
    assert_eq!(one.len(), 4, "a manifest and three files: {:?}", one.keys());
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
    // The released layout has one file per class, so the questions come in another order.
    assert_eq!(sorted("a.jsonl"), sorted("d.jsonl"));
}

#[test]
fn a_compact_form_keeps_what_its_builder_said_and_tells_what_was_done_since() {
    let folder = TempDir::new().unwrap();
    goldilocks(folder.path(), &["build", "-o", "set", "--seed", "5"]);
    goldilocks(folder.path(), &["convert", "set", "same"]);
    goldilocks(folder.path(), &["convert", "same", "some", "--split", "test", "--class", "NE"]);
    let manifest = |name: &str| -> toml::Table {
        let text = fs::read_to_string(folder.path().join(name).join("manifest.toml")).unwrap();
        text.parse().unwrap()
    };
    assert_eq!(manifest("same"), manifest("set"));
    let some = manifest("some");
    assert_eq!(some["converted"].to_string(), r#"{ class = "NE", splits = ["test"] }"#);
    assert_eq!((&some["books"], &some["seed"]), (&manifest("set")["books"], &5.into()));
    assert_ne!(some["set"], manifest("set")["set"]);
}

#[test]
fn splits_and_class_are_chosen_the_same_way_by_every_command_that_reads_predictions() {
    let folder = TempDir::new().unwrap();
    let run = |line: &str| goldilocks(folder.path(), &line.split(' ').collect::<Vec<_>>());
    run("build -o set");
    run("train word-distance set -o model --set max_penalty=5");
    run("answer model set -o deep/a.jsonl");
    let twice = run("answer model set ./set -o b.jsonl");
    assert!(twice.contains("error: ./set: is named twice"), "{twice}");
    let both = run("evaluate deep/a.jsonl --split valid,test");
    assert!(both.contains("jsonl, valid") && both.contains("jsonl, test"), "{both}");
    let all = "--questions set --split valid --class NE";
    let evaluated = run(&format!("evaluate deep/a.jsonl {all}"));
    let compared = run(&format!("compare deep/a.jsonl deep/a.jsonl {all}"));
    let combined = run(&format!("combine deep/a.jsonl {all} -o ne.jsonl"));
    run(&format!("report deep/a.jsonl {all} -o report --table validation"));
    assert!(evaluated.contains("valid") && !evaluated.contains("test"), "{evaluated}");
    for text in [&evaluated, &compared] {
        assert!(text.contains("Named Entities") && !text.contains("Verbs"), "{text}");
    }
    assert!(combined.starts_with("exit 0"), "{combined}");
    let lines = fs::read_to_string(folder.path().join("ne.jsonl")).unwrap();
    let is_wanted = |line: &str| line.contains(r#""NE","split":"valid""#);
    assert!(lines.lines().count() > 1 && lines.lines().all(is_wanted), "{lines}");
    let table = fs::read_to_string(folder.path().join("report/validation.csv")).unwrap();
    let own = table.lines().filter(|line| line.starts_with("validation,Word distance model,"));
    let class_and_n =
        own.map(|line| line.split(',').skip(7).step_by(2).take(2).collect::<Vec<_>>());
    let counted: Vec<_> = class_and_n.filter(|cell| !cell[1].is_empty()).collect();
    assert_eq!(counted.iter().map(|cell| cell[0]).collect::<Vec<_>>(), ["NE"], "{table}");
    // A file with a name of its own is no row of the paper's, though one of the paper's methods answered; and where no
    // test question was answered, the table is that of the validation questions.
    run(&format!("report deep/a.jsonl {all} -o labelled --label deep/a.jsonl=Mine --beside-paper"));
    let table = fs::read_to_string(folder.path().join("labelled/validation.csv")).unwrap();
    let ours = |row: &str| {
        let of_names = table.lines().filter(|line| line.starts_with(&format!("validation,{row},")));
        let accuracy = of_names.filter_map(|line| line.split(',').nth(10));
        accuracy.filter(|accuracy| !accuracy.is_empty()).count()
    };
    assert_eq!([ours("Mine"), ours("Word distance model")], [1, 0], "{table}");
    let page = fs::read_to_string(folder.path().join("labelled/index.html")).unwrap();
    let page = page.replace("&#x2f;", "/").replace("&quot;", "\"");
    let command = "goldilocks report deep/a.jsonl --questions set --class NE --split valid \
                   --label \"deep/a.jsonl=Mine\" --beside-paper";
    assert!(page.contains(command), "the command that makes it again");
    // Answers to one class alone are whole when that class is asked for.
    run("answer model set -o one.jsonl --split valid --class NE");
    let one = run(&format!("evaluate one.jsonl {all}"));
    assert_eq!(one.replace("one.jsonl", "deep/a.jsonl"), evaluated);
}

#[test]
fn anonymised_questions_hold_placeholders_alone() {
    let folder = TempDir::new().unwrap();
    goldilocks(folder.path(), &["build", "-o", "set"]);
    // What follows the flag is not its value.
    let said =
        goldilocks(folder.path(), &["convert", "--anonymise", "set", "a.jsonl", "--seed", "7"]);
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

/// Runs a command and kills it (SIGKILL) once `is_time`; returns whether it was still running then.
fn killed_when(folder: &Path, line: &str, mut is_time: impl FnMut() -> bool) -> bool {
    let mut run = Command::new(env!("CARGO_BIN_EXE_goldilocks"))
        .args(line.split(' '))
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !is_time() {
        if run.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    run.kill().unwrap();
    run.wait().unwrap().code().is_none()
}

#[test]
fn a_killed_run_resumes_and_ends_with_the_same_bytes() {
    let expected = contents(&REPRODUCTION.folder);
    assert!(expected.contains_key("reproduction/table-2/report/index.html"));
    let killed = TempDir::new().unwrap();
    // The first kill comes when something is written, each later one when three more predictions are.
    let predictions = killed.path().join("reproduction/table-2/predictions");
    let n_files = || fs::read_dir(&predictions).map_or(0, Iterator::count);
    let mut n_kills = 0;
    for n in [1, 4, 7, 10, 13] {
        let hit = killed_when(killed.path(), "reproduce", || n_files() >= n);
        n_kills += usize::from(hit);
    }
    assert!(n_kills > 2, "only {n_kills} kills hit a run that had written something");
    goldilocks(killed.path(), &["reproduce"]);
    let found = contents(killed.path());
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&expected), names(&found));
    for (name, bytes) in &expected {
        assert!(found[name] == *bytes, "{name} differs");
    }
}

#[test]
fn killed_answers_are_kept_and_resumed() {
    let folder = TempDir::new().unwrap();
    let run = |line: &str| {
        let said = goldilocks(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert!(said.starts_with("exit 0\n"), "{said}");
    };
    run("build -o set");
    // A network that reads contexts of 20 sentences takes seconds to answer.
    let small = "--set dim=64 --set epochs=1 --set samples=50 --set streams=16 --set steps=20";
    run(&format!("train lstm-context-query set -o model --device cpu {small}"));
    run("answer model set -o whole.jsonl --device cpu");
    let partial = folder.path().join("killed.jsonl.partial");
    let n_lines = || fs::read_to_string(&partial).map_or(0, |text| text.matches('\n').count());
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut n_before, mut n_kills) = (0, 0);
    for _ in 0..5 {
        let more = random.random_range(2..200);
        let line = "answer model set -o killed.jsonl --device cpu";
        n_kills += usize::from(killed_when(folder.path(), line, || n_lines() > n_before + more));
        if n_lines() > 0 {
            assert!(n_lines() >= n_before, "{} lines of {n_before} are left", n_lines());
        }
        n_before = n_lines();
    }
    assert!(n_kills > 1, "only {n_kills} kills hit answers in the making");
    run("answer model set -o killed.jsonl --device cpu --force");
    assert!(!partial.exists());
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("killed.jsonl") == read("whole.jsonl"), "the answers differ");
}

/// A training that writes a checkpoint after each step is killed after random numbers of them, and while its text is
/// prepared.
#[test]
fn a_killed_training_of_a_reader_resumes_and_ends_with_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let run = |line: &str| {
        let said = goldilocks(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert!(said.starts_with("exit 0\n"), "{said}");
    };
    run("build -o set");
    let settings = [
        "pieces=400 layers=1 width=16 heads=1 head_dim=16 feed_forward=16 length=64 rows=2 steps=30",
        "tune_length=1024 tune_rows=1 tune_steps=8 valid=4",
    ];
    let settings: String =
        settings.iter().flat_map(|line| line.split(' ')).map(|it| format!(" --set {it}")).collect();
    let train = |output: &str| {
        format!("train reader set -o {output} --device cpu --save-every 0{settings}")
    };
    run(&train("whole"));
    let working = folder.path().join(".killed.checkpoints");
    let written = || {
        let checkpoint = fs::metadata(working.join("checkpoint.safetensors"));
        checkpoint.and_then(|file| file.modified()).ok()
    };
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut n_early, mut n_later) = (0, 0);
    for kill in 0..8 {
        let (mut before, mut n_left) = (written(), random.random_range(1..8));
        let hit = killed_when(folder.path(), &train("killed"), || {
            if kill < 2 {
                // Once there is anything, while the text or the pieces are made.
                return working.exists();
            }
            let now = written();
            n_left -= i32::from(now != before);
            before = now;
            n_left == 0
        });
        let n_kills = if kill < 2 { &mut n_early } else { &mut n_later };
        *n_kills += usize::from(hit);
    }
    assert!(n_early > 0 && n_later > 1, "{n_early} and {n_later} kills hit a training");
    if !folder.path().join("killed").exists() {
        run(&train("killed"));
    }
    assert!(!working.exists());
    let [whole, killed] = ["whole", "killed"].map(|name| contents(&folder.path().join(name)));
    assert_eq!(whole.len(), 7, "{:?}", whole.keys());
    assert!(whole == killed, "the readers differ");
}

#[test]
fn a_second_run_has_nothing_to_do() {
    let folder = TempDir::new().unwrap();
    REPRODUCTION.copy_to(folder.path());
    let first = &REPRODUCTION.said;
    let second = goldilocks(folder.path(), &["reproduce"]);
    assert!(first.contains("Done after"), "{first}");
    assert!(second.contains("Everything is up to date"), "{second}");
    let table = |said: &str| said.lines().filter(|line| !line.contains(" s")).count();
    assert!(table(first) > 5);
    for row in ["Reader (8.5M parameters), 20", "Reader + MemNNs, one weight each"] {
        assert!(first.contains(row), "{row}: {first}");
    }
    let quiet = goldilocks(folder.path(), &["reproduce", "--quiet"]);
    assert!(first.contains(quiet.trim_start_matches("exit 0\n")), "{quiet}");
}

#[test]
fn training_prints_a_line_per_epoch_and_the_model_keeps_its_curve() {
    let folder = TempDir::new().unwrap();
    let run = |line: &str| goldilocks(folder.path(), &line.split(' ').collect::<Vec<_>>());
    run("build -o set");
    let line = "train embedding-query set --set dim=8 --set epochs=2";
    let said = run(&format!("{line} -o model"));
    let epochs: Vec<&str> = said.lines().filter(|line| line.starts_with("epoch ")).collect();
    assert_eq!(epochs.len(), 2, "{said}");
    let first: Vec<&str> = epochs[0].split("  ").collect();
    assert_eq!((first.len(), first[0]), (4, "epoch 1/2"), "{said}");
    assert!(first[1].starts_with("loss ") && first[2].ends_with(" (best)"), "{said}");
    assert!(first[2].starts_with("valid .") && first[3].ends_with(" questions/s"), "{said}");
    let curve = fs::read_to_string(folder.path().join("model/training.jsonl")).unwrap();
    assert!(curve.starts_with("{\"epoch\":1,\"loss\":"), "{curve}");
    assert_eq!(curve.lines().count(), 2);
    let quiet = run(&format!("{line} -o quiet -q"));
    assert_eq!(quiet, "exit 0\n");
    assert_eq!(fs::read_to_string(folder.path().join("quiet/training.jsonl")).unwrap(), curve);
}
