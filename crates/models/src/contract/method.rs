//! The contract: a [`Method`] trains or loads a [`Model`], whose [`Scorer`] answers questions.

use std::path::Path;
use std::sync::Arc;

use base::Vocabulary;
use questions::{QuestionSet, Split};

use crate::{DeviceChoice, Reporter, Result, Scorer, Setting, Settings, Training, TrainingCurve};

/// An entry of the registry: what a method is called, what can be set, how its model is made.
pub struct Method {
    /// On the command line, in folders and in reports: `memnn-window-selfsup`.
    pub name: &'static str,
    /// The section of the paper: `§4.1`.
    pub section: &'static str,
    /// What it does, in a sentence for people who do not know the paper.
    pub summary: &'static str,
    /// How long training takes.
    pub cost: Cost,
    /// Whether training wants a GPU, which takes minutes where the processor takes [`Cost::Hours`].
    pub wants_gpu: bool,
    /// What can be set, in the order to print it.
    pub settings: &'static [Setting],
    /// Hashes of the code that a model of this method depends on; others may change without making it another.
    pub sources: &'static [&'static str],
    /// Whether training goes by epochs and reports a falling loss.
    pub trains_by_epochs: bool,
    /// Makes the model. The same settings, training and seed give the same model for any number of
    /// threads. A learner that finds checkpoints of its own in [`Training::checkpoints`] resumes after
    /// the last one and ends as if it had never stopped.
    pub train: fn(&Settings, &Training<'_>) -> Result<Arc<dyn Model>>,
    /// Makes the model again from what [`Model::save`] wrote.
    pub load: fn(&LoadRequest<'_>) -> Result<Arc<dyn Model>>,
}

impl Method {
    /// The hash of all [`Self::sources`], for [`crate::Program::code`].
    pub fn code(&self) -> String {
        let mut code = base::hash::sha256(self.sources.concat().as_bytes());
        code.truncate(16);
        code
    }
}

/// How long it takes to train a method on the released training questions (656,957) with two cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Less than a minute; where there is nothing to learn, no time at all.
    Seconds,
    /// Up to an hour.
    Minutes,
    /// Up to some days.
    Hours,
}

impl Cost {
    /// The unit of time in words: `seconds`, `minutes`, `hours`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Minutes => "minutes",
            Self::Hours => "hours",
        }
    }
}

/// A folder to load a model from, and where the model is to answer.
pub struct LoadRequest<'a> {
    /// The folder that [`Model::save`] wrote.
    pub folder: &'a Path,
    /// The settings that the model was trained with.
    pub settings: Settings,
    /// The device that networks answer on.
    pub device: DeviceChoice,
    /// Receives the choice of the device, and warnings.
    pub reporter: &'a dyn Reporter,
}

/// Contexts that were too long for a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutContexts {
    /// How many there were.
    pub contexts: usize,
    /// How many sentences were left out of them.
    pub sentences: usize,
}

/// A method that has been trained, where it trains.
pub trait Model: Send + Sync {
    /// Gets ready for questions over a vocabulary, which may be another than in training: whatever
    /// depends on its words alone (lower-casing, the model's own numbers for them) is computed here,
    /// once for all questions. The scorer is owned, so a server or a binding can keep it.
    fn scorer(self: Arc<Self>, words: &Arc<Vocabulary>) -> Box<dyn Scorer>;

    /// Writes what [`Method::load`] needs into an empty folder; [`crate::save`] adds name and settings.
    ///
    /// # Errors
    /// If a file can't be written.
    fn save(&self, folder: &Path) -> Result<()>;

    /// How its training went; none for methods that do not train by epochs, and for models of versions that kept
    /// no curve. [`crate::save`] writes it.
    fn training_curve(&self) -> Option<&TrainingCurve> {
        None
    }

    /// Whether questions with the same context cost less one after the other.
    fn remembers_contexts(&self) -> bool {
        false
    }

    /// The names of those books among which questions of some splits are asked (all, if none is named) that it is known
    /// to have learnt from, besides what a set calls its training split; `None` for a book without a name.
    fn known_books<'s>(&self, _: &'s QuestionSet, _: &[Split]) -> Vec<Option<&'s str>> {
        Vec::new()
    }

    /// How many contexts were too long for it so far.
    fn cut_contexts(&self) -> CutContexts {
        CutContexts::default()
    }

    /// The same model on the processor, for when the device fails that it was put on by
    /// [`DeviceChoice::Auto`].
    fn on_cpu(self: Arc<Self>) -> Option<Arc<dyn Model>> {
        None
    }
}
