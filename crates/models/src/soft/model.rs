//! What the embedding models (§4.3) and the memory networks with soft attention (§3.2) share: training on
//! all questions, against the whole dictionary or against the candidates, answering, explaining, and files.
//!
//! A model is a [`SoftModelSpec`]: which parts of a question are embedded, and through which network.

use std::path::Path;
use std::sync::Arc;

use base::Vocabulary;
use base::seeds::{Streams, Use, generator};
use numerics::{Real, Table};
use questions::Question;
use rayon::prelude::*;

use crate::contract::scorer::{PerQuestion, ScoreQuestion};
use crate::learning::epochs::{self, Learner, MiniBatch, Validation};
use crate::learning::options::Optimiser;
use crate::learning::sampling::InclusionSampler;
use crate::learning::weights_file::{self, SavedAs};
use crate::memories::composition::Composition;
use crate::memories::format::{Format, Phrases};
use crate::memories::windows::{KnownWords, Memories};
use crate::soft::attention::AttentionPass;
use crate::soft::dictionary_softmax::Output;
use crate::soft::network::{Batch, Network, Shape, no_squares};
use crate::soft::settings::{FitConfig, Loss};
use crate::soft::tables::{PerTable, SQUARES, WEIGHTS};
use crate::words::case::break_case_ties;
use crate::words::dictionary::Dictionary;
use crate::words::lowercase::Lowercase;
use crate::{
    Error, Explanation, LoadRequest, Model, Result, Scorer, Settings, Span, SplitView, Training,
    TrainingCurve,
};

/// A thousandth of what the memories of a typical question get each.
const NEGLIGIBLE: f64 = 2e-5;

/// What a model is made of.
pub(crate) struct SoftModelSpec {
    /// Which parts of a question are embedded, for any dictionary.
    pub format: Format,
    pub composition: Composition,
    pub dim: usize,
    pub hops: usize,
    pub tied: bool,
    pub time_scale: f64,
    pub fit: FitConfig,
}

impl SoftModelSpec {
    /// What is embedded is compared at once: no hops over memories.
    pub(crate) fn without_memories(
        format: Format,
        composition: Composition,
        dim: usize,
        fit: FitConfig,
    ) -> Self {
        Self { format, composition, dim, hops: 0, tied: false, time_scale: 0.0, fit }
    }

    fn shape(&self, format: &Format, words: usize) -> Shape {
        Shape {
            rows: format.n_rows(words),
            words,
            dim: self.dim,
            hops: self.hops,
            composition: self.composition,
            time_scale: self.time_scale,
            clip: self.fit.clip,
            negligible: NEGLIGIBLE,
            tied: self.tied.then(|| format.middle()),
        }
    }

    /// Trains such a model.
    pub fn train(self, settings: &Settings, training: &Training<'_>) -> Result<Arc<dyn Model>> {
        let questions = training.train.answered();
        if questions.is_empty() {
            return Err(Error::NothingToTrainOn {
                model: settings.model(),
                expected: "training questions with answers",
                hint: "look at the splits of the set",
            });
        }
        let dictionary = Dictionary::of_questions(&training.train);
        let words = dictionary.n_rows();
        let format = self.format.clone().with_rows(words);
        let mut rng = generator(training.seed, Use::InitialWeights, &[]);
        let network = Network::new(self.shape(&format, words), self.fit.init, &mut rng);
        let network = match self.fit.optimiser {
            Optimiser::Sgd => network,
            Optimiser::Adagrad => network.with_adagrad(),
        };
        let rows = dictionary.rows_of(training.train.vocabulary());
        let answer = |&place: &u32| {
            let example = training.train.example(place as usize);
            let answer = example.answer.expect("questions without one were left out");
            rows[example.question.candidates[answer].index()]
        };
        let answers: Vec<u32> = questions.par_iter().map(answer).collect();
        let prior = prior(self.fit.prior, words, &answers);
        let mut learner = SoftLearner {
            part: &training.train,
            valid: &training.valid,
            samples: Streams::new(training.seed, Use::SampledSoftmax),
            loss: self.fit.loss,
            output: output(self.fit.samples, words, &answers),
            lowercase: Lowercase::new(training.train.vocabulary()),
            rows,
            questions,
            answers,
            format,
            network,
            prior,
        };
        let curve = Some(epochs::run(&mut learner, &self.fit.schedule, settings, training)?);
        let SoftLearner { mut network, format, mut prior, .. } = learner;
        network.tables.each_mut().map(|table| self.fit.weights.round(table));
        self.fit.weights.round(&mut prior);
        network.squares = no_squares();
        let (settings, weights) = (settings.clone(), self.fit.weights);
        Ok(Arc::new(SoftModel { settings, curve, weights, dictionary, format, network, prior }))
    }

    /// Reads such a model.
    pub fn load(self, saved: &LoadRequest<'_>) -> Result<Arc<dyn Model>> {
        let shape = |dictionary: &Dictionary| {
            let words = dictionary.n_rows();
            self.shape(&self.format.clone().with_rows(words), words)
        };
        let shapes = |dictionary: &Dictionary| {
            let rows = shape(dictionary).rows().named(WEIGHTS);
            let [a, b, h, u] = rows.map(|(name, rows)| (name, rows, self.dim));
            [a, b, h, u, (PRIOR, dictionary.n_rows(), 1)]
        };
        let (dictionary, [a, b, h, u, prior]) = weights_file::read(saved.folder, shapes)?;
        let format = self.format.clone().with_rows(dictionary.n_rows());
        let (shape, tables) = (shape(&dictionary), PerTable::from([a, b, h, u]));
        let network = Network { shape, tables, squares: no_squares() };
        let (settings, weights) = (saved.settings.clone(), self.fit.weights);
        let curve = TrainingCurve::read(saved.folder)?;
        Ok(Arc::new(SoftModel { settings, curve, weights, dictionary, format, network, prior }))
    }
}

/// What is taken off the score of each word.
///
/// Chosen: against the whole dictionary a frequent word is a likely answer, but among candidates, all of
/// them words of the passage, frequent words are likely to be wrong ones too.
fn prior(share: f64, words: usize, answers: &[u32]) -> Table<f32> {
    let mut counts = vec![0u32; words];
    answers.iter().for_each(|&answer| counts[answer as usize] += 1);
    let mut prior = Table::zeros(words, 1);
    for (prior, count) in prior.values_mut().iter_mut().zip(counts) {
        *prior = Real::ln((1 + count) as f32) * share as f32;
    }
    prior
}

/// Chosen: a word is drawn the more often the more questions it answers, with one added so that every
/// word is drawn at times.
fn output(samples: Option<usize>, words: usize, answers: &[u32]) -> Output {
    let Some(samples) = samples.filter(|&samples| samples < words) else { return Output::Exact };
    let mut weights = vec![1.0; words];
    answers.iter().for_each(|&answer| weights[answer as usize] += 1.0);
    Output::Sampled(InclusionSampler::new(&weights, samples))
}

/// What the prior is called on disk.
const PRIOR: &str = "prior";

struct SoftLearner<'a> {
    part: &'a SplitView<'a>,
    valid: &'a SplitView<'a>,
    /// Random numbers for the words of each mini-batch.
    samples: Streams,
    loss: Loss,
    output: Output,
    lowercase: Lowercase,
    rows: Vec<u32>,
    /// Places of the training part.
    questions: Vec<u32>,
    /// The row of each question's answer in U.
    answers: Vec<u32>,
    format: Format,
    network: Network<f32>,
    prior: Table<f32>,
}

impl Learner for SoftLearner<'_> {
    fn n_questions(&self) -> usize {
        self.questions.len()
    }

    fn step(&mut self, batch: &MiniBatch<'_>) -> Result<f64> {
        let words = KnownWords { lowercase: &self.lowercase, rows: &self.rows };
        let question =
            |place: u32| self.part.example(self.questions[place as usize] as usize).question;
        let phrases = |windows: &mut Memories, &place: &u32| {
            self.format.read(&question(place), &words, windows)
        };
        let questions = batch.questions;
        let phrases: Vec<Phrases> =
            questions.par_iter().with_min_len(8).map_init(Memories::default, phrases).collect();
        let answers: Vec<u32> =
            questions.iter().map(|&place| self.answers[place as usize]).collect();
        let rows_of_candidates = |&place: &u32| {
            let candidates = question(place).candidates.iter();
            candidates.map(|word| self.rows[word.index()]).collect()
        };
        let candidates: Vec<Vec<u32>> = match self.loss {
            Loss::Dictionary => Vec::new(),
            Loss::Candidates => questions.iter().map(rows_of_candidates).collect(),
        };
        // The first question identifies a mini-batch within its epoch.
        let mut rng = self.samples.get((batch.epoch as u64) << 32 | u64::from(questions[0]));
        let batch_of = Batch { questions: &phrases, answers: &answers, candidates: &candidates };
        let rate = batch.learning_rate as f32;
        Ok(self.network.step(&batch_of, &self.output, rate, &mut rng))
    }

    fn validate(&mut self) -> Result<Validation> {
        let Self { lowercase, rows, format, network, prior, .. } = self;
        let answers = Answers { words: KnownWords { lowercase, rows }, format, network, prior };
        let score =
            |windows: &mut Memories, question: &Question<'_>| answers.score(question, windows);
        let accuracy = self.valid.accuracy_with(Memories::default, score);
        Ok(Validation { loss: None, accuracy })
    }

    fn tables(&mut self) -> Vec<(&str, &mut Table<f32>)> {
        let Network { tables, squares, .. } = &mut self.network;
        let squares = squares.each_mut().named(SQUARES);
        tables.each_mut().named(WEIGHTS).into_iter().chain(squares).collect()
    }
}

struct SoftModel {
    settings: Settings,
    curve: Option<TrainingCurve>,
    weights: SavedAs,
    dictionary: Dictionary,
    format: Format,
    network: Network<f32>,
    /// What is taken off the score of each word.
    prior: Table<f32>,
}

impl SoftModel {
    fn tables(&self) -> [(&'static str, &Table<f32>); 5] {
        let [a, b, h, u] = self.network.tables.each_ref().named(WEIGHTS);
        [a, b, h, u, (PRIOR, &self.prior)]
    }
}

impl Model for SoftModel {
    fn scorer(self: Arc<Self>, words: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        let (lowercase, rows) = (Lowercase::new(words), self.dictionary.rows_of(words));
        PerQuestion::boxed(SoftScorer { model: self, lowercase, rows })
    }

    fn save(&self, folder: &Path) -> Result<()> {
        weights_file::write(
            folder,
            self.dictionary.words(),
            &self.tables(),
            self.weights,
            &self.settings,
        )
    }

    fn training_curve(&self) -> Option<&TrainingCurve> {
        self.curve.as_ref()
    }
}

/// A model with the words of a question set.
struct SoftScorer {
    model: Arc<SoftModel>,
    lowercase: Lowercase,
    rows: Vec<u32>,
}

impl SoftScorer {
    fn answers(&self) -> Answers<'_> {
        let SoftModel { format, network, prior, .. } = &*self.model;
        let words = KnownWords { lowercase: &self.lowercase, rows: &self.rows };
        Answers { words, format, network, prior }
    }
}

impl ScoreQuestion for SoftScorer {
    type Buffers = Memories;

    fn score(&self, question: &Question<'_>, windows: &mut Memories) -> Vec<f32> {
        self.answers().score(question, windows)
    }

    fn explain(&self, question: &Question<'_>, windows: &mut Memories) -> Explanation {
        self.answers().explain(question, windows)
    }
}

/// All that answers a question, while it is learnt and afterwards.
struct Answers<'a> {
    words: KnownWords<'a>,
    format: &'a Format,
    network: &'a Network<f32>,
    prior: &'a Table<f32>,
}

impl Answers<'_> {
    fn score(&self, question: &Question<'_>, windows: &mut Memories) -> Vec<f32> {
        let phrases = self.format.read(question, &self.words, windows);
        let read = self.network.read(&phrases);
        let candidates = question.candidates.iter().map(|word| self.words.rows[word.index()]);
        let mut scores = self.network.score(read.last(), candidates.clone());
        for (score, row) in scores.iter_mut().zip(candidates) {
            *score -= self.prior.row(row as usize)[0];
        }
        break_case_ties(question, self.words.lowercase, &mut scores);
        scores
    }

    fn explain(&self, question: &Question<'_>, windows: &mut Memories) -> Explanation {
        let phrases = self.format.read(question, &self.words, windows);
        let AttentionPass { attention, matches, .. } = self.network.read(&phrases);
        let origins = self.format.origins(question, &self.words);
        // An empty sentence is a memory, but there is nothing to be seen of it.
        let seen = origins.into_iter().enumerate().filter(|(_, origin)| !origin.words.is_empty());
        let spans = seen.map(|(memory, origin)| {
            // Chosen: of several hops, the mean.
            let mean = |of_hops: &[Vec<f32>]| {
                of_hops.iter().map(|hop| hop[memory]).sum::<f32>() / of_hops.len() as f32
            };
            Span {
                words: origin.words,
                candidate: origin.mention.map(|(candidate, _)| candidate),
                mention: origin.mention.map(|(_, instance)| instance),
                weight: mean(&attention),
                score: Some(mean(&matches)),
                is_supporting: false,
            }
        });
        Explanation { spans: spans.collect(), query: Some(self.format.query_words(question)) }
    }
}
