//! A [`Table`] for programs: CSV (RFC 4180), one line per row and column, figures in full.
//!
//! A field is empty where there is no figure; `inside` is empty where nothing is judged.

use crate::tables;
use crate::tables::{Figures, Table, TableRow};

const HEAD: [&str; 27] = [
    "table",
    "row",
    "name",
    "settings",
    "seeds",
    "column",
    "split",
    "class",
    "questions",
    "n",
    "accuracy",
    "low",
    "high",
    "deviation",
    "best",
    "paper_n",
    "paper",
    "paper_low",
    "paper_high",
    "difference",
    "difference_low",
    "difference_high",
    "inside",
    "paper_source",
    "version",
    "data",
    "differs",
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
    let seeds: Vec<String> = row.seeds.iter().map(u64::to_string).collect();
    let provenance = &table.provenance;
    let Figures { ours, spread, paper, difference, is_best, .. } = figures;
    let source = || format!("{}, row {}, column {}", published.source, row.label, column.label);
    vec![
        table.kind.code().to_owned(),
        row.label.clone(),
        row.name.clone(),
        tables::settings(&row.settings),
        seeds.join(" "),
        column.label.to_owned(),
        column.split.code().to_owned(),
        column.class.map_or("", questions::WordClass::code).to_owned(),
        provenance.source.label().to_owned(),
        whole(ours.map(|ours| ours.n)),
        number(ours.map(|ours| ours.accuracy)),
        number(ours.map(|ours| ours.low)),
        number(ours.map(|ours| ours.high)),
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
        provenance.version.clone(),
        provenance.data_hash.clone(),
        row.differs.clone().unwrap_or_default(),
    ]
}

fn quote(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::{fixture, tables_of};

    #[test]
    fn a_table_in_csv_has_one_line_per_figure() {
        let set = fixture::set();
        let report = crate::Report { beside_paper: true, ..fixture::report(&set) };
        let table = tables_of(&report).unwrap().remove(0);
        // The rows that have not been run keep their line; the first and the last rows show all forms.
        let lines: Vec<String> = write(&table).split("\r\n").map(str::to_owned).collect();
        assert_eq!(lines.len(), 1 + 6 * 4 + 1);
        let shown = [&lines[0..2], &lines[5..6], &lines[21..22]].concat();
        expect![[r#"
            table,row,name,settings,seeds,column,split,class,questions,n,accuracy,low,high,deviation,best,paper_n,paper,paper_low,paper_high,difference,difference_low,difference_high,inside,paper_source,version,data,differs
            anonymised,MemNNs (word mem.),memnn-lexical,,,Named Entities,test,NE,rebuilt,,,,,,,2500,0.431,0.411708,0.450503,,,,,"Appendix D, row MemNNs (word mem.), column Named Entities",0.1.0,0123abcd,
            anonymised,MemNNs (window mem.),memnn-window,dim=20,1,Named Entities,test,NE,rebuilt,2,0.500000,0.094531,0.905469,,false,2500,0.493,0.473428,0.512593,0.007000,-0.398942,0.412941,true,"Appendix D, row MemNNs (window mem.), column Named Entities",0.1.0,0123abcd,p 20
            anonymised,ours & <more>,ours & <more>,,1,Named Entities,test,NE,rebuilt,2,0.000000,0.000000,0.657620,,false,,,,,,,,,,0.1.0,0123abcd,"#]].assert_eq(&shown.join("\n"));
    }

    #[test]
    fn fields_are_quoted_where_they_need_it() {
        let fields = ["plain", "a,b", "say \"no\"", "two\nlines"].map(str::to_owned);
        assert_eq!(line(&fields), "plain,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\"\r\n");
    }
}
