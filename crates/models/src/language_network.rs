//! Language networks as models (§4.4; §3, lexical memory): running text → a network; question → ln p of the
//! query with each candidate in the blank, its end included.
//!
//! ```text
//! words.txt, weights.safetensors    what was learnt, see `learnt`
//! training.toml                     loss and validation loss of each epoch
//! ```
//!
//! Weights move between machines: where a network learnt or answers is not part of it.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use corpus::{Vocabulary, WordId};
use neural::{Cloze, FillsBlanks, Network, Tables, Text};
use numerics::device::{Cpu, Device};
use questions::{BLANK, Example, Question};
use serde::{Deserialize, Serialize};

use crate::case_twins::tell_apart;
use crate::checkpoint::Epoch;
use crate::device_choice::{OnDevice, compute, gpu, instead};
use crate::folder::{read_toml, write_toml};
use crate::language_learner::{LanguageLearner, Pieces};
use crate::language_settings::{Recipe, Start};
use crate::lexicon::{END, Lexicon, UNKNOWN};
use crate::lowercase::Lowercase;
use crate::running_text::Books;
use crate::{
    DeviceChoice, Error, Model, Part, Reader, Reporter, Result, Saved, Settings, Training, epochs,
    learnt, running_text,
};

const EPOCHS: &str = "training.toml";

/// How many questions a reader is asked at a time: a device reads them all side by side.
const ASKED: usize = 256;
/// How many the processor reads side by side, those with contexts of about the same length.
const SIDE_BY_SIDE: usize = 64;

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
    pub part: &'a Part<'a>,
    /// The lexicon's numbers of the set's words.
    numbers: Vec<u32>,
}

impl<'a> Source<'a> {
    fn new(part: &'a Part<'a>, books: &Books<'_>, lexicon: &Lexicon) -> Self {
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
fn context_of(question: &Question<'_>, numbers: &[u32]) -> Vec<u32> {
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
) -> Result<Box<dyn Model>> {
    let (learning, lexicon) = Learning::new(&design, settings, training)?;
    let (mut tables, epochs) = compute(&learning, training.device, training.reporter)?;
    tables.iter_mut().for_each(|(_, table)| design.recipe().weights.round(table));
    let learnt = Arc::new(Learnt { settings: settings.clone(), lexicon, tables, epochs });
    // What was learnt is not lost to a device that fails now.
    made(design.clone(), learnt.clone(), training.device, &|_| ())
        .or_else(|_| made(design, learnt, DeviceChoice::Cpu, &|_| ()))
}

struct Learning<'a, S> {
    train: Source<'a>,
    valid: Source<'a>,
    n_words: usize,
    design: &'a S,
    settings: &'a Settings,
    training: &'a Training<'a>,
}

impl<'a, S: Design> Learning<'a, S> {
    fn new(
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

/// Loads a network.
pub(crate) fn load<S: Design>(design: S, saved: &Saved<'_>) -> Result<Box<dyn Model>> {
    let lexicon = Lexicon::read(saved.folder, design.recipe().lowercase)?;
    let Epochs { epochs } = read_toml(&saved.folder.join(EPOCHS))?;
    let shapes = design.network(&Cpu::default(), lexicon.len(), Start::answering())?.shapes();
    let tables = learnt::read_tables(saved.folder, lexicon.words(), &shapes)?;
    let tables = shapes.iter().map(|(name, ..)| (*name).to_owned()).zip(tables).collect();
    let learnt = Learnt { settings: saved.settings.clone(), lexicon, tables, epochs };
    made(design, Arc::new(learnt), saved.device, saved.reporter)
}

/// A model that answers on a device.
fn made<S: Design>(
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
struct Learnt {
    settings: Settings,
    lexicon: Lexicon,
    tables: Tables,
    epochs: Vec<Epoch>,
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
        let lowercase = self.design.recipe().lowercase.then(|| Lowercase::new(vocabulary));
        let numbers = self.learnt.lexicon.numbers_of(vocabulary);
        Box::new(NetworkReader { model: self, numbers, lowercase, device: Mutex::new(()) })
    }

    fn save(&self, folder: &Path) -> Result<()> {
        let Learnt { settings, lexicon, tables, epochs } = &*self.learnt;
        write_toml(&folder.join(EPOCHS), &Epochs { epochs: epochs.clone() })?;
        let tables: Vec<_> = tables.iter().map(|(name, table)| (name.as_str(), table)).collect();
        learnt::write(folder, lexicon.words(), &tables, self.design.recipe().weights, settings)
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
    /// If case twins are one word to the network.
    lowercase: Option<Lowercase>,
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
        if let Some(lowercase) = &self.lowercase {
            tell_apart(question, lowercase, &mut scores);
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use numerics::Table;
    use questions::{QuestionSet, Split};

    use super::*;
    use crate::fixture::{Asked, set_of};
    use crate::{Event, find};

    /// A fox is always red, a hen is always old; names that no training book has stand in the last question.
    fn set() -> QuestionSet {
        let tale = || vec!["a red fox ran", "an old hen sat", "a red fox sat", "an old hen ran"];
        let asked = |context, query, candidates, split| Asked {
            context,
            query,
            candidates,
            answer: Some(0),
            split,
        };
        let mut questions: Vec<Asked<'_>> = (0..8)
            .map(|_| {
                asked(
                    [tale(), tale()].concat(),
                    "a red XXXXX ran",
                    &["fox", "hen"][..],
                    Split::Train,
                )
            })
            .collect();
        questions.push(asked(tale(), "a red XXXXX sat", &["fox", "hen"], Split::Valid));
        questions.push(asked(
            tale(),
            "an old XXXXX ran",
            &["Hen", "zyx", "fox", "hen"],
            Split::Valid,
        ));
        set_of(&questions)
    }

    const SMALL: [&str; 8] = [
        "dim=8",
        "optimiser=adam",
        "learning_rate=0.05",
        "schedule=cosine",
        "epochs=6",
        "streams=2",
        "steps=5",
        "min_count=1",
    ];

    fn settings(model: &str, more: &[&str]) -> Settings {
        Settings::from_text(find(model).unwrap(), SMALL.iter().chain(more).copied()).unwrap()
    }

    fn trained(set: &QuestionSet, more: &[&str]) -> Box<dyn Model> {
        let settings = settings("lstm-context-query", more);
        let train = find("lstm-context-query").unwrap().train;
        train(&settings, &Training::new(set, 1, &|_| ())).unwrap()
    }

    #[test]
    fn what_stands_before_the_blank_tells_the_word() {
        let set = set();
        let scores = trained(&set, &[]).score(&set.example(8).question);
        assert!(scores[0] > scores[1] + 2.0, "{scores:?}");
    }

    #[test]
    fn words_that_are_unknown_share_the_probability_and_case_twins_are_told_apart() {
        let set = set();
        let question = set.example(9).question;
        // `Hen` and `zyx` are unknown: each has half of what `<unk>` would have alone.
        let model = trained(&set, &[]);
        let scores = model.score(&question);
        assert_eq!(scores[0], scores[1]);
        let alone = Question { candidates: &question.candidates[1..], ..question.clone() };
        let difference = model.score(&alone)[0] - scores[1];
        assert!((difference - 2f32.ln()).abs() < 1e-5, "{difference}");
        // In lower case `Hen` is the hen that is not at the start of a sentence.
        let scores = trained(&set, &["lowercase=true"]).score(&question);
        assert!(scores[0] < scores[3] && scores[0] > scores[1], "{scores:?}");
    }

    #[test]
    fn questions_can_be_learnt_from_in_the_place_of_text() {
        let set = set();
        let settings = settings("contextual-lstm", &["learns_from=questions", "max_words=9"]);
        let train = find("contextual-lstm").unwrap().train;
        let model = train(&settings, &Training::new(&set, 1, &|_| ())).unwrap();
        let scores = model.score(&set.example(8).question);
        assert!(scores[0] > scores[1], "{scores:?}");
    }

    /// Threads that help each other must not wait for each other, whatever `auto` found.
    #[test]
    fn many_threads_answer_at_once() {
        let set = set();
        let mut training = Training::new(&set, 1, &|_| ());
        training.device = DeviceChoice::Auto;
        let train = find("lstm-context-query").unwrap().train;
        let model = train(&settings("lstm-context-query", &[]), &training).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        let places = vec![8; 20 * ASKED];
        let all = pool.install(|| crate::score_all(&*model, &set, &places, &[], &|_| ())).unwrap();
        assert_eq!(all.len(), places.len());
        assert!(all.iter().all(|scores| *scores == all[0]));
    }

    /// A device that is lost while it answers: the model has another on the processor, with the same scores.
    #[test]
    fn the_processor_answers_in_the_place_of_a_lost_device() {
        let (set, places) = (set(), [8, 9, 8, 9]);
        let settings = settings("lstm-context-query", &[]);
        let design = crate::lstm::of(&settings);
        let training = Training::new(&set, 1, &|_| ());
        let (learning, lexicon) = Learning::new(&design, &settings, &training).unwrap();
        let (tables, epochs) = learning.on(Cpu::default()).unwrap();
        let learnt = Arc::new(Learnt { settings: settings.clone(), lexicon, tables, epochs });
        let filling = Filling { design: &design, learnt: &learnt };
        let on_device = |n| Some(filling.on(Cpu::lost_after(n)).unwrap());
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

    #[test]
    fn without_words_there_is_nothing_to_learn() {
        let set = set();
        let settings = settings("lstm-query", &["min_count=1000"]);
        let train = find("lstm-query").unwrap().train;
        let error = train(&settings, &Training::new(&set, 1, &|_| ())).err().expect("it fails");
        let hint = error.hint().unwrap();
        assert!(error.to_string().contains("`min_count` times"), "{error}");
        assert_eq!(hint, "set a smaller `min_count`");
    }

    /// A checkpoint that can't be read is as good as none.
    #[test]
    fn training_starts_anew_after_a_damaged_checkpoint() {
        let set = set();
        let (settings, folder) = (settings("lstm-query", &[]), tempfile::tempdir().unwrap());
        let told = Mutex::new(Vec::new());
        let note = |event: Event| told.lock().unwrap().push(event);
        let mut training = Training::new(&set, 1, &note);
        training.checkpoints = Some(folder.path());
        let train = || {
            let design = crate::lstm::of(&settings);
            let learning = Learning::new(&design, &settings, &training).unwrap().0;
            let (tables, _) = learning.on(Cpu::default()).unwrap();
            let events = std::mem::take(&mut *told.lock().unwrap());
            let epochs = events.iter().filter(|event| matches!(event, Event::Epoch { .. })).count();
            (tables.into_iter().map(|(_, table)| table).collect::<Vec<_>>(), epochs, events)
        };
        let (whole, n_epochs, _) = train();
        assert_eq!(n_epochs, 6);
        let (again, n_epochs, events) = train();
        assert_eq!((again == whole, n_epochs), (true, 0));
        let note = "goes on from its checkpoint after epoch 6".to_owned();
        assert_eq!(events, [Event::Note(note)]);
        let file = folder.path().join("epoch-6.safetensors");
        std::fs::write(&file, "nothing of the kind").unwrap();
        let (anew, n_epochs, events) = train();
        assert_eq!((anew == whole, n_epochs), (true, 6));
        let is_warned = |event: &Event| {
            matches!(event, Event::Warning(text) if text.contains("epoch-6.safetensors")
                && text.ends_with(": training starts anew"))
        };
        assert!(events.iter().any(is_warned), "{events:?}");
    }

    /// A device that is lost in the middle of the training leaves the checkpoint of its last epoch; the
    /// processor goes on from there and ends with the same weights.
    #[test]
    fn a_device_that_is_lost_costs_the_steps_since_the_last_checkpoint() {
        let set = set();
        let settings = settings("lstm-query", &[]);
        let design = crate::lstm::of(&settings);
        let folder = tempfile::tempdir().unwrap();
        let epochs = Mutex::new(Vec::new());
        let note = |event: Event| {
            if let Event::Epoch { number, .. } = event {
                epochs.lock().unwrap().push(number);
            }
        };
        let weights = |training: &Training<'_>, device: Cpu<f32>| -> Result<Vec<Table<f32>>> {
            let learning = Learning::new(&design, &settings, training)?.0;
            let (tables, _) = learning.on(device)?;
            Ok(tables.into_iter().map(|(_, table)| table).collect())
        };
        let mut training = Training::new(&set, 1, &note);
        let whole = weights(&training, Cpu::default()).unwrap();
        assert_eq!(std::mem::take(&mut *epochs.lock().unwrap()), [1, 2, 3, 4, 5, 6]);
        training.checkpoints = Some(folder.path());
        let error = weights(&training, Cpu::lost_after(800)).unwrap_err();
        assert!(matches!(error, Error::Device(numerics::Error::DeviceLost { .. })), "{error}");
        let n_before = std::mem::take(&mut *epochs.lock().unwrap()).len();
        assert!((1..6).contains(&n_before), "lost after {n_before} epochs");
        assert_eq!(weights(&training, Cpu::default()).unwrap(), whole);
        assert_eq!(*epochs.lock().unwrap(), (n_before + 1..=6).collect::<Vec<_>>());
    }
}
