//! The contract of [`models::Model`], as checks that take any model and any question set.
//!
//! A check says what is wrong instead of panicking, so that `faults.rs` can show that each can fail.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use models::{Entry, Event, MODELS, Model, Saved, Settings, Training, credit, save, score_all};
use questions::{BLANK, Question, QuestionSet, Split};
use tempfile::TempDir;

use crate::tale;

pub type Checked = Result<(), String>;
pub type Check = fn(&Entry, &QuestionSet) -> Checked;

/// Every check, for sets other than the tale of these tests.
pub const CHECKS: &[Check] = &[
    has_sound_settings,
    is_the_same_after_save_and_load,
    follows_permuted_candidates,
    follows_words_not_their_numbers,
    answers_odd_questions,
    answers_many_as_it_answers_one,
    has_the_same_bytes_for_the_same_seed,
    learns_if_it_says_so,
    resumes_to_the_same_bytes,
];

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(message()) }
}

fn defaults(entry: &Entry) -> Result<Settings, String> {
    Settings::from_text(entry, []).map_err(|error| error.to_string())
}

/// Trains with the defaults; `watch` hears every event.
fn train(
    entry: &Entry,
    set: &QuestionSet,
    checkpoints: Option<&Path>,
    watch: &(dyn Fn(&Event) + Sync),
) -> Result<Box<dyn Model>, String> {
    let report = |event: Event| watch(&event);
    let mut training = Training::new(set, 7, &report);
    training.checkpoints = checkpoints;
    (entry.train)(&defaults(entry)?, &training).map_err(|error| error.to_string())
}

fn plainly(entry: &Entry, set: &QuestionSet) -> Result<Box<dyn Model>, String> {
    train(entry, set, None, &|_| ())
}

fn all_scores(model: &dyn Model, set: &QuestionSet) -> Vec<Vec<f32>> {
    let reader = model.reader(set.vocabulary());
    set.examples().map(|example| reader.score(&example.question)).collect()
}

/// Saves into a new folder and reads back every file of it.
fn bytes(entry: &Entry, model: &dyn Model) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let root = TempDir::new().expect("a temporary folder");
    let folder = root.path().join(entry.name);
    save(model, &defaults(entry)?, BTreeMap::new(), &folder, false).map_err(|e| e.to_string())?;
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
    defaults(entry)?;
    let mut names: Vec<&str> = entry.settings.iter().map(|setting| setting.name).collect();
    names.sort_unstable();
    names.dedup();
    ensure(names.len() == entry.settings.len(), || "two settings have one name".to_owned())
}

pub fn is_the_same_after_save_and_load(entry: &Entry, set: &QuestionSet) -> Checked {
    let model = plainly(entry, set)?;
    let root = TempDir::new().expect("a temporary folder");
    let folder = root.path().join(entry.name);
    let settings = defaults(entry)?;
    save(&*model, &settings, BTreeMap::new(), &folder, false).map_err(|e| e.to_string())?;
    let saved = Saved { folder: &folder, settings };
    let loaded = (entry.load)(&saved).map_err(|error| error.to_string())?;
    ensure(all_scores(&*model, set) == all_scores(&*loaded, set), || {
        "the loaded model scores otherwise than the saved one".to_owned()
    })
}

pub fn follows_permuted_candidates(entry: &Entry, set: &QuestionSet) -> Checked {
    let model = plainly(entry, set)?;
    let reader = model.reader(set.vocabulary());
    for example in set.examples() {
        let question = example.question;
        let mut candidates = question.candidates.to_vec();
        candidates.rotate_left(1);
        let mut scores = reader.score(&question);
        scores.rotate_left(1);
        let permuted = reader.score(&Question { candidates: &candidates, ..question.clone() });
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
        let mut renumber = |ids: &[corpus::WordId]| -> Vec<corpus::WordId> {
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
    ensure(all_scores(&*model, set) == all_scores(&*model, &other), || {
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
    for example in odd.examples() {
        let question = example.question;
        let lone = Question { query: &[BLANK], blank: 0, ..question.clone() };
        finite("a plain question", &question)?;
        finite("a query of one word", &lone)?;
        finite("an empty context", &Question { context: vec![], ..question.clone() })?;
        finite("no words at all", &Question { context: vec![], ..lone })?;
        finite("empty sentences", &Question { context: vec![&[]; 3], ..question.clone() })?;
        finite("unknown candidates", &Question { candidates: &strangers, ..question.clone() })?;
    }
    Ok(())
}

pub fn answers_many_as_it_answers_one(entry: &Entry, set: &QuestionSet) -> Checked {
    let model = plainly(entry, set)?;
    let places: Vec<usize> = (0..set.len()).collect();
    let many = score_all(&*model, set, &places, &[], &|_| ()).map_err(|error| error.to_string())?;
    let one = all_scores(&*model, set);
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
    let (one, four) = (with_threads(1)?, with_threads(4)?);
    ensure(one == four, || "two trainings with the same seed wrote other bytes".to_owned())
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
    let credits: Vec<f64> = set
        .of_split(Split::Train)
        .into_iter()
        .filter_map(|place| {
            let example = set.example(place);
            example.answer.map(|answer| credit(&reader.score(&example.question), answer))
        })
        .collect();
    let accuracy = credits.iter().sum::<f64>() / credits.len() as f64;
    ensure(accuracy > 0.3, || format!("accuracy on the training questions: {accuracy:.3}"))
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

fn over_the_registry(check: Check) {
    let set = tale::set();
    for entry in MODELS {
        assert_eq!(check(entry, &set), Ok(()), "{}", entry.name);
    }
}

#[test]
fn settings_are_sound() {
    over_the_registry(has_sound_settings);
}

#[test]
fn scores_are_the_same_after_save_and_load() {
    over_the_registry(is_the_same_after_save_and_load);
}

#[test]
fn scores_follow_the_candidates_when_they_are_permuted() {
    over_the_registry(follows_permuted_candidates);
}

#[test]
fn scores_depend_on_words_and_not_on_their_numbers() {
    over_the_registry(follows_words_not_their_numbers);
}

#[test]
fn scores_are_finite_even_for_odd_questions() {
    over_the_registry(answers_odd_questions);
}

#[test]
fn scores_of_a_batch_are_those_of_its_questions() {
    over_the_registry(answers_many_as_it_answers_one);
}

#[test]
fn the_same_seed_gives_the_same_bytes_for_any_number_of_threads() {
    over_the_registry(has_the_same_bytes_for_the_same_seed);
}

#[test]
fn learners_learn() {
    over_the_registry(learns_if_it_says_so);
}

#[test]
fn learners_resume_where_they_stopped() {
    over_the_registry(resumes_to_the_same_bytes);
}

#[test]
fn names_are_unique_and_a_slip_finds_the_nearest() {
    let mut names: Vec<&str> = MODELS.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), MODELS.len());
    for entry in MODELS {
        let slip = &entry.name[1..];
        let error = models::find(slip).err().expect("no model is called so");
        assert_eq!(error.to_string(), format!("unknown model `{slip}`"));
        let hint = error.hint().expect("a name is near");
        assert!(hint.starts_with(&format!("did you mean `{}`?", entry.name)), "{hint}");
    }
}
