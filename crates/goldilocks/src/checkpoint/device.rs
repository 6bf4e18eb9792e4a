//! [`DeviceModel`]: the same network on a GPU, and questions → the same scores.
//!
//! What is asked, and what is read together, is decided as on the processor ([`Texts`]); the processor reads what the
//! GPU has no room for, and shows what the network looks at.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base::Vocabulary;
use models::{Concurrency, CutContexts, Explanation, Model, Scorer, Scores};
use neural::{BlockShape, DecoderConfig};
use questions::{Question, QuestionSet, Split};
use rayon::prelude::*;
use reader::{Answerer, Choice, Compute, Passage, ROW};
use transformer::{Checkpoint, Parts, Reader};

use super::model::CheckpointModel;
use super::texts::{Texts, count_cut, groups, read_group};

/// Numbers of a head that a GPU computes with, at most.
const WIDEST_HEAD: usize = 128;

/// A network on a device.
pub(super) struct DeviceModel {
    /// The same on the processor.
    cpu: Arc<CheckpointModel>,
    answerer: Mutex<Answerer>,
    /// Whether the processor takes over where the device fails.
    falls_back: bool,
}

impl DeviceModel {
    /// Copies a network to a device.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(
        cpu: Arc<CheckpointModel>,
        compute: &Compute,
        falls_back: bool,
    ) -> models::Result<Self> {
        let parts = Parts::of(&cpu.checkpoint, ROW);
        let (width, heads, head_dim) = (parts.width, parts.n_heads, parts.head_dim);
        if compute.gpu().is_some() && head_dim > WIDEST_HEAD {
            let reason =
                format!("heads of the network have {head_dim} numbers: at most {WIDEST_HEAD}");
            return Err(numerics::Error::NoDevice { reason }.into());
        }
        let config = DecoderConfig {
            n_pieces: parts.n_tokens,
            layers: parts.n_layers,
            block: BlockShape { width, heads, head_dim, feed_forward: parts.hidden },
            has_head_norms: parts.has_head_norms,
            is_tied: parts.is_tied,
            // The angles are given.
            rotary_base: 1.0,
            dropout: 0.0,
        };
        let answerer = Answerer::of_decoder(compute, config, parts.angles, &parts.tables);
        Ok(Self { cpu, answerer: Mutex::new(answerer.map_err(ours)?), falls_back })
    }
}

impl Model for DeviceModel {
    fn scorer(self: Arc<Self>, words: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        let reader = self.cpu.checkpoint.reader();
        let cpu = self.cpu.clone().scorer(words);
        Box::new(DeviceScorer { model: self, reader, cpu })
    }

    /// There is nothing to save: the folder is somebody else's.
    fn save(&self, _: &Path) -> models::Result<()> {
        Ok(())
    }

    fn remembers_contexts(&self) -> bool {
        true
    }

    fn known_books<'s>(&self, set: &'s QuestionSet, splits: &[Split]) -> Vec<Option<&'s str>> {
        self.cpu.known_books(set, splits)
    }

    fn cut_contexts(&self) -> CutContexts {
        self.cpu.cut_contexts()
    }

    fn on_cpu(self: Arc<Self>) -> Option<Arc<dyn Model>> {
        self.falls_back.then(|| self.cpu.clone() as Arc<dyn Model>)
    }
}

struct DeviceScorer {
    model: Arc<DeviceModel>,
    /// For what does not fit into a row.
    reader: Reader,
    /// The scorer of the processor.
    cpu: Box<dyn Scorer>,
}

impl DeviceScorer {
    fn scores(&mut self, questions: &[Question<'_>]) -> models::Result<Vec<Vec<f64>>> {
        let checkpoint: &Checkpoint = &self.model.cpu.checkpoint;
        let texts = questions.par_iter().map(|question| Texts::new(checkpoint, question));
        let texts = texts.collect::<transformer::Result<Vec<Texts>>>();
        let texts = texts.map_err(models::Error::external)?;
        let (fitting, others): (Vec<_>, Vec<_>) =
            groups(&texts).into_iter().partition(|group| fits(checkpoint, &texts, group));
        let passages = fitting.iter().map(|group| passage(&texts, group)).collect();
        let mut scores = vec![Vec::new(); texts.len()];
        let mut answerer = self.model.answerer.lock().unwrap_or_else(PoisonError::into_inner);
        let sums = answerer.answer(passages).map_err(ours)?;
        drop(answerer);
        fitting.iter().flatten().zip(sums).for_each(|(&place, sums)| scores[place] = sums);
        for group in others {
            self.reader.forget();
            let sums = read_group(&mut self.reader, &texts, &group);
            let sums = sums.map_err(models::Error::external)?;
            group.iter().zip(sums).for_each(|(&place, sums)| scores[place] = sums);
        }
        count_cut(&texts, &mut self.model.cpu.cut.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(scores)
    }
}

/// Whether the questions of a group fit into a row, each with what all of them begin with. Those that no network can
/// read do not.
fn fits(checkpoint: &Checkpoint, texts: &[Texts], group: &[usize]) -> bool {
    let n_trunk = group.last().map_or(0, |&place| texts[place].shared().len());
    group.iter().map(|&place| &texts[place]).all(|texts| {
        let n_places = texts.rests().map(<[u32]>::len).sum::<usize>();
        let is_readable = !texts.shared().is_empty() && texts.longest() <= checkpoint.n_positions();
        is_readable && n_trunk + n_places <= ROW
    })
}

fn passage(texts: &[Texts], group: &[usize]) -> Passage {
    let trunk = group.last().map_or(&[][..], |&place| texts[place].shared()).to_vec();
    let choice = |&place: &usize| {
        let rests = texts[place].rests().map(<[u32]>::to_vec).collect();
        Choice { shared: texts[place].shared().len(), rests, key: None }
    };
    Passage { trunk, questions: group.iter().map(choice).collect() }
}

/// A failure of a device is known as one, so that the processor can take over.
pub(super) fn ours(error: reader::Error) -> models::Error {
    match error {
        reader::Error::Neural(error) => error.into(),
        error => models::Error::external(error),
    }
}

impl Scorer for DeviceScorer {
    /// One prepares texts while the other waits for the device.
    fn concurrency(&self) -> Concurrency {
        const AT_ONCE: NonZeroUsize = NonZeroUsize::new(2).unwrap();
        Concurrency::InFlight(AT_ONCE)
    }

    /// Enough for several full batches of rows, so that the last one's empty rows matter little.
    fn batch_size(&self) -> usize {
        1024
    }

    fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> models::Result<()> {
        let lists = self.scores(questions)?;
        lists.into_iter().for_each(|list| scores.push(list.into_iter().map(|score| score as f32)));
        Ok(())
    }

    fn explain(&mut self, question: &Question<'_>) -> models::Result<Explanation> {
        self.cpu.explain(question)
    }

    fn fork(&self) -> Box<dyn Scorer> {
        let reader = self.model.cpu.checkpoint.reader();
        Box::new(Self { model: self.model.clone(), reader, cpu: self.cpu.fork() })
    }
}
