//! Training with self-supervision (§3.3, Appendix E): questions or running text → mini-batches of gradients
//! on frozen embeddings → embeddings.

use base::seeds::{Streams, Use};
use numerics::{Gradient, Real, Table, Update, apply, apply_adagrad};
use questions::Question;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::learning::epochs::{self, Learner, MiniBatch, Validation};
use crate::learning::options::Optimiser;
use crate::learning::sampling::FrequencySampler;
use crate::memories::matching::{Errors, Matching, embed};
use crate::memories::windows::{KnownWords, Memories, WindowsAround};
use crate::selfsup::all_targets::AllTargets;
use crate::selfsup::loss::{highest, loss};
use crate::selfsup::settings::Config;
use crate::selfsup::support::{InverseFrequencies, Support, any_of};
use crate::selfsup::text_targets::{Buffer, TextTargets};
use crate::selfsup::window_memory::{Buffers, EMBEDDINGS, WindowMemory};
use crate::words::lowercase::Lowercase;
use crate::{Error, Result, SplitView, Training, TrainingCurve};

/// What is learnt from, and what the answer is compared with (Appendix E).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Questions; the windows of other candidates.
    CandidateWindows,
    /// Questions; the windows of all other words of the context.
    AllWindows,
    /// Questions; all windows, and all words of the dictionary.
    AllTargets,
    /// Every word of the books; all windows, and all words of the dictionary.
    LanguageModel,
}

/// How many questions of a mini-batch are one task.
const PART: usize = 8;
/// Derivatives by a score that are smaller are taken for 0. Chosen: it saves a third of the time and
/// changes no accuracy.
const NOTICEABLE: f64 = 1e-4;

/// Trains a model; returns how the epochs went.
///
/// # Errors
/// If there is nothing to learn from, and those of [`epochs::run`].
pub(crate) fn learn(
    model: &mut WindowMemory,
    variant: Variant,
    training: &Training<'_>,
    rng: &mut ChaCha8Rng,
) -> Result<TrainingCurve> {
    let (settings, schedule) = (model.settings.clone(), model.config.schedule.clone());
    let examples = match variant {
        Variant::LanguageModel => Examples::Words(TextTargets::new(&training.train)),
        _ => Examples::Questions(&training.train, training.train.answered()),
    };
    if examples.len() == 0 {
        return Err(Error::NothingToTrainOn {
            model: settings.model(),
            expected: match variant {
                Variant::LanguageModel => "running text of the training split",
                _ => "training questions with answers",
            },
            hint: "look at the splits of the set",
        });
    }
    let vocabulary = training.train.vocabulary();
    let has_targets = matches!(variant, Variant::AllTargets | Variant::LanguageModel);
    let is_tf_idf = model.config.support == Support::TfIdf;
    let (train, dictionary) = (&training.train, &model.dictionary);
    let (n_words, dim) = (dictionary.n_rows(), model.config.dim);
    let mut learner = SelfSupervised {
        examples,
        around: match variant {
            Variant::CandidateWindows => WindowsAround::Candidates,
            _ => WindowsAround::AllWords,
        },
        lowercase: Lowercase::new(vocabulary),
        rows: dictionary.rows_of(vocabulary),
        decode: has_targets.then(|| Table::normal(n_words, dim, model.config.init, rng)),
        squares: match model.config.optimiser {
            Optimiser::Sgd => None,
            Optimiser::Adagrad => {
                Some([model.embeddings.rows(), n_words].map(|n| Table::zeros(n, 1)))
            }
        },
        frequencies: has_targets.then(|| FrequencySampler::of_queries(train, dictionary)),
        inverse: is_tf_idf.then(|| InverseFrequencies::of_queries(train, dictionary)),
        model,
        supports: Streams::new(training.seed, Use::Support),
        negatives: Streams::new(training.seed, Use::Negatives),
        valid: &training.valid,
        parts: Vec::new(),
    };
    epochs::run(&mut learner, &schedule, &settings, training)
}

/// What is learnt from: questions with answers, or words of running text.
enum Examples<'a> {
    Questions(&'a SplitView<'a>, Vec<u32>),
    Words(TextTargets<'a>),
}

impl Examples<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Questions(_, places) => places.len(),
            Self::Words(targets) => targets.len(),
        }
    }

    /// A question and its answer, as a place among the candidates.
    fn question<'b>(&'b self, number: u32, buffer: &'b mut Buffer) -> (Question<'b>, usize) {
        match self {
            Self::Questions(part, places) => {
                let example = part.example(places[number as usize] as usize);
                let answer = example.answer.expect("only questions with answers are kept");
                (example.question, answer)
            }
            Self::Words(targets) => (targets.question(number, buffer), 0),
        }
    }
}

type GradientOf = fn(&PartialBatch<f32>) -> &Gradient<f32>;

struct SelfSupervised<'a> {
    model: &'a mut WindowMemory,
    examples: Examples<'a>,
    around: WindowsAround,
    lowercase: Lowercase,
    rows: Vec<u32>,
    /// U, where the answer is compared with all words.
    decode: Option<Table<f32>>,
    frequencies: Option<FrequencySampler>,
    /// What Adagrad adds up for each row of the embeddings and of U.
    squares: Option<[Table<f32>; 2]>,
    /// Where they choose the supporting memory.
    inverse: Option<InverseFrequencies>,
    /// Random numbers for the supporting memory, and for the words that the answer is compared with, per
    /// epoch and question.
    supports: Streams,
    negatives: Streams,
    valid: &'a SplitView<'a>,
    parts: Vec<PartialBatch<f32>>,
}

impl Learner for SelfSupervised<'_> {
    fn n_questions(&self) -> usize {
        self.examples.len()
    }

    fn n_per_epoch(&self) -> usize {
        self.model.config.sample.unwrap_or(usize::MAX).min(self.examples.len())
    }

    fn step(&mut self, batch: &MiniBatch<'_>) -> Result<f64> {
        let mut parts = std::mem::take(&mut self.parts);
        let n_parts = batch.questions.len().div_ceil(PART);
        let new = || PartialBatch::new(&self.model.embeddings, self.decode.as_ref());
        parts.resize_with(n_parts.max(parts.len()), new);
        parts.par_iter_mut().zip(batch.questions.par_chunks(PART)).for_each(|(part, numbers)| {
            part.clear();
            numbers.iter().for_each(|&number| self.learn_from(number, batch.epoch, part));
        });
        let step = -batch.learning_rate as f32;
        let done = &parts[..n_parts];
        let follow =
            |table: &mut Table<f32>, squares: Option<&mut Table<f32>>, of_part: GradientOf| {
                let gradients: Vec<&Gradient<f32>> = done.iter().map(of_part).collect();
                match squares {
                    None => apply(table, step, &gradients),
                    Some(squares) => apply_adagrad(table, squares, step, &gradients),
                }
            };
        let [of_embeddings, of_decode] = match &mut self.squares {
            None => [None, None],
            Some(squares) => squares.each_mut().map(Some),
        };
        follow(&mut self.model.embeddings, of_embeddings, |part| &part.embeddings);
        if let Some(decode) = &mut self.decode {
            follow(decode, of_decode, |part| &part.decode);
        }
        let loss = done.iter().map(|part| part.loss).sum();
        self.parts = parts;
        Ok(loss)
    }

    fn validate(&mut self) -> Result<Validation> {
        let words = KnownWords { lowercase: &self.lowercase, rows: &self.rows };
        let accuracy = self.valid.accuracy_with(Buffers::default, |buffers, question| {
            self.model.score(question, &words, buffers)
        });
        Ok(Validation { loss: None, accuracy })
    }

    fn tables(&mut self) -> Vec<(&str, &mut Table<f32>)> {
        let embeddings = (EMBEDDINGS, &mut self.model.embeddings);
        let decode = self.decode.as_mut().map(|decode| ("decode", decode));
        let squares = self.squares.iter_mut().flatten();
        let squares = ["embeddings_squares", "decode_squares"].into_iter().zip(squares);
        std::iter::once(embeddings).chain(decode).chain(squares).collect()
    }
}

impl SelfSupervised<'_> {
    fn learn_from(&self, number: u32, epoch: usize, part: &mut PartialBatch<f32>) {
        let mut buffer = std::mem::take(&mut part.buffer);
        let (question, answer) = self.examples.question(number, &mut buffer);
        let words = KnownWords { lowercase: &self.lowercase, rows: &self.rows };
        part.memories.read(&question, &words, &self.model.layout, self.around);
        let form = |place: usize| self.lowercase.of(question.candidates[place]);
        let first = (0..=answer).find(|&place| form(place) == form(answer));
        let stream = (epoch as u64) << 32 | u64::from(number);
        if let Some(frequencies) = &self.frequencies {
            let row = self.rows[question.candidates[answer].index()];
            let negatives = self.negatives.get(stream);
            frequencies.draw(row, self.model.config.negatives, negatives, &mut part.drawn);
        }
        let choice = SupportChoice {
            inverse: self.inverse.as_ref(),
            rng: (self.model.config.support == Support::Random).then(|| self.supports.get(stream)),
            answer: first.expect("the answer is its own form") as u16,
        };
        part.learn(&self.model.config, &choice, &self.model.embeddings, self.decode.as_ref());
        part.buffer = buffer;
    }
}

/// How the supporting memory of a question is chosen.
struct SupportChoice<'a> {
    inverse: Option<&'a InverseFrequencies>,
    /// Where it is drawn at random.
    rng: Option<ChaCha8Rng>,
    /// The candidate whose memories are those of the answer.
    answer: u16,
}

/// What one task works with: buffers, and the gradients of its questions.
struct PartialBatch<R> {
    buffer: Buffer,
    memories: Memories,
    matching: Matching<R>,
    errors: Vec<R>,
    /// The answer and words that it is compared with.
    drawn: Vec<(u32, f64)>,
    targets: AllTargets<R>,
    /// q², what the answer is read off.
    hidden: Vec<R>,
    embeddings: Gradient<R>,
    decode: Gradient<R>,
    loss: f64,
}

impl<R: Real> PartialBatch<R> {
    fn new(embeddings: &Table<R>, decode: Option<&Table<R>>) -> Self {
        Self {
            buffer: Buffer::default(),
            memories: Memories::default(),
            matching: Matching::default(),
            errors: Vec::new(),
            drawn: Vec::new(),
            targets: AllTargets::default(),
            hidden: Vec::new(),
            embeddings: Gradient::new(embeddings.rows(), embeddings.dim()),
            decode: Gradient::new(decode.map_or(0, Table::rows), embeddings.dim()),
            loss: 0.0,
        }
    }

    fn clear(&mut self) {
        self.embeddings.clear();
        self.decode.clear();
        self.loss = 0.0;
    }

    /// Adds loss and gradient of the question whose memories have been read.
    fn learn(
        &mut self,
        config: &Config,
        choice: &SupportChoice<'_>,
        embeddings: &Table<R>,
        decode: Option<&Table<R>>,
    ) {
        let Self { memories, matching, errors, .. } = self;
        matching.score(embeddings, memories);
        config.add_time(&mut matching.scores);
        let is_answer = |memory: usize| memories.candidates[memory] == choice.answer;
        let supporting = match (&choice.rng, choice.inverse) {
            (Some(rng), _) => any_of(memories.len(), is_answer, rng.clone()),
            (None, Some(inverse)) => inverse.nearest(memories, is_answer),
            (None, None) => highest(&matching.scores, is_answer),
        };
        errors.clear();
        errors.resize(memories.len(), R::ZERO);
        if let Some(supporting) = supporting {
            let of_memories = loss(config.update, &matching.scores, is_answer, supporting, errors);
            self.loss += of_memories.to_f64();
        }
        let Some(decode) = decode else {
            if self.errors.iter().any(|&error| error != R::ZERO) {
                self.add_gradient(embeddings, false);
            }
            return;
        };
        // §3.2: q² = q + m_o1, where hard attention takes m̃; a word that is not in the context has none.
        let memory = supporting.map_or(&[][..], |supporting| self.memories.rows(supporting));
        embed(embeddings, memory, &mut self.hidden);
        numerics::axpy(R::ONE, self.matching.query(), &mut self.hidden);
        let of_targets = self.targets.learn(decode, &self.hidden, &self.drawn, &mut self.decode);
        self.loss += of_targets.to_f64();
        let vector = self.embeddings.push_vector(&self.targets.by_hidden);
        for &row in memory {
            self.embeddings.push(Update { row, scale: R::ONE, vector });
        }
        self.add_gradient(embeddings, true);
    }

    fn add_gradient(&mut self, embeddings: &Table<R>, has_targets: bool) {
        let errors = Errors {
            by_scores: &self.errors,
            by_query: has_targets.then_some(&self.targets.by_hidden),
            noticeable: R::from_f64(NOTICEABLE),
        };
        self.matching.add_gradient(embeddings, &self.memories, &errors, &mut self.embeddings);
    }
}

#[cfg(test)]
mod tests {
    use numerics::testing::{dense, worst_error};
    use proptest::prelude::*;
    use questions::QuestionSet;
    use rand::SeedableRng;

    use super::*;
    use crate::fixture::{one_question, texts};
    use crate::memories::windows::{Encoding, Layout, MemoryUnit};
    use crate::selfsup::methods::{ALL_TARGETS, METHOD};
    use crate::{Method, Settings};

    const DIM: usize = 3;

    /// Loss of a question and the gradients of both tables, with the first candidate as the answer.
    struct GradientCheck {
        config: Config,
        part: PartialBatch<f64>,
        has_targets: bool,
    }

    impl GradientCheck {
        fn new(
            method: &Method,
            set: &QuestionSet,
            encoding: Encoding,
            update: &str,
        ) -> (Self, usize) {
            let settings = Settings::from_text(method, [update]).unwrap();
            let dictionary_rows = set.vocabulary().len();
            let layout = Layout {
                window: 3,
                encoding,
                unit: MemoryUnit::Windows,
                max_memories: None,
                dictionary_rows,
            };
            let lowercase = Lowercase::new(set.vocabulary());
            let rows: Vec<u32> = (0..dictionary_rows as u32).collect();
            let words = KnownWords { lowercase: &lowercase, rows: &rows };
            let has_targets = method.name == ALL_TARGETS.name;
            let around =
                if has_targets { WindowsAround::AllWords } else { WindowsAround::Candidates };
            let n_rows = layout.n_rows();
            let table = Table::zeros(n_rows, DIM);
            let decode = Table::zeros(dictionary_rows, DIM);
            let mut part = PartialBatch::new(&table, Some(&decode));
            part.memories.read(&set.example(0).question, &words, &layout, around);
            // Each word once, the answer first; any logarithms will do.
            let first = rows[set.example(0).question.candidates[0].index()];
            let others = rows.iter().filter(|&&row| row != first);
            let all = std::iter::once(&first).chain(others);
            part.drawn = all.map(|&row| (row, f64::from(row) / 7.0)).collect();
            (Self { config: Config::new(&settings).unwrap(), part, has_targets }, n_rows)
        }

        fn loss(&mut self, embeddings: &Table<f64>, decode: &Table<f64>) -> f64 {
            let choice = SupportChoice { inverse: None, rng: None, answer: 0 };
            self.part.clear();
            let decode = self.has_targets.then_some(decode);
            self.part.learn(&self.config, &choice, embeddings, decode);
            self.part.loss
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn gradients_are_those_of_central_differences(
            (context, query, candidates) in texts(),
            is_bag in any::<bool>(),
            has_targets in any::<bool>(),
            seed in any::<u64>(),
        ) {
            let context: Vec<&str> = context.iter().map(String::as_str).collect();
            let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
            let set = one_question(&context, &query, &names);
            let method = if has_targets { ALL_TARGETS } else { METHOD };
            let encoding = if is_bag { Encoding::Bag } else { Encoding::Positions };
            let (mut checked, n_rows) = GradientCheck::new(&method, &set, encoding, "update=softmax");
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut embeddings = Table::normal(n_rows, DIM, 0.5, &mut rng);
            let mut decode = Table::normal(set.vocabulary().len(), DIM, 0.5, &mut rng);
            checked.loss(&embeddings, &decode);
            // Small errors are left out, so that a row may lack up to the threshold times the query.
            let errors = checked.part.errors.iter();
            let left_out = errors.filter(|error| **error != 0.0 && error.abs() <= NOTICEABLE).count();
            prop_assume!(left_out == 0);
            let by_embeddings = dense(n_rows, DIM, &checked.part.embeddings);
            let by_decode = dense(decode.rows(), DIM, &checked.part.decode);
            let kept = decode.clone();
            let error = worst_error(&mut embeddings, &by_embeddings, 1e-2, |embeddings| {
                checked.loss(embeddings, &kept)
            });
            prop_assert!(error < 1e-6, "embeddings: {error}");
            let error = worst_error(&mut decode, &by_decode, 1e-2, |decode| {
                checked.loss(&embeddings, decode)
            });
            prop_assert!(error < 1e-6, "decode: {error}");
        }
    }

    #[test]
    fn a_question_that_is_right_already_changes_nothing_when_only_wrong_ones_count() {
        let set = one_question(&["sly fox ran", "old hen sat"], "sly XXXXX ran", &["fox", "hen"]);
        let (mut checked, n_rows) =
            GradientCheck::new(&METHOD, &set, Encoding::Bag, "update=when-wrong");
        let mut embeddings = Table::zeros(n_rows, DIM);
        let row = |word: &str| set.vocabulary().get(word).unwrap().index();
        let decode = Table::zeros(1, DIM);
        // `hen` is nearest to the query's `sly`, so the best memory is not the supporting one.
        for (word, value) in [("sly", 1.0), ("hen", 9.0)] {
            embeddings.row_mut(row(word))[0] = value;
        }
        assert!(checked.loss(&embeddings, &decode) > 1.0);
        assert_ne!(dense(n_rows, DIM, &checked.part.embeddings), Table::zeros(n_rows, DIM));
        embeddings.row_mut(row("hen"))[0] = -9.0;
        assert_eq!(checked.loss(&embeddings, &decode), 0.0);
        assert_eq!(dense(n_rows, DIM, &checked.part.embeddings), Table::zeros(n_rows, DIM));
    }
}
