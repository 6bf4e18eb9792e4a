//! Shows that every check of `contract.rs` can fail: a learner that keeps the contract, and learners
//! that each break it in one way.
//!
//! The learner is a softmax over the candidates with one weight for each pair of the word before the
//! blank and the candidate, trained by stochastic gradient descent.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Vocabulary, WordId};
use goldilocks_models::{
    Entry, Error, Event, Model, Range, Reader, Result, Setting, Settings, Training,
};
use questions::Question;

use crate::contract::{self, CHECKS, Check};
use crate::tales;

/// Ways to break the contract.
const NONE: u8 = 0;
const FORGETS: u8 = 1;
const SCORES_PLACES: u8 = 2;
const SCORES_NUMBERS: u8 = 3;
const DIVIDES_BY_CONTEXT: u8 = 4;
const BATCHES_WRONGLY: u8 = 5;
const WRITES_A_COUNTER: u8 = 6;
const NEVER_STEPS: u8 = 7;
const IGNORES_CHECKPOINTS: u8 = 8;
const WRONG_DEFAULT: u8 = 9;

const N_WEIGHTS: usize = 4096;
const SETTINGS: &[Setting] = &[Setting {
    name: "epochs",
    symbol: "",
    default: "4",
    range: Range::Whole(1, 100),
    word: None,
    doc: "How often it sees the questions.",
}];
const WRONG_SETTINGS: &[Setting] = &[Setting { default: "0", ..SETTINGS[0] }];

fn entry<const FAULT: u8>() -> Entry {
    Entry {
        name: "pairs",
        row: "Pairs",
        section: "none",
        settings: if FAULT == WRONG_DEFAULT { WRONG_SETTINGS } else { SETTINGS },
        learns: true,
        train: train::<FAULT>,
        load: |saved| Ok(Box::new(Pairs::<FAULT>::read(&saved.folder.join("weights"))?)),
    }
}

struct Pairs<const FAULT: u8> {
    epochs_done: usize,
    weights: Vec<f32>,
}

#[derive(serde::Deserialize)]
struct Config {
    epochs: usize,
}

fn train<const FAULT: u8>(settings: &Settings, training: &Training<'_>) -> Result<Box<dyn Model>> {
    let Config { epochs } = settings.config();
    let checkpoint = training.checkpoints.map(|folder| folder.join("weights"));
    let kept = checkpoint.as_ref().filter(|path| path.exists() && FAULT != IGNORES_CHECKPOINTS);
    let mut model = match kept {
        Some(path) => Pairs::<FAULT>::read(path)?,
        None => Pairs { epochs_done: 0, weights: vec![0.0; N_WEIGHTS] },
    };
    while model.epochs_done < epochs {
        let loss = model.epoch(training);
        model.epochs_done += 1;
        if let Some(path) = &checkpoint {
            model.write(path)?;
        }
        training.reporter.report(Event::Epoch {
            number: model.epochs_done,
            total: epochs,
            loss,
            valid_loss: None,
            valid_accuracy: training.valid.accuracy(|question| model.score(question)),
        });
    }
    Ok(Box::new(model))
}

fn at(path: &Path, result: std::io::Result<()>) -> Result<()> {
    result.map_err(|reason| Error::File { path: path.to_owned(), reason })
}

impl<const FAULT: u8> Pairs<FAULT> {
    fn read(path: &Path) -> Result<Self> {
        let bytes =
            fs::read(path).map_err(|reason| Error::File { path: path.to_owned(), reason })?;
        let mut numbers = bytes.chunks_exact(4).map(|b| [b[0], b[1], b[2], b[3]]);
        let epochs_done = u32::from_le_bytes(numbers.next().expect("epochs come first")) as usize;
        let mut weights: Vec<f32> = numbers.map(f32::from_le_bytes).collect();
        if FAULT == FORGETS {
            weights.fill(0.0);
        }
        Ok(Self { epochs_done, weights })
    }

    fn write(&self, path: &Path) -> Result<()> {
        let epochs = (self.epochs_done as u32).to_le_bytes();
        let weights = self.weights.iter().flat_map(|weight| weight.to_le_bytes());
        at(path, fs::write(path, epochs.into_iter().chain(weights).collect::<Vec<u8>>()))
    }

    /// One pass over the training questions; gives the mean loss.
    fn epoch(&mut self, training: &Training<'_>) -> f64 {
        let (mut loss, mut n) = (0.0, 0);
        for example in training.train.examples() {
            let Some(answer) = example.answer else { continue };
            let weights = self.places(&example.question);
            let scores: Vec<f32> = weights.iter().map(|&place| self.weights[place]).collect();
            let total: f32 = scores.iter().map(|score| score.exp()).sum();
            for (candidate, &place) in weights.iter().enumerate() {
                let target = f32::from(u8::from(candidate == answer));
                let gradient = scores[candidate].exp() / total - target;
                if FAULT != NEVER_STEPS {
                    self.weights[place] -= gradient;
                }
            }
            loss += f64::from(total.ln() - scores[answer]);
            n += 1;
        }
        loss / f64::from(n)
    }

    /// The weight of each candidate behind the word before the blank.
    fn places(&self, question: &Question<'_>) -> Vec<usize> {
        let before = question.blank.checked_sub(1).map(|place| question.query[place]);
        let before = before.map_or("", |word| question.word(word));
        let place = |&candidate: &WordId| {
            let bytes = before.bytes().chain([0]).chain(question.word(candidate).bytes());
            bytes.fold(5381, |hash: usize, byte| hash.wrapping_mul(33) ^ usize::from(byte))
        };
        question.candidates.iter().map(|candidate| place(candidate) % N_WEIGHTS).collect()
    }
}

impl<const FAULT: u8> Model for Pairs<FAULT> {
    fn reader<'a>(&'a self, _: &'a Vocabulary) -> Box<dyn Reader + 'a> {
        Box::new(PairsReader(self))
    }

    fn save(&self, folder: &Path) -> Result<()> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        if FAULT == WRITES_A_COUNTER {
            let times = COUNTER.fetch_add(1, Ordering::Relaxed).to_string();
            at(folder, fs::write(folder.join("times"), times))?;
        }
        self.write(&folder.join("weights"))
    }
}

struct PairsReader<'a, const FAULT: u8>(&'a Pairs<FAULT>);

impl<const FAULT: u8> Reader for PairsReader<'_, FAULT> {
    fn score(&self, question: &Question<'_>) -> Vec<f32> {
        let places = self.0.places(question);
        let fault = |candidate: usize| match FAULT {
            SCORES_PLACES => candidate as f32,
            SCORES_NUMBERS => question.candidates[candidate].0 as f32,
            DIVIDES_BY_CONTEXT => 1.0 / question.context.words().len() as f32,
            _ => 0.0,
        };
        let scores = places.iter().enumerate();
        scores.map(|(candidate, &place)| self.0.weights[place] + fault(candidate)).collect()
    }

    fn score_many(&self, questions: &[Question<'_>]) -> Result<Vec<Vec<f32>>> {
        let scores = questions.iter().map(|question| self.score(question));
        Ok(if FAULT == BATCHES_WRONGLY { scores.rev().collect() } else { scores.collect() })
    }
}

#[test]
fn an_honest_learner_passes_every_check() {
    for (shows, check) in CHECKS {
        assert_eq!(check(&entry::<NONE>(), &tales::SET), Ok(()), "{shows}");
    }
}

#[test]
fn each_fault_fails_its_check() {
    let faults: [(Check, Entry); 9] = [
        (contract::is_the_same_after_save_and_load, entry::<FORGETS>()),
        (contract::follows_permuted_candidates, entry::<SCORES_PLACES>()),
        (contract::follows_words_not_their_numbers, entry::<SCORES_NUMBERS>()),
        (contract::answers_odd_questions, entry::<DIVIDES_BY_CONTEXT>()),
        (contract::answers_many_as_it_answers_one, entry::<BATCHES_WRONGLY>()),
        (contract::has_the_same_bytes_for_the_same_seed, entry::<WRITES_A_COUNTER>()),
        (contract::learns_if_it_says_so, entry::<NEVER_STEPS>()),
        (contract::resumes_to_the_same_bytes, entry::<IGNORES_CHECKPOINTS>()),
        (contract::has_sound_settings, entry::<WRONG_DEFAULT>()),
    ];
    for (place, (check, entry)) in faults.iter().enumerate() {
        assert!(check(entry, &tales::SET).is_err(), "fault {place} passes");
    }
}
