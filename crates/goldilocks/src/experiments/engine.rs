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

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::report::{ExplainedQuestion, Run};
use evaluation::{Prediction, Predictions, QuestionIndex, ensemble, exclude_cooccurrences};
use models::Model;
use questions::{QuestionSet, Split};

use super::ReproduceOptions;
use super::plan::PlannedRow;
use super::provenance::MadeFrom;
use crate::{
    AnswerOptions, Error, Event, Reporter, Result, TrainOptions, Warning, answer, hits_and_misses,
    train_to, write_predictions,
};

/// What follows the hash of questions whose candidates were replaced by placeholders.
const ANONYMISED: &str = " anonymised";

/// Makes the rows of a reproduction in its folder.
pub struct Engine<'a> {
    /// Where everything is.
    pub folder: PathBuf,
    /// The questions to learn from.
    pub trained: &'a QuestionSet,
    /// The questions to answer: the same, unless others were given.
    pub set: &'a QuestionSet,
    /// Those to answer with placeholders as candidates, made when a row wants them.
    pub anonymised: OnceCell<QuestionSet>,
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

    /// The fingerprint of what a learner reads.
    fn learnt_from(&self) -> String {
        self.trained.fingerprint_of(&crate::sets::LEARNT_FROM)
    }

    /// The fingerprint of the set that is answered.
    fn to_answer(&self) -> String {
        self.answering.as_ref().unwrap_or(&self.data).clone()
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
            let version = self.note(&members[0].name).map_or_else(String::new, |made| made.version);
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
            let version = self.note(&first.name).map_or_else(String::new, |made| made.version);
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
        Ok(text.lines().map(read).collect::<Result<_, _>>()?)
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

    fn questions(&self, row: &PlannedRow) -> Result<&QuestionSet> {
        if !row.anonymise {
            return Ok(self.set);
        }
        if let Some(set) = self.anonymised.get() {
            return Ok(set);
        }
        let set = questions::anonymise(self.set, self.options.seed)?;
        Ok(self.anonymised.get_or_init(|| set))
    }

    fn make_one(&self, training: &Training<'_>) -> Result<bool> {
        let Training { row, seed, name } = training;
        let expected = self.made_from(training);
        let output = self.predictions(name);
        if output.exists() {
            let noted = self.note(name);
            let found = noted.clone().or_else(|| self.manifest(name));
            match found.map(|found| (expected.difference(&found, self.options.any_version), found))
            {
                Some((None, found)) => {
                    if noted.is_none() {
                        self.write_note(name, &found)?;
                    }
                    return Ok(false);
                }
                Some((Some((what, expected, found)), _)) if !self.is_made_here(name) => {
                    return Err(Error::ForeignResults { path: output, what, expected, found });
                }
                _ => {}
            }
        }
        let set = self.questions(row)?;
        let model = if self.answering.is_none() {
            self.train(training, set)?
        } else if row.anonymise {
            self.train(training, &questions::anonymise(self.trained, self.options.seed)?)?
        } else {
            self.train(training, self.trained)?
        };
        let splits = self.answered(row);
        let options = AnswerOptions { splits, controls: Vec::new(), seed: *seed };
        let predictions = answer(&model, set, &options, self.reporter)?;
        if self.figure_2 {
            self.explain(name, &model, set, &predictions)?;
        }
        create_parent(&output)?;
        // The note comes last: answers without it are made again.
        write_predictions(&output, predictions)?;
        self.write_note(name, &expected)?;
        Ok(true)
    }

    fn made_from(&self, training: &Training<'_>) -> MadeFrom {
        let Training { row, seed, .. } = training;
        MadeFrom {
            version: row.settings.code().to_owned(),
            data: self.learnt_from(),
            answering: Some(self.to_answer()),
            on: self.answered(row),
            seed: *seed,
            model: row.entry.name.to_owned(),
            anonymise: row.anonymise,
            settings: row.settings.texts().map(|(k, v)| (k.to_owned(), v)).collect(),
        }
    }

    /// What `predictions/NAME.toml` says.
    fn note(&self, name: &str) -> Option<MadeFrom> {
        let text = fs::read_to_string(self.predictions(name).with_extension("toml")).ok()?;
        toml::from_str(&text).ok()
    }

    fn write_note(&self, name: &str, made_from: &MadeFrom) -> Result<()> {
        let text = toml::to_string(made_from).expect("every field has a form in TOML");
        write_file(&self.predictions(name).with_extension("toml"), &text)
    }

    /// What the `model.toml` of the model says that answered, and its answers; whether these are to the questions of
    /// the set is seen when they are read.
    fn manifest(&self, name: &str) -> Option<MadeFrom> {
        let manifest = models::read_manifest(&self.model(name)).ok()?;
        let answers = Predictions::read(&self.predictions(name)).ok()?;
        let on: BTreeSet<Split> = answers.iter().filter_map(|answer| answer.split).collect();
        Some(self.trained_from(&manifest, on.into_iter().collect()))
    }

    /// What a model was trained from that answers some splits.
    fn trained_from(&self, manifest: &models::Manifest, on: Vec<Split>) -> MadeFrom {
        let models::Provenance { program, data, seed, settings, model } = &manifest.provenance;
        let anonymised = data.strip_suffix(ANONYMISED);
        MadeFrom {
            version: program.code.clone(),
            anonymise: anonymised.is_some(),
            data: anonymised.unwrap_or(data).to_owned(),
            answering: Some(self.to_answer()),
            on,
            seed: *seed,
            settings: settings.clone(),
            model: model.clone(),
        }
    }

    /// Whether the model is there, so that its predictions can be made again.
    fn is_made_here(&self, name: &str) -> bool {
        models::load(&self.model(name)).is_ok()
    }

    fn train(&self, training: &Training<'_>, set: &QuestionSet) -> Result<Arc<dyn Model>> {
        let Training { row, seed, name } = training;
        let folder = self.model(name);
        let data = format!("{}{}", self.learnt_from(), if row.anonymise { ANONYMISED } else { "" });
        let device = self.options.device;
        match models::load_on(&folder, device, &|_| ()) {
            Ok((model, manifest)) => {
                let found = self.trained_from(&manifest, self.answered(row));
                let expected = self.made_from(training);
                match expected.difference(&found, self.options.any_version) {
                    None => return Ok(model),
                    // What may have taken days elsewhere is not replaced by a newer program of its own accord.
                    Some((what, expected, found))
                        if what == "version" && row.entry.trains_by_epochs =>
                    {
                        return Err(Error::OtherCode { path: folder, expected, found });
                    }
                    Some((what, expected, found)) => {
                        let path = folder.clone();
                        self.warn(Warning::Retraining { path, what, expected, found });
                    }
                }
            }
            Err(models::Error::NoModel { .. }) => {}
            Err(error @ models::Error::Device(_)) => return Err(error.into()),
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
            data,
            program: self.options.program.clone(),
        };
        train_to(&folder, true, set, &options, self.reporter)?;
        Ok(models::load_on(&folder, device, &|_| ())?.0)
    }

    fn warn(&self, warning: Warning) {
        self.reporter.report(Event::Warning(warning));
    }

    fn explain(
        &self,
        name: &str,
        model: &Arc<dyn Model>,
        set: &QuestionSet,
        predictions: &[Prediction],
    ) -> Result<()> {
        let looked = hits_and_misses(model, set, predictions, self.options.seed)?;
        if looked.is_empty() {
            return Ok(());
        }
        let line = |looked| serde_json::to_string(looked).expect("it has a form in JSON");
        let lines: Vec<String> = looked.iter().map(line).collect();
        write_file(&self.explanations(name), &(lines.join("\n") + "\n"))
    }

    /// The predictions for some splits, or for all if none is named: a file may hold more.
    fn read(&self, name: &str, splits: &[Split]) -> Result<Predictions> {
        let file = Predictions::read(&self.predictions(name))?;
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

fn create_parent(path: &Path) -> Result<()> {
    let parent = path.parent().expect("files of a run are in its folder");
    fs::create_dir_all(parent).map_err(Error::io(parent))
}
