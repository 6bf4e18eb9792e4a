//! The contract of [`goldilocks_models::Model`], as checks of any method on any question set.
//!
//! A check says what is wrong instead of panicking, so that `faults.rs` can show that each can fail.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use base::seeds::{Use, generator};
use goldilocks_models::{
    DeviceChoice, EpochRecord, Event, LoadRequest, Manifest, Method, Model, Provenance, Scores,
    Settings, Training, TrainingCurve, save, score_all,
};
use questions::{BLANK, NewQuestion, Question, QuestionSet, SentenceBuffer, Sentences, Split};
use rand::RngExt;
use rand::seq::SliceRandom;
use tempfile::TempDir;

use crate::tales;

pub type CheckResult = Result<(), String>;
pub type Check = fn(&Subject) -> CheckResult;

/// Every check with its name.
pub const CHECKS: &[(&str, Check)] = &[
    ("has_sound_settings", has_sound_settings),
    ("is_the_same_after_save_and_load", is_the_same_after_save_and_load),
    ("follows_permuted_candidates", follows_permuted_candidates),
    ("follows_words_not_their_numbers", follows_words_not_their_numbers),
    ("answers_odd_questions", answers_odd_questions),
    ("answers_many_as_it_answers_one", answers_many_as_it_answers_one),
    ("has_the_same_bytes_for_the_same_seed", has_the_same_bytes_for_the_same_seed),
    ("learns_if_it_says_so", learns_if_it_says_so),
    ("keeps_its_curve", keeps_its_curve),
    ("resumes_to_the_same_bytes", resumes_to_the_same_bytes),
];

/// A method with its models, each trained once for all checks.
pub struct Subject {
    pub method: &'static Method,
    of_tales: OnceLock<Result<Trained, String>>,
    of_few: OnceLock<Result<Trained, String>>,
}

/// What a training gave.
struct Trained {
    model: Arc<dyn Model>,
    /// The epochs that were reported.
    epochs: Vec<EpochRecord>,
    /// The checkpoints as they were after the first epoch.
    after_first_epoch: TempDir,
}

impl Trained {
    fn on(set: &QuestionSet, method: &Method) -> Result<Self, String> {
        let [checkpoints, after_first_epoch] =
            [(); 2].map(|()| TempDir::new().expect("a temporary folder"));
        let epochs = Mutex::new(Vec::new());
        let watch = |event: &Event| {
            if let Event::Epoch { record, .. } = event {
                epochs.lock().expect("no watcher panics").push(record.clone());
                if record.epoch == 1 {
                    copy(checkpoints.path(), after_first_epoch.path());
                }
            }
        };
        let model = train(method, set, Some(checkpoints.path()), &watch)?;
        let epochs = epochs.into_inner().expect("no watcher panics");
        Ok(Self { model, epochs, after_first_epoch })
    }
}

impl Subject {
    pub fn new(method: &'static Method) -> Self {
        Self { method, of_tales: OnceLock::new(), of_few: OnceLock::new() }
    }

    fn trained(&self) -> Result<&Trained, String> {
        let trained = self.of_tales.get_or_init(|| Trained::on(&tales::SET, self.method));
        trained.as_ref().map_err(Clone::clone)
    }

    /// What a training on a few tales gave, for the checks that train again and compare.
    fn trained_on_few(&self) -> Result<&Trained, String> {
        let trained = self.of_few.get_or_init(|| Trained::on(&tales::FEW, self.method));
        trained.as_ref().map_err(Clone::clone)
    }

    fn model(&self) -> Result<Arc<dyn Model>, String> {
        Ok(self.trained()?.model.clone())
    }
}

fn copy(from: &Path, to: &Path) {
    for file in fs::read_dir(from).expect("the folder is there") {
        let file = file.expect("a readable folder");
        fs::copy(file.path(), to.join(file.file_name())).expect("room for it");
    }
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> CheckResult {
    if holds { Ok(()) } else { Err(message()) }
}

/// The settings for the tales.
pub fn settings(method: &Method) -> Result<Settings, String> {
    let all: toml::Table = include_str!("settings.toml").parse().expect("a TOML file");
    let changed = all.get(method.name).and_then(toml::Value::as_table).into_iter().flatten();
    let texts: Vec<String> = changed
        .map(|(key, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{key}={value}")
        })
        .collect();
    let settings = Settings::from_text(method, texts.iter().map(String::as_str));
    settings.map_err(|error| error.to_string())
}

/// Trains with the settings for the tales; `watch` receives every event.
fn train(
    method: &Method,
    set: &QuestionSet,
    checkpoints: Option<&Path>,
    watch: &(dyn Fn(&Event) + Sync),
) -> Result<Arc<dyn Model>, String> {
    let report = |event: Event| watch(&event);
    let mut training = Training::new(set, 7, &report);
    training.checkpoints = checkpoints.filter(|_| method.trains_by_epochs);
    (method.train)(&settings(method)?, &training).map_err(|error| error.to_string())
}

/// Every how many-th question is looked at where each is scored by itself.
const STEP: usize = 37;

/// Scores questions one by one.
fn one_by_one<'a>(
    model: &Arc<dyn Model>,
    set: &QuestionSet,
    questions: impl Iterator<Item = Question<'a>>,
) -> Result<Vec<Vec<f32>>, String> {
    let mut scorer = model.clone().scorer(set.vocabulary());
    let score = |question| {
        let mut scores = Scores::default();
        scorer.score(&[question], &mut scores).map_err(|error| error.to_string())?;
        ensure(scores.len() == 1, || format!("{} lists for one question", scores.len()))?;
        Ok(scores.get(0).to_vec())
    };
    questions.map(score).collect()
}

fn some_scores(model: &Arc<dyn Model>, set: &QuestionSet) -> Result<Vec<Vec<f32>>, String> {
    one_by_one(model, set, set.examples().step_by(STEP).map(|example| example.question))
}

fn manifest(settings: &Settings) -> Manifest {
    Manifest::new(Provenance::new(settings, "tales", 7))
}

/// Saves into a new folder and reads back every file of it.
fn bytes(method: &Method, model: &dyn Model) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let root = TempDir::new().expect("a temporary folder");
    let folder = root.path().join(method.name);
    save(model, &manifest(&settings(method)?), &folder, false).map_err(|e| e.to_string())?;
    let files = fs::read_dir(folder).expect("the folder was written");
    Ok(files
        .map(|file| {
            let path = file.expect("a readable folder").path();
            let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            (name, fs::read(&path).expect("models keep plain files"))
        })
        .collect())
}

fn save_and_load(
    method: &Method,
    model: &dyn Model,
    folder: &Path,
) -> Result<Arc<dyn Model>, String> {
    let settings = settings(method)?;
    save(model, &manifest(&settings), folder, false).map_err(|error| error.to_string())?;
    let device = DeviceChoice::Cpu;
    let saved = LoadRequest { folder, settings, device, reporter: &|_| () };
    (method.load)(&saved).map_err(|error| error.to_string())
}

pub fn has_sound_settings(subject: &Subject) -> CheckResult {
    let method = subject.method;
    Settings::from_text(method, []).map_err(|error| error.to_string())?;
    settings(method)?;
    let mut names: Vec<&str> = method.settings.iter().map(|setting| setting.name).collect();
    names.sort_unstable();
    names.dedup();
    ensure(names.len() == method.settings.len(), || "two settings have one name".to_owned())
}

pub fn is_the_same_after_save_and_load(subject: &Subject) -> CheckResult {
    let (method, set) = (subject.method, &*tales::SET);
    let model = subject.model()?;
    let root = TempDir::new().expect("a temporary folder");
    let loaded = save_and_load(method, &*model, &root.path().join(method.name))?;
    ensure(some_scores(&model, set)? == some_scores(&loaded, set)?, || {
        "the loaded model scores otherwise than the saved one".to_owned()
    })
}

pub fn follows_permuted_candidates(subject: &Subject) -> CheckResult {
    let (model, set) = (subject.model()?, &*tales::SET);
    for example in set.examples().step_by(STEP) {
        let question = example.question;
        let mut candidates = question.candidates.to_vec();
        candidates.rotate_left(1);
        let permuted = Question { candidates: &candidates, ..question };
        let mut both = one_by_one(&model, set, [question, permuted].into_iter())?;
        both[0].rotate_left(1);
        ensure(both[0] == both[1], || {
            format!("question {}: {:?} instead of {:?}", question.id(), both[1], both[0])
        })?;
    }
    Ok(())
}

/// The same questions in a set that numbers its words the other way round.
pub fn follows_words_not_their_numbers(subject: &Subject) -> CheckResult {
    let (model, set) = (subject.model()?, &*tales::SET);
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
        let context: Vec<_> = question.context.iter().map(&mut renumber).collect();
        let first = other.n_sentences();
        context.into_iter().for_each(|words| _ = other.push_sentence(words));
        other
            .push(NewQuestion {
                context: first..other.n_sentences(),
                query: &query,
                candidates: &candidates,
                answer: None,
                class: None,
                split: None,
                book: None,
            })
            .expect("a whole question");
    }
    ensure(some_scores(&model, set)? == some_scores(&model, &other)?, || {
        "the scores depend on the numbers of the words".to_owned()
    })
}

pub fn answers_odd_questions(subject: &Subject) -> CheckResult {
    let model = subject.model()?;
    let mut odd = tales::SET.clone();
    let strangers = ["zyzzyva", "Zyzzyva", "qoph"].map(|word| odd.intern(word));
    let mut empty = SentenceBuffer::default();
    (0..3).for_each(|_| empty.push([]));
    let nothing = Sentences::default();
    for example in odd.examples().step_by(STEP) {
        let question = example.question;
        let lone = Question { query: &[BLANK], blank: 0, ..question };
        let questions = [
            ("a plain question", question),
            ("a query of one word", lone),
            ("an empty context", Question { context: nothing, ..question }),
            ("no words at all", Question { context: nothing, ..lone }),
            ("empty sentences", Question { context: empty.sentences(), ..question }),
            ("unknown candidates", Question { candidates: &strangers, ..question }),
        ];
        let all = one_by_one(&model, &odd, questions.iter().map(|(_, question)| *question))?;
        for ((what, question), scores) in questions.iter().zip(all) {
            let sound = scores.len() == question.candidates.len()
                && scores.iter().all(|score| score.is_finite());
            ensure(sound, || format!("{what}: {scores:?} for {}", question.candidates.len()))?;
        }
    }
    Ok(())
}

pub fn answers_many_as_it_answers_one(subject: &Subject) -> CheckResult {
    let (model, set) = (subject.model()?, &*tales::SET);
    let indices: Vec<usize> = (0..set.len()).step_by(STEP).collect();
    let one = some_scores(&model, set)?;
    let questions: Vec<Question<'_>> =
        indices.iter().map(|&index| set.example(index).question).collect();
    let mut many = Scores::default();
    let mut scorer = model.clone().scorer(set.vocabulary());
    scorer.score(&questions, &mut many).map_err(|error| error.to_string())?;
    alike(&one, &many.iter().map(<[f32]>::to_vec).collect::<Vec<_>>())?;
    let mut all = Vec::new();
    score_all(scorer, set, &indices, &[], &mut |indices, scores| {
        all.extend(indices.iter().zip(scores.iter()).map(|(_, scores)| scores.to_vec()));
        Ok(())
    })
    .map_err(|error| error.to_string())?;
    alike(&one, &all)
}

/// Whether a batch has the scores of its questions, as many as they have; it may add up in another order.
fn alike(one: &[Vec<f32>], many: &[Vec<f32>]) -> CheckResult {
    let lengths = |lists: &[Vec<f32>]| lists.iter().map(Vec::len).collect::<Vec<_>>();
    ensure(lengths(one) == lengths(many), || "a batch has fewer or more scores".to_owned())?;
    let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 * (1.0 + b.abs());
    let alike = many.iter().flatten().zip(one.iter().flatten()).all(near);
    ensure(alike, || "a batch has other scores than its questions one by one".to_owned())
}

pub fn has_the_same_bytes_for_the_same_seed(subject: &Subject) -> CheckResult {
    let method = subject.method;
    let first = bytes(method, &*subject.trained_on_few()?.model)?;
    for n_threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build();
        let again = || train(method, &tales::FEW, None, &|_| ());
        let again = pool.expect("a pool of a few threads").install(again)?;
        ensure(bytes(method, &*again)? == first, || {
            format!(
                "two trainings with one seed differ in bytes, the second with {n_threads} threads"
            )
        })?;
    }
    Ok(())
}

/// How much better a learner must be on what it learnt from than one that learnt from noise: more than three standard
/// errors of the difference on the thousand questions that are asked.
const MARGIN: f64 = 0.06;

pub fn learns_if_it_says_so(subject: &Subject) -> CheckResult {
    let (method, set) = (subject.method, &*tales::SET);
    if !method.trains_by_epochs {
        return Ok(());
    }
    let Trained { model, epochs, .. } = subject.trained()?;
    let losses: Vec<f64> = epochs.iter().map(|epoch| epoch.loss).collect();
    let falls = losses.len() > 1 && losses.last() < losses.first();
    ensure(falls, || format!("the loss does not fall: {losses:?}"))?;
    let accuracy = |model: &Arc<dyn Model>| -> Result<f64, String> {
        let questions = || set.examples().filter(|e| e.split == Some(Split::Train)).step_by(5);
        let scores = one_by_one(model, set, questions().map(|example| example.question))?;
        let credits = questions()
            .zip(&scores)
            .filter_map(|(example, scores)| Some(base::credit(scores, example.answer?)));
        Ok(credits.sum::<f64>() / scores.len() as f64)
    };
    let control = train(method, &noise(set), None, &|_| ())?;
    let (learnt, control) = (accuracy(model)?, accuracy(&control)?);
    ensure(learnt > control + MARGIN, || {
        format!(
            "{learnt:.3} of the training questions are right, {control:.3} after learning from noise"
        )
    })
}

/// The folder of a learner has the epochs that it reported, numbered from 1, and its loaded model knows them too.
pub fn keeps_its_curve(subject: &Subject) -> CheckResult {
    let method = subject.method;
    let Trained { model, epochs, .. } = subject.trained()?;
    let expected = method.trains_by_epochs.then(|| TrainingCurve { epochs: epochs.clone() });
    let root = TempDir::new().expect("a temporary folder");
    let folder = root.path().join(method.name);
    let loaded = save_and_load(method, &**model, &folder)?;
    let kept = TrainingCurve::read(&folder).map_err(|error| error.to_string())?;
    ensure(kept == expected, || format!("{expected:?} was reported, {kept:?} is in the folder"))?;
    let loaded = loaded.training_curve();
    ensure(loaded == expected.as_ref(), || format!("the loaded model has {loaded:?}"))?;
    let numbers = (1..=epochs.len()).eq(epochs.iter().map(|epoch| epoch.epoch));
    let best = epochs.first().is_none_or(|first| first.best);
    ensure(numbers && best, || format!("{epochs:?}"))
}

/// The same set with the words of each book shuffled and any candidate for the answer.
fn noise(set: &QuestionSet) -> QuestionSet {
    let mut rng = generator(3, Use::Test, &["noise"]);
    let mut noise = QuestionSet::default();
    set.vocabulary().iter().for_each(|word| _ = noise.intern(word));
    for book in set.books() {
        let sentences = book.sentences.clone().map(|sentence| set.sentence(sentence));
        let mut words = sentences.clone().flatten().copied().collect::<Vec<_>>();
        words.shuffle(&mut rng);
        let mut words = words.into_iter();
        for sentence in sentences {
            noise.push_sentence(words.by_ref().take(sentence.len()).collect::<Vec<_>>());
        }
        noise.push_book(book.clone());
    }
    for index in 0..set.len() {
        let example = set.example(index);
        let question = example.question;
        noise
            .push(NewQuestion {
                context: set.context(index),
                query: question.query,
                candidates: question.candidates,
                answer: Some(rng.random_range(0..question.candidates.len())),
                class: example.class,
                split: example.split,
                book: set.book(index),
            })
            .expect("a whole question");
    }
    noise
}

/// A run killed after its first epoch leaves its checkpoints as they were then; one that starts from
/// them must resume with the second epoch and end like one that was never stopped.
pub fn resumes_to_the_same_bytes(subject: &Subject) -> CheckResult {
    let method = subject.method;
    if !method.trains_by_epochs {
        return Ok(());
    }
    let Trained { model, after_first_epoch, .. } = subject.trained_on_few()?;
    let epochs = Mutex::new(Vec::new());
    let note = |event: &Event| {
        if let Event::Epoch { record, .. } = event {
            epochs.lock().expect("no watcher panics").push(record.epoch);
        }
    };
    let killed = TempDir::new().expect("a temporary folder");
    copy(after_first_epoch.path(), killed.path());
    let resumed = train(method, &tales::FEW, Some(killed.path()), &note)?;
    let epochs = epochs.into_inner().expect("no watcher panics");
    ensure(epochs.first() == Some(&2), || format!("it resumed with epochs {epochs:?}"))?;
    ensure(bytes(method, &**model)? == bytes(method, &*resumed)?, || {
        "the resumed training ended with other bytes".to_owned()
    })
}
