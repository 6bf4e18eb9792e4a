//! [`NetworkFamily`]: language networks as models (§4.4; §3, lexical memory): running text → a trained
//! network. How it answers is in `answers`.

use std::sync::Arc;

use base::WordId;
use neural::{Cloze, ClozeNetwork, Network, Sampler, Tables, Text};
use questions::{BLANK, Example, Question};
use serde::de::DeserializeOwned;

use crate::learning::epochs;
use crate::networks::answers::{self, TrainedNetwork, build_model};
use crate::networks::device::{AnyDevice, compute};
use crate::networks::learner::{NetworkLearner, Pieces};
use crate::networks::settings::NetworkConfig;
use crate::words::lexicon::{END, Lexicon, Tokens};
use crate::words::running_text;
use crate::words::running_text::Books;
use crate::{
    Cost, DeviceChoice, Error, Method, Model, Result, Settings, SplitView, Training, TrainingCurve,
    sources,
};

/// What networks depend on, for [`crate::Method::sources`].
const SOURCES: &[&str] = &[
    sources::TRAINING,
    sources::NETWORKS,
    neural::SOURCES,
    numerics::SOURCES,
    base::seeds::SOURCES,
];

/// What all methods of this family have in common; name, section, summary and settings are their own.
pub(crate) const fn method<F: NetworkFamily>() -> Method {
    Method {
        name: "",
        section: "",
        summary: "",
        cost: Cost::Hours,
        wants_gpu: true,
        settings: &[],
        sources: SOURCES,
        trains_by_epochs: true,
        train: |settings, training| train(settings.config::<F>(), settings, training),
        load: |saved| answers::load(saved.settings.config::<F>(), saved),
    }
}

/// Settings of a method, typed: what its network is made of, and what it reads.
pub(crate) trait NetworkFamily: Clone + DeserializeOwned + Send + Sync + 'static {
    /// The layers that learn and answer.
    type Network: ClozeNetwork;
    /// A text as it learns from it.
    type Pieces<'t>: Pieces<Batch = <Self::Network as Network>::Batch>;

    /// The network for some words; with a sampler it learns by a softmax over samples.
    fn network(&self, n_words: usize, sampler: Option<Sampler>) -> Result<Self::Network>;

    /// A text in the pieces that the network learns from, and how many of them make a mini-batch.
    fn pieces<'t>(&self, source: &'t Source<'t>) -> (Self::Pieces<'t>, usize);

    /// The settings that all networks share.
    fn config(&self) -> &NetworkConfig;

    /// What it reads of a question: a text with a blank, with the context where the network wants it.
    fn reads(&self, context: Vec<u32>, cloze: Cloze) -> Cloze;
}

/// What a network learns from or is validated on.
pub(crate) struct Source<'a> {
    /// The running text of the books.
    pub text: Text,
    /// The questions of the same split.
    pub part: &'a SplitView<'a>,
    /// The tokens of the set's words.
    tokens: Tokens,
}

impl<'a> Source<'a> {
    fn new(part: &'a SplitView<'a>, books: &Books<'_>, lexicon: &Lexicon) -> Self {
        let tokens = lexicon.tokens_of(part.vocabulary());
        Self { text: text_of(books, &tokens), part, tokens }
    }

    /// The context of a question whose answer is known, and its query with the answer in it, between two ends
    /// of sentence.
    pub fn answered(&self, place: usize) -> (Vec<u32>, Vec<u32>) {
        let Example { question, answer, .. } = self.part.example(place);
        let answer = question.candidates[answer.expect("its answer is known")];
        let tokens = |&word: &WordId| self.tokens.of(if word == BLANK { answer } else { word });
        let query = question.query.iter().flat_map(tokens).copied();
        let query = std::iter::once(END).chain(query).chain([END]).collect();
        (context_of(&question, &self.tokens), query)
    }
}

/// Books as running text.
fn text_of(books: &Books<'_>, tokens: &Tokens) -> Text {
    let mut text = Text::new(END);
    for book in books {
        text.push(book.iter().map(|words| tokens.of_all(words)));
    }
    text
}

/// The words of a question's context, each sentence with its end.
pub(crate) fn context_of(question: &Question<'_>, tokens: &Tokens) -> Vec<u32> {
    let mut context = Vec::new();
    for sentence in question.context.iter().filter(|sentence| !sentence.is_empty()) {
        context.extend(tokens.of_all(sentence));
        context.push(END);
    }
    context
}

/// A text with the context before it, as running text.
pub(crate) fn with_burn_in(context: Vec<u32>, cloze: Cloze) -> Cloze {
    let before = [&cloze.before[..1], &context, &cloze.before[1..]].concat();
    Cloze { before, ..cloze }
}

/// Trains a network, on the device that was chosen.
pub(crate) fn train<F: NetworkFamily>(
    family: F,
    settings: &Settings,
    training: &Training<'_>,
) -> Result<Arc<dyn Model>> {
    let task = Task::new(&family, settings, training)?;
    let learnt = compute(training.device, training.reporter, |place| task.learn(place));
    let (mut tables, curve) = learnt?;
    tables.iter_mut().for_each(|(_, table)| family.config().weights.round(table));
    let (settings, lexicon) = (settings.clone(), task.lexicon);
    let trained = Arc::new(TrainedNetwork { settings, lexicon, tables, curve: Some(curve) });
    // What was learnt is not lost to a device that fails now.
    build_model(family.clone(), trained.clone(), training.device, &|_| ())
        .or_else(|_| build_model(family, trained, DeviceChoice::Cpu, &|_| ()))
}

/// What a network is to learn.
pub(crate) struct Task<'a, F> {
    train: Source<'a>,
    valid: Source<'a>,
    pub lexicon: Lexicon,
    family: &'a F,
    settings: &'a Settings,
    training: &'a Training<'a>,
}

impl<'a, F: NetworkFamily> Task<'a, F> {
    pub fn new(family: &'a F, settings: &'a Settings, training: &'a Training<'a>) -> Result<Self> {
        let (config, vocabulary) = (family.config(), training.train.vocabulary());
        let books = running_text::to_learn_from(settings.model(), training)?;
        let lexicon = Lexicon::of_books(&books, vocabulary, config.min_count, config.lowercase);
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
        Ok(Self { train, valid, lexicon, family, settings, training })
    }

    /// Learns on a device, from the last checkpoint if there is one.
    pub fn learn(&self, place: &AnyDevice) -> Result<(Tables, TrainingCurve)> {
        let (config, seed, n_words) =
            (self.family.config(), self.training.seed, self.lexicon.len());
        let sampler = config.sampler(&self.train.text, n_words, seed);
        let network = self.family.network(n_words, sampler)?;
        let trainer = place.trainer(network, config.training(seed))?;
        let (train, batch) = self.family.pieces(&self.train);
        let (valid, _) = self.family.pieces(&self.valid);
        let mut learner = NetworkLearner::new(trainer, [train, valid], config, batch)?;
        let schedule = config.schedule(batch);
        let curve = epochs::run(&mut learner, &schedule, self.settings, self.training)?;
        Ok((learner.weights()?, curve))
    }
}
