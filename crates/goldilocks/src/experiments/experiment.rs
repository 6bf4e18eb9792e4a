//! A table of the paper as data: which models with which settings, from how many seeds, on which splits.
//!
//! ```toml
//! title = "Windows"               # what the report is called
//! tables = ["variants"]           # the tables that it fills
//! splits = ["valid"]              # the splits that are answered
//! seeds = 3                       # of every row that does not say otherwise
//! small_seeds = 1                 # of every row, on the embedded tales or news
//! rows_from = "table-2"           # rows and combinations of one of the paper's, before its own
//!
//! [[rows]]
//! model = "memnn-window-selfsup"
//! settings = { dim = 100 }
//! small = { dim = 20 }            # besides, on the embedded tales or news: a table in seconds
//! grid = { encoding = ["positions", "bag"], window = [3, 5] }    # one row for each of the four
//! paper_row = "goldilocks/{encoding}/{window}"    # the paper's row, if it is not the model's own; grid values in braces
//! differs = "SGD, where …"       # what is not the paper's: a mark and a footnote in every table
//! # also: name, seeds, ensemble = N, anonymise = true, exclude_cooccurrences = true;
//! # label = "MemNNs (small)" for a row beyond the paper's
//!
//! [[rows]]
//! load = "reader-small"           # an existing model, in place of `model`: `reader-small`, or a folder
//! small_sample = 20               # on embedded data at most so many questions of each split and class
//!
//! [[rows]]
//! from = "table-2/word-distance"  # all that this row of the paper's, or an earlier row here, says; then as above
//! name = "far"
//! settings = { max_penalty = 9 }
//!
//! [[combinations]]                # several rows as one, one weight each, fitted on the validation split
//! name = "two"
//! label = "MemNNs with word distance"
//! of = ["memnn-window-selfsup", "far"]
//! by_class = true                 # a weight for each class
//! ```
//!
//! An experiment on CNN QA says `embedded = "news"`.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use ::report::TableKind;
use questions::Split;
use serde::Deserialize;
use toml::{Table, Value};

use crate::{Error, Result};

/// An experiment as its TOML file has it; [`names`] are the paper's.
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
    pub splits: Vec<Split>,
    /// How many seeds a row is run with that does not say so itself.
    pub(super) seeds: Option<NonZeroUsize>,
    /// How many seeds every row is run with on embedded data.
    pub(super) small_seeds: Option<NonZeroUsize>,
    /// An experiment of the paper whose rows and combinations come first.
    rows_from: Option<String>,
    /// The rows that are run.
    #[serde(default)]
    pub(super) rows: Vec<Row>,
    /// Several rows as one.
    #[serde(default)]
    combinations: Vec<Combination>,
    /// What is embedded for those who have no data.
    #[serde(default)]
    pub embedded: Embedded,
}

/// Text that the library carries.
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
#[serde(
    deny_unknown_fields,
    default,
    expecting = "expected a row, such as `{ model = \"word-distance\" }`"
)]
pub(super) struct Row {
    /// A row to take everything from that is not said here: `table-2/memnn-window`, or the name of an earlier one.
    from: Option<String>,
    /// A name of the registry.
    pub(super) model: String,
    /// A model that is there, in place of one that is trained.
    pub(super) load: Option<PathBuf>,
    /// What folders and files are called; the model's name if there is one row of it.
    name: Option<String>,
    /// The id of the paper's row that it reproduces, if it is not the model's own (`report::paper`).
    paper_row: Option<String>,
    /// What it is called in tables; only for rows beyond the paper's.
    pub(super) label: Option<String>,
    /// In words, where the recipe of a row of the paper is not the paper's own.
    pub(super) differs: Option<String>,
    pub(super) seeds: Option<NonZeroUsize>,
    /// How many seeds make one model of the row: the mean of their distributions.
    pub(super) ensemble: Option<NonZeroUsize>,
    /// Whether candidates are replaced by placeholders (Appendix D).
    pub(super) anonymise: bool,
    /// Whether candidates that occur in the query are left out (§5.1).
    pub(super) exclude_cooccurrences: bool,
    /// Settings that are not left at their defaults.
    pub(super) settings: Table,
    /// Settings besides, on embedded data.
    pub(super) small: Table,
    /// How many questions of each split and class are answered there at most.
    pub(super) small_sample: Option<NonZeroUsize>,
    /// Lists of values: a row for each combination, named after it.
    grid: Table,
}

/// Rows whose models answer as one: softmax regression with one weight per model, fitted on the validation split.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Combination {
    /// Distinguishes it from the rows.
    pub name: String,
    /// What it is called in tables.
    pub label: String,
    /// The names of its rows.
    pub of: Vec<String>,
    /// Whether each class has weights of its own.
    #[serde(default)]
    pub by_class: bool,
}

/// The paper's experiments, by their names.
const EXPERIMENTS: &[(&str, &str)] = &[
    ("table-1", include_str!("../../experiments/table-1.toml")),
    ("table-2", include_str!("../../experiments/table-2.toml")),
    ("validation", include_str!("../../experiments/validation.toml")),
    ("appendix-a", include_str!("../../experiments/appendix-a.toml")),
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

/// One of the paper's experiments as TOML, to begin one's own from.
///
/// # Errors
/// [`Error::UnknownExperiment`].
pub fn source_of(name: &str) -> Result<&'static str> {
    let found = EXPERIMENTS.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, text)| *text)
        .ok_or_else(|| Error::UnknownExperiment { name: name.to_owned(), known: names().collect() })
}

impl Experiment {
    /// One of the paper's.
    ///
    /// # Errors
    /// [`Error::UnknownExperiment`].
    pub fn named(name: &str) -> Result<Self> {
        Self::from_toml(Path::new(name), source_of(name)?)
    }

    /// One's own.
    ///
    /// # Errors
    /// If the file can't be read, or says something else than what to run.
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_toml(path, &fs::read_to_string(path).map_err(Error::io(path))?)
    }

    /// An experiment that is written in a test.
    #[cfg(test)]
    pub(super) fn from_text(text: &str) -> Result<Self> {
        Self::from_toml(Path::new("own.toml"), text)
    }

    fn from_toml(path: &Path, text: &str) -> Result<Self> {
        let wrong = |message: String| Error::Experiment { path: path.to_owned(), message };
        let mut experiment: Self =
            toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        for table in &experiment.tables {
            if TableKind::from_code(table).is_none() {
                let known = TableKind::ALL.map(TableKind::code).join("`, `");
                return Err(wrong(format!("unknown table `{table}`: expected `{known}`")));
            }
        }
        experiment.resolve().map_err(wrong)?;
        experiment.check_names().map_err(wrong)?;
        Ok(experiment)
    }

    /// Puts rows and combinations of others in their places, and grids into rows.
    fn resolve(&mut self) -> Result<(), String> {
        let own = std::mem::take(&mut self.rows);
        if let Some(name) = &self.rows_from {
            let other = Self::named(name).map_err(|_| {
                let known: Vec<&str> = names().collect();
                format!("rows_from: expected `{}`, found `{name}`", known.join("`, `"))
            })?;
            self.rows = other.rows;
            self.small_seeds = self.small_seeds.or(other.small_seeds);
            self.combinations = [other.combinations, self.combinations.clone()].concat();
        }
        for row in own {
            let row = row.resolved(&self.rows)?;
            self.rows.extend(row.expanded()?);
        }
        Ok(())
    }

    /// Every name is part of a file's name and occurs once; combinations are of rows.
    fn check_names(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        let of_rows: Vec<&str> = self.rows.iter().map(Row::name).collect();
        let of_combinations = self.combinations.iter().map(|combination| combination.name.as_str());
        for name in of_rows.iter().copied().chain(of_combinations) {
            if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
                return Err(format!("row `{name}`: a name is part of a file's name"));
            }
            if !names.insert(name) {
                return Err(format!("two rows are named `{name}`: give one a `name`"));
            }
        }
        for id in self.rows.iter().filter_map(|row| row.paper_row.as_deref()) {
            if !::report::paper::is_row(id) {
                return Err(format!("paper_row `{id}`: expected the id of a row of the paper"));
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
            let mut members = self.rows.iter().filter(|row| of.iter().any(|of| of == row.name()));
            if let Some(row) = members.find(is_changed) {
                return Err(format!(
                    "combination `{name}`: expected rows without `ensemble`, `anonymise` and \
                     `exclude_cooccurrences`, found `{}`",
                    row.name()
                ));
            }
        }
        Ok(())
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
    /// The id of the paper's row: that of the model, unless the row names another or goes beyond the paper.
    pub(super) fn paper_row(&self) -> Option<String> {
        let is_plain = self.ensemble.is_none() && !self.anonymise && !self.exclude_cooccurrences;
        let plain = || (is_plain && self.load.is_none()).then(|| self.model.clone());
        self.paper_row.clone().or_else(plain).filter(|_| self.label.is_none())
    }

    pub(super) fn name(&self) -> &str {
        let loaded = || self.load.as_ref().and_then(|path| path.to_str());
        self.name.as_deref().or_else(loaded).unwrap_or(&self.model)
    }

    /// The row with what it takes from another.
    fn resolved(self, earlier: &[Self]) -> Result<Self, String> {
        let wrong = |expected: &str, found: &str| {
            Err(format!("row `{}`: expected {expected}, found {found}", self.name()))
        };
        if self.load.is_some() {
            let is_trained = !self.settings.is_empty() || !self.small.is_empty();
            let is_repeated = self.seeds.is_some() || self.ensemble.is_some();
            return match (&self.from, self.model.as_str()) {
                (None, "") if is_trained || !self.grid.is_empty() => {
                    wrong("a model that is loaded to have no settings", "some")
                }
                (None, "") if is_repeated => {
                    wrong("a model that is loaded to have no seeds", "some")
                }
                (None, "") => Ok(self),
                _ => wrong("one of `model`, `load` and `from`", "several"),
            };
        }
        let Some(from) = &self.from else {
            return match self.model.as_str() {
                "" => wrong("one of `model`, `load` and `from`", "none"),
                _ => Ok(self),
            };
        };
        let find = |rows: &[Self], name| rows.iter().find(|row| row.name() == name).cloned();
        let found = match from.split_once('/') {
            Some((experiment, name)) => {
                Experiment::named(experiment).ok().and_then(|other| find(&other.rows, name))
            }
            None => find(earlier, from),
        };
        let Self { settings, small, .. } = &self;
        let mut row = found.ok_or_else(|| format!("from: no row is named `{from}`"))?;
        if !self.model.is_empty() {
            return wrong("one of `model`, `load` and `from`", "several");
        }
        row.name = self.name.clone().or(row.name);
        // A changed row is another row of the paper, or none.
        row.paper_row = self.paper_row.clone();
        row.label = self.label.clone().or(row.label);
        row.differs = self.differs.clone().or(row.differs);
        row.seeds = self.seeds.or(row.seeds);
        row.ensemble = self.ensemble.or(row.ensemble);
        row.anonymise |= self.anonymise;
        row.exclude_cooccurrences |= self.exclude_cooccurrences;
        row.settings.extend(settings.clone());
        row.small.extend(small.clone());
        Ok(Self { grid: self.grid, ..row })
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
        let text = as_text((key, value)).1;
        row.paper_row = self.paper_row.as_ref().map(|id| id.replace(&format!("{{{key}}}"), &text));
        row.name = Some(format!("{}-{key}-{text}", self.name()));
        row
    }
}

/// A setting as one would type it.
pub fn as_text((key, value): (&String, &Value)) -> (String, String) {
    (key.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use models::MODELS;

    use super::*;
    use crate::experiments::plan::{Origin, PlannedRow};

    #[test]
    fn every_experiment_of_the_paper_can_be_planned() {
        for name in names() {
            let experiment = Experiment::named(name).unwrap();
            experiment.plan(true).unwrap();
            experiment.plan(false).unwrap();
        }
        let table_2 = Experiment::named("table-2").unwrap().plan(false).unwrap();
        // Three models are Appendix E's; five rows, and the reader's, go beyond the paper.
        let n_readers = usize::from(cfg!(feature = "reader-small"));
        let n_beyond = 5 + n_readers;
        assert_eq!(table_2.len(), MODELS.len() - 3 + n_beyond);
        let of_paper = MODELS.iter().filter(|entry| entry.section.starts_with('§'));
        let listed: Vec<&str> = table_2.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(
            &listed[..listed.len() - n_beyond],
            of_paper.map(|entry| entry.name).collect::<Vec<_>>()
        );
    }

    /// What Appendix A leaves open is no difference.
    #[test]
    fn a_learnt_row_of_the_paper_is_marked_where_it_is_not_to_the_letter_of_appendix_a() {
        const OPEN: [&str; 5] = ["batch", "epochs", "init", "patience", "samples"];
        let plan = |name| Experiment::named(name).unwrap().plan(false).unwrap();
        let letter = plan("appendix-a");
        for row in plan("table-2").iter().filter(|row| row.origin.learner().is_some()) {
            let Some(id) = &row.paper_row else { continue };
            let same = letter.iter().find(|other| other.paper_row.as_ref() == Some(id)).unwrap();
            let of = |row: &PlannedRow| -> Vec<(String, String)> {
                let (_, settings) = row.origin.learner().unwrap();
                let texts = settings.texts().map(|(key, value)| (key.to_owned(), value));
                texts.filter(|(key, _)| !OPEN.contains(&key.as_str())).collect()
            };
            assert!(of(row) == of(same) || row.differs.is_some(), "{id}");
        }
        // Whatever learns and is compared with the paper in other tables says so too.
        for row in ["cnn", "windows", "ablation"].into_iter().flat_map(plan) {
            let learns = row.origin.learner().is_some() && row.paper_row.is_some();
            assert!(!learns || row.differs.is_some(), "{}", row.name);
        }
    }

    #[test]
    fn every_row_of_the_paper_that_is_a_model_of_ours_is_planned_once() {
        for name in names() {
            let experiment = Experiment::named(name).unwrap();
            let plan = experiment.plan(false).unwrap();
            let rows = experiment.kinds().into_iter().flat_map(|kind| kind.published().rows);
            for row in rows.filter(|row| models::find(row.model()).is_ok()) {
                let same = plan.iter().filter(|own| own.paper_row.as_deref() == Some(row.id));
                assert_eq!(same.count(), 1, "{name}: {}", row.id);
            }
        }
        let curve = Experiment::named("goldilocks").unwrap().plan(false).unwrap();
        let first = curve[0].paper_row.as_deref();
        assert_eq!((first, curve.len()), (Some("goldilocks/positions/1"), 19));
        let text = "title = 'x'\n[[rows]]\nmodel = 'word-distance'\npaper_row = 'word-distanse'\n";
        let error = Experiment::from_toml(Path::new("own.toml"), text).unwrap_err().to_string();
        assert_eq!(
            error,
            "own.toml: paper_row `word-distanse`: expected the id of a row of the paper"
        );
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
    fn an_experiment_with_the_rows_of_another_says_only_what_differs() {
        let plan = |name| Experiment::named(name).unwrap().plan(false).unwrap();
        let rows =
            |name| plan(name).into_iter().map(|row| (row.name, row.changed)).collect::<Vec<_>>();
        assert_eq!(rows("validation"), rows("table-2"));
        assert_eq!(Experiment::named("validation").unwrap().splits, [Split::Valid]);
        let read = |text: &str| Experiment::from_toml(Path::new("own.toml"), text);
        let error = read("title = 'x'\nrows_from = 'table-7'").unwrap_err().to_string();
        assert!(error.starts_with("own.toml: rows_from: expected `table-1`, "), "{error}");
        let error = read("rows_from = 'table-2'\ntitel = 'x'").unwrap_err().to_string();
        assert!(error.contains("unknown field `titel`"), "{error}");
    }

    #[test]
    fn combinations_are_of_rows() {
        let text = |of: &str| {
            format!(
                "title = 'x'\n[[rows]]\nmodel = 'word-distance'\n[[rows]]\nmodel = 'word-distance'\n\
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
    fn small_settings_hold_on_embedded_data_alone() {
        let text = "title = 'x'\n[[rows]]\nmodel = 'word-distance'\nseeds = 3\n\
                    settings = { max_penalty = 5 }\nsmall = { max_penalty = 3 }\n";
        let read = |text: &str| Experiment::from_toml(Path::new("own.toml"), text).unwrap();
        let row = |text: &str, is_embedded| read(text).plan(is_embedded).unwrap().remove(0);
        let max_penalty = |is_embedded| match row(text, is_embedded).origin {
            Origin::Trained(_, settings) => settings.values()["max_penalty"].to_string(),
            Origin::Loaded(path) => panic!("{}", path.display()),
        };
        assert_eq!((max_penalty(true), max_penalty(false)), ("3".into(), "5".into()));
        assert_eq!(row(text, true).changed.len(), 1);
        let few = format!("small_seeds = 1\n{text}");
        assert_eq!(
            [row(text, true).seeds, row(&few, true).seeds, row(&few, false).seeds],
            [3, 1, 3]
        );
    }

    #[test]
    fn a_row_takes_from_another_what_it_does_not_say() {
        let read = |rows: &str| {
            Experiment::from_toml(Path::new("own.toml"), &format!("title = 'x'\n{rows}"))
        };
        let rows = "[[rows]]\nfrom = 'table-2/memnn-window-candidates'\nname = 'far'\nsettings = { window = 9 }\n\
                    [[rows]]\nfrom = 'far'\nname = 'many'\nensemble = 4\nseeds = 1\n";
        let plan = read(rows).unwrap().plan(true).unwrap();
        let changed = |row: usize| plan[row].changed.iter().map(|(k, v)| format!("{k}={v}"));
        assert_eq!(changed(0).collect::<Vec<_>>(), ["against=candidates", "prior=0.2", "window=9"]);
        assert_eq!(changed(1).next_back().as_deref(), Some("ensemble=4"));
        assert_eq!((plan[0].seeds, plan[1].seeds), (3, 1));
        let error = |rows: &str| read(rows).unwrap_err().to_string();
        assert_eq!(
            error("[[rows]]\nfrom = 'table-2/memnn'"),
            "own.toml: from: no row is named `table-2/memnn`"
        );
        assert_eq!(
            error("[[rows]]\nname = 'x'"),
            "own.toml: row `x`: expected one of `model`, `load` and `from`, found none"
        );
        assert_eq!(
            error("[[rows]]\nmodel = 'word-distance'\nfrom = 'table-2/word-distance'"),
            "own.toml: row `word-distance`: expected one of `model`, `load` and `from`, found several"
        );
    }

    #[test]
    fn a_model_that_is_there_is_a_row() {
        let read = |row: &str| {
            Experiment::from_toml(Path::new("own.toml"), &format!("title = 'x'\n[[rows]]\n{row}"))
        };
        let row = "load = 'models/large'\nname = 'large'\nlabel = 'Large'\nsmall_sample = 20\n";
        let plan = |is_embedded| read(row).unwrap().plan(is_embedded).unwrap().remove(0);
        let [all, few] = [false, true].map(plan);
        assert_eq!((all.beyond.as_deref(), all.sample), (Some("Large"), None));
        assert_eq!(few.beyond.as_deref(), Some("Large, 20 questions a class"));
        assert_eq!((few.sample, few.origin.model(), few.seeds), (Some(20), "large", 1));
        let error = |row: &str| read(row).unwrap_err().to_string();
        assert_eq!(
            error("load = 'models/large'"),
            "own.toml: row `models/large`: a name is part of a file's name"
        );
        assert_eq!(
            error("load = 'large'\nsettings = { dim = 3 }"),
            "own.toml: row `large`: expected a model that is loaded to have no settings, found some"
        );
        assert_eq!(
            error("load = 'large'\nseeds = 3"),
            "own.toml: row `large`: expected a model that is loaded to have no seeds, found some"
        );
        assert_eq!(
            error("load = 'large'\nmodel = 'lstm-query'"),
            "own.toml: row `large`: expected one of `model`, `load` and `from`, found several"
        );
    }

    #[test]
    fn a_method_of_table_2_has_the_same_recipe_in_other_tables() {
        let plan = |name| Experiment::named(name).unwrap().plan(false).unwrap();
        let (table_2, mut n_shared) = (plan("table-2"), 0);
        for row in ["windows", "anonymised"].into_iter().flat_map(plan) {
            let same = table_2.iter().find(|other| other.name == row.name);
            if let Some(same) = same {
                let values =
                    |row: &PlannedRow| row.origin.learner().map(|(_, it)| it.values().clone());
                assert_eq!(values(&row), values(same), "{}", row.name);
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
    fn a_slip_in_a_name_is_refused() {
        let text = "title = 'x'\n[[rows]]\nmodel = 'word-distanse'\n";
        let own = Experiment::from_toml(Path::new("own.toml"), text).unwrap();
        assert_eq!(own.plan(false).err().unwrap().to_string(), "unknown model `word-distanse`");
    }
}
