//! Transformers in Hugging Face's layout: a folder and questions → scores, as a [`Model`] that was not
//! trained here.
//!
//! The score is that of language models on servers ([`FilledQuestion`]): the tokens with which all filled-in texts
//! begin are read once, and ln p of the others is added.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base::Vocabulary;
use models::{CutContexts, DeviceChoice, Manifest, Model, Program, Provenance, Scorer, Scores};
use questions::{FilledQuestion, Question, TextForm, shared_prefix};
use serde::Serialize;
use transformer::{Checkpoint, Hashes, Reader};

use crate::progress::during;
use crate::{AnswerProvenance, Reporter, Result};

/// Returns whether a folder looks like such a model, and not like one that was trained here.
pub fn is_at(folder: &Path) -> bool {
    Checkpoint::is_at(folder) && !folder.join("model.toml").exists()
}

/// Loads a folder.
///
/// # Errors
/// [`crate::Error::Transformer`] if the folder is damaged or the network is not a known one, or if a GPU is
/// asked for.
pub(crate) fn load(
    folder: &Path,
    device: DeviceChoice,
    reporter: &dyn Reporter,
) -> Result<(Arc<dyn Model>, Manifest)> {
    if device == DeviceChoice::Cuda {
        return Err(transformer::Error::OnlyCpu { path: folder.to_owned() }.into());
    }
    let name = folder.display().to_string();
    let checkpoint = during(reporter, "read", name, || Checkpoint::open(folder))?;
    let manifest = Manifest::new(provenance(&checkpoint));
    let cut = Mutex::default();
    Ok((Arc::new(CheckpointModel { checkpoint: Arc::new(checkpoint), cut }), manifest))
}

/// The files of a checkpoint take the place of settings, data and seed.
fn provenance(checkpoint: &Checkpoint) -> Provenance {
    let sources = [transformer::SOURCES, numerics::SOURCES].concat();
    let mut code = base::hash::sha256(sources.as_bytes());
    code.truncate(16);
    let Hashes { config, tokenizer, weights } = checkpoint.hashes().clone();
    let files = [("config", config), ("tokenizer", tokenizer), ("weights", weights)];
    Provenance {
        model: checkpoint.architecture().to_string(),
        data: String::new(),
        seed: 0,
        program: Program::new(code),
        settings: files.map(|(name, hash)| (name.to_owned(), hash)).into(),
    }
}

/// Writes what predictions were made from next to them: `some.jsonl` has `some.toml`.
///
/// # Errors
/// If the file can't be written.
pub fn write_note(predictions: &Path, answers: &[AnswerProvenance]) -> Result<()> {
    #[derive(Serialize)]
    struct Note<'a> {
        answers: &'a [AnswerProvenance],
    }
    let text = toml::to_string(&Note { answers }).expect("every field has a form in TOML");
    crate::write_file(&predictions.with_extension("toml"), &text)
}

struct CheckpointModel {
    checkpoint: Arc<Checkpoint>,
    cut: Mutex<CutContexts>,
}

impl Model for CheckpointModel {
    fn scorer(self: Arc<Self>, _: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        let reader = self.checkpoint.reader();
        Box::new(CheckpointScorer { model: self, reader })
    }

    /// There is nothing to save: the folder is somebody else's.
    fn save(&self, _: &Path) -> models::Result<()> {
        Ok(())
    }

    fn cut_contexts(&self) -> CutContexts {
        *self.cut.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tokens of a question's texts.
struct Texts {
    tokens: Vec<Vec<u32>>,
    n_shared: usize,
    /// Sentences that were left out at the start of the context.
    n_cut: usize,
}

impl Texts {
    /// Leaves out as many sentences as are needed for the model to read every text; none if the query is too
    /// long.
    fn new(checkpoint: &Checkpoint, question: &Question<'_>) -> transformer::Result<Self> {
        let mut n_cut = 0;
        loop {
            let filled = FilledQuestion::new(question, TextForm::Plain, n_cut);
            let tokens = filled.texts.iter().map(|text| checkpoint.tokens(text));
            let tokens = tokens.collect::<transformer::Result<Vec<_>>>()?;
            let longest = tokens.iter().map(Vec::len).max().unwrap_or(0);
            if longest <= checkpoint.n_positions() || n_cut == question.context.len() {
                let n_shared = shared_prefix(&tokens);
                return Ok(Self { tokens, n_shared, n_cut });
            }
            n_cut += 1;
        }
    }

    fn shared(&self) -> &[u32] {
        self.tokens.first().map_or(&[], |tokens| &tokens[..self.n_shared])
    }

    fn rests(&self) -> Vec<&[u32]> {
        self.tokens.iter().map(|tokens| &tokens[self.n_shared..]).collect()
    }
}

struct CheckpointScorer {
    model: Arc<CheckpointModel>,
    reader: Reader,
}

impl CheckpointScorer {
    fn scores(&mut self, questions: &[Question<'_>]) -> transformer::Result<Vec<Vec<f64>>> {
        let texts = questions.iter().map(|question| Texts::new(&self.model.checkpoint, question));
        let texts = texts.collect::<transformer::Result<Vec<Texts>>>()?;
        // Questions with the same context follow each other, and each batch begins with nothing known: the
        // last digits depend on the questions of the batch, never on the thread.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&place| texts[place].shared());
        self.reader.forget();
        let mut scores = vec![Vec::new(); texts.len()];
        for place in order {
            let texts = &texts[place];
            scores[place] = self.reader.continuations(texts.shared(), &texts.rests())?;
        }
        let mut cut = self.model.cut.lock().unwrap_or_else(PoisonError::into_inner);
        for texts in texts.iter().filter(|texts| texts.n_cut > 0) {
            cut.contexts += 1;
            cut.sentences += texts.n_cut;
        }
        Ok(scores)
    }
}

impl Scorer for CheckpointScorer {
    /// Few, since a question takes a second, and each thread has a batch.
    fn batch_size(&self) -> usize {
        8
    }

    fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> models::Result<()> {
        let lists = self.scores(questions).map_err(models::Error::external)?;
        lists.into_iter().for_each(|list| scores.push(list.into_iter().map(|score| score as f32)));
        Ok(())
    }

    fn fork(&self) -> Box<dyn Scorer> {
        Box::new(Self { model: self.model.clone(), reader: self.model.checkpoint.reader() })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Mutex;

    use questions::Control;

    use super::*;
    use crate::answer::questions_of;
    use crate::{AnswerOptions, Event, Warning, answer, load_model, questions_from_text};

    fn folder(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../transformer/tests/golden").join(name)
    }

    fn few(n: usize) -> AnswerOptions {
        AnswerOptions { sample: Some(n), ..AnswerOptions::default() }
    }

    #[test]
    fn scores_differ_as_the_log_probs_of_whole_texts_do() {
        let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
        let (model, manifest) = load_model(&folder("llama"), DeviceChoice::Auto, &|_| ()).unwrap();
        assert_eq!(manifest.provenance.model, "llama");
        assert_eq!(manifest.provenance.settings.len(), 3);
        let checkpoint = Arc::new(Checkpoint::open(&folder("llama")).unwrap());
        let mut reader = checkpoint.reader();
        // Short enough for the tiny network.
        let controls = vec![Control::LastSentences(3)];
        let options = AnswerOptions { controls, ..few(1) };
        let predictions = answer(&model, &set, &options, &|_| ()).unwrap();
        assert_eq!(predictions.len(), 4);
        for ((index, id), row) in questions_of(&set, &options).iter().zip(&predictions) {
            assert_eq!(*id, row.id);
            let mut buffers = Vec::new();
            let question = set.example(*index).question;
            let question = Control::apply_all(&options.controls, question, &mut buffers);
            let texts = FilledQuestion::new(&question, TextForm::Plain, 0).texts;
            let whole: Vec<f64> = texts
                .iter()
                .map(|text| checkpoint.tokens(text).unwrap())
                .map(|tokens| reader.continuations(&tokens[..1], &[&tokens[1..]]).unwrap()[0])
                .collect();
            for (score, log_prob) in row.scores.iter().zip(&whole) {
                let (score, log_prob) = (score - row.scores[0], log_prob - whole[0]);
                assert!((score - log_prob).abs() < 1e-2, "{score} {log_prob}");
            }
        }
    }

    #[test]
    fn threads_and_neighbours_do_not_change_scores_and_cut_contexts_are_counted() {
        let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
        let (model, _) = load_model(&folder("qwen3"), DeviceChoice::Cpu, &|_| ()).unwrap();
        let warnings = Mutex::new(Vec::new());
        let listen = |event| {
            if let Event::Warning(warning) = event {
                warnings.lock().unwrap().push(warning);
            }
        };
        let answers = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| answer(&model, &set, &few(6), &listen).unwrap())
        };
        let (one, four) = (answers(1), answers(4));
        assert_eq!(one, four);
        assert!(one.iter().all(|row| row.scores.windows(2).any(|pair| pair[0] != pair[1])));
        // Twenty sentences in pieces that are hardly more than letters do not fit into 1,024 positions.
        let warnings = warnings.into_inner().unwrap();
        let [Warning::ContextsCut { contexts, sentences }, second] = &warnings[..] else {
            panic!("{warnings:?}")
        };
        assert!((1..=one.len()).contains(contexts) && sentences > contexts);
        assert_eq!(second.to_string(), warnings[0].to_string());
    }

    #[test]
    fn a_gpu_is_refused_and_so_is_what_a_file_of_it_does_not_allow() {
        let refused = |path: &Path, device| load_model(path, device, &|_| ()).err().unwrap();
        let error = refused(&folder("qwen3"), DeviceChoice::Cuda);
        assert_eq!(error.kind(), crate::ErrorKind::Device);
        assert_eq!(error.hint(), Some(base::Remedy::UseCpu));
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("config.json"), "{\"model_type\":\"gpt2\"}").unwrap();
        let error = refused(other.path(), DeviceChoice::Auto);
        assert!(error.to_string().contains("the architecture is `gpt2`"), "{error}");
    }
}
