//! `goldilocks evaluate PRED.jsonl…`: accuracy of each class with its interval.

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::evaluation::{self, Accuracy, People, Results};
use goldilocks::questions::{Split, WordClass};
use goldilocks::report::{self, TableForm, share, side_by_side};

use crate::args::SelectionArgs;
use crate::failure::warn;
use crate::progress::Progress;
use crate::stdio;
use crate::terminal;

/// Options of `evaluate`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Predictions files; `-` is standard input
    #[arg(value_name = "PRED.jsonl", required = true)]
    predictions: Vec<PathBuf>,
    /// The question set that was answered: every question must be there, once, and no other
    #[arg(long, value_name = "SET")]
    questions: Option<PathBuf>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Several seeds of one model: print mean and standard deviation too
    #[arg(long)]
    seeds: bool,
    /// Print one table with a row for each file: text, md, latex, csv, json
    #[arg(long, value_name = "FORM", value_parser = form, conflicts_with_all = ["json", "seeds"])]
    table: Option<Form>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// What `--table` writes.
#[derive(Clone, Copy, Debug)]
enum Form {
    Table(TableForm),
    Json,
}

fn form(code: &str) -> Result<Form, String> {
    match code {
        "text" => Ok(Form::Table(TableForm::Text)),
        "md" => Ok(Form::Table(TableForm::Markdown)),
        "latex" => Ok(Form::Table(TableForm::Latex)),
        "csv" => Ok(Form::Table(TableForm::Csv)),
        "json" => Ok(Form::Json),
        _ => Err("expected text, md, latex, csv or json".to_owned()),
    }
}

/// Evaluates predictions and prints their accuracies.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let questions = stdio::optional_input(options.questions.as_ref(), "jsonl")?;
    let (questions, selection) = (questions.as_deref(), options.selection.options());
    let mut results = goldilocks::evaluate(
        &stdio::inputs(&options.predictions, "jsonl")?,
        questions,
        &selection,
        progress,
    )?;
    for of_split in results.iter_mut().flatten() {
        stdio::rename(&mut of_split.predictions);
    }
    if options.json || matches!(options.table, Some(Form::Json)) {
        let all: Vec<&Results> = results.iter().flatten().collect();
        return super::print(format_args!("{}\n", serde_json::to_string_pretty(&all)?));
    }
    if let Some(Form::Table(form)) = options.table {
        super::print(format_args!("{}", side_by_side(&results, form, terminal::width())))?;
        warn_unless_checked(options);
        return Ok(());
    }
    for of_file in &results {
        of_file.iter().try_for_each(|results| super::print(format_args!("{}", table(results))))?;
    }
    if options.seeds {
        for spread in evaluation::over_seeds(&results) {
            super::print(format_args!("{}", seeds_table(&spread)))?;
        }
    }
    warn_unless_checked(options);
    Ok(())
}

fn warn_unless_checked(options: &Options) {
    if options.questions.is_none() {
        warn(format_args!(
            "the predictions were not checked against their questions: `--questions SET` does that"
        ));
    }
}

fn label(code: &str) -> &str {
    WordClass::from_code(code).map_or("All", WordClass::label)
}

fn table(results: &Results) -> String {
    let split = results.split.map_or("unknown split", Split::code);
    let mut text = format!("{}, {split}\n", results.predictions);
    for (code, accuracy) in results.classes.iter() {
        text += &format!("  {:16}{}\n", label(code), with_interval(accuracy));
    }
    if let Some(people) = &results.people {
        text += &people_table(people);
    }
    if results.without_answer > 0 {
        let n = super::counted(results.without_answer, "question");
        text += &format!("  {n} without a known answer: in no figure\n");
    }
    text + "\n"
}

/// A share, its interval, and of how many questions it is.
fn with_interval(accuracy: &Accuracy) -> String {
    let (figure, interval) = (share(accuracy.accuracy), report::interval(accuracy));
    format!("{figure}  {interval}  n = {}", super::thousands(accuracy.n))
}

fn people_table(people: &People) -> String {
    let n_people = people.persons.len();
    let mut text = format!(
        "  {} by {}, {:.1} s per question (median)\n",
        super::counted(people.answers, "answer"),
        if n_people == 1 { "1 person".to_owned() } else { format!("{n_people} people") },
        people.median_seconds,
    );
    for person in &people.persons {
        let accuracy = person.accuracy.as_ref().map_or(String::new(), with_interval);
        text += &format!("    {:14}{accuracy}  {:.1} s\n", person.annotator, person.median_seconds);
    }
    if let Some(agreement) = people.agreement {
        text += &format!(
            "  {} by several: {} of {} agree, κ {}  {} to {}\n",
            super::counted(agreement.questions, "question"),
            share(agreement.share),
            super::counted(agreement.pairs, "pair"),
            signed(agreement.kappa),
            signed(agreement.low),
            signed(agreement.high),
        );
    }
    text
}

/// A figure from −1 to 1: `.444`, `−.111`.
fn signed(value: f64) -> String {
    let sign = if value < -0.0005 { "−" } else { "" };
    format!("{sign}{}", share(value.abs()))
}

fn seeds_table(spread: &evaluation::SeedResults) -> String {
    let split = spread.split.map_or("unknown split", Split::code);
    let n_files = super::counted(spread.classes.all.seeds, "file");
    let mut text = format!("{n_files}, {split}: mean ± standard deviation\n");
    for (code, figure) in spread.classes.iter() {
        let deviation = figure.deviation.map_or("?".to_owned(), share);
        text += &format!("  {:16}{} ± {deviation}\n", label(code), share(figure.mean));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use goldilocks::evaluation::{Agreement, Person};

    use super::*;

    #[test]
    fn people_are_listed_one_by_one_and_together() {
        let person = |name: &str, accuracy, median_seconds| Person {
            annotator: name.to_owned(),
            accuracy: Some(Accuracy::new(accuracy, 4)),
            median_seconds,
        };
        let agreement =
            Agreement { questions: 2, pairs: 2, share: 0.5, kappa: 0.444, low: -0.111, high: 1.0 };
        let people = People {
            answers: 8,
            median_seconds: 6.25,
            persons: vec![person("Finch", 0.75, 5.0), person("Wren", 0.5, 7.5)],
            agreement: Some(agreement),
        };
        expect![[r#"
            humans-query.jsonl, test
              8 answers by 2 people, 6.2 s per question (median)
                Finch         .750  .301–.954  n = 4  5.0 s
                Wren          .500  .150–.850  n = 4  7.5 s
              2 questions by several: .500 of 2 pairs agree, κ .444  −.111 to 1.000
        "#]]
        .assert_eq(&format!("humans-query.jsonl, test\n{}", people_table(&people)));
    }
}
