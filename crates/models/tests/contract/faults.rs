//! Shows that every check of `checks.rs` can fail: a learner that keeps the contract, and learners
//! that each break it in one way.
//!
//! The learner is a softmax over the candidates with one weight for each pair of the word before the
//! blank and the candidate, trained by stochastic gradient descent.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Vocabulary, WordId};
use goldilocks_models::{
    Cost, EpochRecord, Error, Event, Method, Model, Result, Scorer, Scores, Setting, Settings,
    Training, TrainingCurve,
};
use libtest_mimic::Trial;
use questions::Question;

use crate::checks::{self, CHECKS, Check, Subject};

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
const TOO_FEW_LISTS: u8 = 10;
const TOO_FEW_SCORES: u8 = 11;
const LOSES_ITS_CURVE: u8 = 12;

const WEIGHTS: &str = "weights";
const N_WEIGHTS: usize = 4096;
const EPOCHS: Setting =
    Setting::whole("epochs", "4", 1..=100).doc("Number of passes over the questions.");
const SETTINGS: &[Setting] = &[EPOCHS];
const WRONG_SETTINGS: &[Setting] = &[EPOCHS.with_default("0")];

impl<const FAULT: u8> Pairs<FAULT> {
    const METHOD: Method = Method {
        name: "pairs",
        section: "none",
        summary: "Learns a weight for each pair of the word before the blank and a candidate.",
        cost: Cost::Seconds,
        wants_gpu: false,
        sources: &[],
        settings: if FAULT == WRONG_DEFAULT { WRONG_SETTINGS } else { SETTINGS },
        trains_by_epochs: true,
        train: train::<FAULT>,
        load: |saved| Ok(Arc::new(Pairs::<FAULT>::read(saved.folder)?)),
    };
}

struct Pairs<const FAULT: u8> {
    curve: TrainingCurve,
    weights: Vec<f32>,
}

#[derive(serde::Deserialize)]
struct Config {
    epochs: usize,
}

fn train<const FAULT: u8>(settings: &Settings, training: &Training<'_>) -> Result<Arc<dyn Model>> {
    let Config { epochs } = settings.config();
    let is_kept = |folder: &&Path| folder.join(WEIGHTS).exists() && FAULT != IGNORES_CHECKPOINTS;
    let mut model = match training.checkpoints.filter(is_kept) {
        Some(folder) => Pairs::<FAULT>::read(folder)?,
        None => Pairs { curve: TrainingCurve::default(), weights: vec![0.0; N_WEIGHTS] },
    };
    while model.curve.epochs.len() < epochs {
        let loss = model.epoch(training);
        let record = EpochRecord {
            epoch: model.curve.epochs.len() + 1,
            loss,
            valid_loss: None,
            valid_accuracy: training.valid.accuracy(|question| model.scores(question)),
            best: true,
        };
        model.curve.epochs.push(record.clone());
        if let Some(folder) = training.checkpoints {
            model.save(folder)?;
            model.curve.write(folder)?;
        }
        let (per_second, unit) = (None, "questions");
        training.reporter.report(Event::Epoch { record, epochs, per_second, unit });
    }
    Ok(Arc::new(model))
}

fn at(path: &Path, result: std::io::Result<()>) -> Result<()> {
    result.map_err(|reason| Error::File { path: path.to_owned(), reason })
}

impl<const FAULT: u8> Pairs<FAULT> {
    fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(WEIGHTS);
        let bytes = fs::read(&path).map_err(|reason| Error::File { path, reason })?;
        let numbers = bytes.chunks_exact(4).map(|b| [b[0], b[1], b[2], b[3]]);
        let mut weights: Vec<f32> = numbers.map(f32::from_le_bytes).collect();
        if FAULT == FORGETS {
            weights.fill(0.0);
        }
        Ok(Self { curve: TrainingCurve::read(folder)?.unwrap_or_default(), weights })
    }

    /// One pass over the training questions; returns the mean loss.
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

    /// The weight of each candidate after the word before the blank.
    fn places(&self, question: &Question<'_>) -> Vec<usize> {
        let before = question.blank.checked_sub(1).map(|place| question.query[place]);
        let before = before.map_or("", |word| question.word(word));
        let place = |&candidate: &WordId| {
            let bytes = before.bytes().chain([0]).chain(question.word(candidate).bytes());
            bytes.fold(5381, |hash: usize, byte| hash.wrapping_mul(33) ^ usize::from(byte))
        };
        question.candidates.iter().map(|candidate| place(candidate) % N_WEIGHTS).collect()
    }

    fn scores(&self, question: &Question<'_>) -> Vec<f32> {
        let places = self.places(question);
        let fault = |candidate: usize| match FAULT {
            SCORES_PLACES => candidate as f32,
            SCORES_NUMBERS => question.candidates[candidate].0 as f32,
            DIVIDES_BY_CONTEXT => 1.0 / question.context.words().len() as f32,
            _ => 0.0,
        };
        let scores = places.iter().enumerate();
        scores.map(|(candidate, &place)| self.weights[place] + fault(candidate)).collect()
    }
}

impl<const FAULT: u8> Model for Pairs<FAULT> {
    fn scorer(self: Arc<Self>, _: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        Box::new(PairsScorer(self))
    }

    fn save(&self, folder: &Path) -> Result<()> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        if FAULT == WRITES_A_COUNTER {
            let times = COUNTER.fetch_add(1, Ordering::Relaxed).to_string();
            at(folder, fs::write(folder.join("times"), times))?;
        }
        let weights = self.weights.iter().flat_map(|weight| weight.to_le_bytes());
        at(folder, fs::write(folder.join(WEIGHTS), weights.collect::<Vec<u8>>()))
    }

    fn training_curve(&self) -> Option<&TrainingCurve> {
        (FAULT != LOSES_ITS_CURVE).then_some(&self.curve)
    }
}

struct PairsScorer<const FAULT: u8>(Arc<Pairs<FAULT>>);

impl<const FAULT: u8> Scorer for PairsScorer<FAULT> {
    fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> Result<()> {
        let mut lists: Vec<Vec<f32>> = questions.iter().map(|q| self.0.scores(q)).collect();
        match FAULT {
            BATCHES_WRONGLY => lists.reverse(),
            TOO_FEW_LISTS if lists.len() > 1 => _ = lists.pop(),
            TOO_FEW_SCORES if lists.len() > 1 => _ = lists[1].pop(),
            _ => {}
        }
        lists.into_iter().for_each(|list| scores.push(list));
        Ok(())
    }

    fn fork(&self) -> Box<dyn Scorer> {
        Box::new(Self(self.0.clone()))
    }
}

/// One test for an honest learner, and one for each fault that fails its check.
pub fn trials() -> Vec<Trial> {
    let honest = || {
        let subject = Subject::new(&Pairs::<NONE>::METHOD);
        for (name, check) in CHECKS {
            check(&subject).map_err(|problem| format!("{name}: {problem}"))?;
        }
        Ok(())
    };
    let faults: [(&str, Check, &'static Method); 12] = [
        ("forgets", checks::is_the_same_after_save_and_load, &Pairs::<FORGETS>::METHOD),
        ("scores_places", checks::follows_permuted_candidates, &Pairs::<SCORES_PLACES>::METHOD),
        (
            "scores_numbers",
            checks::follows_words_not_their_numbers,
            &Pairs::<SCORES_NUMBERS>::METHOD,
        ),
        ("divides_by_context", checks::answers_odd_questions, &Pairs::<DIVIDES_BY_CONTEXT>::METHOD),
        (
            "batches_wrongly",
            checks::answers_many_as_it_answers_one,
            &Pairs::<BATCHES_WRONGLY>::METHOD,
        ),
        ("too_few_lists", checks::answers_many_as_it_answers_one, &Pairs::<TOO_FEW_LISTS>::METHOD),
        (
            "too_few_scores",
            checks::answers_many_as_it_answers_one,
            &Pairs::<TOO_FEW_SCORES>::METHOD,
        ),
        (
            "writes_a_counter",
            checks::has_the_same_bytes_for_the_same_seed,
            &Pairs::<WRITES_A_COUNTER>::METHOD,
        ),
        ("loses_its_curve", checks::keeps_its_curve, &Pairs::<LOSES_ITS_CURVE>::METHOD),
        ("never_steps", checks::learns_if_it_says_so, &Pairs::<NEVER_STEPS>::METHOD),
        (
            "ignores_checkpoints",
            checks::resumes_to_the_same_bytes,
            &Pairs::<IGNORES_CHECKPOINTS>::METHOD,
        ),
        ("wrong_default", checks::has_sound_settings, &Pairs::<WRONG_DEFAULT>::METHOD),
    ];
    let fails = faults.into_iter().map(|(name, check, method)| {
        Trial::test(format!("faults::{name}_fails_its_check"), move || {
            let is_seen = check(&Subject::new(method)).is_err();
            if is_seen { Ok(()) } else { Err("the fault passes".into()) }
        })
    });
    let honest = Trial::test("faults::an_honest_learner_passes_every_check", honest);
    std::iter::once(honest).chain(fails).collect()
}
