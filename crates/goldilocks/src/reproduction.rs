//! The folder of a reproduction: rows of an experiment → trained models → predictions, each made once.
//!
//! ```text
//! DIR/questions/                  the embedded tales, where no SET is named
//! DIR/models/NAME/                one a row; NAME-seed-2, NAME-seed-3, … for further seeds
//! DIR/predictions/NAME.jsonl      its answers
//! DIR/predictions/NAME.toml       what they were made from; written last
//! DIR/explanations/NAME.jsonl     what it looked at in a few questions (Figure 2)
//! ```
//!
//! A stage is skipped when its goal was made from the same inputs. Predictions may come from another machine:
//! `predictions/NAME.jsonl` with the `.toml` that `reproduce` wrote beside it there, or with the `model.toml` of the
//! model that answered as `models/NAME/model.toml`. No weights are needed; if what was made from something else
//! can't be made again here, that is an error and never a silent training.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use evaluation::{Prediction, Predictions, QuestionIndex, ensemble, exclude_cooccurrences};
use models::{DeviceChoice, Model};
use questions::{QuestionSet, Split};
use report::{Looked, Run};

use crate::cli::VERSION;
use crate::commands::answer::{self, Answering};
use crate::commands::explain;
use crate::commands::train::Job;
use crate::experiment::{Planned, as_text};
use crate::failure::{Failure, warn};
use crate::made_from::MadeFrom;
use crate::progress::Progress;

/// What follows the hash of questions whose candidates were replaced by placeholders.
const ANONYMISED: &str = " anonymised";

/// A run in its folder.
pub struct Reproduction<'a> {
    /// Where everything is.
    pub folder: PathBuf,
    /// The questions to learn from.
    pub trained: &'a QuestionSet,
    /// The questions to answer: the same, unless others were named.
    pub set: &'a QuestionSet,
    /// Those to answer with placeholders as candidates, made when a row wants them.
    pub anonymised: OnceCell<QuestionSet>,
    /// The hash that stands for the questions to learn from.
    pub data: String,
    /// That of the questions to answer, if they are others.
    pub answering: Option<String>,
    /// The splits that are shown.
    pub on: Vec<Split>,
    /// What is trained for rows that are combined: these answer the validation split too, to fit weights on.
    pub combined: BTreeSet<String>,
    /// The first seed.
    pub seed: u64,
    /// Where networks learn and answer.
    pub device: DeviceChoice,
    /// Whether results of other versions of the program are taken as they are.
    pub any_version: bool,
    /// Whether it is written down what models look at.
    pub figure_2: bool,
    /// Shows how it goes.
    pub progress: Progress,
}

/// One seed of a row.
struct Training<'p> {
    row: &'p Planned,
    seed: u64,
    name: String,
}

impl Reproduction<'_> {
    /// What stands for the questions in a report.
    pub fn data(&self) -> String {
        let answering = self.answering.iter().map(|hash| format!(" answering {hash}"));
        [self.data.clone()].into_iter().chain(answering).collect()
    }

    /// Trains and answers what the row still needs; tells whether there was something to do.
    pub fn make(&self, row: &Planned) -> Result<bool> {
        let mut is_made = false;
        for training in self.trainings(row) {
            is_made |= self.make_one(&training)?;
        }
        Ok(is_made)
    }

    /// The row's answers, one run a seed or an ensemble.
    pub fn runs<'s>(&'s self, row: &Planned) -> Result<Vec<Run<'s>>> {
        let index = self.index(row);
        let trainings = self.trainings(row);
        let run = |members: &[Training<'_>]| -> Result<Run<'s>> {
            let seed = members[0].seed;
            let read = |member: &Training<'_>| self.read(&member.name, &self.on);
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
    pub fn combined_runs<'s>(&'s self, name: &str, rows: &[&Planned]) -> Result<Vec<Run<'s>>> {
        let index = self.index(rows[0]);
        let n_seeds = rows.iter().map(|row| row.seeds).min().unwrap_or(0);
        let run = |number: usize| -> Result<Run<'s>> {
            let read = |splits: &[Split]| -> Result<Vec<Predictions>> {
                let file = |row: &&Planned| self.read(&self.training(row, number).name, splits);
                rows.iter().map(file).collect()
            };
            let (answers, fit) = (read(&self.on)?, read(&[Split::Valid])?);
            let (answers, fit): (Vec<_>, Vec<_>) = (answers.iter().collect(), fit.iter().collect());
            let first = self.training(rows[0], number);
            let combined = evaluation::combine(name, &answers, &fit, first.seed)?;
            let version = self.note(&first.name).map_or_else(String::new, |made| made.version);
            let predictions = index.check(combined.predictions)?;
            Ok(Run { seed: first.seed, version, predictions })
        };
        (0..n_seeds).map(run).collect()
    }

    fn index(&self, row: &Planned) -> QuestionIndex<'_> {
        let splits = if self.on.is_empty() { &Split::ALL[..] } else { &self.on };
        QuestionIndex::of_splits(self.questions(row), splits)
    }

    /// What the first seed of a row looked at; nothing for models that look at nothing in particular.
    pub fn looked(&self, row: &Planned) -> Result<Vec<Looked>> {
        let path = self.explanations(&row.trained_as);
        if !path.exists() {
            return Ok(Vec::new());
        }
        let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
        let damaged = |message: String| Failure::Damaged { path: path.clone(), message };
        let read = |line: &str| match serde_json::from_str::<Looked>(line) {
            Ok(looked) if looked.is_whole() => Ok(looked),
            Ok(looked) => Err(damaged(format!("places beyond the text of `{}`", looked.id))),
            Err(error) => Err(damaged(error.to_string())),
        };
        Ok(text.lines().map(read).collect::<Result<_, _>>()?)
    }

    /// All seeds that a row needs, in order.
    fn trainings<'p>(&self, row: &'p Planned) -> Vec<Training<'p>> {
        (0..row.seeds * row.ensemble).map(|number| self.training(row, number)).collect()
    }

    fn training<'p>(&self, row: &'p Planned, number: usize) -> Training<'p> {
        let seed = self.seed + number as u64;
        let name = match number {
            0 => row.trained_as.clone(),
            _ => format!("{}-seed-{seed}", row.trained_as),
        };
        Training { row, seed, name }
    }

    /// The splits that a row answers: those that are shown and, if it is combined, that to fit weights on.
    fn answered(&self, row: &Planned) -> Vec<Split> {
        let fits = self.combined.contains(&row.trained_as) && !self.on.is_empty();
        let is_new = fits && !self.on.contains(&Split::Valid);
        self.on.iter().copied().chain(is_new.then_some(Split::Valid)).collect()
    }

    fn questions(&self, row: &Planned) -> &QuestionSet {
        match row.anonymise {
            true => self.anonymised.get_or_init(|| questions::anonymise(self.set, self.seed)),
            false => self.set,
        }
    }

    fn make_one(&self, training: &Training<'_>) -> Result<bool> {
        let Training { row, seed, name } = training;
        let expected = self.made_from(training);
        let output = self.predictions(name);
        if output.exists() {
            let noted = self.note(name);
            let found = noted.clone().or_else(|| self.manifest(name));
            match found.map(|found| (expected.difference(&found, self.any_version), found)) {
                Some((None, found)) => {
                    if noted.is_none() {
                        self.write_note(name, &found)?;
                    }
                    return Ok(false);
                }
                Some((Some((what, expected, found)), _)) if !self.is_made_here(name) => {
                    return Err(Failure::Brought { path: output, what, expected, found }.into());
                }
                _ => {}
            }
        }
        let set = self.questions(row);
        let model = match std::ptr::eq(self.trained, self.set) {
            true => self.train(training, set)?,
            false if row.anonymise => {
                self.train(training, &questions::anonymise(self.trained, self.seed))?
            }
            false => self.train(training, self.trained)?,
        };
        let answering = Answering { controls: Vec::new(), seed: *seed };
        let predictions = answering.answer(&*model, set, &self.answered(row), self.progress)?;
        if self.figure_2 {
            self.explain(name, &*model, set, &predictions)?;
        }
        create_parent(&output)?;
        // The note comes last: answers without it are made again.
        answer::write(&output, predictions)?;
        self.write_note(name, &expected)?;
        Ok(true)
    }

    fn made_from(&self, training: &Training<'_>) -> MadeFrom {
        let Training { row, seed, .. } = training;
        MadeFrom {
            version: VERSION.to_owned(),
            data: self.data.clone(),
            answering: self.answering.clone(),
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
        write_file(&self.predictions(name).with_extension("toml"), &toml::to_string(made_from)?)
    }

    /// What the `model.toml` of the model says that answered, and its answers; whether these are to the questions of
    /// the set is seen when they are read.
    fn manifest(&self, name: &str) -> Option<MadeFrom> {
        let text = fs::read_to_string(self.model(name).join("model.toml")).ok()?;
        let answers = Predictions::read(&self.predictions(name)).ok()?;
        let on: BTreeSet<Split> = answers.iter().filter_map(|answer| answer.split).collect();
        self.trained_from(&toml::from_str(&text).ok()?, on.into_iter().collect())
    }

    /// What a model was trained from that answers some splits.
    fn trained_from(&self, manifest: &models::Manifest, on: Vec<Split>) -> Option<MadeFrom> {
        let provenance = |key: &str| manifest.provenance.get(key).cloned();
        let data = provenance("data")?;
        let anonymised = data.strip_suffix(ANONYMISED);
        Some(MadeFrom {
            version: provenance("version")?,
            anonymise: anonymised.is_some(),
            data: anonymised.unwrap_or(&data).to_owned(),
            answering: self.answering.clone(),
            on,
            seed: provenance("seed")?.parse().ok()?,
            settings: manifest.settings.iter().map(as_text).collect(),
            model: manifest.model.clone(),
        })
    }

    /// Whether the model is there, so that its predictions can be made again.
    fn is_made_here(&self, name: &str) -> bool {
        models::load(&self.model(name)).is_ok()
    }

    fn train(&self, training: &Training<'_>, set: &QuestionSet) -> Result<Box<dyn Model>> {
        let Training { row, seed, name } = training;
        let folder = self.model(name);
        let data = format!("{}{}", self.data, if row.anonymise { ANONYMISED } else { "" });
        let device = self.device;
        let job = Job { settings: &row.settings, seed: *seed, data: &data, device };
        match models::load_on(&folder, device, &|_| ()) {
            Ok((model, manifest)) => {
                let found = self.trained_from(&manifest, self.answered(row));
                let expected = self.made_from(training);
                let difference = |found| expected.difference(&found, self.any_version);
                match found.map(difference) {
                    Some(None) => return Ok(model),
                    // What may have taken days elsewhere is not replaced by a newer program of its own accord.
                    Some(Some((what, expected, found)))
                        if what == "version" && row.entry.learns =>
                    {
                        return Err(Failure::OtherVersion { path: folder, expected, found }.into());
                    }
                    Some(Some((what, expected, found))) => warn(format_args!(
                        "{}: expected {what} `{expected}`, found `{found}`: made again",
                        folder.display()
                    )),
                    None => {}
                }
            }
            Err(models::Error::NoModel { .. }) => {}
            Err(error @ models::Error::Device(_)) => return Err(error.into()),
            Err(error) => warn(format_args!("{error}: made again")),
        }
        // Answers of another model must not be taken for this one's if the run is killed before it answers.
        for stale in [self.predictions(name), self.explanations(name)] {
            if stale.exists() {
                fs::remove_file(&stale).map_err(Failure::file(&stale))?;
            }
        }
        job.train(set, &folder, true, self.progress)?;
        Ok(models::load_on(&folder, device, &|_| ())?.0)
    }

    fn explain(
        &self,
        name: &str,
        model: &dyn Model,
        set: &QuestionSet,
        predictions: &[Prediction],
    ) -> Result<()> {
        let looked = explain::hits_and_misses(model, set, predictions, self.seed);
        if looked.is_empty() {
            return Ok(());
        }
        let lines = looked.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
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
    create_parent(path)?;
    let failed = |cause| questions::Error::Write { path: path.to_owned(), cause };
    Ok(questions::write_file(path, true, |out| out.write_all(text.as_bytes()).map_err(failed))?)
}

fn create_parent(path: &Path) -> Result<()> {
    let parent = path.parent().expect("files of a run are in its folder");
    Ok(fs::create_dir_all(parent).map_err(Failure::file(parent))?)
}
