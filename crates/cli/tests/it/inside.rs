//! Looking inside: `explain`, `tune`, and results that come from elsewhere.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::run::{files_below, goldilocks};

fn run(folder: &Path, line: &str) -> String {
    let said = goldilocks(folder, &line.split_whitespace().collect::<Vec<_>>());
    assert!(said.starts_with("exit 0\n"), "{line}: {said}");
    said
}

/// The tales and a trained model.
fn with_model() -> TempDir {
    let folder = TempDir::new().unwrap();
    run(folder.path(), "build -o tales");
    run(folder.path(), "train word-distance tales -o model");
    folder
}

#[test]
fn a_question_is_explained_by_its_number_and_by_its_id_alike() {
    let folder = with_model();
    let by_number = run(folder.path(), "explain model tales --class V --question 2");
    assert!(by_number.contains("Verbs · valid · "), "{by_number}");
    assert!(by_number.contains('▸') && by_number.contains("Answer"), "{by_number}");
    assert!(by_number.lines().all(|line| line.chars().count() <= 80), "{by_number}");
    let id = by_number.lines().nth(1).unwrap().split(['(', ')']).nth(1).unwrap();
    assert_eq!(run(folder.path(), &format!("explain model tales --question {id}")), by_number);

    let json = run(folder.path(), &format!("explain model tales --json --question {id}"));
    let json: serde_json::Value =
        serde_json::from_str(json.trim_start_matches("exit 0\n")).unwrap();
    assert_eq!(json["class"], "V");
    let window = &json["windows"][0];
    let words: Vec<&str> = json["context"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|sentence| sentence.as_array().unwrap())
        .map(|word| word.as_str().unwrap())
        .collect();
    let mention = words[window["mention"].as_u64().unwrap() as usize].to_lowercase();
    let candidate = &json["candidates"][window["candidate"].as_u64().unwrap() as usize];
    assert_eq!(mention, candidate.as_str().unwrap().to_lowercase());
}

#[test]
fn drawings_are_written_whole_and_not_over_others() {
    let folder = with_model();
    let line = "explain model tales --question 1 --html look.html --svg look.svg";
    run(folder.path(), line);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("look.html").contains("<div class=\"reading\""));
    assert!(read("look.svg").starts_with("<svg xmlns="));
    let again = goldilocks(folder.path(), &line.split(' ').collect::<Vec<_>>());
    assert!(again.contains("error: look.html: already exists"), "{again}");
}

#[test]
fn a_question_that_is_not_there_is_named_with_what_there_is() {
    let folder = with_model();
    for (asked, expected) in [
        ("0", "no question `0`: expected a number from 1 to 1,062"),
        ("99999", "no question `99999`: expected a number from 1 to 1,062"),
        ("0000000000000000", "no question `0000000000000000`: expected an id"),
    ] {
        let said = goldilocks(folder.path(), &["explain", "model", "tales", "--question", asked]);
        assert!(said.starts_with("exit 1\n") && said.contains(expected), "{said}");
    }
}

#[test]
fn a_tuned_grid_goes_on_where_it_stopped() {
    let folder = with_model();
    let line = "tune word-distance tales -o tuned --grid max_penalty=1,5 --fraction 0.5";
    let first = run(folder.path(), line);
    let trials = || fs::read_to_string(folder.path().join("tuned/trials.jsonl")).unwrap();
    let of_two = trials();
    assert_eq!(of_two.lines().count(), 2);
    // The trials that are there stay as they are, times included; the wider grid adds its own.
    let second = run(folder.path(), &line.replace("1,5", "5,1,3"));
    assert!(trials().starts_with(&of_two), "{}", trials());
    assert_eq!(trials().lines().count(), 3);
    let best = |said: &str| {
        let line = said.lines().find(|line| line.starts_with('*')).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    let train = |value: &str| format!("tales -o DIR --set max_penalty={value} --seed 1");
    for said in [first, second] {
        assert!(said.contains(&train(&best(&said))), "{said}");
    }
}

#[test]
fn checkpoints_of_a_trial_are_gone_when_it_is_done() {
    let folder = with_model();
    let line = "tune embedding-window tales -o tuned --grid dim=4,8 --set epochs=1";
    run(folder.path(), line);
    assert_eq!(files_below(&folder.path().join("tuned")), ["trials.jsonl"]);
}

#[test]
fn the_best_of_a_grid_is_trained_from_several_seeds() {
    let folder = with_model();
    let line = "tune word-distance tales -o tuned --grid max_penalty=1,5 --seeds 3 --json";
    let said = run(folder.path(), line);
    let json: serde_json::Value =
        serde_json::from_str(said.trim_start_matches("exit 0\n")).unwrap();
    let best = &json["trials"][json["best"].as_u64().unwrap() as usize];
    let seeds = json["seeds"]["trials"].as_array().unwrap();
    assert_eq!(seeds.len(), 3);
    assert!(seeds.iter().all(|trial| trial["settings"] == best["settings"]));
    let spread = json["seeds"]["spread"]["mean"]["mean"].as_f64().unwrap();
    assert!((spread - best["mean"].as_f64().unwrap()).abs() < 1e-12);
    // The first of the three seeds was a trial of the grid.
    let file = fs::read_to_string(folder.path().join("tuned/trials.jsonl")).unwrap();
    assert_eq!(file.lines().count(), 4);
}

#[test]
fn a_setting_that_the_model_does_not_have_stops_before_the_first_trial() {
    let folder = with_model();
    let line = "tune word-distance tales -o tuned --grid max_penalty=1,0";
    let said = goldilocks(folder.path(), &line.split(' ').collect::<Vec<_>>());
    assert!(said.contains("wrong value of `max_penalty`"), "{said}");
    assert!(!folder.path().join("tuned").exists());
}

/// Two rows of one model: from two seeds, and as an ensemble of three; and one with placeholders.
const EXPERIMENT: &str = "
title = 'Own'
tables = ['validation']
splits = ['valid']

[[rows]]
model = 'word-distance'
seeds = 2

[[rows]]
model = 'word-distance'
name = 'three'
ensemble = 3

[[rows]]
model = 'word-distance'
name = 'placeholders'
anonymise = true
";

#[test]
fn seeds_ensembles_and_placeholders_are_rows_that_share_what_is_trained() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("own.toml"), EXPERIMENT).unwrap();
    let said = run(folder.path(), "reproduce --experiment own.toml -o out");
    assert!(said.contains("±.000"), "{said}");
    assert!(said.contains("anonymise=true"), "{said}");
    let predictions: Vec<String> = files_below(&folder.path().join("out/predictions"))
        .into_iter()
        .filter(|name| name.ends_with(".jsonl"))
        .collect();
    let names = ["placeholders", "word-distance-seed-2", "word-distance-seed-3", "word-distance"];
    assert_eq!(predictions, names.map(|name| format!("{name}.jsonl")));
    let text =
        fs::read_to_string(folder.path().join("out/predictions/placeholders.jsonl")).unwrap();
    assert!(text.contains("@candidate0"));
}

/// A reproduction of which only the predictions were copied to another machine.
fn brought() -> TempDir {
    let folder = TempDir::new().unwrap();
    run(folder.path(), "build -o tales");
    fs::write(folder.path().join("own.toml"), EXPERIMENT).unwrap();
    run(folder.path(), "reproduce --experiment own.toml --questions tales -o there");
    fs::create_dir(folder.path().join("here")).unwrap();
    fs::rename(folder.path().join("there/predictions"), folder.path().join("here/predictions"))
        .unwrap();
    folder
}

#[test]
fn predictions_from_elsewhere_are_results_without_a_model() {
    let folder = brought();
    let said = run(folder.path(), "reproduce --experiment own.toml --questions tales -o here");
    assert!(said.contains("Everything is up to date"), "{said}");
    assert!(!folder.path().join("here/models").exists());
    let table = |name: &str| {
        fs::read_to_string(folder.path().join(name).join("report/validation.csv")).unwrap()
    };
    assert!(table("here") == table("there"), "the tables are the same");
}

#[test]
fn predictions_of_answer_are_results_with_the_manifest_of_their_model() {
    let folder = with_model();
    run(folder.path(), "answer model tales -o answered.jsonl");
    let experiment = "title = 'Own'\ntables = ['validation']\nsplits = ['valid']\n[[rows]]\nmodel = 'word-distance'\n";
    fs::write(folder.path().join("own.toml"), experiment).unwrap();
    let here = folder.path().join("here");
    for part in ["predictions", "models/word-distance"] {
        fs::create_dir_all(here.join(part)).unwrap();
    }
    // The file holds the test split too; the experiment is about validation alone.
    fs::copy(folder.path().join("answered.jsonl"), here.join("predictions/word-distance.jsonl"))
        .unwrap();
    fs::copy(folder.path().join("model/model.toml"), here.join("models/word-distance/model.toml"))
        .unwrap();
    let line = "reproduce --experiment own.toml --questions tales -o here";
    let said = run(folder.path(), line);
    assert!(said.contains("Everything is up to date"), "{said}");
    assert!(said.contains("*.266"), "{said}");
}

/// Weights that were copied from a faster machine are worth more than a newer program's.
#[test]
fn a_model_of_other_code_is_never_trained_again_unasked() {
    let folder = TempDir::new().unwrap();
    run(folder.path(), "build -o tales");
    let experiment = "title = 'Own'\ntables = ['validation']\nsplits = ['valid']\n[[rows]]\nmodel = 'embedding-window'\n\
                      settings = { dim = 4, epochs = 1 }\n";
    fs::write(folder.path().join("own.toml"), experiment).unwrap();
    let line = "reproduce --experiment own.toml --questions tales -o out";
    run(folder.path(), line);
    let model = folder.path().join("out/models/embedding-window");
    let manifest = fs::read_to_string(model.join("model.toml")).unwrap();
    let code = manifest.lines().find(|line| line.starts_with("code")).unwrap();
    fs::write(model.join("model.toml"), manifest.replace(code, "code = \"0123\"")).unwrap();
    fs::remove_dir_all(folder.path().join("out/predictions")).unwrap();
    let weights = fs::read(model.join("weights.safetensors")).unwrap();
    let said = goldilocks(folder.path(), &line.split(' ').collect::<Vec<_>>());
    assert!(said.starts_with("exit 1\n"), "{said}");
    assert!(said.contains("the model was trained by other code"), "{said}");
    assert!(said.contains("hint: `--any-version`"), "{said}");
    run(folder.path(), &format!("{line} --any-version"));
    assert_eq!(fs::read(model.join("weights.safetensors")).unwrap(), weights);
    assert!(fs::read_to_string(model.join("model.toml")).unwrap().contains("\"0123\""));
    // Settings that are asked for and that it does not have are another matter, and said.
    fs::write(folder.path().join("own.toml"), experiment.replace("dim = 4", "dim = 5")).unwrap();
    fs::remove_dir_all(folder.path().join("out/predictions")).unwrap();
    let said = run(folder.path(), &format!("{line} --any-version"));
    assert!(said.contains("dim changed (4 → 5); retraining"), "{said}");
}

#[test]
fn other_results_than_the_rows_are_refused_and_kept() {
    let folder = brought();
    let note = folder.path().join("here/predictions/word-distance.toml");
    let text = fs::read_to_string(&note).unwrap();
    let line = "reproduce --experiment own.toml --questions tales -o here";
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        fs::write(&note, text.replace(from, to)).unwrap();
        let said = goldilocks(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert!(said.starts_with("exit 1\n"), "{said}");
        said
    };
    let said = refused("max_penalty = \"5\"", "max_penalty = \"3\"");
    assert!(said.contains("different inputs (max_penalty: expected `5`, found `3`)"), "{said}");
    let line_of = |key: &str| text.lines().find(|line| line.starts_with(key)).unwrap();
    let (version, code) = (line_of("version"), line_of("code"));
    let said = refused(code, "code = \"0123\"");
    assert!(said.contains("hint: `--any-version`"), "{said}");
    let older = text.replace(code, "code = \"0123\"").replace(version, "version = \"0.0.9\"");
    fs::write(&note, older).unwrap();
    assert!(folder.path().join("here/predictions/word-distance.jsonl").exists());
    let said = run(folder.path(), &format!("{line} --any-version"));
    assert!(said.contains("made by other versions of the program: 0.0.9"), "{said}");
}
