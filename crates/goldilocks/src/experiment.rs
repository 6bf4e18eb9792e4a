//! A table of the paper as data: which models with which settings, on which splits.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;
use models::{Entry, MODELS, Settings};
use questions::Split;
use report::TableKind;
use serde::Deserialize;

use crate::failure::Failure;

/// An experiment as its TOML file has it; `experiments/` holds the paper's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What the report is called.
    pub title: String,
    /// The tables of the paper that it fills: `table-2`, `validation`, …
    #[serde(default)]
    pub tables: Vec<String>,
    /// Whether Table 1 is wanted.
    #[serde(default)]
    pub statistics: bool,
    /// The splits that are answered.
    #[serde(default)]
    pub on: Vec<Split>,
    /// What is run; without it every model of the registry with its defaults.
    rows: Option<Vec<Row>>,
    /// Settings for the embedded tales, by row: smaller, so that the table is there at once.
    #[serde(default)]
    tales: toml::Table,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// A name of the registry.
    model: String,
    /// What folders and files are called; the model's name if there is one row of it.
    name: Option<String>,
    /// Settings that are not left at their defaults.
    #[serde(default)]
    settings: toml::Table,
}

impl Row {
    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.model)
    }
}

/// A row to be run: a model with all its settings.
pub struct Planned {
    /// What folders and files are called.
    pub name: String,
    /// The model.
    pub entry: &'static Entry,
    /// All its settings.
    pub settings: Settings,
    /// Those that are not left at their defaults, as text.
    pub changed: Vec<(String, String)>,
}

/// The paper's experiments, by the names that `reproduce` takes.
const EXPERIMENTS: &[(&str, &str)] = &[
    ("table-1", include_str!("../../../experiments/table_1.toml")),
    ("table-2", include_str!("../../../experiments/table_2.toml")),
    ("validation", include_str!("../../../experiments/validation.toml")),
    ("cnn", include_str!("../../../experiments/cnn.toml")),
    ("ablation", include_str!("../../../experiments/ablation.toml")),
    ("anonymised", include_str!("../../../experiments/anonymised.toml")),
    ("windows", include_str!("../../../experiments/windows.toml")),
    ("goldilocks", include_str!("../../../experiments/goldilocks.toml")),
];

/// The names of the paper's experiments.
pub fn names() -> impl Iterator<Item = &'static str> {
    EXPERIMENTS.iter().map(|(name, _)| *name)
}

impl Experiment {
    /// One of the paper's.
    pub fn named(name: &str) -> Result<Self> {
        let found = EXPERIMENTS.iter().find(|(known, _)| *known == name);
        let (_, text) = found.ok_or_else(|| Failure::UnknownTable { name: name.to_owned() })?;
        Self::from_toml(Path::new(name), text)
    }

    /// One's own.
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_toml(path, &fs::read_to_string(path).map_err(Failure::file(path))?)
    }

    fn from_toml(path: &Path, text: &str) -> Result<Self> {
        let wrong = |message: String| Failure::Experiment { path: path.to_owned(), message };
        let experiment: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        for table in &experiment.tables {
            if TableKind::from_code(table).is_none() {
                let known = TableKind::ALL.map(TableKind::code).join("`, `");
                return Err(wrong(format!("unknown table `{table}`: expected `{known}`")).into());
            }
        }
        let mut names = BTreeSet::new();
        for name in experiment.rows.iter().flatten().map(Row::name) {
            if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
                return Err(wrong(format!("row `{name}`: a name is part of a file's name")).into());
            }
            if !names.insert(name) {
                return Err(wrong(format!("two rows are named `{name}`: give one a `name`")).into());
            }
        }
        Ok(experiment)
    }

    /// The tables of accuracies to print.
    pub fn kinds(&self) -> Vec<TableKind> {
        self.tables.iter().filter_map(|code| TableKind::from_code(code)).collect()
    }

    /// What there is to run, in order; on the tales with the settings for them.
    pub fn plan(&self, on_tales: bool) -> Result<Vec<Planned>> {
        let all = || MODELS.iter().map(|entry| (entry.name.to_owned(), entry.name, None));
        let rows: Vec<(String, &str, Option<&toml::Table>)> = match &self.rows {
            None => all().collect(),
            Some(rows) => rows
                .iter()
                .map(|row| (row.name().to_owned(), row.model.as_str(), Some(&row.settings)))
                .collect(),
        };
        let plan = |(name, model, own): (String, &str, Option<&toml::Table>)| {
            let entry = models::find(model)?;
            let tales = self.tales.get(&name).and_then(toml::Value::as_table);
            let tables = own.into_iter().chain(tales.filter(|_| on_tales));
            let changed: Vec<(String, String)> = tables.flatten().map(as_text).collect();
            let texts: Vec<String> = changed.iter().map(|(k, v)| format!("{k}={v}")).collect();
            let settings = Settings::from_text(entry, texts.iter().map(String::as_str))?;
            Ok(Planned { name, entry, settings, changed })
        };
        rows.into_iter().map(plan).collect()
    }
}

/// A setting as one would type it.
fn as_text((key, value): (&String, &toml::Value)) -> (String, String) {
    (key.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_of_the_paper_can_be_planned() {
        for name in names() {
            let experiment = Experiment::named(name).unwrap();
            experiment.plan(true).unwrap();
            experiment.plan(false).unwrap();
        }
        assert_eq!(Experiment::named("table-2").unwrap().plan(false).unwrap().len(), MODELS.len());
    }

    #[test]
    fn rows_have_names_of_their_own_that_stay_in_the_folder() {
        let error = |rows: &str| {
            let text = format!("title = 'x'\n{rows}");
            Experiment::from_toml(Path::new("own.toml"), &text).unwrap_err().to_string()
        };
        let row = "[[rows]]\nmodel = 'word-distance'\n";
        assert_eq!(
            error(&row.repeat(2)),
            "own.toml: two rows are named `word-distance`: give one a `name`"
        );
        assert_eq!(
            error(&format!("{row}name = '../x'")),
            "own.toml: row `../x`: a name is part of a file's name"
        );
    }

    #[test]
    fn settings_for_the_tales_hold_there_alone() {
        let text = "title = 'x'\n[[rows]]\nmodel = 'word-distance'\n\
                    [tales.word-distance]\nmax_penalty = 3\n";
        let experiment = Experiment::from_toml(Path::new("own.toml"), text).unwrap();
        let max_penalty = |on_tales| {
            let plan = experiment.plan(on_tales).unwrap();
            plan[0].settings.values()["max_penalty"].to_string()
        };
        assert_eq!((max_penalty(true), max_penalty(false)), ("3".into(), "5".into()));
    }
}
