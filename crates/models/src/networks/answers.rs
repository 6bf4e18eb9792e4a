//! Language networks that answer (§4.4; §3, lexical memory): question → ln p of the query with each candidate in
//! the blank, its end included.
//!
//! ```text
//! words.txt, weights.safetensors    what was learnt, see `learnt`
//! training.toml                     loss and validation loss of each epoch
//! ```
//!
//! Weights move between machines: where a network learnt or answers is not part of it.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base::{Vocabulary, WordId};
use neural::{Cloze, FillsBlanks, Network, Tables};
use numerics::device::{Cpu, Device};
use questions::Question;
use serde::{Deserialize, Serialize};

use crate::contract::folder::{read_toml, write_toml};
use crate::learning::checkpoint::Epoch;
use crate::learning::weights_file;
use crate::networks::device::{OnDevice, gpu, instead};
use crate::networks::network::{Design, context_of};
use crate::networks::settings::Start;
use crate::words::case_fit::as_written;
use crate::words::lexicon::{END, Lexicon, UNKNOWN};
use crate::{DeviceChoice, Error, Model, Reader, Reporter, Result, Saved, Settings};

const EPOCHS: &str = "training.toml";

/// How many questions a reader is asked at a time: a device reads them all side by side.
pub(crate) const ASKED: usize = 256;
/// How many the processor reads side by side, those with contexts of about the same length.
const SIDE_BY_SIDE: usize = 64;

/// Loads a network.
pub(crate) fn load<S: Design>(design: S, saved: &Saved<'_>) -> Result<Box<dyn Model>> {
    let lexicon = Lexicon::read(saved.folder, design.recipe().lowercase)?;
    let Epochs { epochs } = read_toml(&saved.folder.join(EPOCHS))?;
    let shapes = design.network(&Cpu::default(), lexicon.len(), Start::answering())?.shapes();
    let tables = weights_file::read_tables(saved.folder, lexicon.words(), &shapes)?;
    let tables = shapes.iter().map(|(name, ..)| (*name).to_owned()).zip(tables).collect();
    let learnt = Learnt { settings: saved.settings.clone(), lexicon, tables, epochs };
    made(design, Arc::new(learnt), saved.device, saved.reporter)
}

/// A model that answers on a device.
pub(crate) fn made<S: Design>(
    design: S,
    learnt: Arc<Learnt>,
    choice: DeviceChoice,
    reporter: &dyn Reporter,
) -> Result<Box<dyn Model>> {
    let filling = Filling { design: &design, learnt: &learnt };
    let on_gpu = || filling.on(gpu(reporter)?);
    let on_device = match choice {
        DeviceChoice::Cpu => None,
        DeviceChoice::Cuda => Some(on_gpu()?),
        DeviceChoice::Auto => match on_gpu() {
            Err(Error::Device(reason)) => {
                instead(&reason, reporter);
                None
            }
            network => Some(network?),
        },
    };
    let processor = OnceLock::new();
    // Without a GPU every thread asks the processor itself: a lock must not be held while other threads
    // help with its work, since one of them would wait for the lock and for nothing else.
    if on_device.is_none() {
        _ = processor.set(filling.on(Cpu::default())?);
    }
    Ok(Box::new(LanguageNetwork { design, learnt, choice, on_device, processor }))
}

/// A network that only answers.
struct Filling<'a, S> {
    design: &'a S,
    learnt: &'a Learnt,
}

impl<S: Design> OnDevice for Filling<'_, S> {
    type Output = Box<dyn FillsBlanks>;

    fn on<D: Device<Real = f32>>(&self, device: D) -> Result<Box<dyn FillsBlanks>> {
        let n_words = self.learnt.lexicon.len();
        let mut network = self.design.network(&device, n_words, Start::answering())?;
        network.set_weights(&self.learnt.tables)?;
        Ok(Box::new(network))
    }
}

/// What training gave.
pub(crate) struct Learnt {
    pub settings: Settings,
    pub lexicon: Lexicon,
    pub tables: Tables,
    pub epochs: Vec<Epoch>,
}

#[derive(Serialize, Deserialize)]
struct Epochs {
    epochs: Vec<Epoch>,
}

struct LanguageNetwork<S> {
    design: S,
    learnt: Arc<Learnt>,
    choice: DeviceChoice,
    on_device: Option<Box<dyn FillsBlanks>>,
    /// Beside another device made when it is needed.
    processor: OnceLock<Box<dyn FillsBlanks>>,
}

impl<S: Design> LanguageNetwork<S> {
    fn processor(&self) -> &dyn FillsBlanks {
        let make = || {
            let filling = Filling { design: &self.design, learnt: &self.learnt };
            filling.on(Cpu::default()).expect("the tables have the network's own shapes")
        };
        &**self.processor.get_or_init(make)
    }
}

impl<S: Design> Model for LanguageNetwork<S> {
    fn reader<'a>(&'a self, vocabulary: &'a Vocabulary) -> Box<dyn Reader + 'a> {
        let numbers = self.learnt.lexicon.numbers_of(vocabulary);
        Box::new(NetworkReader { model: self, numbers, device: Mutex::new(()) })
    }

    fn save(&self, folder: &Path) -> Result<()> {
        let Learnt { settings, lexicon, tables, epochs } = &*self.learnt;
        write_toml(&folder.join(EPOCHS), &Epochs { epochs: epochs.clone() })?;
        let tables: Vec<_> = tables.iter().map(|(name, table)| (name.as_str(), table)).collect();
        weights_file::write(
            folder,
            lexicon.words(),
            &tables,
            self.design.recipe().weights,
            settings,
        )
    }

    fn on_processor(&self) -> Option<Box<dyn Model>> {
        let again =
            || made(self.design.clone(), self.learnt.clone(), DeviceChoice::Cpu, &|_| ()).ok();
        (self.choice == DeviceChoice::Auto).then(again).flatten()
    }
}

struct NetworkReader<'a, S> {
    model: &'a LanguageNetwork<S>,
    /// The lexicon's numbers of the set's words.
    numbers: Vec<u32>,
    /// A device is asked by one thread at a time.
    device: Mutex<()>,
}

impl<S: Design> Reader for NetworkReader<'_, S> {
    fn score(&self, question: &Question<'_>) -> Vec<f32> {
        let texts = [self.text(question)];
        let log_probs = self.model.processor().fill(&texts).expect("the processor is never lost");
        self.scores(question, &texts[0], &log_probs[0])
    }

    fn batch(&self) -> usize {
        ASKED
    }

    fn score_many(&self, questions: &[Question<'_>]) -> Result<Vec<Vec<f32>>> {
        let texts: Vec<Cloze> = questions.iter().map(|question| self.text(question)).collect();
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&place| texts[place].before.len());
        let mut scores = vec![Vec::new(); texts.len()];
        let n_at_once = if self.model.on_device.is_some() { ASKED } else { SIDE_BY_SIDE };
        for places in order.chunks(n_at_once) {
            let side_by_side: Vec<Cloze> =
                places.iter().map(|&place| texts[place].clone()).collect();
            let log_probs = match &self.model.on_device {
                None => self.model.processor().fill(&side_by_side)?,
                Some(network) => {
                    let _alone = self.device.lock().unwrap_or_else(PoisonError::into_inner);
                    network.fill(&side_by_side)?
                }
            };
            for (&place, log_probs) in places.iter().zip(&log_probs) {
                scores[place] = self.scores(&questions[place], &texts[place], log_probs);
            }
        }
        Ok(scores)
    }
}

impl<S: Design> NetworkReader<'_, S> {
    /// What the network reads of a question; candidates that are one word to it stand once.
    fn text(&self, question: &Question<'_>) -> Cloze {
        let numbers = |words: &[WordId]| {
            words.iter().map(|word| self.numbers[word.index()]).collect::<Vec<u32>>()
        };
        let context = context_of(question, &self.numbers);
        let mut candidates = numbers(question.candidates);
        candidates.sort_unstable();
        candidates.dedup();
        let before = [&[END], &numbers(&question.query[..question.blank])[..]].concat();
        let after = [&numbers(&question.query[question.blank + 1..])[..], &[END]].concat();
        self.model.design.reads(context, Cloze { context: Vec::new(), before, candidates, after })
    }

    /// The scores of a question's candidates.
    ///
    /// Chosen: candidates that are `<unk>` to the network share its probability.
    fn scores(&self, question: &Question<'_>, text: &Cloze, log_probs: &[f64]) -> Vec<f32> {
        let number = |word: &WordId| self.numbers[word.index()];
        let n_unknown = question.candidates.iter().filter(|word| number(word) == UNKNOWN).count();
        let score = |word: &WordId| {
            let place = text.candidates.binary_search(&number(word)).expect("it stands there once");
            let share = if number(word) == UNKNOWN { n_unknown as f64 } else { 1.0 };
            (log_probs[place] - share.ln()) as f32
        };
        let mut scores: Vec<f32> = question.candidates.iter().map(score).collect();
        if self.model.design.recipe().lowercase {
            as_written(question, &mut scores);
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Training;
    use crate::networks::network::Learning;
    use crate::networks::network::tests::{set, settings};

    /// A device that is lost while it answers: the model has another on the processor, with the same scores.
    #[test]
    fn the_processor_answers_in_the_place_of_a_lost_device() {
        let (set, places) = (set(), [8, 9, 8, 9]);
        let settings = settings("lstm-context-query", &[]);
        let design = crate::networks::lstm::of(&settings);
        let training = Training::new(&set, 1, &|_| ());
        let (learning, lexicon) = Learning::new(&design, &settings, &training).unwrap();
        let (tables, epochs) = learning.on(Cpu::default()).unwrap();
        let learnt = Arc::new(Learnt { settings: settings.clone(), lexicon, tables, epochs });
        let filling = Filling { design: &design, learnt: &learnt };
        let on_device = |n| Some(filling.on(numerics::testing::cpu_lost_after(n)).unwrap());
        let answered = |model: &dyn Model| crate::score_all(model, &set, &places, &[], &|_| ());
        let model = |on_device, choice| LanguageNetwork {
            design: design.clone(),
            learnt: learnt.clone(),
            choice,
            on_device,
            processor: OnceLock::new(),
        };
        // More than it takes to get there, and less than to answer.
        let lost = model(on_device(40), DeviceChoice::Auto);
        let error = answered(&lost).unwrap_err();
        assert!(matches!(error, Error::Device(numerics::Error::DeviceLost { .. })), "{error}");
        let expected = answered(&model(on_device(100_000), DeviceChoice::Auto)).unwrap();
        assert_eq!(answered(&*lost.on_processor().unwrap()).unwrap(), expected);
        assert!(model(on_device(40), DeviceChoice::Cuda).on_processor().is_none());
    }
}
