//! Checkpoints: after each epoch its weights, and a record of all epochs so far.
//!
//! ```text
//! training.toml            which training this is, loss and validation of each epoch
//! epoch-3.safetensors      the weights after the last epoch, and after the best one
//! ```
//!
//! The weights are written before the record that names them, both whole or not at all, and weights that
//! no record names are removed last: whenever the run is killed, what is there is a whole checkpoint.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use base::files::write_file;
use numerics::Table;
use numerics::weights::{self, Precision};
use serde::{Deserialize, Serialize};

use crate::contract::folder::read_toml;
use crate::learning::epochs::Validation;
use crate::learning::weights_file;
use crate::{
    EpochRecord, Error, Event, Mismatch, Provenance, Reporter, Result, Settings, Training,
};

const RECORD: &str = "training.toml";

/// What has happened in a training so far.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Which training this is; none if nothing is kept of it.
    of: Option<Provenance>,
    /// From the first epoch on.
    pub epochs: Vec<EpochRecord>,
}

impl Record {
    /// Adds an epoch. It is the best so far if its accuracy is higher or, where none is measured, its loss on
    /// validation is lower than that of all before it, and where there is nothing to compare.
    pub fn push(&mut self, loss: f64, valid: Validation) {
        let score = |valid_accuracy: Option<f64>, valid_loss: Option<f64>| {
            valid_accuracy.or(valid_loss.map(|loss| -loss))
        };
        let earlier = self.epochs.iter().filter_map(|e| score(e.valid_accuracy, e.valid_loss));
        let highest = earlier.fold(f64::NEG_INFINITY, f64::max);
        let Validation { loss: valid_loss, accuracy: valid_accuracy } = valid;
        let best = score(valid_accuracy, valid_loss).is_none_or(|score| score > highest);
        let epoch = self.epochs.len() + 1;
        self.epochs.push(EpochRecord { epoch, loss, valid_loss, valid_accuracy, best });
    }

    /// How many epochs there were after the best one.
    pub fn n_since_best(&self) -> usize {
        self.epochs.len() - self.best()
    }

    /// The number of the best epoch, from 1; 0 if there was none.
    fn best(&self) -> usize {
        self.epochs.iter().rposition(|epoch| epoch.best).map_or(0, |index| index + 1)
    }
}

/// Name, rows and columns of a table.
type Shape<'a> = (&'a str, usize, usize);

/// A checkpoint that was read.
struct SavedCheckpoint {
    record: Record,
    /// The tables of the last epoch; none if the checkpoint is one of another training.
    last: Option<Vec<Table<f32>>>,
    /// The tables of the best epoch, if that is another one.
    best: Option<Vec<Table<f32>>>,
}

/// The folder of checkpoints of one training.
pub(crate) struct Checkpoints<'a> {
    folder: &'a Path,
    of: Provenance,
}

impl<'a> Checkpoints<'a> {
    pub fn new(folder: &'a Path, settings: &Settings, training: &Training<'_>) -> Self {
        Self { folder, of: Provenance::new(settings, training.data(), training.seed) }
    }

    /// Fills the tables with the last epoch's weights, if there is a checkpoint of this training; returns
    /// the record and, where that is another epoch, the tables of the best one.
    pub fn resume(
        &self,
        tables: &mut [(&str, &mut Table<f32>)],
        reporter: &dyn Reporter,
    ) -> Result<(Record, Option<Vec<Table<f32>>>)> {
        let path = self.folder.join(RECORD);
        let fresh = || Record { of: Some(self.of.clone()), epochs: Vec::new() };
        if !path.exists() {
            return Ok((fresh(), None));
        }
        let start_again = |reason: String| {
            reporter.report(Event::Warning(format!("{reason}: training starts again")));
            Ok((fresh(), None))
        };
        let shapes: Vec<_> =
            tables.iter().map(|(name, table)| (*name, table.rows(), table.dim())).collect();
        let SavedCheckpoint { record, last, best } = match self.read_last_and_best(&path, &shapes) {
            Ok(found) => found,
            Err(damage @ Error::Damaged { .. }) => {
                return start_again(damage.to_string());
            }
            Err(error) => return Err(error),
        };
        let Some(last) = last else {
            let folder = self.folder.display();
            let mismatch = record.of.as_ref().and_then(|found| self.of.first_mismatch(found));
            let what = mismatch.map_or_else(String::new, |Mismatch { what, expected, found }| {
                format!(" ({what}: expected {expected}, found {found})")
            });
            return start_again(format!("{folder}: checkpoints of another training{what}"));
        };
        for ((_, table), last) in tables.iter_mut().zip(last) {
            **table = last;
        }
        let n_epochs = record.epochs.len();
        reporter.report(Event::Note(format!("resuming after epoch {n_epochs}")));
        Ok((record, best))
    }

    fn read_last_and_best(&self, record: &Path, shapes: &[Shape<'_>]) -> Result<SavedCheckpoint> {
        let record: Record = read_toml(record)?;
        let is_same = |found| self.of.first_mismatch(found).is_none();
        if !record.of.as_ref().is_some_and(is_same) {
            return Ok(SavedCheckpoint { record, last: None, best: None });
        }
        let last = Some(self.read(record.epochs.len(), shapes)?);
        let best = (record.n_since_best() > 0).then(|| self.read(record.best(), shapes));
        Ok(SavedCheckpoint { last, best: best.transpose()?, record })
    }

    fn read(&self, epoch: usize, shapes: &[Shape<'_>]) -> Result<Vec<Table<f32>>> {
        let path = self.weights_of(epoch);
        weights_file::extract_tables(&path, weights::read(&path)?, shapes)
    }

    /// Writes the state after the last epoch of the record.
    pub fn write(&self, record: &Record, tables: &[(&str, &mut Table<f32>)]) -> Result<()> {
        let last = self.weights_of(record.epochs.len());
        let tables: Vec<(&str, &Table<f32>)> =
            tables.iter().map(|(name, table)| (*name, &**table)).collect();
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |reason| Error::File { path: path.clone(), reason }
        };
        fs::create_dir_all(self.folder).map_err(failed(self.folder))?;
        let path = self.folder.join(RECORD);
        // The record of another training must not name these weights.
        if record.epochs.len() == 1 && path.exists() {
            fs::remove_file(&path).map_err(failed(&path))?;
        }
        write_file(&last, failed(&last), |file| {
            weights::write(file, &tables, Precision::F32, &BTreeMap::new()).map_err(failed(&last))
        })?;
        let text = toml::to_string(record).expect("a record is plain TOML");
        write_file(&path, failed(&path), |file| {
            file.write_all(text.as_bytes()).map_err(failed(&path))
        })?;
        for epoch in 1..record.epochs.len() {
            let path = self.weights_of(epoch);
            if epoch != record.best() && path.exists() {
                fs::remove_file(&path).map_err(failed(&path))?;
            }
        }
        Ok(())
    }

    fn weights_of(&self, epoch: usize) -> PathBuf {
        self.folder.join(format!("epoch-{epoch}.safetensors"))
    }
}
