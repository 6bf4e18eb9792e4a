//! [`Table`] → [`Grid`]: ours with its interval on the first line of a row, the paper's figure and the
//! difference on the second, the number of questions below.

use super::grid::{Cell, Grid, GridRow, Line};
use super::table::{Agreement, Figures, Table, TableRow};
use crate::number;
use crate::paper::{Footnote, PublishedColumn};

/// What the note about the figures begins with.
pub const ACCURACY: &str = "Accuracy with its 95 % interval";

/// What marks a difference that the two samples can't explain.
pub const OUTSIDE: &str = "≠";

/// A table of accuracies as it is printed.
pub fn grid(table: &Table) -> Grid {
    let n = |column: usize| table.n(column).map_or(String::new(), number::questions);
    let mut foot: Vec<String> = (0..table.columns().len()).map(n).collect();
    if foot.iter().all(String::is_empty) {
        foot.clear();
    } else {
        foot.insert(0, "questions".to_owned());
    }
    let starts_block =
        |place: usize| place > 0 && table.rows[place].block != table.rows[place - 1].block;
    Grid {
        title: table.title(),
        head: head("Methods", table.columns()),
        rows: (0..table.rows.len()).map(|i| row(table, &table.rows[i], starts_block(i))).collect(),
        foot,
        settings: settings_note(table),
        notes: notes(table),
    }
}

/// The headings of a table: what its rows are, then its columns.
pub fn head(rows: &str, columns: &[PublishedColumn]) -> Vec<String> {
    let columns = columns.iter().map(|column| column.label);
    [rows].into_iter().chain(columns).map(str::to_owned).collect()
}

fn row(table: &Table, row: &TableRow, starts_block: bool) -> GridRow {
    let has_paper = row.cells.iter().any(|cell| cell.paper.is_some());
    let mut first = row.label.clone();
    if let Some(footnote) = row.footnote {
        first = format!("{first} {}", mark(footnote));
    }
    let recipes = table.recipes();
    if let Some(place) = recipes.iter().position(|recipe| row.differs.as_deref() == Some(recipe)) {
        first = format!("{first} {}", recipe_mark(place));
    }
    let mut label = vec![first];
    if has_paper {
        label.push("  paper".to_owned());
    }
    let mut cells: Vec<Cell> = row.cells.iter().map(|figures| cell(figures, has_paper)).collect();
    if row.ours.is_none() {
        cells[0].lines[0].detail = if row.is_people { "not asked" } else { "not run" }.to_owned();
    }
    GridRow { label, cells, starts_block }
}

fn cell(figures: &Figures, has_paper: bool) -> Cell {
    let ours = figures.ours.map_or_else(Line::none, |ours| {
        let deviation = figures.spread.and_then(|spread| spread.deviation);
        let seeds = deviation.map_or(String::new(), |d| format!(" ±{}", number::share(d)));
        Line::new(number::share(ours.accuracy), number::interval(&ours) + &seeds)
    });
    let mut lines = vec![ours];
    if has_paper {
        lines.push(figures.paper.map_or_else(Line::none, |paper| {
            let difference = figures.difference.map_or(String::new(), |difference| {
                let mark =
                    if difference.is_inside() { String::new() } else { format!(" {OUTSIDE}") };
                number::difference(difference.difference) + &mark
            });
            Line::new(number::share(paper.accuracy), difference)
        }));
    }
    Cell { lines, value: figures.ours.map(|ours| ours.accuracy), is_best: figures.is_best }
}

fn mark(footnote: Footnote) -> char {
    match footnote {
        Footnote::People => '†',
        Footnote::Hermann => '‡',
    }
}

/// What marks the rows of a recipe that is not the paper's.
fn recipe_mark(place: usize) -> String {
    format!("[{}]", char::from(b'a' + (place % 26) as u8))
}

fn notes(table: &Table) -> Vec<String> {
    let mut notes = vec![table.provenance.source.sentence().to_owned()];
    if !table.is_comparable && !table.kind.published().rows.is_empty() {
        notes.push("Not comparable with the paper: different questions.".to_owned());
    }
    if table.rows.iter().all(|row| row.ours.is_none()) {
        notes.push("No model has been run for this table.".to_owned());
    } else {
        notes.push(format!("{ACCURACY}{}.", about_paper(table)));
        notes.push("The best model of each column is marked.".to_owned());
    }
    if table.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.spread.is_some()) {
        notes.push(
            "±: the standard deviation over several seeds, whose mean is the figure.".to_owned(),
        );
    }
    for footnote in [Footnote::People, Footnote::Hermann] {
        if table.rows.iter().any(|row| row.footnote == Some(footnote)) {
            notes.push(format!("{} {}", mark(footnote), footnote.text()));
        }
    }
    for (place, recipe) in table.recipes().into_iter().enumerate() {
        notes.push(format!("{} Not by the paper’s recipe: {recipe}.", recipe_mark(place)));
    }
    notes.extend(agreement(table));
    if !table.other_versions.is_empty() {
        let versions = table.other_versions.join(", ");
        notes.push(format!("Some rows were made by other versions of the program: {versions}."));
    }
    notes.push(made(&table.provenance, &table.seeds));
    notes
}

/// How many figures agree with the paper's, counted apart for rows by its recipe and for marked ones.
pub fn agreement(table: &Table) -> Option<String> {
    let count = |is_marked: bool, what: &str| {
        let of = table.agreement(is_marked);
        (of.n() > 0).then(|| {
            let Agreement { inside, above, below } = of;
            let n = of.n();
            format!(
                "{inside} of {n} figures {what} do not differ significantly from the paper’s; {above} are higher, \
                 {below} lower."
            )
        })
    };
    let unmarked = count(false, "by the paper’s recipe");
    let marked = count(true, "of marked rows");
    let sentences: Vec<String> = unmarked.into_iter().chain(marked).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The settings that were not left at their defaults, each combination once with the rows that have it.
fn settings_note(table: &Table) -> Option<String> {
    let changed = || table.rows.iter().filter(|row| !row.unlabelled.is_empty());
    let mut combinations: Vec<(String, Vec<&TableRow>)> = Vec::new();
    for row in changed() {
        let text = settings(&row.unlabelled);
        match combinations.iter_mut().find(|(known, _)| *known == text) {
            Some((_, rows)) => rows.push(row),
            None => combinations.push((text, vec![row])),
        }
    }
    // A name says which row is meant unless rows of that name differ in their settings.
    let is_plain = |name: &str| {
        combinations.iter().filter(|(_, rows)| rows.iter().any(|row| row.name == name)).count() == 1
    };
    let entry = |(text, rows): &(String, Vec<&TableRow>)| {
        let mut names: Vec<&str> = rows
            .iter()
            .map(|row| if is_plain(&row.name) { row.name.as_str() } else { row.label.as_str() })
            .collect();
        names.dedup();
        // Labels have commas of their own.
        let has_commas = names.iter().any(|name| name.contains(','));
        format!("{} ({text})", names.join(if has_commas { " · " } else { ", " }))
    };
    let entries: Vec<String> = combinations.iter().map(entry).collect();
    (!entries.is_empty())
        .then(|| format!("Settings other than the defaults: {}.", entries.join("; ")))
}

/// What the second line of a row is.
fn about_paper(table: &Table) -> String {
    if !table.shows_paper || table.kind.published().rows.is_empty() {
        String::new()
    } else if table.is_comparable {
        format!(
            "; below it the paper’s figure and ours minus the paper’s, {OUTSIDE} where the 95 % interval \
             of that difference does not contain 0"
        )
    } else {
        "; below it the paper’s figure, for orientation".to_owned()
    }
}

/// Settings in one line.
pub fn settings(settings: &[(String, String)]) -> String {
    let settings: Vec<String> =
        settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    settings.join(", ")
}

/// Seeds, version, data hash and day in one line.
pub fn made(provenance: &crate::Provenance, seeds: &[u64]) -> String {
    let listed: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let seeds = match listed.len() {
        0 => String::new(),
        1 => format!("Seed {}, ", listed[0]),
        _ => format!("Seeds {}, ", listed.join(", ")),
    };
    let crate::Provenance { version, data_hash, date, .. } = provenance;
    format!("{seeds}goldilocks {version}, data {data_hash}, {date}.")
}
