//! Files that are in `tests/golden` must still load and answer the same: model folders of a learner and of a language
//! model, one of an older format, and a checkpoint. A fixture that is not there is written, and the test fails once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use expect_test::expect;
use goldilocks_models::{
    Event, Manifest, Model, Provenance, Scores, Settings, Training, find, load, save,
};
use questions::{BLANK, BookText, NewQuestion, QuestionSet, Split};

const TEXT: [&str; 4] =
    ["the sly fox saw the old hen", "the old hen ran home", "a sly fox sat down", "the hen sat"];

/// Two training questions and one validation question about four sentences.
fn set() -> QuestionSet {
    let mut set = QuestionSet::default();
    let numbers = |set: &mut QuestionSet, text: &str| -> Vec<base::WordId> {
        text.split(' ').map(|word| set.intern(word)).collect()
    };
    for split in [Split::Train, Split::Valid] {
        let first = set.n_sentences();
        for sentence in TEXT {
            let words = numbers(&mut set, sentence);
            set.push_sentence(words);
        }
        let sentences = first..set.n_sentences();
        let name = split.code().to_owned();
        let book =
            set.push_book(BookText { name, split: Some(split), sentences: sentences.clone() });
        for (before, after, answer) in [("the sly", "ran", 0), ("the old", "sat", 1)] {
            let query = [numbers(&mut set, before), vec![BLANK], numbers(&mut set, after)].concat();
            let candidates = numbers(&mut set, "fox hen home");
            let question = NewQuestion {
                context: sentences.clone(),
                query: &query,
                candidates: &candidates,
                answer: Some(answer),
                class: None,
                split: Some(split),
                book: Some(book),
            };
            set.push(question).expect("a sound question");
        }
    }
    set
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn scores(model: &Arc<dyn Model>, set: &QuestionSet) -> String {
    let mut scores = Scores::default();
    let questions: Vec<_> = set.examples().map(|example| example.question).collect();
    model.clone().scorer(set.vocabulary()).score(&questions, &mut scores).expect("it answers");
    scores.iter().map(|list| format!("{list:?}\n")).collect()
}

fn settings(name: &str, texts: &[&str]) -> Settings {
    let method = find(name).expect("a method");
    Settings::from_text(method, texts.iter().copied()).expect("sound settings")
}

const LEARNER: &str = "memnn-window-selfsup";
const LEARNER_SETTINGS: [&str; 5] = ["dim=2", "window=3", "encoding=bag", "epochs=3", "patience=3"];

/// The model of a folder, which is made first if it is not there.
fn model(name: &str, texts: &[&str]) -> Arc<dyn Model> {
    let (folder, set) = (golden(name), set());
    if !folder.exists() {
        let settings = settings(name, texts);
        let method = find(name).expect("a method");
        let training = Training::new(&set, 1, &|_| ());
        let model = (method.train)(&settings, &training).expect("it learns");
        let manifest = Manifest::new(Provenance::new(&settings, training.data(), 1));
        save(&*model, &manifest, &folder, false).expect("it is written");
        panic!("{} was written: look at it and run again", folder.display());
    }
    load(&folder).expect("it still loads").0
}

#[test]
fn a_learner_answers_as_it_did() {
    expect![[r#"
        [-1.2059088, -0.62860847, -1.7882847]
        [-1.2399681, -0.6068072, -1.7986748]
        [-1.2059088, -0.62860847, -1.7882847]
        [-1.2399681, -0.6068072, -1.7986748]
    "#]]
    .assert_eq(&scores(&model(LEARNER, &LEARNER_SETTINGS), &set()));
}

#[test]
fn a_language_model_answers_as_it_did() {
    expect![[r#"
        [-5.8992543, -8.87447, -9.376516]
        [-7.593258, -3.6099105, -7.7769995]
        [-5.8992543, -8.87447, -9.376516]
        [-7.593258, -3.6099105, -7.7769995]
    "#]]
    .assert_eq(&scores(&model("kneser-ney", &["order=3"]), &set()));
}

#[test]
fn a_folder_of_the_first_format_is_read() {
    let (model, manifest) = load(&golden("word-distance-format-1")).expect("it still loads");
    let Provenance { model: name, data, seed, program, .. } = manifest.provenance;
    assert_eq!((name.as_str(), data.as_str(), seed), ("word-distance", "d1", 1));
    assert!(program.code.is_empty(), "its code is not known");
    expect![[r#"
        [-7.0, -7.0, -16.0]
        [-14.0, -7.0, -21.0]
        [-7.0, -7.0, -16.0]
        [-14.0, -7.0, -21.0]
    "#]]
    .assert_eq(&scores(&model, &set()));
}

#[test]
fn a_checkpoint_is_resumed_to_the_same_end() {
    let (folder, set) = (golden("checkpoint"), set());
    let settings = settings(LEARNER, &LEARNER_SETTINGS);
    let train = find(LEARNER).expect("a method").train;
    let work = tempfile::tempdir().expect("a temporary folder");
    let copy = |from: &Path, to: &Path| {
        fs::create_dir_all(to).expect("room for it");
        for file in fs::read_dir(from).expect("the folder is there") {
            let file = file.expect("a readable folder");
            fs::copy(file.path(), to.join(file.file_name())).expect("room for it");
        }
    };
    let is_new = !folder.exists();
    if !is_new {
        copy(&folder, work.path());
        // The code has changed since on purpose, or the answers below would be others.
        let record = work.path().join("training.toml");
        let text = fs::read_to_string(&record).expect("the record");
        let line = |line: &str| {
            let is_code = line.starts_with("code = ");
            if is_code { format!("code = \"{}\"\n", settings.code()) } else { format!("{line}\n") }
        };
        fs::write(&record, text.lines().map(line).collect::<String>()).expect("room for it");
    }
    let epochs = Mutex::new(Vec::new());
    let note = |event: Event| {
        if let Event::Epoch { record, .. } = event {
            epochs.lock().expect("no panic").push(record.epoch);
            if is_new && record.epoch == 1 {
                copy(work.path(), &folder);
            }
        }
    };
    let mut training = Training::new(&set, 1, &note);
    training.checkpoints = Some(work.path());
    let model = train(&settings, &training).expect("it learns");
    assert!(!is_new, "{} was written: look at it and run again", folder.display());
    assert_eq!(epochs.into_inner().expect("no panic"), [2, 3]);
    let whole = train(&settings, &Training::new(&set, 1, &|_| ())).expect("it learns");
    assert_eq!(scores(&model, &set), scores(&whole, &set));
}
