//! `training.jsonl`: how a training went, one line per epoch.
//!
//! ```text
//! {"epoch":1,"loss":2.1,"valid_loss":null,"valid_accuracy":0.53,"best":true}
//! ```
//!
//! It holds neither times nor speeds, so that the same training gives the same bytes on any machine.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

const FILE: &str = "training.jsonl";

/// Loss and validation of a model's training, epoch by epoch; it is part of the model's folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingCurve {
    /// From the first epoch to the last one that was trained, which need not be the best.
    pub epochs: Vec<EpochRecord>,
}

/// What is recorded of one epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// The number of the epoch, from 1.
    pub epoch: usize,
    /// Mean loss on what was learnt from.
    pub loss: f64,
    /// Mean loss on the validation part, for models that measure it; a language model's perplexity is its
    /// exponential.
    pub valid_loss: Option<f64>,
    /// Accuracy on the validation questions, for models that measure it.
    pub valid_accuracy: Option<f64>,
    /// Whether it was better on validation than every epoch before it; the last such epoch is kept.
    pub best: bool,
}

impl TrainingCurve {
    /// Reads the curve of a model folder; none if the folder has no curve, as with methods that do not train by
    /// epochs.
    ///
    /// # Errors
    /// If the file can't be read, or a line of it is damaged.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).map_err(|error| Error::unreadable(&path, error))?;
        let parse = |(index, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| Error::Damaged {
                path: path.clone(),
                line: Some(index + 1),
                reason: error.to_string(),
            })
        };
        let epochs = text.lines().enumerate().map(parse).collect::<Result<_>>()?;
        Ok(Some(Self { epochs }))
    }

    /// Writes the curve into a folder.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let line = |epoch| serde_json::to_string(epoch).expect("a record is plain JSON") + "\n";
        let text: String = self.epochs.iter().map(line).collect();
        fs::write(&path, text).map_err(|reason| Error::File { path, reason })
    }

    /// The epoch whose weights the model has.
    pub fn best(&self) -> Option<&EpochRecord> {
        self.epochs.iter().rfind(|epoch| epoch.best)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_curve_is_read_back_and_a_damaged_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(TrainingCurve::read(folder.path()).unwrap(), None);
        let record = |epoch, valid_loss, valid_accuracy, best| EpochRecord {
            epoch,
            loss: 0.1 + 0.2,
            valid_loss,
            valid_accuracy,
            best,
        };
        let epochs = vec![
            record(1, Some(4.1), None, true),
            record(2, None, Some(0.5), true),
            record(3, None, None, false),
        ];
        let curve = TrainingCurve { epochs };
        curve.write(folder.path()).unwrap();
        assert_eq!(TrainingCurve::read(folder.path()).unwrap(), Some(curve.clone()));
        assert_eq!(curve.best(), Some(&curve.epochs[1]));
        let path = folder.path().join(FILE);
        let text = fs::read_to_string(&path).unwrap();
        expect![[r#"
            {"epoch":1,"loss":0.30000000000000004,"valid_loss":4.1,"valid_accuracy":null,"best":true}
            {"epoch":2,"loss":0.30000000000000004,"valid_loss":null,"valid_accuracy":0.5,"best":true}
            {"epoch":3,"loss":0.30000000000000004,"valid_loss":null,"valid_accuracy":null,"best":false}
        "#]]
        .assert_eq(&text);
        fs::write(&path, text.replace("\"epoch\":2,", "")).unwrap();
        let error = TrainingCurve::read(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("training.jsonl:2: damaged model: missing field `epoch`"),
            "{error}"
        );
    }
}
