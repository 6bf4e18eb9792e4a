//! Language networks as models (§4.4; §3, lexical memory): running text → a network; how it answers stands in
//! `language_answers`.

use std::sync::Arc;

use base::WordId;
use neural::{Cloze, FillsBlanks, Network, Tables, Text};
use numerics::device::Device;
use questions::{BLANK, Example, Question};

use crate::learning::checkpoint::Epoch;
use crate::learning::epochs;
use crate::networks::answers::{Learnt, made};
use crate::networks::device::{OnDevice, compute};
use crate::networks::learner::{LanguageLearner, Pieces};
use crate::networks::settings::{Recipe, Start};
use crate::words::lexicon::{END, Lexicon};
use crate::words::running_text;
use crate::words::running_text::Books;
use crate::{DeviceChoice, Error, Model, Result, Settings, SplitView, Training, sources};

/// What networks depend on, for [`crate::Method::sources`].
pub(crate) const SOURCES: &[&str] = &[
    sources::TRAINING,
    sources::NETWORKS,
    neural::SOURCES,
    numerics::SOURCES,
    base::seeds::SOURCES,
];

/// What a network is made of, and what it reads.
pub(crate) trait Design: Clone + Send + Sync + 'static {
    /// What it learns from at a time.
    type Batch;
    /// The network.
    type Network<D: Device<Real = f32>>: Network<D, Batch = Self::Batch> + FillsBlanks + 'static;
    /// A text as it learns from it.
    type Pieces<'t>: Pieces<Batch = Self::Batch>;

    /// A network before training.
    fn network<D: Device<Real = f32>>(
        &self,
        device: &D,
        n_words: usize,
        start: Start,
    ) -> Result<Self::Network<D>>;

    /// A text in the pieces that the network learns from, and how many of them make a mini-batch.
    fn pieces<'t>(&self, source: &'t Source<'t>) -> (Self::Pieces<'t>, usize);

    /// How it learns.
    fn recipe(&self) -> &Recipe;

    /// What it reads of a question: a text with a blank, the context put where the network wants it.
    fn reads(&self, context: Vec<u32>, cloze: Cloze) -> Cloze;
}

/// What a network learns from or is validated on.
pub(crate) struct Source<'a> {
    /// Running text.
    pub text: Text,
    /// Questions.
    pub part: &'a SplitView<'a>,
    /// The lexicon's numbers of the set's words.
    numbers: Vec<u32>,
}

impl<'a> Source<'a> {
    fn new(part: &'a SplitView<'a>, books: &Books<'_>, lexicon: &Lexicon) -> Self {
        let numbers = lexicon.numbers_of(part.vocabulary());
        Self { text: text_of(books, &numbers), part, numbers }
    }

    /// The context of a question whose answer is known, and its query with the answer in it, between two ends
    /// of sentence.
    pub fn answered(&self, place: usize) -> (Vec<u32>, Vec<u32>) {
        let Example { question, answer, .. } = self.part.example(place);
        let answer = question.candidates[answer.expect("its answer is known")];
        let word = |&word: &WordId| self.numbers[if word == BLANK { answer } else { word }.index()];
        let query = question.query.iter().map(word);
        let query = std::iter::once(END).chain(query).chain([END]).collect();
        (context_of(&question, &self.numbers), query)
    }
}

/// Books as running text.
fn text_of(books: &Books<'_>, numbers: &[u32]) -> Text {
    let mut text = Text::new(END);
    for book in books {
        text.push(book.iter().map(|words| words.iter().map(|word| numbers[word.index()])));
    }
    text
}

/// The words of a question's context, each sentence with its end.
pub(crate) fn context_of(question: &Question<'_>, numbers: &[u32]) -> Vec<u32> {
    let mut context = Vec::new();
    for sentence in question.context.iter().filter(|sentence| !sentence.is_empty()) {
        context.extend(sentence.iter().map(|word| numbers[word.index()]));
        context.push(END);
    }
    context
}

/// A text with the context before it, as running text.
pub(crate) fn burnt_in(context: Vec<u32>, cloze: Cloze) -> Cloze {
    let before = [&cloze.before[..1], &context, &cloze.before[1..]].concat();
    Cloze { before, ..cloze }
}

/// Trains a network.
pub(crate) fn train<S: Design>(
    design: S,
    settings: &Settings,
    training: &Training<'_>,
) -> Result<Arc<dyn Model>> {
    let (learning, lexicon) = Learning::new(&design, settings, training)?;
    let (mut tables, epochs) = compute(&learning, training.device, training.reporter)?;
    tables.iter_mut().for_each(|(_, table)| design.recipe().weights.round(table));
    let learnt = Arc::new(Learnt { settings: settings.clone(), lexicon, tables, epochs });
    // What was learnt is not lost to a device that fails now.
    made(design.clone(), learnt.clone(), training.device, &|_| ())
        .or_else(|_| made(design, learnt, DeviceChoice::Cpu, &|_| ()))
}

/// A training to be done on some device.
pub(crate) struct Learning<'a, S> {
    train: Source<'a>,
    valid: Source<'a>,
    n_words: usize,
    design: &'a S,
    settings: &'a Settings,
    training: &'a Training<'a>,
}

impl<'a, S: Design> Learning<'a, S> {
    pub fn new(
        design: &'a S,
        settings: &'a Settings,
        training: &'a Training<'a>,
    ) -> Result<(Self, Lexicon)> {
        let (recipe, vocabulary) = (design.recipe(), training.train.vocabulary());
        let books = running_text::to_learn_from(settings.model(), training)?;
        let lexicon = Lexicon::of_books(&books, vocabulary, recipe.min_count, recipe.lowercase);
        if lexicon.words().is_empty() {
            return Err(Error::NothingToTrainOn {
                model: settings.model(),
                expected: "words that the training books have `min_count` times",
                hint: "set a smaller `min_count`",
            });
        }
        let train = Source::new(&training.train, &books, &lexicon);
        let valid = running_text::to_validate_on(training);
        let valid = Source::new(&training.valid, &valid, &lexicon);
        let n_words = lexicon.len();
        Ok((Self { train, valid, n_words, design, settings, training }, lexicon))
    }
}

impl<S: Design> OnDevice for Learning<'_, S> {
    type Output = (Tables, Vec<Epoch>);

    fn on<D: Device<Real = f32>>(&self, device: D) -> Result<Self::Output> {
        let recipe = self.design.recipe();
        let start = recipe.start(&self.train.text, self.n_words, self.training.seed);
        let network = self.design.network(&device, self.n_words, start)?;
        let (train, batch) = self.design.pieces(&self.train);
        let (valid, _) = self.design.pieces(&self.valid);
        let mut learner = LanguageLearner::new(network, [train, valid], recipe, batch)?;
        let schedule = recipe.schedule(batch);
        let epochs = epochs::run(&mut learner, &schedule, self.settings, self.training)?;
        Ok((learner.weights()?, epochs))
    }
}

#[cfg(test)]
pub(crate) mod tests;
