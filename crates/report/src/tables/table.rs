//! [`Table`]: a table of the paper with our figures: report → rows → cells.
//!
//! Rows come in the paper's order, then those that the paper does not have. Rows that were not run are left out, except
//! where the report is to show the paper's own figures too.

use std::collections::BTreeSet;

use evaluation::{Accuracy, Difference, Results, Spread, evaluate, over_seeds};
use questions::Split;

use super::layout::settings;
use crate::charts::Place;
use crate::paper::{Footnote, PublishedColumn, PublishedRow, PublishedTable, TableKind, phrase};
use crate::{Error, Provenance, Report, Row, number};

/// A table of accuracies.
#[derive(Debug)]
pub struct Table {
    /// Which table of the paper it follows.
    pub kind: TableKind,
    /// What the question set is called.
    pub set_name: String,
    /// How it was made.
    pub provenance: Provenance,
    /// Whether ours and the paper's figures are about the same kind of questions.
    pub is_comparable: bool,
    /// Whether the paper's figures are shown: they are comparable, or were asked for.
    pub shows_paper: bool,
    /// The seeds of its figures, in order.
    pub seeds: Vec<u64>,
    /// The versions of the program that made its figures, the report's own left out.
    pub other_versions: Vec<String>,
    /// One for each model or group of people.
    pub rows: Vec<TableRow>,
}

/// A row of the paper, of ours, or both.
#[derive(Debug)]
pub struct TableRow {
    /// The index of our row in the report; none for a row of the paper that was not run.
    pub ours: Option<usize>,
    /// The id of the paper's row, or the place on the Goldilocks curve.
    pub paper_row: Option<String>,
    /// The method's name, or the row's own where it is not one of the paper's.
    pub name: String,
    /// The settings that were not left at their defaults.
    pub settings: Vec<(String, String)>,
    /// Settings that the label does not mention.
    pub unlabelled: Vec<(String, String)>,
    /// In words, where ours is not by the paper's recipe.
    pub differs: Option<String>,
    /// The seed of each of our runs.
    pub seeds: Vec<u64>,
    /// The paper's label, or our own for a row that the paper does not have.
    pub label: String,
    /// The row within a sentence, if there is a phrase for it.
    pub phrase: Option<&'static str>,
    /// The number of its block of rows; rows that the paper does not have are in the last one.
    pub block: usize,
    /// The paper's remark on the row.
    pub footnote: Option<Footnote>,
    /// Whether people answered.
    pub is_people: bool,
    /// One cell per column.
    pub cells: Vec<Figures>,
}

impl TableRow {
    /// The mean of our figures over the columns; 0 where there is none.
    pub fn mean(&self) -> f64 {
        let ours: Vec<f64> =
            self.cells.iter().filter_map(|cell| cell.ours).map(|ours| ours.accuracy).collect();
        ours.iter().sum::<f64>() / ours.len().max(1) as f64
    }
}

/// Ours and the paper's figure for one row and column.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Ours: of one run, or the mean of several.
    pub ours: Option<Accuracy>,
    /// The spread over several seeds.
    pub spread: Option<Spread>,
    /// What the paper's table has in this cell.
    pub paper: Option<Accuracy>,
    /// Ours minus the paper's, where both are about the same kind of questions.
    pub difference: Option<Difference>,
    /// Whether ours is the best model of its column.
    pub is_best: bool,
}

/// The rows in the paper's order, then ours beyond the paper: each with the paper's row and the place of ours.
fn order(
    report: &Report<'_>,
    published: &PublishedTable,
    is_comparable: bool,
) -> Vec<(Option<&'static PublishedRow>, Option<usize>)> {
    let mut rows = Vec::new();
    let mut is_shown = vec![false; report.rows.len()];
    for paper in published.rows {
        let is_ours = |&place: &usize| report.rows[place].paper_row.as_deref() == Some(paper.id);
        let ours: Vec<usize> = (0..report.rows.len()).filter(is_ours).collect();
        ours.iter().for_each(|&place| is_shown[place] = true);
        let is_reference = is_comparable && paper.is_reference();
        if ours.is_empty() && (report.beside_paper || is_reference) {
            rows.push((Some(paper), None));
        }
        rows.extend(ours.into_iter().map(|place| (Some(paper), Some(place))));
    }
    let beyond = (0..report.rows.len()).filter(|&place| !is_shown[place]);
    rows.extend(beyond.map(|place| (None, Some(place))));
    rows
}

impl Table {
    /// The table of a kind with the report's rows in it.
    ///
    /// # Errors
    /// [`Error::NoRun`]; [`Error::Evaluation`] where predictions give no figure.
    pub fn of(report: &Report<'_>, kind: TableKind) -> Result<Self, Error> {
        let published = kind.published();
        let results = report.rows.iter().map(RowResults::of).collect::<Result<Vec<_>, _>>()?;
        let is_comparable = is_same_test(report, published);
        let shows_paper = is_comparable || report.beside_paper;
        let rows = order(report, published, is_comparable);
        let row = |(paper, place): (Option<&PublishedRow>, Option<usize>)| {
            let ours = place.map(|place| &report.rows[place]);
            let figures = |(index, column): (usize, &PublishedColumn)| {
                let paper = paper.filter(|_| shows_paper);
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
                differs: ours.and_then(|ours| ours.differs.clone()),
                seeds: ours.iter().flat_map(|ours| &ours.runs).map(|run| run.seed).collect(),
                label: label.expect("a row is the paper's or ours").to_owned(),
                phrase: paper.and_then(|paper| phrase(paper.id)),
                block: paper.map_or(last_block, |paper| paper.block),
                footnote: paper.filter(|_| shows_paper).and_then(|paper| paper.footnote),
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
        Ok(Self {
            kind,
            set_name: report.set_name.clone(),
            provenance: report.provenance.clone(),
            is_comparable,
            shows_paper,
            seeds,
            other_versions: other_versions(report),
            rows,
        })
    }

    /// The paper's caption on the paper's questions; elsewhere what is shown, and on which questions.
    pub fn title(&self) -> String {
        let PublishedTable { source, title, subject, columns, rows } = self.kind.published();
        if self.is_comparable && !rows.is_empty() {
            return format!("{source}: {title}");
        }
        let mut splits: Vec<Split> = columns.iter().map(|column| column.split).collect();
        splits.dedup();
        let split = match splits[..] {
            [Split::Valid] => ", validation questions",
            [Split::Test] => ", test questions",
            _ => "",
        };
        let beside = if self.shows_paper && !rows.is_empty() {
            format!(", with {source} of the paper")
        } else {
            String::new()
        };
        format!("{subject} on {}{split}{beside}", self.set_name)
    }

    /// The parts of the questions that the columns are about.
    pub fn columns(&self) -> &'static [PublishedColumn] {
        self.kind.published().columns
    }

    /// How many of our questions a column is about; those of the models, if there is a model.
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

    /// How our figures compare with the paper's, of rows that follow its recipe or of those that do not.
    pub fn agreement(&self, is_marked: bool) -> Agreement {
        let rows = self.rows.iter().filter(|row| row.differs.is_some() == is_marked);
        let mut agreement = Agreement::default();
        for difference in rows.flat_map(|row| &row.cells).filter_map(|cell| cell.difference) {
            match difference {
                _ if difference.is_inside() => agreement.inside += 1,
                _ if difference.difference > 0.0 => agreement.above += 1,
                _ => agreement.below += 1,
            }
        }
        agreement
    }

    /// What distinguishes the recipes of its marked rows from the paper's, each once, in the order of the rows.
    pub fn recipes(&self) -> Vec<&str> {
        let mut recipes: Vec<&str> = Vec::new();
        for recipe in self.rows.iter().filter_map(|row| row.differs.as_deref()) {
            if !recipes.contains(&recipe) {
                recipes.push(recipe);
            }
        }
        recipes
    }
}

/// How many figures differ from the paper's by no more than two samples may, and in which direction the others do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// The interval of the difference holds 0.
    pub inside: usize,
    /// Cells in which ours is higher.
    pub above: usize,
    /// Cells in which ours is lower.
    pub below: usize,
}

impl Agreement {
    /// The figures that are judged.
    pub fn n(self) -> usize {
        self.inside + self.above + self.below
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
            row.phrase = None;
            row.unlabelled.clear();
        }
    }
}

/// Marks the best models of a column, all of them where they are level; people are not a model, and a model that
/// answered a sample of the questions is not compared with the others.
fn mark_best(rows: &mut [TableRow], column: usize) {
    let n = |cell: &Figures| cell.ours.map(|ours| ours.n);
    let models = rows.iter_mut().filter(|row| !row.is_people);
    let mut cells: Vec<&mut Figures> = models.map(|row| &mut row.cells[column]).collect();
    let most = cells.iter().filter_map(|cell| n(cell)).max();
    cells.retain(|cell| n(cell) == most);
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
    fn only_rows_that_were_run_are_shown_unless_the_papers_are_asked_for() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        let table = Table::of(&report, TableKind::Anonymised).unwrap();
        let labels: Vec<&str> = table.rows.iter().map(|row| row.label.as_str()).collect();
        let expected = ["MemNNs (window mem.)", "MemNNs (window mem.+self-sup.)", "ours & <more>"];
        assert_eq!(labels, expected);
        report.beside_paper = true;
        let table = Table::of(&report, TableKind::Anonymised).unwrap();
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
        let grid = super::super::layout::grid(&table);
        assert_eq!(grid.rows[0].cells[0].lines[0].detail, ".198–.973 ±.354");
        assert!(grid.notes.iter().any(|note| note.starts_with("±: the standard deviation")));
    }

    #[test]
    fn the_papers_figures_are_shown_on_its_questions_or_when_asked_for() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        let has_paper = |report: &Report<'_>| {
            let table = Table::of(report, TableKind::Table2).unwrap();
            (table.rows[0].cells[0].paper.is_some(), table.rows.len(), table.title())
        };
        // The two rows of people are what models are measured against.
        let caption = "Table 2: Results on the CBT test set".to_owned();
        assert_eq!(has_paper(&report), (true, 2 + 3, caption));
        report.provenance.source = Source::Other;
        let ours = "Accuracy on hens, test questions".to_owned();
        assert_eq!(has_paper(&report), (false, 3, ours.clone()));
        report.beside_paper = true;
        assert_eq!(has_paper(&report), (true, 20, ours + ", with Table 2 of the paper"));
    }

    #[test]
    fn nothing_is_judged_on_the_tales() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        let n_judged = |report: &Report<'_>| {
            let table = Table::of(report, TableKind::Anonymised).unwrap();
            [true, false].map(|is_marked| table.agreement(is_marked).n())
        };
        assert_eq!(n_judged(&report), [4, 4]);
        report.provenance.source = Source::Tales;
        assert_eq!(n_judged(&report), [0, 0]);
    }

    #[test]
    fn nothing_is_judged_where_the_table_is_about_the_other_data_set() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        report.rows = vec![fixture::row(&set, "word-distance", |_| true)];
        assert_eq!(Table::of(&report, TableKind::Table2).unwrap().agreement(false).n(), 4);
        assert_eq!(Table::of(&report, TableKind::Cnn).unwrap().agreement(false).n(), 0);
    }

    #[test]
    fn two_runs_of_one_row_are_distinguished_by_their_settings() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        report.rows.push(fixture::row(&set, "memnn-window", |_| true));
        let table = Table::of(&report, TableKind::Anonymised).unwrap();
        let labels: Vec<&str> = table.rows[..2].iter().map(|row| row.label.as_str()).collect();
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
