//! The accuracies of several predictions files in one table: a row for each file, a column for each class.

use evaluation::{Accuracy, Results};
use questions::{Split, WordClass};

use crate::formats::{csv, latex, markdown, text};
use crate::number;
use crate::tables::{ACCURACY, Cell, Grid, GridRow, Line};

/// How a table of several files is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// For the terminal.
    Text,
    /// Markdown.
    Markdown,
    /// LaTeX.
    Latex,
    /// CSV: a line for each file, split and class.
    Csv,
}

/// Writes the results of several files side by side, a table for each split; for a terminal as wide as it is.
pub fn side_by_side(results: &[Vec<Results>], form: TableForm, width: usize) -> String {
    let results: Vec<&Results> = results.iter().flatten().collect();
    if form == TableForm::Csv {
        return as_csv(&results);
    }
    let splits = Split::ALL.map(Some).into_iter().chain([None]);
    let tables = splits.filter_map(|split| {
        let of_split: Vec<&Results> =
            results.iter().copied().filter(|results| results.split == split).collect();
        let grid = (!of_split.is_empty()).then(|| grid(&of_split, split))?;
        Some(match form {
            TableForm::Markdown => markdown::write(&grid),
            TableForm::Latex => latex::write(&grid),
            TableForm::Text | TableForm::Csv => text::write(&grid, width),
        })
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn label(code: &str) -> &str {
    WordClass::from_code(code).map_or("All", WordClass::label)
}

/// The classes that any of the results has, in the order of the paper's tables; all questions last.
fn columns<'r>(results: &[&'r Results]) -> Vec<&'r str> {
    let order = |code: &str| WordClass::from_code(code).map_or(usize::MAX, |class| class as usize);
    let mut codes: Vec<&str> =
        results.iter().flat_map(|results| results.classes.iter().map(|(code, _)| code)).collect();
    codes.sort_by_key(|code| order(code));
    codes.dedup();
    codes
}

fn figure<'r>(results: &'r Results, column: &str) -> Option<&'r Accuracy> {
    results.classes.iter().find(|(code, _)| *code == column).map(|(_, accuracy)| accuracy)
}

fn grid(results: &[&Results], split: Option<Split>) -> Grid {
    let columns = columns(results);
    let best = |column: &str| {
        let figures = results.iter().filter_map(|results| figure(results, column));
        figures.map(|figure| figure.accuracy).max_by(f64::total_cmp)
    };
    let cell = |results: &Results, column: &str| {
        let Some(accuracy) = figure(results, column) else {
            return Cell::single(Line::none(), None);
        };
        let line = Line::new(number::share(accuracy.accuracy), number::interval(accuracy));
        Cell {
            is_best: best(column) == Some(accuracy.accuracy),
            ..Cell::single(line, Some(accuracy.accuracy))
        }
    };
    let row = |results: &&Results| GridRow {
        label: vec![results.predictions.clone()],
        cells: columns.iter().map(|column| cell(results, column)).collect(),
        starts_block: false,
    };
    let n = |column: &&str| {
        let mut counts: Vec<usize> = results
            .iter()
            .filter_map(|results| figure(results, column))
            .map(|accuracy| accuracy.n)
            .collect();
        counts.sort_unstable();
        counts.dedup();
        match counts[..] {
            [n] => format!("n = {}", number::count(n)),
            _ => "n differs".to_owned(),
        }
    };
    let head = |first: &str| vec![first.to_owned()];
    Grid {
        title: format!("Accuracy, {}", split.map_or("unknown split", Split::code)),
        head: [head("predictions"), columns.iter().map(|code| label(code).to_owned()).collect()]
            .concat(),
        rows: results.iter().map(row).collect(),
        foot: [head("questions"), columns.iter().map(n).collect()].concat(),
        settings: None,
        notes: vec![format!("{ACCURACY}.")],
    }
}

fn as_csv(results: &[&Results]) -> String {
    let head = ["predictions", "split", "class", "n", "accuracy", "low", "high"];
    let mut text = csv::line(&head.map(str::to_owned));
    for results in results {
        for (code, Accuracy { n, accuracy, low, high }) in results.classes.iter() {
            text += &csv::line(&[
                results.predictions.clone(),
                results.split.map_or(String::new(), |split| split.code().to_owned()),
                code.to_owned(),
                n.to_string(),
                accuracy.to_string(),
                low.to_string(),
                high.to_string(),
            ]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use base::ByClass;
    use expect_test::expect;

    use super::*;

    fn results(name: &str, split: Split, verbs: f64, all: f64) -> Vec<Results> {
        let classes = ByClass {
            classes: [(WordClass::Verb, Accuracy::new(verbs, 40))].into_iter().collect(),
            all: Accuracy::new(all, 1200),
        };
        let predictions = name.to_owned();
        vec![Results { predictions, split: Some(split), classes, without_answer: 0, people: None }]
    }

    fn two() -> [Vec<Results>; 2] {
        [results("a.jsonl", Split::Test, 0.5, 0.25), results("b,c.jsonl", Split::Test, 0.75, 0.25)]
    }

    #[test]
    fn files_are_rows_and_classes_columns() {
        expect![[r#"
            Accuracy, test

            predictions  Verbs           All
            ───────────────────────────────────────────
            a.jsonl      .500 .352–.648 *.250 .226–.275
            b,c.jsonl   *.750 .598–.858 *.250 .226–.275
            ───────────────────────────────────────────
            questions    n = 40          n = 1,200

            Accuracy with its 95 % interval.
        "#]]
        .assert_eq(&side_by_side(&two(), TableForm::Text, 80));
        let markdown = side_by_side(&two(), TableForm::Markdown, 80);
        assert!(
            markdown.contains("| a.jsonl | .500 .352–.648 | **.250** .226–.275 |"),
            "{markdown}"
        );
        let latex = side_by_side(&two(), TableForm::Latex, 80);
        assert!(latex.contains("\\textbf{.750}"), "{latex}");
    }

    #[test]
    fn each_split_has_a_table_of_its_own() {
        let results =
            [results("a.jsonl", Split::Test, 0.5, 0.2), results("a.jsonl", Split::Valid, 0.6, 0.3)];
        let text = side_by_side(&results, TableForm::Text, 80);
        let valid = text.find("Accuracy, valid").unwrap();
        assert!(valid < text.find("Accuracy, test").unwrap(), "{text}");
        assert!(text.contains("*.600") && text.contains("*.500"), "{text}");
    }

    #[test]
    fn csv_has_full_figures_and_quotes_names() {
        let text = side_by_side(&two(), TableForm::Csv, 80);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[0], "predictions,split,class,n,accuracy,low,high");
        assert!(lines[3].starts_with("\"b,c.jsonl\",test,V,40,0.75,"), "{text}");
    }
}
