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

use ::report::{ExplainedQuestion, Run};
use evaluation::{Prediction, Predictions, QuestionIndex, ensemble, exclude_cooccurrences};
use models::{Mismatch, Model, Program, Provenance};
use questions::{QuestionSet, Split};

use super::ReproduceOptions;
use super::plan::PlannedRow;
use super::provenance::{of_answers, of_model};
use crate::sets::LEARNT_FROM;
use crate::{
    AnswerFile, AnswerOptions, AnswerProvenance, Error, Event, Reporter, Result, TrainOptions,
    Warning, hits_and_misses, train_to,
};

/// Makes the rows of a reproduction in its folder.
pub struct Engine<'a> {
    /// Where everything is.
    pub folder: PathBuf,
    /// The questions to learn from.
    pub trained: &'a QuestionSet,
    /// The questions to answer: the same, unless others were given.
    pub set: &'a QuestionSet,
    /// Both with placeholders as candidates, made when a row wants them.
    pub anonymised: [OnceCell<QuestionSet>; 2],
    /// The fingerprints of what is learnt from and of what is answered, without and with placeholders.
    pub fingerprints: [OnceCell<[String; 2]>; 2],
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
struct Training<'p> {
    row: &'p PlannedRow,
    seed: u64,
    name: String,
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

    /// The row's answers, one run per seed or ensemble.
    pub fn runs<'s>(&'s self, row: &PlannedRow) -> Result<Vec<Run<'s>>> {
        let index = self.index(row)?;
        let trainings = self.trainings(row);
        let run = |members: &[Training<'_>]| -> Result<Run<'s>> {
            let seed = members[0].seed;
            let read = |member: &Training<'_>| self.read(&member.name, &self.splits);
            let files: Vec<Predictions> = members.iter().map(read).collect::<Result<_>>()?;
            let mut predictions = match &files[..] {
                [file] => index.check(file.clone())?,
                files => {
                    let names: Vec<&str> = files.iter().map(Predictions::name).collect();
                    let name = format!("mean of {}", names.join(", "));
                    let files: Vec<&Predictions> = files.iter().collect();
                    index.check(ensemble::mean(&name, &files, seed)?)?
                }
            };
            if row.exclude_cooccurrences {
                let name = format!(
                    "{}, without candidates of the query",
                    predictions.predictions().name()
                );
                predictions = index.check(exclude_cooccurrences(&name, &predictions, seed)?)?;
            }
            let version = self.version(&members[0].name);
            Ok(Run { seed, version, predictions })
        };
        trainings.chunks(row.ensemble).map(run).collect()
    }

    /// The answers of rows as one, a run for each seed that all of them have.
    pub fn combined_runs<'s>(&'s self, name: &str, rows: &[&PlannedRow]) -> Result<Vec<Run<'s>>> {
        let index = self.index(rows[0])?;
        let n_seeds = rows.iter().map(|row| row.seeds).min().unwrap_or(0);
        let run = |number: usize| -> Result<Run<'s>> {
            let read = |splits: &[Split]| -> Result<Vec<Predictions>> {
                let file = |row: &&PlannedRow| self.read(&self.training(row, number).name, splits);
                rows.iter().map(file).collect()
            };
            let (answers, fit) = (read(&self.splits)?, read(&[Split::Valid])?);
            let (answers, fit): (Vec<_>, Vec<_>) = (answers.iter().collect(), fit.iter().collect());
            let first = self.training(rows[0], number);
            let combined = evaluation::combine(name, &answers, &fit, first.seed)?;
            let version = self.version(&first.name);
            let predictions = index.check(combined.predictions)?;
            Ok(Run { seed: first.seed, version, predictions })
        };
        (0..n_seeds).map(run).collect()
    }

    fn index(&self, row: &PlannedRow) -> Result<QuestionIndex<'_>> {
        let splits = if self.splits.is_empty() { &Split::ALL[..] } else { &self.splits };
        Ok(QuestionIndex::of_splits(self.questions(row)?, splits))
    }

    /// What the first seed of a row looked at; nothing for models that look at nothing in particular.
    pub fn explained(&self, row: &PlannedRow) -> Result<Vec<ExplainedQuestion>> {
        let path = self.explanations(&row.trained_as);
        if !path.exists() {
            return Ok(Vec::new());
        }
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        let damaged = |message: String| Error::Corrupt { path: path.clone(), message };
        let read = |line: &str| match serde_json::from_str::<ExplainedQuestion>(line) {
            Ok(looked) if looked.is_whole() => Ok(looked),
            Ok(looked) => Err(damaged(format!("places beyond the text of `{}`", looked.id))),
            Err(error) => Err(damaged(error.to_string())),
        };
        text.lines().map(read).collect()
    }

    /// All seeds that a row needs, in order.
    fn trainings<'p>(&self, row: &'p PlannedRow) -> Vec<Training<'p>> {
        (0..row.seeds * row.ensemble).map(|number| self.training(row, number)).collect()
    }

    fn training<'p>(&self, row: &'p PlannedRow, number: usize) -> Training<'p> {
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
    fn questions(&self, row: &PlannedRow) -> Result<&QuestionSet> {
        self.as_asked(row, self.set, 0)
    }

    /// The questions that a row learns from.
    fn learnt_from(&self, row: &PlannedRow) -> Result<&QuestionSet> {
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

    fn make_one(&self, training: &Training<'_>) -> Result<bool> {
        let Training { row, seed, name } = training;
        let options =
            AnswerOptions { splits: self.answered(row), controls: Vec::new(), seed: *seed };
        let (trained, set) = (self.learnt_from(row)?, self.questions(row)?);
        let fingerprints = || [trained.fingerprint_of(&LEARNT_FROM), set.fingerprint()];
        let known = &self.fingerprints[usize::from(row.anonymise)];
        let [learnt_from, to_answer] = known.get_or_init(fingerprints).clone();
        let model = Provenance::new(&row.settings, learnt_from, *seed);
        let expected = AnswerProvenance::new(&model, to_answer, &options);
        let output = self.predictions(name);
        if output.exists() {
            let noted = self.note(name);
            let found = noted.clone().or_else(|| self.brought(name, &expected));
            let any_version = self.options.any_version;
            match found.map(|found| (of_answers(&expected, &found, any_version), found)) {
                Some((None, found)) => {
                    if noted.is_none() {
                        self.write_note(name, &found)?;
                    }
                    return Ok(false);
                }
                Some((Some(mismatch), _)) if models::load(&self.model(name)).is_err() => {
                    let Mismatch { what, expected, found } = mismatch;
                    return Err(Error::ForeignResults { path: output, what, expected, found });
                }
                None if models::read_manifest(&self.model(name)).is_err() => {
                    let [what, expected, found] =
                        ["note", "a readable .toml next to them", "none"].map(str::to_owned);
                    return Err(Error::ForeignResults { path: output, what, expected, found });
                }
                _ => {}
            }
        }
        let (model, provenance) = self.train(training, &model)?;
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
            self.explain(name, &model, set, &predictions)?;
        }
        self.made.borrow_mut().insert(name.clone(), predictions);
        // The note comes last: answers without it are made again.
        self.write_note(name, &made_from)?;
        Ok(true)
    }

    /// What `predictions/NAME.toml` says.
    fn note(&self, name: &str) -> Option<AnswerProvenance> {
        let text = fs::read_to_string(self.predictions(name).with_extension("toml")).ok()?;
        toml::from_str(&text).ok()
    }

    fn write_note(&self, name: &str, provenance: &AnswerProvenance) -> Result<()> {
        let text = toml::to_string(provenance).expect("every field has a form in TOML");
        write_file(&self.predictions(name).with_extension("toml"), &text)
    }

    /// The program that a result was made by.
    fn version(&self, name: &str) -> String {
        self.note(name).map_or_else(String::new, |note| note.model.program.to_string())
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
        let (folder, device) = (self.model(name), self.options.device);
        match models::load_on(&folder, device, &|_| ()) {
            Ok((model, manifest)) => {
                let found = manifest.provenance;
                match of_model(expected, &found, self.options.any_version) {
                    None => return Ok((model, found)),
                    // What may have taken days elsewhere is not replaced by a newer program of its own accord.
                    Some(Mismatch { what, .. }) if what == "code" && row.entry.trains_by_epochs => {
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
            settings: row.settings.clone(),
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
        name: &str,
        model: &Arc<dyn Model>,
        set: &QuestionSet,
        predictions: &Predictions,
    ) -> Result<()> {
        let predictions: Vec<Prediction> = predictions.iter().cloned().collect();
        let looked = hits_and_misses(model, set, &predictions, self.options.seed)?;
        if looked.is_empty() {
            return Ok(());
        }
        let line = |looked| serde_json::to_string(looked).expect("it has a form in JSON");
        let lines: Vec<String> = looked.iter().map(line).collect();
        write_file(&self.explanations(name), &(lines.join("\n") + "\n"))
    }

    /// The predictions for some splits, or for all if none is named: a file may hold more.
    fn read(&self, name: &str, splits: &[Split]) -> Result<Predictions> {
        let made = self.made.borrow().get(name).cloned();
        let file = made.map_or_else(|| Predictions::read(&self.predictions(name)), Ok)?;
        let is_wanted = |p: &&Prediction| {
            splits.is_empty() || p.split.is_none_or(|split| splits.contains(&split))
        };
        let wanted: Vec<Prediction> = file.iter().filter(is_wanted).cloned().collect();
        Ok(Predictions::new(file.name(), wanted)?)
    }

    fn predictions(&self, name: &str) -> PathBuf {
        self.folder.join("predictions").join(format!("{name}.jsonl"))
    }

    fn explanations(&self, name: &str) -> PathBuf {
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
