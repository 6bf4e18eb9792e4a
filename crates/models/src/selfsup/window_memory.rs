//! How all methods with self-supervision answer (§3.3): question → attention on windows around the candidates'
//! mentions → the sum of attention for each candidate.

use std::path::Path;
use std::sync::Arc;

use base::Vocabulary;
use numerics::{Real, Table};
use questions::Question;

use crate::contract::scorer::{PerQuestion, ScoreQuestion};
use crate::learning::softmax::softmax;
use crate::learning::weights_file;
use crate::memories::matching::Matching;
use crate::memories::windows::{KnownWords, Layout, Memories, WindowsAround};
use crate::selfsup::loss::highest;
use crate::selfsup::settings::Config;
use crate::words::case::break_case_ties;
use crate::words::dictionary::Dictionary;
use crate::words::lowercase::Lowercase;
use crate::{Explanation, LoadRequest, Model, Result, Scorer, Settings, Span, TrainingCurve};

/// What the table is called on disk.
pub(crate) const EMBEDDINGS: &str = "embeddings";

pub(crate) fn load(saved: &LoadRequest<'_>) -> Result<Arc<dyn Model>> {
    let config = Config::new(&saved.settings)?;
    let shapes =
        |dictionary: &Dictionary| [(EMBEDDINGS, config.layout(dictionary).n_rows(), config.dim)];
    let (dictionary, [embeddings]) = weights_file::read(saved.folder, shapes)?;
    let layout = config.layout(&dictionary);
    let (settings, curve) = (saved.settings.clone(), TrainingCurve::read(saved.folder)?);
    Ok(Arc::new(WindowMemory { settings, curve, config, layout, dictionary, embeddings }))
}

/// A model with self-supervision that has been trained.
pub(crate) struct WindowMemory {
    pub settings: Settings,
    pub curve: Option<TrainingCurve>,
    pub config: Config,
    pub layout: Layout,
    pub dictionary: Dictionary,
    /// A: one dictionary after the other.
    pub embeddings: Table<f32>,
}

impl Model for WindowMemory {
    fn scorer(self: Arc<Self>, words: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        let (lowercase, rows) = (Lowercase::new(words), self.dictionary.rows_of(words));
        PerQuestion::boxed(WindowScorer { model: self, lowercase, rows })
    }

    fn save(&self, folder: &Path) -> Result<()> {
        let tables = [(EMBEDDINGS, &self.embeddings)];
        weights_file::write(
            folder,
            self.dictionary.words(),
            &tables,
            self.config.weights,
            &self.settings,
        )
    }

    fn training_curve(&self) -> Option<&TrainingCurve> {
        self.curve.as_ref()
    }
}

/// Buffers for one question at a time.
#[derive(Default)]
pub(crate) struct Buffers {
    memories: Memories,
    matching: Matching<f32>,
    attention: Vec<f32>,
}

/// What a candidate without a window gets: less than any window that counts, and finite.
const NEXT_TO_NOTHING: f32 = 1e-10;

impl WindowMemory {
    /// Fills in the attention on each memory.
    fn attend(&self, question: &Question<'_>, words: &KnownWords<'_>, buffers: &mut Buffers) {
        let Buffers { memories, matching, attention } = buffers;
        memories.read(question, words, &self.layout, WindowsAround::Candidates);
        matching.score(&self.embeddings, memories);
        self.config.add_time(&mut matching.scores);
        // Eq. (1): α_i = exp(c_i·q) / Σ_j exp(c_j·q).
        attention.clone_from(&matching.scores);
        softmax(attention);
    }

    /// Returns one score per candidate: the logarithm of the attention on its windows.
    pub fn score(
        &self,
        question: &Question<'_>,
        words: &KnownWords<'_>,
        buffers: &mut Buffers,
    ) -> Vec<f32> {
        self.attend(question, words, buffers);
        let mut scores = vec![0.0f32; question.candidates.len()];
        // §3.3: «the score of a candidate is defined by the sum of the α_i of the windows it appears in».
        for (&share, &candidate) in buffers.attention.iter().zip(&buffers.memories.candidates) {
            let score = &mut scores[usize::from(candidate)];
            *score = if self.config.soft_weighting { *score + share } else { score.max(share) };
        }
        for place in 0..scores.len() {
            let form = |place: usize| words.lowercase.of(question.candidates[place]);
            let first = (0..place).find(|&twin| form(twin) == form(place));
            scores[place] = match first {
                Some(twin) => scores[twin],
                None => Real::ln(scores[place] + NEXT_TO_NOTHING),
            };
        }
        break_case_ties(question, words.lowercase, &mut scores);
        scores
    }
}

/// A model with the words of a question set.
struct WindowScorer {
    model: Arc<WindowMemory>,
    lowercase: Lowercase,
    rows: Vec<u32>,
}

impl WindowScorer {
    fn words(&self) -> KnownWords<'_> {
        KnownWords { lowercase: &self.lowercase, rows: &self.rows }
    }
}

impl ScoreQuestion for WindowScorer {
    type Buffers = Buffers;

    fn score(&self, question: &Question<'_>, buffers: &mut Buffers) -> Vec<f32> {
        self.model.score(question, &self.words(), buffers)
    }

    fn explain(&self, question: &Question<'_>, buffers: &mut Buffers) -> Explanation {
        // Scoring leaves memories, scores and attention in the buffers.
        let scores = self.score(question, buffers);
        let Buffers { memories, matching, attention } = buffers;
        let predicted =
            highest(&scores, |_| true).map(|best| self.lowercase.of(question.candidates[best]));
        let form = |memory: usize| {
            let candidate = usize::from(memories.candidates[memory]);
            self.lowercase.of(question.candidates[candidate])
        };
        let supporting = highest(attention, |memory| Some(form(memory)) == predicted);
        let layout = &self.model.layout;
        let spans = (0..memories.len())
            .map(|memory| Span {
                words: layout.words_of(question, memories.instances[memory] as usize),
                candidate: Some(usize::from(memories.candidates[memory])),
                mention: Some(memories.instances[memory] as usize),
                weight: attention[memory],
                score: Some(matching.scores[memory]),
                is_supporting: Some(memory) == supporting,
            })
            .collect();
        Explanation { spans, query: Some(layout.words_of_query(question)) }
    }
}
