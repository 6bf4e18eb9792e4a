//! The contract: an [`Entry`] trains or loads a [`Model`], whose [`Reader`] answers questions.

use std::path::Path;

use base::Vocabulary;
use questions::Question;

use crate::{DeviceChoice, Explanation, Reporter, Result, Setting, Settings, Training};

/// A line of the registry: what a model is called, what can be set, how it is made.
pub struct Entry {
    /// On the command line, in folders and in reports: `memnn-window-selfsup`.
    pub name: &'static str,
    /// The label of its row in Table 2.
    pub row: &'static str,
    /// The section of the paper: `§4.1`.
    pub section: &'static str,
    /// What can be set, in the order to print it.
    pub settings: &'static [Setting],
    /// Whether training goes by epochs and reports a falling loss.
    pub learns: bool,
    /// Makes the model. The same settings, training and seed give the same model for any number of
    /// threads. A learner that finds checkpoints of its own in [`Training::checkpoints`] goes on from
    /// the last one and ends as if it had never stopped.
    pub train: fn(&Settings, &Training<'_>) -> Result<Box<dyn Model>>,
    /// Makes the model again from what [`Model::save`] wrote.
    pub load: fn(&Saved<'_>) -> Result<Box<dyn Model>>,
}

/// A folder to load a model from.
pub struct Saved<'a> {
    /// Where [`Model::save`] wrote.
    pub folder: &'a Path,
    /// The settings that the model was trained with.
    pub settings: Settings,
    /// Where networks answer.
    pub device: DeviceChoice,
    /// Hears where that is.
    pub reporter: &'a dyn Reporter,
}

/// A method that has been trained, where it trains.
pub trait Model: Send + Sync {
    /// Gets ready for questions over a vocabulary, which may be another than in training: whatever
    /// depends on its words alone (lower-casing, the model's own numbers for them) is worked out here,
    /// once for all questions.
    fn reader<'a>(&'a self, vocabulary: &'a Vocabulary) -> Box<dyn Reader + 'a>;

    /// Writes what [`Entry::load`] needs into an empty folder; [`crate::save`] adds name and settings.
    ///
    /// # Errors
    /// If a file can't be written.
    fn save(&self, folder: &Path) -> Result<()>;

    /// The same model on the processor, for when the device fails that it was put on by
    /// [`DeviceChoice::Auto`].
    fn on_processor(&self) -> Option<Box<dyn Model>> {
        None
    }

    /// [`Reader::score`] for a single question; many are faster with one [`Reader`].
    fn score(&self, question: &Question<'_>) -> Vec<f32> {
        self.reader(question.vocabulary).score(question)
    }
}

/// A model with a vocabulary: answers the questions whose words that vocabulary numbers.
pub trait Reader: Send + Sync {
    /// One finite score per candidate, in their order; the highest is the prediction.
    fn score(&self, question: &Question<'_>) -> Vec<f32>;

    /// How many questions it is best asked at a time.
    fn batch(&self) -> usize {
        64
    }

    /// The scores of several questions: a model that gains from batches overrides it.
    ///
    /// # Errors
    /// If the device that computes them fails.
    fn score_many(&self, questions: &[Question<'_>]) -> Result<Vec<Vec<f32>>> {
        Ok(questions.iter().map(|question| self.score(question)).collect())
    }

    /// What the model looked at (Figure 2); empty for models that look at nothing in particular.
    fn explain(&self, _question: &Question<'_>) -> Explanation {
        Explanation::default()
    }
}
