//! What a reproduction has made so far, read for its report.

use std::collections::BTreeSet;
use std::fs;

use ::report::{ExplainedQuestion, Run};
use evaluation::{Prediction, Predictions, QuestionIndex, ensemble, exclude_cooccurrences};
use questions::Split;

use super::Combination;
use super::engine::{Engine, Training};
use super::plan::{Origin, PlannedRow};
use crate::{Error, Result, combine_by_class, combine_predictions};

impl Engine<'_> {
    /// The row's answers, one run per seed or ensemble.
    pub fn runs<'s>(&'s self, row: &PlannedRow) -> Result<Vec<Run<'s>>> {
        let index = self.index(&[row])?;
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
            let version = self.version(&members[0]);
            Ok(Run { seed, version, predictions })
        };
        trainings.chunks(row.ensemble).map(run).collect()
    }

    /// The answers of rows as one, a run for each seed that all of them have; of rows of which one answers a sample,
    /// to the questions of that.
    pub fn combined_runs<'s>(
        &'s self,
        combination: &Combination,
        rows: &[&PlannedRow],
    ) -> Result<Vec<Run<'s>>> {
        let index = self.index(rows)?;
        let n_seeds = rows.iter().map(|row| row.seeds).min().unwrap_or(0);
        let combine = if combination.by_class { combine_by_class } else { combine_predictions };
        let run = |number: usize| -> Result<Run<'s>> {
            let read = |splits: &[Split]| -> Result<Vec<Predictions>> {
                let file = |row: &&PlannedRow| self.read(&self.training(row, number).name, splits);
                in_common(rows.iter().map(file).collect::<Result<_>>()?)
            };
            let (answers, fit) = (read(&self.splits)?, read(&[Split::Valid])?);
            let first = self.training(rows[0], number);
            let combined = combine(&combination.name, &answers, &fit, first.seed)?;
            let version = self.version(&first);
            let predictions = index.check(combined.predictions)?;
            Ok(Run { seed: first.seed, version, predictions })
        };
        (0..n_seeds).map(run).collect()
    }

    fn index(&self, rows: &[&PlannedRow]) -> Result<QuestionIndex<'_>> {
        let splits = if self.splits.is_empty() { &Split::ALL[..] } else { &self.splits };
        let index = QuestionIndex::of_splits(self.questions(rows[0])?, splits);
        Ok(if rows.iter().any(|row| row.sample.is_some()) { index.of_a_sample() } else { index })
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

    /// The program that a result was made by; of a model that was loaded, the one at hand.
    fn version(&self, training: &Training<'_>) -> String {
        match training.row.origin {
            Origin::Trained(..) => {
                let note = self.note(&training.name);
                note.map_or_else(String::new, |note| note.model.program.to_string())
            }
            Origin::Loaded(_) => self.options.program.to_string(),
        }
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
}

/// The predictions of the questions that all files have.
fn in_common(files: Vec<Predictions>) -> Result<Vec<Predictions>> {
    let key = |row: &Prediction| (row.split, row.id.clone());
    let ids = |file: &Predictions| file.iter().map(key).collect::<BTreeSet<_>>();
    let Some(smallest) = files.iter().min_by_key(|file| file.iter().count()).map(ids) else {
        return Ok(files);
    };
    let of_file = |file: Predictions| {
        let kept = file.iter().filter(|row| smallest.contains(&key(row))).cloned().collect();
        Ok(Predictions::new(file.name(), kept)?)
    };
    files.into_iter().map(of_file).collect()
}
