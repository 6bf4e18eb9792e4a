//! [`State`]: how far a training is, with all that its next step depends on, in one file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::files::write_file;
use neural::Tables;
use numerics::weights::{self, Precision};
use serde::{Deserialize, Serialize};

use crate::{Config, Error, Result};

const CHECKPOINT: &str = "checkpoint.safetensors";

/// A point of the curve of a training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Steps done.
    pub step: u64,
    /// Pieces that were read.
    pub pieces: u64,
    /// The mean of −ln p of a piece since the point before.
    pub loss: f64,
    /// The same of the set's validation books, if there are any.
    pub valid: Option<f64>,
}

/// What a training does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It reads running text.
    #[default]
    Pretrain,
    /// It learns from questions.
    Tune,
    /// It is over.
    Done,
}

/// How far a training is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub config: Config,
    pub seed: u64,
    /// The hash of the code, of the text and of the questions.
    pub of: String,
    pub phase: Phase,
    /// Steps of the phase that are done.
    pub step: u64,
    /// Steps of pretraining, once that is known.
    pub steps: Option<u64>,
    /// The sum of −ln p since the last point of the curve, and of how many pieces.
    pub sum: (f64, u64),
    pub curve: Vec<CurvePoint>,
}

impl State {
    /// Nothing is done.
    pub fn new(config: &Config, seed: u64, of: String) -> Self {
        let (config, steps) = (config.clone(), config.steps);
        Self {
            config,
            seed,
            of,
            phase: Phase::default(),
            step: 0,
            steps,
            sum: (0.0, 0),
            curve: Vec::new(),
        }
    }

    /// Writes it with tables, in place of an earlier one.
    pub fn write(&self, folder: &Path, tables: &Tables) -> Result<()> {
        let path = path(folder);
        let state = serde_json::to_string(self).map_err(|error| Error::damaged(&path, error))?;
        let about = BTreeMap::from([("state".to_owned(), state)]);
        let tables: Vec<_> = tables.iter().map(|(name, table)| (name.as_str(), table)).collect();
        let failed = Error::file(&path);
        write_file(&path, &failed, |file| {
            weights::write(file, &tables, Precision::F32, &about).map_err(&failed)
        })
    }

    /// Reads what was written of this training, if there is anything.
    pub fn resume(&self, folder: &Path) -> Result<Option<(Self, Tables)>> {
        let path = path(folder);
        if !path.exists() {
            return Ok(None);
        }
        let read = weights::read(&path).map_err(|error| match error {
            numerics::Error::File { reason, .. } => Error::file(&path)(reason),
            other => Error::damaged(&path, other),
        })?;
        let state = read.about.get("state").ok_or_else(|| Error::damaged(&path, "no state"))?;
        let found: Self =
            serde_json::from_str(state).map_err(|error| Error::damaged(&path, error))?;
        let settings = |state: &Self| format!("{:?}", state.config);
        for (what, expected, found) in [
            ("text or version", self.of.clone(), found.of.clone()),
            ("seed", self.seed.to_string(), found.seed.to_string()),
            ("choice of settings", settings(self), settings(&found)),
        ] {
            if expected != found {
                return Err(Error::OtherTraining { path, what, expected, found });
            }
        }
        Ok(Some((found, read.tables.into_iter().collect())))
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join(CHECKPOINT)
}
