//! [`Table`] → [`Grid`]: ours with its interval on the first line of a row, the paper's figure and the
//! difference on the second, the number of questions below.

use crate::grid::{Cell, Grid, GridRow, Line};
use crate::number;
use crate::paper::{Footnote, PublishedColumn};
use crate::table::{Figures, Table, TableRow};

/// What marks a difference that the two samples can't explain.
pub const OUTSIDE: &str = "≠";

/// A table of accuracies as it is printed, with the paper's figures or ours alone.
pub fn grid(table: &Table, with_paper: bool) -> Grid {
    let published = table.kind.published();
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
        title: format!("{}: {}", published.source, published.title),
        head: head("Methods", table.columns()),
        rows: (0..table.rows.len())
            .map(|i| row(&table.rows[i], starts_block(i), with_paper))
            .collect(),
        foot,
        notes: notes(table, with_paper),
    }
}

/// The headings of a table: what its rows are, then its columns.
pub fn head(rows: &str, columns: &[PublishedColumn]) -> Vec<String> {
    let columns = columns.iter().map(|column| column.label);
    [rows].into_iter().chain(columns).map(str::to_owned).collect()
}

fn row(row: &TableRow, starts_block: bool, with_paper: bool) -> GridRow {
    let has_paper = with_paper && row.cells.iter().any(|cell| cell.paper.is_some());
    let mut label = vec![match row.footnote {
        Some(footnote) => format!("{} {}", row.label, mark(footnote)),
        None => row.label.clone(),
    }];
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

fn notes(table: &Table, with_paper: bool) -> Vec<String> {
    let mut notes = vec![table.provenance.source.sentence().to_owned()];
    if table.rows.iter().all(|row| row.ours.is_none()) {
        notes.push("No model has been run for this table.".to_owned());
    } else {
        notes.push(format!("Accuracy with its 95 % interval{}.", about_paper(table, with_paper)));
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
    let with_settings = table.rows.iter().filter(|row| !row.unlabelled.is_empty());
    let mut settings: Vec<String> =
        with_settings.map(|row| format!("{} ({})", row.name, settings(&row.unlabelled))).collect();
    settings.dedup();
    if !settings.is_empty() {
        notes.push(format!("Settings other than the defaults: {}.", settings.join("; ")));
    }
    if !table.other_versions.is_empty() {
        let versions = table.other_versions.join(", ");
        notes.push(format!("Some rows were made by other versions of the program: {versions}."));
    }
    notes.push(made(&table.provenance, &table.seeds));
    notes
}

/// What the second line of a row is.
fn about_paper(table: &Table, with_paper: bool) -> String {
    if !with_paper || table.kind.published().rows.is_empty() {
        String::new()
    } else if table.is_comparable {
        format!(
            "; below it the paper’s figure and ours minus the paper’s, {OUTSIDE} where the 95 % interval \
             of that difference does not hold 0"
        )
    } else {
        "; below it the paper’s figure, for orientation: it is about other questions, and no difference \
         is judged"
            .to_owned()
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
