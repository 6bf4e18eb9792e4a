//! Language networks as a whole: what they learn, and what happens when something goes wrong.

use std::sync::{Arc, Mutex};

use numerics::Table;
use numerics::testing::{cpu_lost_after, cpu_with_memory};
use questions::{Question, QuestionSet, Split};

use crate::fixture::{TestQuestion, score, set_of};
use crate::networks::answers::BATCH_SIZE;
use crate::networks::device::{AnyDevice, with_fallback};
use crate::networks::family::Task;
use crate::networks::lstm::Lstm;
use crate::{DeviceChoice, Error, Event, Model, Result, Settings, Training, find};

/// A fox is always red, a hen is always old; the last question has names that no training book has.
pub(crate) fn set() -> QuestionSet {
    let tale = || vec!["a red fox ran", "an old hen sat", "a red fox sat", "an old hen ran"];
    let asked = |context, query, candidates, split| TestQuestion {
        context,
        query,
        candidates,
        answer: Some(0),
        split,
    };
    let mut questions: Vec<TestQuestion<'_>> = (0..8)
        .map(|_| {
            asked([tale(), tale()].concat(), "a red XXXXX ran", &["fox", "hen"][..], Split::Train)
        })
        .collect();
    questions.push(asked(tale(), "a red XXXXX sat", &["fox", "hen"], Split::Valid));
    questions.push(asked(tale(), "an old XXXXX ran", &["Hen", "zyx", "fox", "hen"], Split::Valid));
    set_of(&questions)
}

const SMALL: [&str; 8] = [
    "dim=8",
    "optimiser=adam",
    "learning_rate=0.05",
    "schedule=cosine",
    "epochs=6",
    "streams=2",
    "steps=5",
    "min_count=1",
];

pub(crate) fn settings(model: &str, more: &[&str]) -> Settings {
    Settings::from_text(find(model).unwrap(), SMALL.iter().chain(more).copied()).unwrap()
}

fn trained(set: &QuestionSet, more: &[&str]) -> Arc<dyn Model> {
    let settings = settings("lstm-context-query", more);
    let train = find("lstm-context-query").unwrap().train;
    train(&settings, &Training::new(set, 1, &|_| ())).unwrap()
}

#[test]
fn the_words_before_the_blank_predict_the_word() {
    let set = set();
    let scores = score(&trained(&set, &[]), &set.example(8).question);
    assert!(scores[0] > scores[1] + 2.0, "{scores:?}");
}

#[test]
fn unknown_words_share_their_probability_and_case_decides_between_twins() {
    let set = set();
    let question = set.example(9).question;
    // `Hen` and `zyx` are unknown: each has half of what `<unk>` would have alone.
    let model = trained(&set, &[]);
    let scores = score(&model, &question);
    assert_eq!(scores[0], scores[1]);
    let alone = Question { candidates: &question.candidates[1..], ..question };
    let difference = score(&model, &alone)[0] - scores[1];
    assert!((difference - 2f32.ln()).abs() < 1e-5, "{difference}");
    // In lower case `Hen` is the hen that is not at the start of a sentence.
    let scores = score(&trained(&set, &["lowercase=true"]), &question);
    assert!(scores[0] < scores[3] && scores[0] > scores[1], "{scores:?}");
}

#[test]
fn questions_can_be_learnt_from_in_the_place_of_text() {
    let set = set();
    let settings = settings("contextual-lstm", &["learns_from=questions", "max_words=9"]);
    let train = find("contextual-lstm").unwrap().train;
    let model = train(&settings, &Training::new(&set, 1, &|_| ())).unwrap();
    let scores = score(&model, &set.example(8).question);
    assert!(scores[0] > scores[1], "{scores:?}");
}

/// Threads that help each other must not wait for each other, whatever `auto` found.
#[test]
fn many_threads_answer_at_once() {
    let set = set();
    let mut training = Training::new(&set, 1, &|_| ());
    training.device = DeviceChoice::Auto;
    let train = find("lstm-context-query").unwrap().train;
    let model = train(&settings("lstm-context-query", &[]), &training).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
    let places = vec![8; 20 * BATCH_SIZE];
    let mut all = Vec::new();
    let scorer = model.scorer(set.vocabulary());
    let done = pool.install(|| {
        crate::score_all(scorer, &set, &places, &[], &mut |_, scores| {
            all.extend(scores.iter().map(<[f32]>::to_vec));
            Ok(())
        })
    });
    done.unwrap();
    assert_eq!(all.len(), places.len());
    assert!(all.iter().all(|scores| *scores == all[0]));
}

#[test]
fn without_words_there_is_nothing_to_learn() {
    let set = set();
    let settings = settings("lstm-query", &["min_count=1000"]);
    let train = find("lstm-query").unwrap().train;
    let error = train(&settings, &Training::new(&set, 1, &|_| ())).err().expect("it fails");
    let hint = error.remedy().unwrap().to_string();
    assert!(error.to_string().contains("`min_count` times"), "{error}");
    assert_eq!(hint, "set a smaller `min_count`");
}

/// A checkpoint that can't be read is as good as none.
#[test]
fn training_starts_again_after_a_damaged_checkpoint() {
    let set = set();
    let (settings, folder) = (settings("lstm-query", &[]), tempfile::tempdir().unwrap());
    let reported = Mutex::new(Vec::new());
    let note = |event: Event| reported.lock().unwrap().push(event);
    let mut training = Training::new(&set, 1, &note);
    training.checkpoints = Some(folder.path());
    let train = || {
        let family = settings.config::<Lstm<false>>();
        let task = Task::new(&family, &settings, &training).unwrap();
        let (tables, _) = task.learn(&AnyDevice::cpu()).unwrap();
        let events = std::mem::take(&mut *reported.lock().unwrap());
        let epochs = events.iter().filter(|event| matches!(event, Event::Epoch { .. })).count();
        (tables.into_iter().map(|(_, table)| table).collect::<Vec<_>>(), epochs, events)
    };
    let (whole, n_epochs, _) = train();
    assert_eq!(n_epochs, 6);
    let (again, n_epochs, events) = train();
    assert_eq!((again == whole, n_epochs), (true, 0));
    let note = "resuming after epoch 6".to_owned();
    assert_eq!(events, [Event::Note(note)]);
    let file = folder.path().join("epoch-6.safetensors");
    std::fs::write(&file, "nothing of the kind").unwrap();
    let (restarted, n_epochs, events) = train();
    assert_eq!((restarted == whole, n_epochs), (true, 6));
    let is_warned = |event: &Event| {
        matches!(event, Event::Warning(text) if text.contains("epoch-6.safetensors")
            && text.ends_with(": training starts again"))
    };
    assert!(events.iter().any(is_warned), "{events:?}");
}

/// A device whose memory is too small for the network: `auto` reports it and the CPU learns in its place.
#[test]
fn a_device_with_too_little_memory_is_reported_and_the_cpu_takes_over() {
    let set = set();
    let settings = settings("lstm-query", &[]);
    let family = settings.config::<Lstm<false>>();
    let reported = Mutex::new(Vec::new());
    let note = |event: Event| {
        if let Event::Warning(text) = event {
            reported.lock().unwrap().push(text);
        }
    };
    let training = Training::new(&set, 1, &note);
    let task = Task::new(&family, &settings, &training).unwrap();
    let small = || AnyDevice::Cpu(cpu_with_memory(1000));
    let error = task.learn(&small()).unwrap_err();
    assert!(matches!(error, Error::Device(numerics::Error::OutOfMemory { .. })), "{error}");
    let (tables, _) = with_fallback(Ok(small()), &note, |place| task.learn(place)).unwrap();
    let warning = "CPU: out of memory: 0 MB more are needed; continuing on the CPU, from the last \
                   checkpoint if there is one";
    assert_eq!(*reported.lock().unwrap(), [warning]);
    assert!(tables == task.learn(&AnyDevice::cpu()).unwrap().0);
}

/// A device that is lost in the middle of the training leaves the checkpoint of its last epoch; the
/// CPU resumes from there and ends with the same weights.
#[test]
fn a_device_that_is_lost_costs_the_steps_since_the_last_checkpoint() {
    let set = set();
    let settings = settings("lstm-query", &[]);
    let family = settings.config::<Lstm<false>>();
    let folder = tempfile::tempdir().unwrap();
    let epochs = Mutex::new(Vec::new());
    let note = |event: Event| {
        if let Event::Epoch { record, .. } = event {
            epochs.lock().unwrap().push(record.epoch);
        }
    };
    let weights = |training: &Training<'_>, place: AnyDevice| -> Result<Vec<Table<f32>>> {
        let (tables, _) = Task::new(&family, &settings, training)?.learn(&place)?;
        Ok(tables.into_iter().map(|(_, table)| table).collect())
    };
    let mut training = Training::new(&set, 1, &note);
    let whole = weights(&training, AnyDevice::cpu()).unwrap();
    assert_eq!(std::mem::take(&mut *epochs.lock().unwrap()), [1, 2, 3, 4, 5, 6]);
    training.checkpoints = Some(folder.path());
    let error = weights(&training, AnyDevice::Cpu(cpu_lost_after(800))).unwrap_err();
    assert!(matches!(error, Error::Device(numerics::Error::DeviceLost { .. })), "{error}");
    let n_before = std::mem::take(&mut *epochs.lock().unwrap()).len();
    assert!((1..6).contains(&n_before), "lost after {n_before} epochs");
    assert_eq!(weights(&training, AnyDevice::cpu()).unwrap(), whole);
    assert_eq!(*epochs.lock().unwrap(), (n_before + 1..=6).collect::<Vec<_>>());
}
