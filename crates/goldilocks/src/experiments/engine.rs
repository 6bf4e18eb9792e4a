//! The folder of a reproduction: rows of an experiment → trained models → predictions, each made once.
//!
//! ```text
//! DIR/questions/                  the embedded tales, where no SET is named
//! DIR/models/NAME/                one per row; NAME-seed-2, NAME-seed-3, … for further seeds
//! DIR/predictions/NAME.jsonl      its answers
//! DIR/predictions/NAME.toml       what they were made from; written last
//! DIR/explanations/NAME.jsonl     what it looked at in a few questions (Figure 2)
//! ```
//!
//! A stage is skipped when its goal was made from the same inputs. Predictions may come from another machine:
//! `predictions/NAME.jsonl` with the `.toml` that was written next to it there, or with the `model.toml` of the
//! model that answered as `models/NAME/model.toml`. No weights are needed; if what was made from something else
//! can't be made again here, that is an error and never a silent training.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::report::Epoch;
use evaluation::{Prediction, Predictions};
use models::{EpochRecord, Mismatch, Model, Program, Provenance, TrainingCurve};
use questions::{QuestionSet, Split};

use super::ReproduceOptions;
use super::estimate::seconds_to_train;
use super::loaded::LoadedModels;
use super::plan::{Origin, PlannedRow};
use super::provenance::{of_answers, of_model};
use crate::progress::during;
use crate::sets::LEARNT_FROM;
use crate::{
    AnswerFile, AnswerOptions, AnswerProvenance, Error, Event, Reporter, Result, TrainOptions,
    Warning, hits_and_misses, train_to,
};

/// Makes the rows of a reproduction in its folder.
pub struct Engine<'a> {
    /// The folder of the reproduction, with models and predictions.
    pub folder: PathBuf,
    /// The questions to learn from.
    pub trained: &'a QuestionSet,
    /// The questions to answer: the same, unless others were given.
    pub set: &'a QuestionSet,
    /// Both with placeholders as candidates, made when a row wants them.
    pub anonymised: [OnceCell<QuestionSet>; 2],
    /// The fingerprints of what is learnt from and of what is answered, without and with placeholders.
    pub fingerprints: [OnceCell<[String; 2]>; 2],
    /// Models that are there and only answer, by their paths: read once.
    pub loaded: LoadedModels<'a>,
    /// Predictions that were made in this run, by name: these need not be read again.
    pub made: RefCell<BTreeMap<String, Predictions>>,
    /// The hash that identifies the questions to learn from.
    pub data: String,
    /// That of the questions to answer, if they are others.
    pub answering: Option<String>,
    /// The splits that are shown.
    pub splits: Vec<Split>,
    /// What is trained for rows that are combined: these answer the validation split too, to fit weights on.
    pub combined: BTreeSet<String>,
    /// Whether it is written down what models look at.
    pub figure_2: bool,
    /// Seed, device and program.
    pub options: &'a ReproduceOptions,
    /// Listens to the stages.
    pub reporter: &'a dyn Reporter,
}

/// One seed of a row.
pub(super) struct Training<'p> {
    pub row: &'p PlannedRow,
    pub seed: u64,
    /// What its model's folder and its predictions are called.
    pub name: String,
}

impl Engine<'_> {
    /// What identifies the questions in a report.
    pub fn data(&self) -> String {
        let answering = self.answering.iter().map(|hash| format!(" answering {hash}"));
        [self.data.clone()].into_iter().chain(answering).collect()
    }

    /// Trains and answers what the row still needs; returns whether there was something to do.
    pub fn make(&self, row: &PlannedRow) -> Result<bool> {
        let mut is_made = false;
        for training in self.trainings(row) {
            is_made |= self.make_one(&training)?;
        }
        Ok(is_made)
    }

    /// Returns whether everything that the row needs has been made from the right inputs.
    pub fn is_done(&self, row: &PlannedRow) -> bool {
        self.trainings(row).iter().all(|training| self.is_made(training).unwrap_or(false))
    }

    /// How many seconds one training of a row will take, if that can be estimated.
    pub fn seconds_to_train(&self, row: &PlannedRow) -> Result<Option<f64>> {
        let ReproduceOptions { seed, device, .. } = self.options;
        let try_it =
            || seconds_to_train(row, self.learnt_from(row)?, *seed, *device, self.reporter);
        during(self.reporter, "estimate", row.name.clone(), try_it)
    }

    /// The names of what is still to be trained for a row.
    pub fn to_train(&self, row: &PlannedRow) -> Vec<String> {
        let mut trainings = self.trainings(row);
        trainings.retain(|training| !self.is_made(training).unwrap_or(false));
        trainings.into_iter().map(|training| training.name).collect()
    }

    /// How the training of the first seed of a row went; nothing for what does not train by epochs.
    pub fn training_curve(&self, row: &PlannedRow) -> Result<Vec<Epoch>> {
        let Some(curve) = TrainingCurve::read(&self.model(&row.trained_as))? else {
            return Ok(Vec::new());
        };
        let kept = curve.best().map(|best| best.epoch);
        let epoch = |record: &EpochRecord| Epoch {
            number: record.epoch,
            loss: record.loss,
            valid_accuracy: record.valid_accuracy,
            valid_loss: record.valid_loss,
            is_kept: kept == Some(record.epoch),
        };
        Ok(curve.epochs.iter().map(epoch).collect())
    }

    /// All seeds that a row needs, in order.
    pub(super) fn trainings<'p>(&self, row: &'p PlannedRow) -> Vec<Training<'p>> {
        (0..row.seeds * row.ensemble).map(|number| self.training(row, number)).collect()
    }

    pub(super) fn training<'p>(&self, row: &'p PlannedRow, number: usize) -> Training<'p> {
        let seed = self.options.seed + number as u64;
        let name = match number {
            0 => row.trained_as.clone(),
            _ => format!("{}-seed-{seed}", row.trained_as),
        };
        Training { row, seed, name }
    }

    /// The splits that a row answers: those that are shown and, if it is combined, that to fit weights on.
    fn answered(&self, row: &PlannedRow) -> Vec<Split> {
        let fits = self.combined.contains(&row.trained_as) && !self.splits.is_empty();
        let is_new = fits && !self.splits.contains(&Split::Valid);
        self.splits.iter().copied().chain(is_new.then_some(Split::Valid)).collect()
    }

    /// The questions that a row answers.
    pub(super) fn questions(&self, row: &PlannedRow) -> Result<&QuestionSet> {
        self.as_asked(row, self.set, 0)
    }

    /// The questions that a row learns from.
    pub(super) fn learnt_from(&self, row: &PlannedRow) -> Result<&QuestionSet> {
        match self.answering {
            None => self.questions(row),
            Some(_) => self.as_asked(row, self.trained, 1),
        }
    }

    fn as_asked<'s>(
        &'s self,
        row: &PlannedRow,
        set: &'s QuestionSet,
        n: usize,
    ) -> Result<&'s QuestionSet> {
        if !row.anonymise {
            return Ok(set);
        }
        if let Some(set) = self.anonymised[n].get() {
            return Ok(set);
        }
        let set = questions::anonymise(set, self.options.seed)?;
        Ok(self.anonymised[n].get_or_init(|| set))
    }

    /// What the answers of a training are made from.
    fn expected(&self, training: &Training<'_>) -> Result<AnswerProvenance> {
        let Training { row, seed, .. } = training;
        let (trained, set) = (self.learnt_from(row)?, self.questions(row)?);
        let fingerprints = || [trained.fingerprint_of(&LEARNT_FROM), set.fingerprint()];
        let known = &self.fingerprints[usize::from(row.anonymise)];
        let [learnt_from, to_answer] = known.get_or_init(fingerprints).clone();
        let model = match &row.origin {
            Origin::Trained(_, settings) => Provenance::new(settings, learnt_from, *seed),
            Origin::Loaded(path) => self.loaded.load(path)?.1,
        };
        Ok(AnswerProvenance::new(&model, to_answer, &self.answer_options(training)))
    }

    fn answer_options(&self, Training { row, seed, .. }: &Training<'_>) -> AnswerOptions {
        let (splits, sample) = (self.answered(row), row.sample);
        AnswerOptions { splits, seed: *seed, sample, ..AnswerOptions::default() }
    }

    /// Returns whether the answers of a training are there, made from the right inputs.
    ///
    /// # Errors
    /// [`Error::ForeignResults`] if they were made from something else and can't be made again here.
    fn is_made(&self, training: &Training<'_>) -> Result<bool> {
        let name = &training.name;
        let output = self.predictions(name);
        if !output.exists() {
            return Ok(false);
        }
        let (expected, noted) = (self.expected(training)?, self.note(name));
        let found = noted.clone().or_else(|| self.brought(name, &expected));
        let any_version = self.options.any_version;
        let is_loaded = matches!(training.row.origin, Origin::Loaded(_));
        match found.map(|found| (of_answers(&expected, &found, any_version), found)) {
            Some((None, found)) => {
                if noted.is_none() {
                    self.explain_late(training)?;
                    self.write_note(name, &found)?;
                }
                Ok(true)
            }
            // A model that is there can always answer again.
            Some((Some(_), _)) | None if is_loaded => Ok(false),
            Some((Some(mismatch), _)) if models::load(&self.model(name)).is_err() => {
                let Mismatch { what, expected, found } = mismatch;
                Err(Error::ForeignResults { path: output, what, expected, found })
            }
            None if models::read_manifest(&self.model(name)).is_err() => {
                let [what, expected, found] =
                    ["note", "a readable .toml next to them", "none"].map(str::to_owned);
                Err(Error::ForeignResults { path: output, what, expected, found })
            }
            _ => Ok(false),
        }
    }

    /// Explains answers whose run was killed before it did; where there is no model to ask, they stay as they are.
    fn explain_late(&self, training: &Training<'_>) -> Result<()> {
        let Training { row, name, .. } = training;
        if !self.figure_2 || self.explanations(name).exists() {
            return Ok(());
        }
        let model = match &row.origin {
            Origin::Loaded(path) => self.loaded.load(path)?.0,
            Origin::Trained(..) => match models::load(&self.model(name)) {
                Ok((model, _)) => model,
                Err(_) => return Ok(()),
            },
        };
        let predictions = Predictions::read(&self.predictions(name))?;
        self.explain(training, &model, self.questions(row)?, &predictions)
    }

    fn make_one(&self, training: &Training<'_>) -> Result<bool> {
        if self.is_made(training)? {
            return Ok(false);
        }
        let Training { row, name, .. } = training;
        let (expected, options) = (self.expected(training)?, self.answer_options(training));
        let (output, set) = (self.predictions(name), self.questions(row)?);
        let (model, provenance) = self.train(training, &expected.model)?;
        let made_from = AnswerProvenance { model: provenance, ..expected };
        let mut file = AnswerFile::open(&output, self.reporter)?;
        file.answer(&model, set, &options, &made_from)?;
        // Nothing of earlier answers may be taken for these, or these for them.
        for stale in [self.explanations(name), output.with_extension("toml")] {
            if stale.exists() {
                fs::remove_file(&stale).map_err(Error::io(&stale))?;
            }
        }
        let predictions = file.finish()?;
        if self.figure_2 {
            self.explain(training, &model, set, &predictions)?;
        }
        self.made.borrow_mut().insert(name.clone(), predictions);
        // The note comes last: answers without it are checked, and explained, again.
        self.write_note(name, &made_from)?;
        Ok(true)
    }

    /// What `predictions/NAME.toml` says.
    pub(super) fn note(&self, name: &str) -> Option<AnswerProvenance> {
        let text = fs::read_to_string(self.predictions(name).with_extension("toml")).ok()?;
        toml::from_str(&text).ok()
    }

    fn write_note(&self, name: &str, provenance: &AnswerProvenance) -> Result<()> {
        let text = toml::to_string(provenance).expect("every field has a form in TOML");
        write_file(&self.predictions(name).with_extension("toml"), &text)
    }

    /// What predictions without a note were made from, by the `model.toml` of the model that answered. Whether they
    /// are to the questions of the set is seen when they are read.
    fn brought(&self, name: &str, expected: &AnswerProvenance) -> Option<AnswerProvenance> {
        let model = models::read_manifest(&self.model(name)).ok()?.provenance;
        let answers = Predictions::read(&self.predictions(name)).ok()?;
        let splits: BTreeSet<Split> = answers.iter().filter_map(|answer| answer.split).collect();
        let splits = splits.into_iter().collect();
        Some(AnswerProvenance { model, splits, ..expected.clone() })
    }

    /// The model of a row, trained unless it is there.
    fn train(
        &self,
        training: &Training<'_>,
        expected: &Provenance,
    ) -> Result<(Arc<dyn Model>, Provenance)> {
        let Training { row, seed, name } = training;
        let (method, settings) = match &row.origin {
            Origin::Trained(method, settings) => (method, settings),
            Origin::Loaded(path) => return self.loaded.load(path),
        };
        let (folder, device) = (self.model(name), self.options.device);
        match models::load_on(&folder, device, &|_| ()) {
            Ok((model, manifest)) => {
                let found = manifest.provenance;
                match of_model(expected, &found, self.options.any_version) {
                    None => return Ok((model, found)),
                    // What may have taken days elsewhere is not replaced by a newer program of its own accord.
                    Some(Mismatch { what, .. }) if what == "code" && method.trains_by_epochs => {
                        let [expected, found] =
                            [&self.options.program, &found.program].map(Program::to_string);
                        return Err(Error::OtherCode { path: folder, expected, found });
                    }
                    Some(Mismatch { what, expected, found }) => {
                        let path = folder.clone();
                        self.warn(Warning::Retraining { path, what, expected, found });
                    }
                }
            }
            Err(models::Error::NoModel { .. }) => {}
            // What can't be read now may be whole: only what is damaged is made again.
            Err(
                error @ (models::Error::Device(_)
                | models::Error::File { .. }
                | models::Error::OtherFormat { .. }),
            ) => return Err(error.into()),
            Err(error) => self.warn(Warning::UnreadableModel { error: error.to_string() }),
        }
        // Answers of another model must not be taken for this one's if the run is killed before it answers.
        for stale in [self.predictions(name), self.explanations(name)] {
            if stale.exists() {
                fs::remove_file(&stale).map_err(Error::io(&stale))?;
            }
        }
        let options = TrainOptions {
            settings: settings.clone(),
            seed: *seed,
            device,
            data: expected.data.clone(),
            program: self.options.program.clone(),
        };
        train_to(&folder, true, self.learnt_from(row)?, &options, self.reporter)?;
        let (model, manifest) = models::load_on(&folder, device, &|_| ())?;
        Ok((model, manifest.provenance))
    }

    fn warn(&self, warning: Warning) {
        self.reporter.report(Event::Warning(warning));
    }

    fn explain(
        &self,
        Training { row, name, .. }: &Training<'_>,
        model: &Arc<dyn Model>,
        set: &QuestionSet,
        predictions: &Predictions,
    ) -> Result<()> {
        let predictions: Vec<Prediction> = predictions.iter().cloned().collect();
        let looked =
            hits_and_misses(row.origin.model(), model, set, &predictions, self.options.seed)?;
        if looked.is_empty() {
            return Ok(());
        }
        let line = |looked| serde_json::to_string(looked).expect("it has a form in JSON");
        let lines: Vec<String> = looked.iter().map(line).collect();
        write_file(&self.explanations(name), &(lines.join("\n") + "\n"))
    }

    pub(super) fn predictions(&self, name: &str) -> PathBuf {
        self.folder.join("predictions").join(format!("{name}.jsonl"))
    }

    pub(super) fn explanations(&self, name: &str) -> PathBuf {
        self.folder.join("explanations").join(format!("{name}.jsonl"))
    }

    fn model(&self, name: &str) -> PathBuf {
        self.folder.join("models").join(name)
    }
}

/// Writes a file whole, in a folder that is made if need be.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    base::files::write_file(path, failed, |out| out.write_all(text.as_bytes()).map_err(failed))
}
