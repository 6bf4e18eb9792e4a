//! What an experiment runs: its rows, each a model with all its settings.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use models::{Method, Settings};

use super::experiment::{Experiment, Row, as_text};
use crate::Result;

/// Where the model of a row comes from.
#[derive(Clone)]
pub enum Origin {
    /// A method trains it with these settings, defaults included.
    Trained(&'static Method, Settings),
    /// It is there, and only answers: what [`crate::load_model`] takes.
    Loaded(PathBuf),
}

impl Origin {
    /// What the model is called.
    pub fn model(&self) -> &str {
        match self {
            Self::Trained(method, _) => method.name,
            Self::Loaded(path) => {
                path.file_name().and_then(|name| name.to_str()).unwrap_or("model")
            }
        }
    }

    /// The method that trains by epochs, if one does, with its settings.
    pub fn learner(&self) -> Option<(&'static Method, &Settings)> {
        match self {
            Self::Trained(method, settings) if method.trains_by_epochs => Some((method, settings)),
            _ => None,
        }
    }
}

/// A row to be run: a model, and how it is run.
pub struct PlannedRow {
    /// What it is called.
    pub name: String,
    /// The id of the paper's row that it reproduces.
    pub paper_row: Option<String>,
    /// What tables call it if it is beyond the paper's rows.
    pub beyond: Option<String>,
    /// What folders and files are called: the first row's name with the same model, settings and questions, so that
    /// a row and an ensemble of it share what is trained.
    pub trained_as: String,
    /// Where its model comes from.
    pub origin: Origin,
    /// Those that are not left at their defaults, as text, and what else makes the row a variant.
    pub changed: Vec<(String, String)>,
    /// In words, where the recipe is not the paper's.
    pub differs: Option<String>,
    /// How many runs there are: their mean and deviation are the row's figures.
    pub seeds: usize,
    /// How many trained models make a run.
    pub ensemble: usize,
    /// Whether candidates are replaced by placeholders.
    pub anonymise: bool,
    /// Whether candidates that occur in the query are left out.
    pub exclude_cooccurrences: bool,
    /// At most this many questions of each split and class are answered; none: all.
    pub sample: Option<usize>,
}

impl Experiment {
    /// What there is to run, in order; on embedded data with the small settings.
    ///
    /// # Errors
    /// A model or setting that does not exist, or a value out of range.
    pub fn plan(&self, is_embedded: bool) -> Result<Vec<PlannedRow>> {
        let mut planned: Vec<PlannedRow> = Vec::new();
        for row in self.rows.iter().filter(|row| row.can_be_run()) {
            let mut row = self.plan_row(row, is_embedded)?;
            if let Some(same) = planned.iter().find(|earlier| earlier.trains_like(&row)) {
                row.trained_as.clone_from(&same.trained_as);
            }
            planned.push(row);
        }
        Ok(planned)
    }

    fn plan_row(&self, row: &Row, is_embedded: bool) -> Result<PlannedRow> {
        let mut own = row.settings.clone();
        if is_embedded {
            own.extend(row.small.clone());
        }
        let mut changed: Vec<(String, String)> = own.iter().map(as_text).collect();
        let texts: Vec<String> = changed.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let origin = match &row.load {
            Some(path) => Origin::Loaded(path.clone()),
            None => {
                let method = models::find(&row.model)?;
                let settings = Settings::from_text(method, texts.iter().map(String::as_str))?;
                Origin::Trained(method, settings)
            }
        };
        let sample = row.small_sample.filter(|_| is_embedded).map(NonZeroUsize::get);
        let label = row.label.clone().map(|label| match sample {
            Some(n) => format!("{label}, {n} questions a class"),
            None => label,
        });
        let small_seeds = self.small_seeds.filter(|_| is_embedded);
        let seeds = small_seeds.or(row.seeds).or(self.seeds).map_or(1, NonZeroUsize::get);
        let ensemble = row.ensemble.map_or(1, NonZeroUsize::get);
        let variants = [
            ("ensemble", ensemble.to_string(), ensemble > 1),
            ("anonymise", "true".to_owned(), row.anonymise),
            ("exclude_cooccurrences", "true".to_owned(), row.exclude_cooccurrences),
        ];
        let variants = variants.into_iter().filter(|(.., holds)| *holds);
        changed.extend(variants.map(|(key, value, _)| (key.to_owned(), value)));
        Ok(PlannedRow {
            name: row.name().to_owned(),
            paper_row: row.paper_row(),
            beyond: label,
            trained_as: row.name().to_owned(),
            origin,
            changed,
            differs: row.differs.clone().filter(|differs| !differs.is_empty()),
            seeds,
            ensemble,
            anonymise: row.anonymise,
            exclude_cooccurrences: row.exclude_cooccurrences,
            sample,
        })
    }
}

impl Row {
    /// Whether this build of the program has the model that is to be loaded: the small reader may be left out of it.
    fn can_be_run(&self) -> bool {
        let is_small_reader = self.load.as_deref() == Some(Path::new("reader-small"));
        !is_small_reader || cfg!(feature = "reader-small")
    }
}

impl PlannedRow {
    /// Whether the same seed would give the same trained model.
    fn trains_like(&self, other: &Self) -> bool {
        let same = match (&self.origin, &other.origin) {
            (Origin::Trained(one, settings), Origin::Trained(other, others)) => {
                one.name == other.name && settings.values() == others.values()
            }
            (Origin::Loaded(path), Origin::Loaded(other)) => path == other,
            _ => false,
        };
        same && self.anonymise == other.anonymise
    }
}
