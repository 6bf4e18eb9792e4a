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
use std::sync::Arc;

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
use crate::{
    Concurrency, DeviceChoice, Error, LoadRequest, Model, Reporter, Result, Scorer, Scores,
    Settings,
};

const EPOCHS: &str = "training.toml";

/// How many questions a reader is asked at a time: a device reads them all side by side.
pub(crate) const ASKED: usize = 256;
/// How many the processor reads side by side, those with contexts of about the same length.
const SIDE_BY_SIDE: usize = 64;

/// Loads a network.
pub(crate) fn load<S: Design>(design: S, saved: &LoadRequest<'_>) -> Result<Arc<dyn Model>> {
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
) -> Result<Arc<dyn Model>> {
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
    let is_on_gpu = on_device.is_some();
    let network = match on_device {
        Some(network) => network,
        None => filling.on(Cpu::default())?,
    };
    Ok(Arc::new(LanguageNetwork { design, learnt, choice, network, is_on_gpu }))
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
    network: Box<dyn FillsBlanks>,
    is_on_gpu: bool,
}

impl<S: Design> Model for LanguageNetwork<S> {
    fn scorer(self: Arc<Self>, words: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        let numbers = Arc::new(self.learnt.lexicon.numbers_of(words));
        Box::new(NetworkScorer { model: self, numbers })
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

    fn on_cpu(self: Arc<Self>) -> Option<Arc<dyn Model>> {
        let again =
            || made(self.design.clone(), self.learnt.clone(), DeviceChoice::Cpu, &|_| ()).ok();
        (self.choice == DeviceChoice::Auto).then(again).flatten()
    }
}

struct NetworkScorer<S> {
    model: Arc<LanguageNetwork<S>>,
    /// The lexicon's numbers of the set's words.
    numbers: Arc<Vec<u32>>,
}

impl<S: Design> Scorer for NetworkScorer<S> {
    fn concurrency(&self) -> Concurrency {
        if self.model.is_on_gpu { Concurrency::Exclusive } else { Concurrency::Threads }
    }

    fn batch_size(&self) -> usize {
        ASKED
    }

    fn fork(&self) -> Box<dyn Scorer> {
        Box::new(Self { model: self.model.clone(), numbers: self.numbers.clone() })
    }

    fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> Result<()> {
        let texts: Vec<Cloze> = questions.iter().map(|question| self.text(question)).collect();
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&place| texts[place].before.len());
        let mut lists = vec![Vec::new(); texts.len()];
        let n_at_once = if self.model.is_on_gpu { ASKED } else { SIDE_BY_SIDE };
        for places in order.chunks(n_at_once) {
            let side_by_side: Vec<Cloze> =
                places.iter().map(|&place| texts[place].clone()).collect();
            let log_probs = self.model.network.fill(&side_by_side)?;
            for (&place, log_probs) in places.iter().zip(&log_probs) {
                lists[place] = self.scores(&questions[place], &texts[place], log_probs);
            }
        }
        lists.into_iter().for_each(|list| scores.push(list));
        Ok(())
    }
}

impl<S: Design> NetworkScorer<S> {
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
        let answered = |model: Arc<dyn Model>| -> Result<Vec<Vec<f32>>> {
            let mut all = Vec::new();
            crate::score_all(
                model.scorer(set.vocabulary()),
                &set,
                &places,
                &[],
                &mut |_, scores| {
                    all.extend(scores.iter().map(<[f32]>::to_vec));
                    Ok(())
                },
            )?;
            Ok(all)
        };
        let model = |n, choice| {
            let (design, learnt) = (design.clone(), learnt.clone());
            let network = filling.on(numerics::testing::cpu_lost_after(n)).unwrap();
            Arc::new(LanguageNetwork { design, learnt, choice, network, is_on_gpu: true })
        };
        // More than it takes to get there, and less than to answer.
        let lost = model(40, DeviceChoice::Auto);
        let error = answered(lost.clone()).unwrap_err();
        assert!(matches!(error, Error::Device(numerics::Error::DeviceLost { .. })), "{error}");
        let expected = answered(model(100_000, DeviceChoice::Auto)).unwrap();
        assert_eq!(answered(lost.on_cpu().unwrap()).unwrap(), expected);
        assert!(model(40, DeviceChoice::Cuda).on_cpu().is_none());
    }
}
