//! A table of the paper as data: which models with which settings, from how many seeds, on which splits.
//!
//! ```toml
//! title = "Windows"               # what the report is called
//! like = "table-2"                # one of the paper's, of which all holds that is not said here
//! tables = ["variants"]           # the tables that it fills
//! on = ["valid"]                  # the splits that are answered
//! seeds = 3                       # of every row that does not say otherwise; or, on data that is not embedded, of some
//!                                 # rows or models: seeds = { memnn-window-selfsup = 3 }
//!
//! [[rows]]
//! model = "memnn-window-selfsup"
//! settings = { dim = 100 }
//! grid = { encoding = ["positions", "bag"], window = [3, 5] }    # one row for each of the four
//! # also: name, seeds, ensemble = N, anonymise = true, exclude_cooccurrences = true
//!
//! [[beyond]]                      # as rows, after them: ours beyond the paper's, called by a label
//! model = "memnn-window-selfsup"
//! label = "MemNNs (small)"
//! settings = { dim = 10 }
//!
//! [[combinations]]                # several rows as one, one weight each, fitted on the validation split
//! name = "two"
//! label = "MemNNs with word distance"
//! of = ["memnn-window-selfsup", "word-distance"]
//!
//! [settings.word-distance]        # by row or model: settings of rows that are not listed
//! max_penalty = 5
//!
//! [tales.memnn-window-selfsup]    # by row or model: settings for the embedded tales alone
//! dim = 20
//! ```
//!
//! An experiment on CNN QA says `embedded = "news"`, and `[news.memnn-window-selfsup]` in place of `[tales.…]`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use ::report::TableKind;
use models::{Entry, MODELS};
use questions::Split;
use serde::Deserialize;
use toml::{Table, Value};

use crate::{Error, Result};

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
    /// Whether the report shows what the models looked at (Figure 2).
    #[serde(default)]
    pub figure_2: bool,
    /// The splits that are answered.
    #[serde(default)]
    pub on: Vec<Split>,
    /// How many seeds a row is run with that does not say so itself.
    #[serde(default)]
    pub(super) seeds: Seeds,
    /// What is run; without it every model of the registry with its defaults.
    rows: Option<Vec<Row>>,
    /// What is run after that: ours beyond the paper's rows.
    #[serde(default)]
    beyond: Vec<Row>,
    /// Several rows as one.
    #[serde(default)]
    combinations: Vec<Combination>,
    /// What is embedded for those who have no data.
    #[serde(default)]
    pub embedded: Embedded,
    /// Settings that are not left at their defaults, by row or by model.
    #[serde(default)]
    pub(super) settings: Table,
    /// Settings for what is embedded, by row or by model: smaller, so that the table is there at once.
    #[serde(default, alias = "news")]
    pub(super) tales: Table,
}

/// How many seeds rows are run with.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Seeds {
    OfAll(NonZeroUsize),
    /// By row or model; on what is embedded one will do.
    OfSome(BTreeMap<String, NonZeroUsize>),
}

impl Default for Seeds {
    fn default() -> Self {
        Self::OfAll(NonZeroUsize::MIN)
    }
}

/// Text that the program carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Embedded {
    /// Tales, for questions like the CBT's.
    #[default]
    Tales,
    /// News articles, for questions like CNN QA's.
    News,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// A name of the registry.
    pub(super) model: String,
    /// What folders and files are called; the model's name if there is one row of it.
    pub(super) name: Option<String>,
    /// What it is called in tables; only for rows beyond the paper's.
    pub(super) label: Option<String>,
    pub(super) seeds: Option<NonZeroUsize>,
    /// How many seeds make one model of the row: the mean of their distributions.
    pub(super) ensemble: Option<NonZeroUsize>,
    /// Whether candidates are replaced by placeholders (Appendix D).
    #[serde(default)]
    pub(super) anonymise: bool,
    /// Whether candidates that occur in the query are left out (§5.1).
    #[serde(default)]
    pub(super) exclude_cooccurrences: bool,
    /// Settings that are not left at their defaults.
    #[serde(default)]
    pub(super) settings: Table,
    /// Lists of values: a row for each combination, named after it.
    #[serde(default)]
    grid: Table,
}

/// Rows whose models answer as one: softmax regression with one weight per model, fitted on the validation split.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Combination {
    /// Tells it apart from the rows.
    pub name: String,
    /// What it is called in tables.
    pub label: String,
    /// The names of its rows.
    pub of: Vec<String>,
}

/// The paper's experiments, by the names that `reproduce` takes.
const EXPERIMENTS: &[(&str, &str)] = &[
    ("table-1", include_str!("../../experiments/table-1.toml")),
    ("table-2", include_str!("../../experiments/table-2.toml")),
    ("validation", include_str!("../../experiments/validation.toml")),
    ("cnn", include_str!("../../experiments/cnn.toml")),
    ("ablation", include_str!("../../experiments/ablation.toml")),
    ("anonymised", include_str!("../../experiments/anonymised.toml")),
    ("windows", include_str!("../../experiments/windows.toml")),
    ("goldilocks", include_str!("../../experiments/goldilocks.toml")),
    ("variants", include_str!("../../experiments/variants.toml")),
];

/// The names of the paper's experiments.
pub fn names() -> impl Iterator<Item = &'static str> {
    EXPERIMENTS.iter().map(|(name, _)| *name)
}

impl Experiment {
    /// One of the paper's.
    pub fn named(name: &str) -> Result<Self> {
        let found = EXPERIMENTS.iter().find(|(known, _)| *known == name);
        let (_, text) = found.ok_or_else(|| Error::UnknownExperiment {
            name: name.to_owned(),
            known: names().collect(),
        })?;
        Self::from_toml(Path::new(name), text)
    }

    /// One's own.
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_toml(path, &fs::read_to_string(path).map_err(Error::io(path))?)
    }

    fn from_toml(path: &Path, text: &str) -> Result<Self> {
        let wrong = |message: String| Error::Experiment { path: path.to_owned(), message };
        let mut experiment: Self = match like(text).map_err(wrong)? {
            Some(merged) => merged.try_into(),
            None => toml::from_str(text),
        }
        .map_err(|error: toml::de::Error| wrong(error.to_string()))?;
        for table in &experiment.tables {
            if TableKind::from_code(table).is_none() {
                let known = TableKind::ALL.map(TableKind::code).join("`, `");
                return Err(wrong(format!("unknown table `{table}`: expected `{known}`")));
            }
        }
        let Self { rows, beyond, .. } = &mut experiment;
        for rows in rows.iter_mut().chain([beyond]) {
            let expanded = rows.iter().map(Row::expanded).collect::<Result<Vec<_>, _>>();
            *rows = expanded.map_err(wrong)?.concat();
        }
        experiment.check_names().map_err(wrong)?;
        Ok(experiment)
    }

    /// Every name is part of a file's name and stands once; combinations are of rows.
    fn check_names(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        let rows = self.all_rows();
        let of_rows: Vec<&str> = rows.iter().map(Row::name).collect();
        let of_combinations = self.combinations.iter().map(|combination| combination.name.as_str());
        for name in of_rows.iter().copied().chain(of_combinations) {
            if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
                return Err(format!("row `{name}`: a name is part of a file's name"));
            }
            if !names.insert(name) {
                return Err(format!("two rows are named `{name}`: give one a `name`"));
            }
        }
        for Combination { name, of, .. } in &self.combinations {
            if let Some(unknown) = of.iter().find(|row| !of_rows.contains(&row.as_str())) {
                return Err(format!("combination `{name}`: no row is named `{unknown}`"));
            }
            if of.len() < 2 {
                return Err(format!("combination `{name}`: expected two rows or more in `of`"));
            }
            let is_changed =
                |row: &&Row| row.ensemble.is_some() || row.exclude_cooccurrences || row.anonymise;
            let mut members = rows.iter().filter(|row| of.iter().any(|of| of == row.name()));
            if let Some(row) = members.find(is_changed) {
                return Err(format!(
                    "combination `{name}`: expected rows without `ensemble`, `anonymise` and \
                     `exclude_cooccurrences`, found `{}`",
                    row.name()
                ));
            }
        }
        for (name, value) in self.settings.iter().chain(&self.tales) {
            if !value.is_table() {
                return Err(format!("settings of `{name}`: expected a table, found `{value}`"));
            }
        }
        let of_some = match &self.seeds {
            Seeds::OfAll(_) => None,
            Seeds::OfSome(seeds) => Some(seeds.keys()),
        };
        let named =
            self.settings.keys().chain(self.tales.keys()).chain(of_some.into_iter().flatten());
        let is_known =
            |name: &&String| of_rows.contains(&name.as_str()) || models::find(name).is_ok();
        match named.into_iter().find(|name| !is_known(name)) {
            Some(name) => {
                Err(format!("settings or seeds of `{name}`: no row or model is named so"))
            }
            None => Ok(()),
        }
    }

    /// The rows as they are run: the paper's, then ours beyond them.
    pub(super) fn all_rows(&self) -> Vec<Row> {
        let all = || table_2().map(|entry| Row { model: entry.name.into(), ..Row::default() });
        let mut rows = self.rows.clone().unwrap_or_else(|| all().collect());
        rows.extend(self.beyond.iter().cloned());
        rows
    }

    /// Rows that answer as one besides.
    pub fn combinations(&self) -> &[Combination] {
        &self.combinations
    }

    /// The tables of accuracies to print.
    pub fn kinds(&self) -> Vec<TableKind> {
        self.tables.iter().filter_map(|code| TableKind::from_code(code)).collect()
    }
}

impl Row {
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.model)
    }

    /// The rows that its grid makes: itself where it has none.
    fn expanded(&self) -> Result<Vec<Self>, String> {
        let mut rows = vec![Self { grid: Table::new(), ..self.clone() }];
        for (key, values) in &self.grid {
            let wrong = || format!("grid `{key}`: expected a list of values, found `{values}`");
            let values = values.as_array().filter(|values| !values.is_empty()).ok_or_else(wrong)?;
            let with =
                |row: &Self| -> Vec<Self> { values.iter().map(|v| row.with(key, v)).collect() };
            rows = rows.iter().flat_map(with).collect();
        }
        Ok(rows)
    }

    fn with(&self, key: &String, value: &Value) -> Self {
        let mut row = self.clone();
        row.settings.insert(key.clone(), value.clone());
        row.name = Some(format!("{}-{key}-{}", self.name(), as_text((key, value)).1));
        row
    }
}

/// An experiment with what it does not say itself from the one that it is like; none if it is like none.
fn like(text: &str) -> Result<Option<Table>, String> {
    let mut own: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let Some(name) = own.remove("like") else { return Ok(None) };
    let named = EXPERIMENTS.iter().find(|(known, _)| name.as_str() == Some(known));
    let (_, base) = named.ok_or_else(|| {
        let known: Vec<&str> = names().collect();
        format!("like: expected `{}`, found {name}", known.join("`, `"))
    })?;
    let mut merged: Table = toml::from_str(base).map_err(|error| error.to_string())?;
    merged.extend(own);
    Ok(Some(merged))
}

/// The models of Table 2: those of the paper's sections, not of its appendices.
fn table_2() -> impl Iterator<Item = &'static Entry> {
    MODELS.iter().filter(|entry| entry.section.starts_with('§'))
}

/// A setting as one would type it.
pub fn as_text((key, value): (&String, &Value)) -> (String, String) {
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
        let table_2 = Experiment::named("table-2").unwrap().plan(false).unwrap();
        // Three models are Appendix E's; two rows go beyond the paper.
        assert_eq!(table_2.len(), MODELS.len() - 3 + 2);
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
    fn an_experiment_that_is_like_another_says_only_what_differs() {
        let plan = |name| Experiment::named(name).unwrap().plan(false).unwrap();
        let rows =
            |name| plan(name).into_iter().map(|row| (row.name, row.changed)).collect::<Vec<_>>();
        assert_eq!(rows("validation"), rows("table-2"));
        assert_eq!(Experiment::named("validation").unwrap().on, [Split::Valid]);
        let read = |text: &str| Experiment::from_toml(Path::new("own.toml"), text);
        let error = read("like = 'table-7'").unwrap_err().to_string();
        assert!(error.starts_with("own.toml: like: expected `table-1`, "), "{error}");
        let error = read("like = 'table-2'\ntitel = 'x'").unwrap_err().to_string();
        assert!(error.contains("unknown field `titel`"), "{error}");
    }

    #[test]
    fn combinations_are_of_rows() {
        let text = |of: &str| {
            format!(
                "title = 'x'\n[[rows]]\nmodel = 'word-distance'\n[[beyond]]\nmodel = 'word-distance'\n\
                 name = 'near'\nlabel = 'Near'\nsettings = {{ max_penalty = 2 }}\n\
                 [[combinations]]\nname = 'both'\nlabel = 'Both'\nof = [{of}]\n"
            )
        };
        let read = |of: &str| Experiment::from_toml(Path::new("own.toml"), &text(of));
        let experiment = read("'near', 'word-distance'").unwrap();
        assert_eq!(experiment.combinations()[0].of, ["near", "word-distance"]);
        let plan = experiment.plan(false).unwrap();
        let labels: Vec<Option<&str>> = plan.iter().map(|row| row.beyond.as_deref()).collect();
        assert_eq!(labels, [None, Some("Near")]);
        assert_eq!(
            read("'near', 'far'").unwrap_err().to_string(),
            "own.toml: combination `both`: no row is named `far`"
        );
        assert_eq!(
            read("'near'").unwrap_err().to_string(),
            "own.toml: combination `both`: expected two rows or more in `of`"
        );
        let many = text("'near', 'word-distance'")
            .replace("label = 'Near'", "label = 'Near'\nensemble = 3");
        assert_eq!(
            Experiment::from_toml(Path::new("own.toml"), &many).unwrap_err().to_string(),
            "own.toml: combination `both`: expected rows without `ensemble`, `anonymise` and \
             `exclude_cooccurrences`, found `near`"
        );
    }

    #[test]
    fn settings_for_the_tales_hold_there_alone() {
        let text = "title = 'x'\n[[rows]]\nmodel = 'word-distance'\n[settings.word-distance]\n\
                    max_penalty = 5\n[tales.word-distance]\nmax_penalty = 3\n";
        let experiment = Experiment::from_toml(Path::new("own.toml"), text).unwrap();
        let max_penalty = |on_tales| {
            let plan = experiment.plan(on_tales).unwrap();
            plan[0].settings.values()["max_penalty"].to_string()
        };
        assert_eq!((max_penalty(true), max_penalty(false)), ("3".into(), "5".into()));
        assert_eq!(experiment.plan(true).unwrap()[0].changed.len(), 1);
    }

    #[test]
    fn a_method_of_table_2_has_the_same_recipe_in_other_tables() {
        let plan = |name| Experiment::named(name).unwrap().plan(false).unwrap();
        let (table_2, mut n_shared) = (plan("table-2"), 0);
        for row in ["windows", "anonymised"].into_iter().flat_map(plan) {
            let same = table_2.iter().find(|other| other.name == row.name);
            if let Some(same) = same {
                assert_eq!(row.settings.values(), same.settings.values(), "{}", row.name);
                n_shared += 1;
            }
        }
        // Four memory networks in each.
        assert_eq!(n_shared, 8);
    }

    #[test]
    fn a_grid_is_a_row_for_each_combination_named_after_it() {
        let text = "title = 'x'\nseeds = 3\n[[rows]]\nmodel = 'word-distance'\nname = 'm'\n\
                    grid = { max_penalty = [3, 'auto'] }\n";
        let plan = Experiment::from_toml(Path::new("own.toml"), text).unwrap().plan(false).unwrap();
        let rows: Vec<(&str, &str, usize)> = plan
            .iter()
            .map(|row| (row.trained_as.as_str(), row.changed[0].1.as_str(), row.seeds))
            .collect();
        assert_eq!(rows, [("m-max_penalty-3", "3", 3), ("m-max_penalty-auto", "auto", 3)]);
        let wrong = text.replace("[3, 'auto']", "3");
        let error = Experiment::from_toml(Path::new("own.toml"), &wrong).unwrap_err();
        assert_eq!(
            error.to_string(),
            "own.toml: grid `max_penalty`: expected a list of values, found `3`"
        );
    }

    #[test]
    fn an_ensemble_shares_what_is_trained_with_the_row_that_it_is_of() {
        let text = "title = 'x'\n[[rows]]\nmodel = 'word-distance'\n\
                    [[rows]]\nmodel = 'word-distance'\nname = 'many'\nensemble = 11\n\
                    [[rows]]\nmodel = 'word-distance'\nname = 'placeholders'\nanonymise = true\n";
        let plan = Experiment::from_toml(Path::new("own.toml"), text).unwrap().plan(false).unwrap();
        let names: Vec<&str> = plan.iter().map(|row| row.trained_as.as_str()).collect();
        assert_eq!(names, ["word-distance", "word-distance", "placeholders"]);
        assert_eq!(plan[1].changed, [("ensemble".to_owned(), "11".to_owned())]);
        assert_eq!(plan[2].changed, [("anonymise".to_owned(), "true".to_owned())]);
    }

    #[test]
    fn a_slip_in_a_name_is_refused_wherever_it_stands() {
        let text = "title = 'x'\n[[rows]]\nmodel = 'word-distanse'\n";
        let own = Experiment::from_toml(Path::new("own.toml"), text).unwrap();
        assert_eq!(own.plan(false).err().unwrap().to_string(), "unknown model `word-distanse`");
        for (settings, message) in [
            (
                "[settings.word-distanse]\nmax_penalty = 2",
                "settings or seeds of `word-distanse`: no row or model is named so",
            ),
            (
                "[seeds]\nword-distanse = 2",
                "settings or seeds of `word-distanse`: no row or model is named so",
            ),
            (
                "[tales]\nword-distance = 7",
                "settings of `word-distance`: expected a table, found `7`",
            ),
        ] {
            let error =
                Experiment::from_toml(Path::new("own.toml"), &format!("title = 'x'\n{settings}"));
            assert_eq!(error.unwrap_err().to_string(), format!("own.toml: {message}"));
        }
    }

    #[test]
    fn seeds_of_some_models_hold_on_data_that_is_not_embedded() {
        let text = "title = 'x'\nseeds = { word-distance = 3 }\n[[rows]]\nmodel = 'word-distance'\n\
                    [[rows]]\nmodel = 'sliding-window'\n";
        let own = Experiment::from_toml(Path::new("own.toml"), text).unwrap();
        let seeds = |on_tales| -> Vec<usize> {
            own.plan(on_tales).unwrap().iter().map(|row| row.seeds).collect()
        };
        assert_eq!((seeds(false), seeds(true)), (vec![3, 1], vec![1, 1]));
    }
}
