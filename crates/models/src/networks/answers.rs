//! Language networks that answer (§4.4; §3, lexical memory): question → ln p of the query with each
//! candidate in the blank, its end included.
//!
//! ```text
//! words.txt, weights.safetensors    what was learnt, see `weights_file`
//! ```
//!
//! Weights move between machines: where a network learnt or answers is not part of it.

use std::path::Path;
use std::sync::Arc;

use base::{Vocabulary, WordId};
use neural::{Cloze, ClozeScorer, Network as _, Tables};
use questions::Question;

use crate::learning::weights_file;
use crate::networks::device::AnyDevice;
use crate::networks::family::{NetworkFamily, context_of};
use crate::words::case::add_case_log_prob;
use crate::words::lexicon::{END, Lexicon, Tokens, UNKNOWN};
use crate::{
    Concurrency, DeviceChoice, Error, Event, LoadRequest, Model, Reporter, Result, Scorer, Scores,
    Settings, TrainingCurve,
};

/// How many questions a scorer is given at a time: a GPU reads them all side by side.
pub(crate) const BATCH_SIZE: usize = 256;
/// How many the CPU reads side by side, those with contexts of about the same length.
const CPU_BATCH_SIZE: usize = 64;

/// Loads a network from a model folder.
pub(crate) fn load<F: NetworkFamily>(family: F, saved: &LoadRequest<'_>) -> Result<Arc<dyn Model>> {
    let lexicon = Lexicon::read(saved.folder, family.config().lowercase)?;
    let curve = TrainingCurve::read(saved.folder)?;
    let network = family.network(lexicon.len(), None)?;
    let shapes = network.plan().shapes();
    let tables = weights_file::read_tables(saved.folder, lexicon.words(), &shapes)?;
    let tables = shapes.iter().map(|(name, ..)| (*name).to_owned()).zip(tables).collect();
    let trained = TrainedNetwork { settings: saved.settings.clone(), lexicon, tables, curve };
    build_model(family, Arc::new(trained), saved.device, saved.reporter)
}

/// A model that answers on the chosen device.
pub(crate) fn build_model<F: NetworkFamily>(
    family: F,
    trained: Arc<TrainedNetwork>,
    choice: DeviceChoice,
    reporter: &dyn Reporter,
) -> Result<Arc<dyn Model>> {
    let on =
        |place: &AnyDevice| LanguageNetwork::on(place, family.clone(), trained.clone(), choice);
    let model = match choice {
        DeviceChoice::Cpu => on(&AnyDevice::cpu())?,
        DeviceChoice::Cuda => on(&AnyDevice::gpu(reporter)?)?,
        DeviceChoice::Auto => match AnyDevice::gpu(reporter).and_then(|gpu| on(&gpu)) {
            Err(Error::Device(reason)) => {
                reporter.report(Event::OnProcessor(reason.to_string()));
                on(&AnyDevice::cpu())?
            }
            model => model?,
        },
    };
    Ok(Arc::new(model))
}

/// What a training of a network results in.
pub(crate) struct TrainedNetwork {
    pub settings: Settings,
    pub lexicon: Lexicon,
    pub tables: Tables,
    pub curve: Option<TrainingCurve>,
}

struct LanguageNetwork<F> {
    family: F,
    trained: Arc<TrainedNetwork>,
    choice: DeviceChoice,
    network: Box<dyn ClozeScorer>,
    is_on_gpu: bool,
}

impl<F: NetworkFamily> LanguageNetwork<F> {
    fn on(
        place: &AnyDevice,
        family: F,
        trained: Arc<TrainedNetwork>,
        choice: DeviceChoice,
    ) -> Result<Self> {
        let network = family.network(trained.lexicon.len(), None)?;
        let network = place.scorer(network, &trained.tables)?;
        Ok(Self { family, trained, choice, network, is_on_gpu: place.is_gpu() })
    }
}

impl<F: NetworkFamily> Model for LanguageNetwork<F> {
    fn scorer(self: Arc<Self>, words: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        let tokens = Arc::new(self.trained.lexicon.tokens_of(words));
        Box::new(NetworkScorer { model: self, tokens })
    }

    fn save(&self, folder: &Path) -> Result<()> {
        let TrainedNetwork { settings, lexicon, tables, .. } = &*self.trained;
        let tables: Vec<_> = tables.iter().map(|(name, table)| (name.as_str(), table)).collect();
        let precision = self.family.config().weights;
        weights_file::write(folder, lexicon.words(), &tables, precision, settings)
    }

    fn training_curve(&self) -> Option<&TrainingCurve> {
        self.trained.curve.as_ref()
    }

    fn on_cpu(self: Arc<Self>) -> Option<Arc<dyn Model>> {
        let (family, trained) = (self.family.clone(), self.trained.clone());
        let again = || build_model(family, trained, DeviceChoice::Cpu, &|_| ()).ok();
        (self.choice == DeviceChoice::Auto).then(again).flatten()
    }
}

struct NetworkScorer<F> {
    model: Arc<LanguageNetwork<F>>,
    /// The tokens of the set's words.
    tokens: Arc<Tokens>,
}

impl<F: NetworkFamily> Scorer for NetworkScorer<F> {
    fn concurrency(&self) -> Concurrency {
        if self.model.is_on_gpu { Concurrency::Exclusive } else { Concurrency::Threads }
    }

    fn batch_size(&self) -> usize {
        BATCH_SIZE
    }

    fn fork(&self) -> Box<dyn Scorer> {
        Box::new(Self { model: self.model.clone(), tokens: self.tokens.clone() })
    }

    fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> Result<()> {
        let texts: Vec<Cloze> = questions.iter().map(|question| self.text(question)).collect();
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&place| texts[place].before.len());
        let mut lists = vec![Vec::new(); texts.len()];
        let n_at_once = if self.model.is_on_gpu { BATCH_SIZE } else { CPU_BATCH_SIZE };
        for places in order.chunks(n_at_once) {
            let side_by_side: Vec<Cloze> =
                places.iter().map(|&place| texts[place].clone()).collect();
            let log_probs = self.model.network.score(&side_by_side)?;
            for (&place, log_probs) in places.iter().zip(&log_probs) {
                lists[place] = self.scores(&questions[place], &texts[place], log_probs);
            }
        }
        lists.into_iter().for_each(|list| scores.push(list));
        Ok(())
    }
}

impl<F: NetworkFamily> NetworkScorer<F> {
    /// What the network reads of a question; candidates that have the same tokens are there once.
    fn text(&self, question: &Question<'_>) -> Cloze {
        let context = context_of(question, &self.tokens);
        let tokens = |word: &WordId| self.tokens.of(*word).to_vec();
        let mut candidates: Vec<Vec<u32>> = question.candidates.iter().map(tokens).collect();
        candidates.sort_unstable();
        candidates.dedup();
        let (before, after) =
            (&question.query[..question.blank], &question.query[question.blank + 1..]);
        let before = [END].into_iter().chain(self.tokens.of_all(before)).collect();
        let after = self.tokens.of_all(after).chain([END]).collect();
        self.model.family.reads(context, Cloze { context: Vec::new(), before, candidates, after })
    }

    /// The scores of a question's candidates.
    ///
    /// Chosen: candidates that are `<unk>` to the network share its probability.
    fn scores(&self, question: &Question<'_>, text: &Cloze, log_probs: &[f64]) -> Vec<f32> {
        let is_unknown = |word: &WordId| self.tokens.of(*word) == [UNKNOWN];
        let n_unknown = question.candidates.iter().filter(|word| is_unknown(word)).count();
        let score = |word: &WordId| {
            let tokens = self.tokens.of(*word);
            let place = text.candidates.binary_search_by(|other| other[..].cmp(tokens));
            let share = if is_unknown(word) { n_unknown as f64 } else { 1.0 };
            (log_probs[place.expect("each candidate is there once")] - share.ln()) as f32
        };
        let mut scores: Vec<f32> = question.candidates.iter().map(score).collect();
        if self.model.family.config().lowercase {
            add_case_log_prob(question, &mut scores);
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Training;
    use crate::networks::family::Task;
    use crate::networks::lstm::Lstm;
    use crate::networks::tests::{set, settings};

    /// A device that is lost while it answers: the model has another on the CPU, with the same scores.
    #[test]
    fn the_cpu_answers_in_the_place_of_a_lost_device() {
        let (set, places) = (set(), [8, 9, 8, 9]);
        let settings = settings("lstm-context-query", &[]);
        let family = settings.config::<Lstm<false>>();
        let training = Training::new(&set, 1, &|_| ());
        let task = Task::new(&family, &settings, &training).unwrap();
        let (tables, curve) = task.learn(&AnyDevice::cpu()).unwrap();
        let (settings, lexicon) = (settings.clone(), task.lexicon);
        let trained = Arc::new(TrainedNetwork { settings, lexicon, tables, curve: Some(curve) });
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
            let place = AnyDevice::Cpu(numerics::testing::cpu_lost_after(n));
            let (family, trained) = (family.clone(), trained.clone());
            Arc::new(LanguageNetwork::on(&place, family, trained, choice).unwrap())
        };
        // More than it takes to get there, and less than to answer.
        let lost = model(40, DeviceChoice::Auto);
        let error = answered(lost.clone()).unwrap_err();
        assert!(matches!(error, Error::Device(numerics::Error::DeviceLost { .. })), "{error}");
        // A single question too goes to the device that the model was loaded on, and to no copy elsewhere.
        let mut scorer = lost.clone().scorer(set.vocabulary());
        let error = scorer.score(&[set.example(8).question], &mut Scores::default()).unwrap_err();
        assert!(matches!(error, Error::Device(numerics::Error::DeviceLost { .. })), "{error}");
        let expected = answered(model(100_000, DeviceChoice::Auto)).unwrap();
        assert_eq!(answered(lost.on_cpu().unwrap()).unwrap(), expected);
        assert!(model(40, DeviceChoice::Cuda).on_cpu().is_none());
    }
}
