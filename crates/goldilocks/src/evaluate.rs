//! Predictions → accuracy of each class with its interval.

use std::path::{Path, PathBuf};

use evaluation::{Predictions, QuestionIndex, Results, Tally};

use crate::progress::check_cancelled;
use crate::scale::{self, Shards};
use crate::sets::{self, SetOptions, read_predictions};
use crate::{Error, Reporter, Result};

/// Evaluates predictions files: for each, the results of each split. One folder of predictions, of the shards of a set,
/// is read file by file and counts as one. Where a set is given, every question of it must be
/// answered once, and no other.
///
/// # Errors
/// If a file can't be read, or does not fit the set.
pub fn evaluate(
    predictions: &[PathBuf],
    questions: Option<&Path>,
    options: &SetOptions,
    reporter: &dyn Reporter,
) -> Result<Vec<Vec<Results>>> {
    let selection = options.selection();
    if let [folder] = predictions
        && folder.is_dir()
    {
        return Ok(vec![evaluate_shards(folder, questions, options, reporter)?]);
    }
    let files = read_predictions(predictions, questions, options, &selection, reporter)?;
    Ok(files.iter().map(evaluation::evaluate).collect::<Result<_, _>>()?)
}

/// Evaluates the predictions of the shards of a set, one after the other.
fn evaluate_shards(
    folder: &Path,
    questions: Option<&Path>,
    options: &SetOptions,
    reporter: &dyn Reporter,
) -> Result<Vec<Results>> {
    let shards = questions.map(Shards::find).transpose()?.flatten();
    if let (Some(path), None) = (questions, &shards) {
        let message =
            format!("{}: expected a set in shards, whose predictions these are", path.display());
        return Err(Error::InvalidOption { what: "questions", message });
    }
    let selection = options.selection();
    let mut tally = Tally::default();
    for path in scale::prediction_files(folder)? {
        check_cancelled(reporter)?;
        let predictions = Predictions::read(&path)?;
        let file = shards
            .iter()
            .flat_map(Shards::files)
            .find(|file| file.path.file_stem() == path.file_stem());
        let set = match (&shards, file) {
            (Some(shards), None) => {
                let message = format!("{}: has no shard of that name", shards.folder().display());
                return Err(Error::InvalidOption { what: "predictions", message });
            }
            (_, Some(file)) => {
                let all = SetOptions { class: None, ..options.clone() };
                Some(sets::open_shard(file, &all, reporter)?)
            }
            (None, None) => None,
        };
        let selected = match set {
            None => predictions.select(&selection),
            Some(set) => QuestionIndex::new(&set, std::slice::from_ref(&predictions))
                .select(selection.clone())
                .check(predictions)
                .map(|checked| checked.into_predictions()),
        };
        match selected {
            Ok(predictions) => tally.add(&predictions),
            // Other shards have other splits.
            Err(evaluation::Error::NothingSelected { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(tally.results(&folder.display().to_string())?)
}
