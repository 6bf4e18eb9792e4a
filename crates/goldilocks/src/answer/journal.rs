//! The file of predictions that are being answered, `FILE.partial`: lines that survive `kill -9`.
//!
//! ```text
//! {"answering":{…}}      what the predictions that follow are made from
//! {"format":1,"id":…}    predictions, as the finished file has them
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use evaluation::{Prediction, Predictions};
use serde::Serialize;

use crate::{AnswerProvenance, Error, Result};

pub struct Journal {
    path: PathBuf,
    file: File,
    /// The whole lines of an earlier run that were not taken yet, the next one last.
    earlier: Vec<String>,
    /// How many bytes of the file are taken or written.
    end: u64,
}

#[derive(Serialize)]
struct Header<'a> {
    answering: &'a AnswerProvenance,
    /// The code that answers, which need not be the code that trained.
    code: String,
}

impl Journal {
    /// Opens the journal of a predictions file, with what an earlier run has left.
    pub fn open(output: &Path) -> Result<Self> {
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let path = output.with_file_name(format!("{name}.partial"));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(Error::io(parent))?;
        }
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).read(true).write(true).open(&path);
        let mut file = file.map_err(Error::io(&path))?;
        // Two runs must not write the same file; a file system without locks is not checked.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(Error::io(&path)(ErrorKind::ResourceBusy.into()));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Error::io(&path))?;
        // The last line may have been cut by a kill, even within a character.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let whole = String::from_utf8_lossy(&bytes[..whole]);
        let earlier = whole.split_terminator('\n').rev().map(str::to_owned).collect();
        Ok(Self { path, file, earlier, end: 0 })
    }

    /// Takes the predictions that an earlier run made from the same, for the first of these questions. Whatever else
    /// follows in the file is dropped.
    pub fn resume(
        &mut self,
        provenance: &AnswerProvenance,
        questions: &[(usize, String)],
    ) -> Result<Vec<Prediction>> {
        let method = models::find(&provenance.model.model);
        let code = method.map(|method| method.code()).unwrap_or_default();
        let header = serde_json::to_string(&Header { answering: provenance, code })
            .expect("texts and numbers have a form in JSON");
        let mut taken = Vec::new();
        if self.earlier.last() == Some(&header) {
            self.end += self.earlier.pop().map_or(0, |line| line.len() as u64 + 1);
            while let Some((_, id)) = questions.get(taken.len())
                && let Some(line) = self.earlier.last()
                && let Ok(prediction) = prediction(line)
                && prediction.id == *id
            {
                taken.push(prediction);
                self.end += self.earlier.pop().map_or(0, |line| line.len() as u64 + 1);
            }
            if taken.len() == questions.len() {
                return Ok(taken);
            }
            self.truncate()?;
        } else {
            self.truncate()?;
            self.write(&(header + "\n"))?;
        }
        Ok(taken)
    }

    /// Adds predictions after those that are there, so that a kill loses the last batch at most.
    pub fn append(&mut self, predictions: &[Prediction]) -> Result<()> {
        let lines = Predictions::new(self.path.display().to_string(), predictions.to_vec())?;
        self.write(&lines.to_text())
    }

    /// Removes the file, when the finished one is in its place.
    pub fn remove(self) -> Result<()> {
        fs::remove_file(&self.path).map_err(Error::io(self.path))
    }

    fn truncate(&mut self) -> Result<()> {
        self.earlier.clear();
        self.file.set_len(self.end).map_err(Error::io(&self.path))?;
        self.file.seek(SeekFrom::Start(self.end)).map_err(Error::io(&self.path))?;
        Ok(())
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.file.write_all(text.as_bytes()).map_err(Error::io(&self.path))?;
        self.end += text.len() as u64;
        Ok(())
    }
}

fn prediction(line: &str) -> Result<Prediction> {
    let predictions = Predictions::from_text("line", line)?;
    Ok(predictions.iter().next().expect("a line is a prediction").clone())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use base::Vocabulary;
    use models::{Model, Provenance, Scorer, Scores, Settings};
    use questions::{Question, QuestionSet};

    use super::*;
    use crate::{AnswerFile, AnswerOptions, questions_from_text};

    /// Scores candidates by their order, and fails when it has scored a number of questions.
    #[derive(Clone)]
    struct Failing {
        left: Arc<AtomicUsize>,
    }

    impl Model for Failing {
        fn scorer(self: Arc<Self>, _: &Arc<Vocabulary>) -> Box<dyn Scorer> {
            Box::new((*self).clone())
        }

        fn save(&self, _: &Path) -> models::Result<()> {
            Ok(())
        }
    }

    impl Scorer for Failing {
        fn batch_size(&self) -> usize {
            7
        }

        fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> models::Result<()> {
            for question in questions {
                let one_less = |left: usize| left.checked_sub(1);
                if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_err() {
                    let reason = std::io::ErrorKind::Interrupted.into();
                    return Err(models::Error::File { path: "model".into(), reason });
                }
                scores.push((0..question.candidates.len()).map(|n| n as f32 / 3.0));
            }
            Ok(())
        }

        fn fork(&self) -> Box<dyn Scorer> {
            Box::new(self.clone())
        }
    }

    fn provenance(seed: u64) -> Provenance {
        let method = models::find("word-distance").unwrap();
        Provenance::new(&Settings::from_text(method, []).unwrap(), "data", seed)
    }

    /// Answers with a model that scores `n` questions; returns how many it scored, and what came of it.
    fn run(path: &Path, set: &QuestionSet, seed: u64, n: usize) -> (usize, Result<Predictions>) {
        let left = Arc::new(AtomicUsize::new(n));
        let model: Arc<dyn Model> = Arc::new(Failing { left: left.clone() });
        let mut file = AnswerFile::open(path, &|_| ()).unwrap();
        let options = AnswerOptions::default();
        let from = AnswerProvenance::new(&provenance(seed), set.fingerprint(), &options);
        let answered = file.answer(&model, set, &options, &from);
        let result = answered.and_then(|()| file.finish());
        (n - left.load(Ordering::SeqCst), result)
    }

    #[test]
    fn answers_of_a_failed_run_are_kept_and_not_asked_for_again() {
        let folder = tempfile::tempdir().unwrap();
        let [whole, path] = ["whole.jsonl", "some.jsonl"].map(|name| folder.path().join(name));
        let tale = corpus::tales::TALES[0].text;
        let set = questions_from_text("candle_hall", tale, 1).unwrap();
        run(&whole, &set, 1, usize::MAX).1.unwrap();
        assert!(run(&path, &set, 1, 100).1.is_err());
        assert!(!path.exists());
        let partial = folder.path().join("some.jsonl.partial");
        let n_kept = fs::read_to_string(&partial).unwrap().lines().count() - 1;
        assert!(n_kept > 50, "{n_kept}");
        // A kill in the middle of a line, and of a character.
        let mut text = fs::read(&partial).unwrap();
        text.truncate(text.len() - 30);
        text.push(0xc3);
        fs::write(&partial, text).unwrap();
        let (n_scored, result) = run(&path, &set, 1, usize::MAX);
        result.unwrap();
        // The batch that was cut is scored again, since scores may depend on the batch.
        assert_eq!(n_scored, set.len() - (n_kept - 1) / 7 * 7);
        assert!(!partial.exists());
        assert!(fs::read(&path).unwrap() == fs::read(&whole).unwrap());
    }

    #[test]
    fn answers_of_another_model_are_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.jsonl");
        let set = questions_from_text("candle_hall", corpus::tales::TALES[0].text, 1).unwrap();
        assert!(run(&path, &set, 1, 100).1.is_err());
        let (n_scored, result) = run(&path, &set, 2, usize::MAX);
        assert_eq!((n_scored, result.unwrap().iter().count()), (set.len(), set.len()));
    }
}
