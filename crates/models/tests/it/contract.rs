//! The contract of [`goldilocks_models::Model`], as checks that take any model and any question set, run over the
//! registry on the embedded tales: a new model is tested by being listed.
//!
//! A check says what is wrong instead of panicking, so that `faults.rs` can show that each can fail.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use goldilocks_models::{
    DeviceChoice, Entry, Event, MODELS, Model, Saved, Settings, Training, save, score_all,
};
use questions::{BLANK, Question, QuestionSet, SentenceBuffer, Sentences};
use rayon::prelude::*;
use tempfile::TempDir;

use crate::tales;

pub type Checked = Result<(), String>;
pub type Check = fn(&Entry, &QuestionSet) -> Checked;

/// Every check with what it shows.
pub const CHECKS: &[(&str, Check)] = &[
    ("settings are sound", has_sound_settings),
    ("scores are the same after save and load", is_the_same_after_save_and_load),
    ("scores follow the candidates when they are permuted", follows_permuted_candidates),
    ("scores depend on words and not on their numbers", follows_words_not_their_numbers),
    ("scores are finite even for odd questions", answers_odd_questions),
    ("scores of a batch are those of its questions", answers_many_as_it_answers_one),
    ("the same seed gives the same bytes", has_the_same_bytes_for_the_same_seed),
    ("a learner learns", learns_if_it_says_so),
    ("a learner resumes where it stopped", resumes_to_the_same_bytes),
];

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(message()) }
}

/// The settings for the tales: small, so that a learner is trained in a moment.
fn settings(entry: &Entry) -> Result<Settings, String> {
    let experiment: toml::Table =
        include_str!("../../../goldilocks/experiments/table-2.toml").parse().expect("a TOML file");
    let tales = experiment.get("tales").and_then(|tales| tales.get(entry.name));
    let changed = tales.and_then(toml::Value::as_table).into_iter().flatten();
    let texts: Vec<String> = changed
        .map(|(key, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{key}={value}")
        })
        .collect();
    let settings = Settings::from_text(entry, texts.iter().map(String::as_str));
    settings.map_err(|error| error.to_string())
}

/// Trains with the settings for the tales; `watch` hears every event.
fn train(
    entry: &Entry,
    set: &QuestionSet,
    checkpoints: Option<&Path>,
    watch: &(dyn Fn(&Event) + Sync),
) -> Result<Box<dyn Model>, String> {
    let report = |event: Event| watch(&event);
    let mut training = Training::new(set, 7, &report);
    training.checkpoints = checkpoints;
    (entry.train)(&settings(entry)?, &training).map_err(|error| error.to_string())
}

fn plainly(entry: &Entry, set: &QuestionSet) -> Result<Box<dyn Model>, String> {
    train(entry, set, None, &|_| ())
}

/// Every how many-th question is looked at where each is scored by itself.
const STEP: usize = 37;

fn some_scores(model: &dyn Model, set: &QuestionSet) -> Vec<Vec<f32>> {
    let reader = model.reader(set.vocabulary());
    set.examples().step_by(STEP).map(|example| reader.score(&example.question)).collect()
}

/// Saves into a new folder and reads back every file of it.
fn bytes(entry: &Entry, model: &dyn Model) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let root = TempDir::new().expect("a temporary folder");
    let folder = root.path().join(entry.name);
    save(model, &settings(entry)?, BTreeMap::new(), &folder, false).map_err(|e| e.to_string())?;
    let files = fs::read_dir(folder).expect("the folder was written");
    Ok(files
        .map(|file| {
            let path = file.expect("a readable folder").path();
            let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            (name, fs::read(&path).expect("models keep plain files"))
        })
        .collect())
}

pub fn has_sound_settings(entry: &Entry, _: &QuestionSet) -> Checked {
    Settings::from_text(entry, []).map_err(|error| error.to_string())?;
    settings(entry)?;
    let mut names: Vec<&str> = entry.settings.iter().map(|setting| setting.name).collect();
    names.sort_unstable();
    names.dedup();
    ensure(names.len() == entry.settings.len(), || "two settings have one name".to_owned())
}

pub fn is_the_same_after_save_and_load(entry: &Entry, set: &QuestionSet) -> Checked {
    let model = plainly(entry, set)?;
    let root = TempDir::new().expect("a temporary folder");
    let folder = root.path().join(entry.name);
    let settings = settings(entry)?;
    save(&*model, &settings, BTreeMap::new(), &folder, false).map_err(|e| e.to_string())?;
    let device = DeviceChoice::Cpu;
    let saved = Saved { folder: &folder, settings, device, reporter: &|_| () };
    let loaded = (entry.load)(&saved).map_err(|error| error.to_string())?;
    ensure(some_scores(&*model, set) == some_scores(&*loaded, set), || {
        "the loaded model scores otherwise than the saved one".to_owned()
    })
}

pub fn follows_permuted_candidates(entry: &Entry, set: &QuestionSet) -> Checked {
    let model = plainly(entry, set)?;
    let reader = model.reader(set.vocabulary());
    for example in set.examples().step_by(STEP) {
        let question = example.question;
        let mut candidates = question.candidates.to_vec();
        candidates.rotate_left(1);
        let mut scores = reader.score(&question);
        scores.rotate_left(1);
        let permuted = reader.score(&Question { candidates: &candidates, ..question });
        ensure(permuted == scores, || {
            format!("question {}: {permuted:?} instead of {scores:?}", question.id())
        })?;
    }
    Ok(())
}

/// The same questions in a set that numbers its words the other way round.
pub fn follows_words_not_their_numbers(entry: &Entry, set: &QuestionSet) -> Checked {
    let model = plainly(entry, set)?;
    let mut other = QuestionSet::default();
    let words: Vec<&str> = set.vocabulary().iter().collect();
    words.iter().rev().for_each(|word| _ = other.intern(word));
    for example in set.examples() {
        let mut renumber = |ids: &[base::WordId]| -> Vec<base::WordId> {
            ids.iter().map(|&id| other.intern(set.vocabulary().word(id))).collect()
        };
        let question = example.question;
        let query = renumber(question.query);
        let candidates = renumber(question.candidates);
        let context: Vec<_> = question.context.iter().map(|words| renumber(words)).collect();
        let first = other.n_sentences();
        context.into_iter().for_each(|words| _ = other.push_sentence(words));
        other.push(questions::NewQuestion {
            context: first..other.n_sentences(),
            query: &query,
            candidates: &candidates,
            answer: None,
            class: None,
            split: None,
            book: None,
        });
    }
    ensure(some_scores(&*model, set) == some_scores(&*model, &other), || {
        "the scores depend on the numbers of the words".to_owned()
    })
}

pub fn answers_odd_questions(entry: &Entry, set: &QuestionSet) -> Checked {
    let model = plainly(entry, set)?;
    let mut odd = set.clone();
    let strangers = ["zyzzyva", "Zyzzyva", "qoph"].map(|word| odd.intern(word));
    let reader = model.reader(odd.vocabulary());
    let finite = |what: &str, question: &Question<'_>| {
        let scores = reader.score(question);
        let sound = scores.len() == question.candidates.len()
            && scores.iter().all(|score| score.is_finite());
        ensure(sound, || format!("{what}: {scores:?} for {}", question.candidates.len()))
    };
    let mut empty = SentenceBuffer::default();
    (0..3).for_each(|_| empty.push([]));
    for example in odd.examples().step_by(STEP) {
        let question = example.question;
        let lone = Question { query: &[BLANK], blank: 0, ..question };
        finite("a plain question", &question)?;
        finite("a query of one word", &lone)?;
        finite("an empty context", &Question { context: Sentences::default(), ..question })?;
        finite("no words at all", &Question { context: Sentences::default(), ..lone })?;
        finite("empty sentences", &Question { context: empty.sentences(), ..question })?;
        finite("unknown candidates", &Question { candidates: &strangers, ..question })?;
    }
    Ok(())
}

pub fn answers_many_as_it_answers_one(entry: &Entry, set: &QuestionSet) -> Checked {
    let model = plainly(entry, set)?;
    let places: Vec<usize> = (0..set.len()).step_by(STEP).collect();
    let many = score_all(&*model, set, &places, &[], &|_| ()).map_err(|error| error.to_string())?;
    let one = some_scores(&*model, set);
    // A batch may add up in another order.
    let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 * (1.0 + b.abs());
    let alike = many.iter().flatten().zip(one.iter().flatten()).all(near);
    ensure(alike, || "a batch has other scores than its questions one by one".to_owned())
}

pub fn has_the_same_bytes_for_the_same_seed(entry: &Entry, set: &QuestionSet) -> Checked {
    let with_threads = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build();
        let model = pool.expect("a pool of a few threads").install(|| plainly(entry, set))?;
        bytes(entry, &*model)
    };
    let (one, two, four) = (with_threads(1)?, with_threads(2)?, with_threads(4)?);
    ensure(one == two && one == four, || {
        "two trainings with the same seed wrote other bytes".to_owned()
    })
}

pub fn learns_if_it_says_so(entry: &Entry, set: &QuestionSet) -> Checked {
    if !entry.learns {
        return Ok(());
    }
    let losses = Mutex::new(Vec::new());
    let watch = |event: &Event| {
        if let Event::Epoch { loss, .. } = event {
            losses.lock().expect("no watcher panics").push(*loss);
        }
    };
    let model = train(entry, set, None, &watch)?;
    let reader = model.reader(set.vocabulary());
    let losses = losses.into_inner().expect("no watcher panics");
    let falls = losses.len() > 1 && losses.last() < losses.first();
    ensure(falls, || format!("the loss does not fall: {losses:?}"))?;
    let part = Training::new(set, 7, &|_| ()).train.sample(1.0 / STEP as f64, 7);
    let accuracy = part.accuracy(|question| reader.score(question));
    ensure(accuracy > Some(0.3), || format!("accuracy on the training questions: {accuracy:?}"))
}

/// A run killed after its first epoch leaves its checkpoints as they were then; one that starts from
/// them must go on with the second epoch and end like one that was never stopped.
pub fn resumes_to_the_same_bytes(entry: &Entry, set: &QuestionSet) -> Checked {
    if !entry.learns {
        return Ok(());
    }
    let [whole, killed] = [(); 2].map(|()| TempDir::new().expect("a temporary folder"));
    let copy = |event: &Event| {
        if let Event::Epoch { number: 1, .. } = event {
            for file in fs::read_dir(whole.path()).expect("the folder is there") {
                let file = file.expect("a readable folder");
                fs::copy(file.path(), killed.path().join(file.file_name())).expect("room for it");
            }
        }
    };
    let straight = bytes(entry, &*train(entry, set, Some(whole.path()), &copy)?)?;
    let epochs = Mutex::new(Vec::new());
    let note = |event: &Event| {
        if let Event::Epoch { number, .. } = event {
            epochs.lock().expect("no watcher panics").push(*number);
        }
    };
    let resumed = bytes(entry, &*train(entry, set, Some(killed.path()), &note)?)?;
    let epochs = epochs.into_inner().expect("no watcher panics");
    ensure(epochs.first() == Some(&2), || format!("it resumed with epochs {epochs:?}"))?;
    ensure(straight == resumed, || "the resumed training ended with other bytes".to_owned())
}

#[test]
fn every_model_keeps_the_contract_on_the_tales() {
    let set: &QuestionSet = &tales::SET;
    let of_entry = |entry| CHECKS.iter().map(move |check| (entry, check));
    let all: Vec<(&Entry, &(&str, Check))> = MODELS.iter().flat_map(of_entry).collect();
    let broken: Vec<String> = all
        .par_iter()
        .filter_map(|(entry, (shows, check))| {
            let problem = check(entry, set).err()?;
            Some(format!("{}: {shows}: {problem}", entry.name))
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn names_are_unique_and_a_slip_finds_the_nearest() {
    let mut names: Vec<&str> = MODELS.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), MODELS.len());
    for entry in MODELS {
        let slip = &entry.name[1..];
        let error = goldilocks_models::find(slip).err().expect("no model is called so");
        assert_eq!(error.to_string(), format!("unknown model `{slip}`"));
        let hint = error.hint().expect("a name is near");
        assert!(hint.starts_with(&format!("did you mean `{}`?", entry.name)), "{hint}");
    }
}
