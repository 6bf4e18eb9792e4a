//! What an experiment runs: its rows, each a model with all its settings.

use std::num::NonZeroUsize;

use models::{Method, Settings};

use super::experiment::{Experiment, Row, as_text};
use crate::Result;

/// A row to be run: a model with all its settings.
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
    /// How its model is trained and loaded.
    pub entry: &'static Method,
    /// All settings of its method, defaults included.
    pub settings: Settings,
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
}

impl Experiment {
    /// What there is to run, in order; on embedded data with the small settings.
    ///
    /// # Errors
    /// A model or setting that does not exist, or a value out of range.
    pub fn plan(&self, is_embedded: bool) -> Result<Vec<PlannedRow>> {
        let mut planned: Vec<PlannedRow> = Vec::new();
        for row in &self.rows {
            let mut row = self.plan_row(row, is_embedded)?;
            if let Some(same) = planned.iter().find(|earlier| earlier.trains_like(&row)) {
                row.trained_as.clone_from(&same.trained_as);
            }
            planned.push(row);
        }
        Ok(planned)
    }

    fn plan_row(&self, row: &Row, is_embedded: bool) -> Result<PlannedRow> {
        let entry = models::find(&row.model)?;
        let mut own = row.settings.clone();
        if is_embedded {
            own.extend(row.small.clone());
        }
        let mut changed: Vec<(String, String)> = own.iter().map(as_text).collect();
        let texts: Vec<String> = changed.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let settings = Settings::from_text(entry, texts.iter().map(String::as_str))?;
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
            beyond: row.label.clone(),
            trained_as: row.name().to_owned(),
            entry,
            settings,
            changed,
            differs: row.differs.clone().filter(|differs| !differs.is_empty()),
            seeds,
            ensemble,
            anonymise: row.anonymise,
            exclude_cooccurrences: row.exclude_cooccurrences,
        })
    }
}

impl PlannedRow {
    /// Whether the same seed would give the same trained model.
    fn trains_like(&self, other: &Self) -> bool {
        self.settings.model() == other.settings.model()
            && self.settings.values() == other.settings.values()
            && self.anonymise == other.anonymise
    }
}
