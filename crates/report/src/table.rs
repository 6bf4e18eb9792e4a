//! [`Table`]: a table of the paper with our figures: report → rows → cells.
//!
//! The paper's rows come in the paper's order, each with the runs of ours that match it, or with none;
//! nothing is hidden. Ours beyond the paper come after the last row.

use std::collections::BTreeSet;

use evaluation::{Accuracy, Difference, Results, Spread, evaluate, over_seeds};
use questions::Split;

use crate::curve::Place;
use crate::layout::settings;
use crate::paper::{Footnote, PublishedColumn, PublishedRow, PublishedTable, TableKind};
use crate::{Error, Provenance, Report, Row, number};

/// A table of accuracies.
#[derive(Debug)]
pub struct Table {
    /// Which table of the paper it follows.
    pub kind: TableKind,
    /// How it was made.
    pub provenance: Provenance,
    /// Whether ours and the paper's figures are about the same kind of questions.
    pub is_comparable: bool,
    /// The seeds of its figures, in order.
    pub seeds: Vec<u64>,
    /// The versions of the program that made its figures, the report's own left out.
    pub other_versions: Vec<String>,
    /// Its rows.
    pub rows: Vec<TableRow>,
}

/// A row of the paper, of ours, or both.
#[derive(Debug)]
pub struct TableRow {
    /// Its place in the report's rows; none where it has not been run.
    pub ours: Option<usize>,
    /// The id of the paper's row, or the place on the Goldilocks curve.
    pub paper_row: Option<String>,
    /// The model's name.
    pub name: String,
    /// The settings that were not left at their defaults.
    pub settings: Vec<(String, String)>,
    /// Those of them that its label does not say.
    pub unlabelled: Vec<(String, String)>,
    /// The seeds of ours.
    pub seeds: Vec<u64>,
    /// The paper's label, or ours beyond the paper.
    pub label: String,
    /// The number of its block; ours beyond the paper are in the last one.
    pub block: usize,
    /// What the paper says about it.
    pub footnote: Option<Footnote>,
    /// Whether people answered.
    pub is_people: bool,
    /// One cell per column.
    pub cells: Vec<Figures>,
}

/// Ours and the paper's figure for one row and column.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Ours: of one run, or the mean of several.
    pub ours: Option<Accuracy>,
    /// The spread over several seeds.
    pub spread: Option<Spread>,
    /// The paper's.
    pub paper: Option<Accuracy>,
    /// Ours minus the paper's, where both are about the same kind of questions.
    pub difference: Option<Difference>,
    /// Whether ours is the best model of its column.
    pub is_best: bool,
}

impl Table {
    /// The table of a kind with the report's rows in it.
    ///
    /// # Errors
    /// [`Error::NoRun`]; [`Error::Evaluation`] where predictions give no figure.
    pub fn of(report: &Report<'_>, kind: TableKind) -> Result<Self, Error> {
        let published = kind.published();
        let results = report.rows.iter().map(RowResults::of).collect::<Result<Vec<_>, _>>()?;
        let mut rows = Vec::new();
        let mut is_shown = vec![false; report.rows.len()];
        for paper in published.rows {
            let is_ours =
                |&place: &usize| report.rows[place].paper_row.as_deref() == Some(paper.id);
            let ours: Vec<usize> = (0..report.rows.len()).filter(is_ours).collect();
            ours.iter().for_each(|&place| is_shown[place] = true);
            let places =
                if ours.is_empty() { vec![None] } else { ours.into_iter().map(Some).collect() };
            rows.extend(places.into_iter().map(|place| (Some(paper), place)));
        }
        let beyond = (0..report.rows.len()).filter(|&place| !is_shown[place]);
        rows.extend(beyond.map(|place| (None, Some(place))));

        let is_comparable = is_same_test(report, published);
        let row = |(paper, place): (Option<&PublishedRow>, Option<usize>)| {
            let ours = place.map(|place| &report.rows[place]);
            let figures = |(index, column): (usize, &PublishedColumn)| {
                let paper = paper.map(|paper| paper.accuracy(index, column.n));
                let ours = place.and_then(|place| results[place].get(column));
                Figures::new(ours, paper, is_comparable)
            };
            let last_block = published.rows.last().map_or(0, |row| row.block + 1);
            let name = ours.map(|ours| ours.name.as_str()).or(paper.map(PublishedRow::model));
            let label = paper.map(PublishedRow::label).or(ours.map(|ours| ours.label.as_str()));
            TableRow {
                ours: place,
                paper_row: ours
                    .and_then(|ours| ours.paper_row.clone())
                    .or(paper.map(|paper| paper.id.to_owned())),
                name: name.expect("a row is the paper's or ours").to_owned(),
                settings: ours.map(|ours| ours.settings.clone()).unwrap_or_default(),
                unlabelled: ours.map(|ours| ours.settings.clone()).unwrap_or_default(),
                seeds: ours.iter().flat_map(|ours| &ours.runs).map(|run| run.seed).collect(),
                label: label.expect("a row is the paper's or ours").to_owned(),
                block: paper.map_or(last_block, |paper| paper.block),
                footnote: paper.and_then(|paper| paper.footnote),
                is_people: paper.is_some_and(PublishedRow::is_people)
                    || ours.is_some_and(is_of_people),
                cells: published.columns.iter().enumerate().map(figures).collect(),
            }
        };
        let mut rows: Vec<TableRow> = rows.into_iter().map(row).collect();
        if kind == TableKind::Goldilocks {
            rows.iter_mut().for_each(place_on_curve);
        }
        distinguish(&mut rows);
        for column in 0..published.columns.len() {
            mark_best(&mut rows, column);
        }
        let mut seeds: Vec<u64> = rows.iter().flat_map(|row| row.seeds.iter().copied()).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let other_versions = other_versions(report);
        let provenance = report.provenance.clone();
        Ok(Self { kind, provenance, is_comparable, seeds, other_versions, rows })
    }

    /// Its columns.
    pub fn columns(&self) -> &'static [PublishedColumn] {
        self.kind.published().columns
    }

    /// The number of our questions of a column: of the models, or of people where there is no model.
    pub fn n(&self, column: usize) -> Option<usize> {
        let n = |row: &TableRow| row.cells[column].ours.map(|ours| ours.n);
        let of_models = self.rows.iter().filter(|row| !row.is_people).filter_map(n).max();
        of_models.or_else(|| self.rows.iter().filter_map(n).max())
    }

    /// A column's heading in a picture, which has no foot to say how many questions there are.
    pub fn heading(&self, column: usize) -> String {
        let n = self.n(column).map_or(String::new(), |n| format!(", {}", number::questions(n)));
        format!("{}{n}", self.columns()[column].label)
    }

    /// All cells of models and people that have both figures and a judged difference.
    pub fn differences(&self) -> impl Iterator<Item = &Difference> {
        self.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.difference.as_ref())
    }
}

impl Figures {
    fn new(
        ours: Option<(Accuracy, Option<Spread>)>,
        paper: Option<Accuracy>,
        is_comparable: bool,
    ) -> Self {
        let spread = ours.and_then(|(_, spread)| spread);
        let ours = ours.map(|(accuracy, _)| accuracy);
        let both = ours.zip(paper).filter(|_| is_comparable);
        let difference = both.map(|(ours, paper)| Difference::between(&ours, &paper));
        Self { ours, spread, paper, difference, ..Self::default() }
    }
}

/// The figures of one row, each seed evaluated.
struct RowResults {
    seeds: Vec<Vec<Results>>,
}

impl RowResults {
    fn of(row: &Row<'_>) -> Result<Self, Error> {
        if row.runs.is_empty() {
            return Err(Error::NoRun { name: row.name.clone() });
        }
        let seeds = row.runs.iter().map(|run| evaluate(run.predictions.predictions()));
        Ok(Self { seeds: seeds.collect::<Result<_, _>>()? })
    }

    /// The accuracy in a column, and its spread where there are several seeds.
    fn get(&self, column: &PublishedColumn) -> Option<(Accuracy, Option<Spread>)> {
        let split: Option<Split> = Some(column.split);
        let first = self.seeds[0].iter().find(|results| results.split == split)?;
        let first = first.classes.get(column.class)?;
        if self.seeds.len() == 1 {
            return Some((*first, None));
        }
        let spreads = over_seeds(&self.seeds);
        let spread =
            *spreads.iter().find(|seeds| seeds.split == split)?.classes.get(column.class)?;
        // The interval is that of one sample of n questions: more seeds do not make more questions.
        Some((Accuracy::new(spread.mean, first.n), Some(spread)))
    }
}

/// Whether a table's figures are about the report's kind of questions: CNN QA has no word classes, and
/// its figures say nothing about questions that have.
pub fn is_same_test(report: &Report<'_>, published: &PublishedTable) -> bool {
    let has_classes = |column: &PublishedColumn| column.class.is_some();
    let set_has_classes =
        (0..report.set.len()).any(|index| report.set.example(index).class.is_some());
    report.provenance.source.is_comparable()
        && published.columns.iter().all(|column| has_classes(column) == set_has_classes)
}

/// Returns whether people answered.
fn is_of_people(row: &Row<'_>) -> bool {
    row.runs.iter().any(|run| !run.predictions.predictions().people().is_empty())
}

fn other_versions(report: &Report<'_>) -> Vec<String> {
    let runs = report.rows.iter().flat_map(|row| &row.runs);
    let versions: BTreeSet<&str> = runs.map(|run| run.version.as_str()).collect();
    let is_other = |version: &&&str| **version != report.provenance.version;
    versions.iter().filter(is_other).map(|version| (*version).to_owned()).collect()
}

/// Calls a row of the Goldilocks curve by its place there.
fn place_on_curve(row: &mut TableRow) {
    if let Some(place) = row.paper_row.as_deref().and_then(Place::from_id) {
        row.label = place.label();
        row.block = place.block();
        row.unlabelled.retain(|(key, _)| !Place::says(key));
    }
}

/// Adds the settings to labels that occur twice: two runs of one row of the paper.
fn distinguish(rows: &mut [TableRow]) {
    let labels: Vec<String> = rows.iter().map(|row| row.label.clone()).collect();
    for row in rows.iter_mut().filter(|row| !row.unlabelled.is_empty()) {
        if labels.iter().filter(|label| **label == row.label).count() > 1 {
            row.label = format!("{}, {}", row.label, settings(&row.unlabelled));
            row.unlabelled.clear();
        }
    }
}

/// Marks the best models of a column, all of them where they are level; people are not a model.
fn mark_best(rows: &mut [TableRow], column: usize) {
    let models = rows.iter_mut().filter(|row| !row.is_people);
    let mut cells: Vec<&mut Figures> = models.map(|row| &mut row.cells[column]).collect();
    let share = |cell: &Figures| cell.ours.map(|ours| ours.accuracy);
    let best = cells.iter().filter_map(|cell| share(cell)).fold(f64::NEG_INFINITY, f64::max);
    for cell in &mut cells {
        cell.is_best = share(cell) == Some(best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, fixture};

    fn row<'t>(table: &'t Table, label: &str) -> &'t TableRow {
        table.rows.iter().find(|row| row.label == label).unwrap()
    }

    #[test]
    fn rows_that_have_not_been_run_keep_their_place() {
        let set = fixture::set();
        let table = Table::of(&fixture::report(&set), TableKind::Anonymised).unwrap();
        let rows: Vec<(&str, Option<usize>)> =
            table.rows.iter().map(|row| (row.name.as_str(), row.ours)).collect();
        let expected = [
            ("memnn-lexical", None),
            ("memnn-window", Some(0)),
            ("memnn-sentential", None),
            ("memnn-window-selfsup", Some(1)),
            ("memnn-window-selfsup", None),
            ("ours & <more>", Some(2)),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn the_best_models_are_marked_and_never_people() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        report.rows.push(fixture::row(&set, "humans-context-query", |_| true));
        let table = Table::of(&report, TableKind::Table2).unwrap();
        let best = |label: &str| -> Vec<bool> {
            row(&table, label).cells.iter().map(|c| c.is_best).collect()
        };
        // The window model has .5 in each class; the self-supervised one 1, but .5 on prepositions.
        assert_eq!(best("MemNNs (window memory)"), [false, false, false, true]);
        assert_eq!(best("MemNNs (window memory + self-sup.)"), [true; 4]);
        assert_eq!(best("Humans (context+query)"), [false; 4]);
    }

    #[test]
    fn several_seeds_give_their_mean_and_spread_over_the_same_questions() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        let mut second = fixture::row(&set, "memnn-window", |_| true).runs.remove(0);
        second.seed = 2;
        report.rows[0].runs.push(second);
        let table = Table::of(&report, TableKind::Anonymised).unwrap();
        let cell = &row(&table, "MemNNs (window mem.)").cells[0];
        // Two questions per class: .5 and 1 have mean .75 and deviation .25 √2.
        let ours = cell.ours.unwrap();
        assert_eq!((ours.accuracy, ours.n), (0.75, 2));
        assert!((cell.spread.unwrap().deviation.unwrap() - 0.25 * 2_f64.sqrt()).abs() < 1e-12);
        assert_eq!(table.seeds, [1, 2]);
        let grid = crate::layout::grid(&table, false);
        assert_eq!(grid.rows[1].cells[0].lines[0].detail, ".198–.973 ±.354");
        assert!(grid.notes.iter().any(|note| note.starts_with("±: the standard deviation")));
    }

    #[test]
    fn nothing_is_judged_on_the_tales() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        assert_eq!(Table::of(&report, TableKind::Anonymised).unwrap().differences().count(), 8);
        report.provenance.source = Source::Tales;
        assert_eq!(Table::of(&report, TableKind::Anonymised).unwrap().differences().count(), 0);
    }

    #[test]
    fn nothing_is_judged_where_the_table_is_about_the_other_data_set() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        report.rows = vec![fixture::row(&set, "word-distance", |_| true)];
        assert_eq!(Table::of(&report, TableKind::Table2).unwrap().differences().count(), 4);
        assert_eq!(Table::of(&report, TableKind::Cnn).unwrap().differences().count(), 0);
    }

    #[test]
    fn two_runs_of_one_row_are_told_apart_by_their_settings() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        report.rows.push(fixture::row(&set, "memnn-window", |_| true));
        let table = Table::of(&report, TableKind::Anonymised).unwrap();
        let labels: Vec<&str> = table.rows[1..3].iter().map(|row| row.label.as_str()).collect();
        assert_eq!(labels, ["MemNNs (window mem.), dim=20", "MemNNs (window mem.)"]);
    }

    #[test]
    fn a_row_without_a_run_is_an_error() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        report.rows[1].runs.clear();
        let error = Table::of(&report, TableKind::Anonymised).unwrap_err();
        assert_eq!(
            error.to_string(),
            "row `memnn-window-selfsup` has no run: expected at least one seed's predictions"
        );
    }
}
