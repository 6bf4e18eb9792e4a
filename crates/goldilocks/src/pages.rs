//! The page's sets, models and predictions (feature `page`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use evaluation::Predictions;
use models::{MODELS, Model, Settings, Training};
use page::Catalogue;
use questions::{QuestionSet, Split};

use crate::sets::{self, SetOptions};
use crate::{BuildOptions, Reporter, Result, build};

/// Opens what the page shows: question sets, or the embedded tales where there are none; models, or on the tales those
/// that learn nothing; and predictions.
///
/// # Errors
/// If one of them can't be read, or they don't fit together.
pub fn catalogue(
    set_paths: &[PathBuf],
    model_folders: &[PathBuf],
    predictions: &[PathBuf],
    options: &SetOptions,
    reporter: &dyn Reporter,
) -> Result<Catalogue> {
    let mut sets = Vec::new();
    let mut models: Vec<(String, Arc<dyn Model>)> = Vec::new();
    for path in set_paths {
        let splits = match options.splits.as_slice() {
            [] if path.is_dir() => &[Split::Valid, Split::Test],
            splits => splits,
        };
        sets.push((name_of(path), sets::open(path, options, splits, reporter)?));
    }
    for path in model_folders {
        models.push((name_of(path), models::load(path)?.0));
    }
    if sets.is_empty() {
        let set = build(&BuildOptions::default(), reporter)?.set;
        if models.is_empty() {
            models = untrained_models(&set)?;
        }
        sets.push(("tales".to_owned(), set));
    }
    let read = |path: &PathBuf| Ok((name_of(path), Predictions::read(path)?));
    let predictions = predictions.iter().map(read).collect::<Result<_>>()?;
    Ok(Catalogue::new(sets, models, predictions)?)
}

/// The methods that learn nothing, ready in a moment.
///
/// # Errors
/// If the set has no text to count words in.
pub fn untrained_models(set: &QuestionSet) -> Result<Vec<(String, Arc<dyn Model>)>> {
    let make = |entry: &models::Method| {
        let settings = Settings::from_text(entry, [])?;
        let model = (entry.train)(&settings, &Training::new(set, 1, &|_| ()))?;
        Ok((entry.name.to_owned(), model))
    };
    MODELS.iter().filter(|entry| !entry.trains_by_epochs).map(make).collect()
}

/// A path's last part without its ending.
fn name_of(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let name = if path.is_dir() { whole.file_name() } else { whole.file_stem() };
    name.unwrap_or_default().to_string_lossy().into_owned()
}
