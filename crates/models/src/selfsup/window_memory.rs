//! MemNNs (window memory + self-supervision), §3.3, and its variants of Appendix E: question → attention on
//! windows around the candidates' mentions → the sum of attention for each candidate.

use std::path::Path;
use std::sync::Mutex;

use base::Vocabulary;
use numerics::{Real, Table};
use questions::Question;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::learning::softmax::softmax;
use crate::learning::weights_file;
use crate::memories::matching::Matching;
use crate::memories::windows::{Around, KnownWords, Layout, Memories};
use crate::selfsup::loss::highest;
use crate::selfsup::settings::{Config, OF_LM, OF_TARGETS, OF_WINDOWS};
use crate::selfsup::training::{Variant, learn};
use crate::words::case_twins::tell_apart;
use crate::words::dictionary::Dictionary;
use crate::words::lowercase::Lowercase;
use crate::{Entry, Explanation, Look, Model, Reader, Result, Saved, Settings, Training};

/// What the table is called on disk.
pub(crate) const EMBEDDINGS: &str = "embeddings";

pub(crate) const ENTRY: Entry = Entry {
    name: "memnn-window-selfsup",
    row: "MemNNs (window memory + self-sup.)",
    section: "§3.3",
    settings: OF_WINDOWS,
    learns: true,
    train: |settings, training| train(settings, training, Variant::CandidateWindows),
    load,
};

/// «Window memories do not have to be restricted to candidates».
pub(crate) const ALL_WINDOWS: Entry = Entry {
    name: "memnn-all-windows-selfsup",
    row: "MemNNs (all windows + self-sup.)",
    section: "Appendix E",
    train: |settings, training| train(settings, training, Variant::AllWindows),
    ..ENTRY
};

/// «The true answer word as the target compared against all words in the dictionary».
pub(crate) const ALL_TARGETS: Entry = Entry {
    name: "memnn-all-targets-selfsup",
    row: "MemNNs (all windows + all targets + self-sup.)",
    settings: OF_TARGETS,
    train: |settings, training| train(settings, training, Variant::AllTargets),
    ..ALL_WINDOWS
};

/// «Treat the children's books as a standard language modeling task».
pub(crate) const LM: Entry = Entry {
    name: "memnn-lm-selfsup",
    row: "MemNNs (LM + self-sup.)",
    settings: OF_LM,
    train: |settings, training| train(settings, training, Variant::LanguageModel),
    ..ALL_WINDOWS
};

fn train(settings: &Settings, training: &Training<'_>, variant: Variant) -> Result<Box<dyn Model>> {
    let config = Config::new(settings)?;
    let dictionary = Dictionary::of_questions(&training.train);
    let layout = config.layout(&dictionary);
    let mut rng = ChaCha8Rng::seed_from_u64(training.seed);
    let mut embeddings = Table::normal(layout.n_rows(), config.dim, config.init, &mut rng);
    // Chosen: before training no candidate is likelier than another, and one that training never sees
    // stays so.
    layout.middle_rows().for_each(|row| embeddings.row_mut(row).fill(0.0));
    let settings = settings.clone();
    let mut model = WindowMemory { settings, config, layout, dictionary, embeddings };
    learn(&mut model, variant, training, &mut rng)?;
    model.config.weights.round(&mut model.embeddings);
    Ok(Box::new(model))
}

fn load(saved: &Saved<'_>) -> Result<Box<dyn Model>> {
    let config = Config::new(&saved.settings)?;
    let shapes =
        |dictionary: &Dictionary| [(EMBEDDINGS, config.layout(dictionary).n_rows(), config.dim)];
    let (dictionary, [embeddings]) = weights_file::read(saved.folder, shapes)?;
    let layout = config.layout(&dictionary);
    let settings = saved.settings.clone();
    Ok(Box::new(WindowMemory { settings, config, layout, dictionary, embeddings }))
}

/// The trained model.
pub(crate) struct WindowMemory {
    pub settings: Settings,
    pub config: Config,
    pub layout: Layout,
    pub dictionary: Dictionary,
    /// A: one dictionary after the other.
    pub embeddings: Table<f32>,
}

impl Model for WindowMemory {
    fn reader<'a>(&'a self, vocabulary: &'a Vocabulary) -> Box<dyn Reader + 'a> {
        Box::new(WindowReader {
            model: self,
            lowercase: Lowercase::new(vocabulary),
            rows: self.dictionary.rows_of(vocabulary),
            buffers: Mutex::new(Vec::new()),
        })
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
}

/// Buffers for one question at a time.
#[derive(Default)]
struct Buffers {
    memories: Memories,
    matching: Matching<f32>,
    attention: Vec<f32>,
}

struct WindowReader<'a> {
    model: &'a WindowMemory,
    lowercase: Lowercase,
    rows: Vec<u32>,
    /// Those that no thread uses at the moment.
    buffers: Mutex<Vec<Buffers>>,
}

/// What a candidate without a window gets: less than any window that counts, and finite.
const NEXT_TO_NOTHING: f32 = 1e-10;

impl WindowReader<'_> {
    /// Runs something with buffers of its own.
    fn with_buffers<T>(&self, work: impl FnOnce(&mut Buffers) -> T) -> T {
        let lock = || self.buffers.lock().expect("no thread panics while it holds the buffers");
        let mut buffers = lock().pop().unwrap_or_default();
        let result = work(&mut buffers);
        lock().push(buffers);
        result
    }

    /// Fills in the attention on each memory.
    fn attend(&self, question: &Question<'_>, buffers: &mut Buffers) {
        let WindowMemory { config, layout, embeddings, .. } = self.model;
        let words = KnownWords { lowercase: &self.lowercase, rows: &self.rows };
        let Buffers { memories, matching, attention } = buffers;
        memories.read(question, &words, layout, Around::Candidates);
        matching.score(embeddings, memories);
        config.add_time(&mut matching.scores);
        // Eq. (1): α_i = exp(c_i·q) / Σ_j exp(c_j·q).
        attention.clone_from(&matching.scores);
        softmax(attention);
    }
}

impl Reader for WindowReader<'_> {
    fn score(&self, question: &Question<'_>) -> Vec<f32> {
        self.with_buffers(|buffers| {
            self.attend(question, buffers);
            let mut scores = vec![0.0f32; question.candidates.len()];
            // §3.3: «the score of a candidate is defined by the sum of the α_i of the windows it appears in».
            for (&share, &candidate) in buffers.attention.iter().zip(&buffers.memories.candidates) {
                let score = &mut scores[usize::from(candidate)];
                *score = if self.model.config.soft_weighting {
                    *score + share
                } else {
                    score.max(share)
                };
            }
            for place in 0..scores.len() {
                let form = |place: usize| self.lowercase.of(question.candidates[place]);
                let first = (0..place).find(|&twin| form(twin) == form(place));
                scores[place] = match first {
                    Some(twin) => scores[twin],
                    None => Real::ln(scores[place] + NEXT_TO_NOTHING),
                };
            }
            tell_apart(question, &self.lowercase, &mut scores);
            scores
        })
    }

    fn explain(&self, question: &Question<'_>) -> Explanation {
        let scores = self.score(question);
        let predicted =
            highest(&scores, |_| true).map(|best| self.lowercase.of(question.candidates[best]));
        self.with_buffers(|buffers| {
            self.attend(question, buffers);
            let Buffers { memories, matching, attention } = buffers;
            let form = |memory: usize| {
                let candidate = usize::from(memories.candidates[memory]);
                self.lowercase.of(question.candidates[candidate])
            };
            let supporting = highest(attention, |memory| Some(form(memory)) == predicted);
            let looks = (0..memories.len())
                .map(|memory| Look {
                    words: self
                        .model
                        .layout
                        .words_of(question, memories.instances[memory] as usize),
                    candidate: Some(usize::from(memories.candidates[memory])),
                    instance: Some(memories.instances[memory] as usize),
                    weight: attention[memory],
                    score: Some(matching.scores[memory]),
                    is_supporting: Some(memory) == supporting,
                })
                .collect();
            Explanation { looks, query: Some(self.model.layout.words_of_query(question)) }
        })
    }
}

#[cfg(test)]
mod tests {
    use questions::{QuestionSet, Split};

    use super::*;
    use crate::fixture::{Asked, one_question, set_of};

    const NAMES: [&str; 12] =
        ["adam", "beth", "carl", "dora", "emil", "fay", "gus", "hal", "ida", "jack", "kim", "lars"];

    /// Who is `sir` and who is `lady` stands in the window before the name; the sentence holds both names
    /// and both titles, so all sentences of a question are the same bag of words.
    fn titles() -> QuestionSet {
        let pairs: Vec<[&str; 2]> = NAMES
            .iter()
            .flat_map(|a| NAMES.iter().filter(move |b| a != *b).map(move |b| [*a, *b]))
            .collect();
        let contexts: Vec<String> =
            pairs.iter().map(|[a, b]| format!("today sir {a} met lady {b} here")).collect();
        let asked: Vec<Asked<'_>> = (0..2 * pairs.len())
            .map(|n| Asked {
                context: vec![&contexts[n / 2]],
                query: ["then sir XXXXX left", "then lady XXXXX left"][n % 2],
                candidates: &pairs[n / 2],
                answer: Some(n % 2),
                split: if n / 2 % 3 == 0 { Split::Valid } else { Split::Train },
            })
            .collect();
        set_of(&asked)
    }

    fn accuracy(entry: &Entry, changes: [&str; 2]) -> f64 {
        let set = titles();
        let texts = ["dim=8", "window=3", "time=false", "epochs=20", "decay=1", "patience=20"];
        let texts = texts.into_iter().chain(changes);
        let settings = Settings::from_text(entry, texts).unwrap();
        let training = Training::new(&set, 1, &|_| ());
        let model = (entry.train)(&settings, &training).unwrap();
        training.valid.accuracy(|question| model.score(question)).unwrap()
    }

    #[test]
    fn windows_win_where_sentences_can_not() {
        let (fast, slow) = ("learning_rate=0.1", "learning_rate=0.03");
        assert_eq!(accuracy(&ENTRY, ["unit=windows", fast]), 1.0);
        // Both memories are the same, so both candidates tie in every question.
        assert_eq!(accuracy(&ENTRY, ["unit=sentences", fast]), 0.5);
        assert_eq!(accuracy(&ALL_WINDOWS, ["unit=windows", fast]), 1.0);
        assert_eq!(accuracy(&ALL_TARGETS, ["unit=windows", slow]), 1.0);
    }

    #[test]
    fn an_explanation_shows_the_windows_and_the_supporting_one() {
        let set = titles();
        let settings = Settings::from_text(&ENTRY, ["dim=8", "window=3", "epochs=5"]).unwrap();
        let model = (ENTRY.train)(&settings, &Training::new(&set, 1, &|_| ())).unwrap();
        let asked = one_question(
            &["sir zed", "and lady yve met sir zed"],
            "sir XXXXX left",
            &["yve", "zed", "Zed"],
        );
        let question = asked.example(0).question;
        let reader = model.reader(asked.vocabulary());
        let explanation = reader.explain(&question);
        assert_eq!(explanation.query, Some(0..3));
        let looks = explanation.looks;
        let places: Vec<_> = looks.iter().map(|look| (look.words.clone(), look.instance)).collect();
        assert_eq!(places, [(0..3, Some(1)), (3..6, Some(4)), (6..8, Some(7))]);
        let candidates: Vec<_> = looks.iter().map(|look| look.candidate).collect();
        assert_eq!(candidates, [Some(1), Some(0), Some(1)]);
        let total: f32 = looks.iter().map(|look| look.weight).sum();
        assert!((total - 1.0).abs() < 1e-6);
        let scores = reader.score(&question);
        // `zed` and `Zed` share both windows; in the middle of a sentence the small one is likelier.
        assert!(scores[1] > scores[2]);
        let both = scores[1].exp() + scores[2].exp();
        assert!((both - looks[0].weight - looks[2].weight).abs() < 1e-5);
        let supporting: Vec<_> = looks.iter().filter(|look| look.is_supporting).collect();
        assert_eq!(supporting.len(), 1);
        let of_predicted = looks.iter().filter(|look| look.candidate == supporting[0].candidate);
        assert!(of_predicted.into_iter().all(|look| look.weight <= supporting[0].weight));
    }

    #[test]
    fn an_even_window_has_no_middle() {
        let set = titles();
        let settings = Settings::from_text(&ENTRY, ["window=4"]).unwrap();
        let error = (ENTRY.train)(&settings, &Training::new(&set, 1, &|_| ())).err().unwrap();
        assert_eq!(error.to_string(), "wrong value of `window`: expected an odd number, found `4`");
    }
}
