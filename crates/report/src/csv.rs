//! A [`Table`] for programs: CSV (RFC 4180), one line a row and column, figures in full.
//!
//! Empty fields are figures that there are none of; `inside` is empty where nothing is judged.

use crate::table::{Figures, Table, TableRow};

const HEAD: [&str; 24] = [
    "table", "row", "name", "settings", "column", "split", "class", "questions", "n", "accuracy", "low",
    "high", "seeds", "deviation", "best", "paper_n", "paper", "paper_low", "paper_high", "difference",
    "difference_low", "difference_high", "inside", "paper_source",
];

/// A table of accuracies as CSV.
pub fn write(table: &Table) -> String {
    let cells = table.rows.iter().flat_map(|row| {
        row.cells.iter().enumerate().map(|(column, figures)| record(table, row, (column, figures)))
    });
    let head = HEAD.map(str::to_owned).to_vec();
    [head].into_iter().chain(cells).map(|fields| line(&fields)).collect()
}

/// One line of fields, quoted where they need it.
pub fn line(fields: &[String]) -> String {
    let quoted: Vec<String> = fields.iter().map(|field| quote(field)).collect();
    quoted.join(",") + "\r\n"
}

fn record(table: &Table, row: &TableRow, (index, figures): (usize, &Figures)) -> Vec<String> {
    let published = table.kind.published();
    let column = &published.columns[index];
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.6}"));
    let whole = |value: Option<usize>| value.map_or(String::new(), |value| value.to_string());
    let settings: Vec<String> = row.settings.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let Figures { ours, spread, paper, difference, is_best, .. } = figures;
    let source = || format!("{}, row {}, column {}", published.source, row.label, column.label);
    vec![
        table.kind.code().to_owned(),
        row.label.clone(),
        row.name.clone(),
        settings.join(" "),
        column.label.to_owned(),
        column.split.code().to_owned(),
        column.class.map_or("", questions::WordClass::code).to_owned(),
        table.provenance.source.label().to_owned(),
        whole(ours.map(|ours| ours.n)),
        number(ours.map(|ours| ours.accuracy)),
        number(ours.map(|ours| ours.low)),
        number(ours.map(|ours| ours.high)),
        whole(spread.map(|spread| spread.seeds).or(ours.map(|_| 1))),
        number(spread.and_then(|spread| spread.deviation)),
        ours.map_or(String::new(), |_| is_best.to_string()),
        whole(paper.map(|paper| paper.n)),
        paper.map_or(String::new(), |paper| format!("{:.3}", paper.accuracy)),
        number(paper.map(|paper| paper.low)),
        number(paper.map(|paper| paper.high)),
        number(difference.map(|difference| difference.difference)),
        number(difference.map(|difference| difference.low)),
        number(difference.map(|difference| difference.high)),
        difference.map_or(String::new(), |difference| difference.is_inside().to_string()),
        paper.map_or(String::new(), |_| source()),
    ]
}

fn quote(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
