//! `goldilocks evaluate PRED.jsonl…`: accuracy of each class with its interval.

use std::path::PathBuf;

use anyhow::Result;
use evaluation::{Accuracy, Results};
use questions::{Split, WordClass};

use crate::failure::warn;
use crate::progress::Progress;
use crate::sets::{self, Origin};

/// Options of `evaluate`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Predictions files
    #[arg(value_name = "PRED.jsonl", required = true)]
    predictions: Vec<PathBuf>,
    /// The question set that was answered: every question must be there, once, and no other
    #[arg(long, value_name = "SET")]
    questions: Option<PathBuf>,
    #[command(flatten)]
    origin: Origin,
    /// Several seeds of one model: print mean and standard deviation too
    #[arg(long)]
    seeds: bool,
    /// For programs
    #[arg(long)]
    json: bool,
}

/// Reads, checks, counts.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    let files = sets::predictions(
        &options.predictions,
        options.questions.as_deref(),
        &options.origin,
        &options.origin.only(),
        progress,
    )?;
    let results: Vec<Vec<Results>> =
        files.iter().map(evaluation::evaluate).collect::<Result<_, _>>()?;
    if options.json {
        let all: Vec<&Results> = results.iter().flatten().collect();
        return super::print(format_args!("{}\n", serde_json::to_string_pretty(&all)?));
    }
    for of_file in &results {
        of_file.iter().try_for_each(|results| super::print(format_args!("{}", table(results))))?;
    }
    if options.seeds {
        for spread in evaluation::over_seeds(&results) {
            super::print(format_args!("{}", seeds_table(&spread)))?;
        }
    }
    if options.questions.is_none() {
        warn(format_args!("the questions were not checked: `--questions SET` does"));
    }
    Ok(())
}

fn label(code: &str) -> &str {
    WordClass::from_code(code).map_or("All", WordClass::label)
}

fn table(results: &Results) -> String {
    let split = results.split.map_or("unknown split", Split::code);
    let mut text = format!("{}, {split}\n", results.predictions);
    for (code, Accuracy { n, accuracy, low, high }) in results.classes.iter() {
        let n = super::thousands(*n);
        text += &format!("  {:16}{accuracy:.3}  {low:.3}–{high:.3}  n = {n}\n", label(code));
    }
    if results.without_answer > 0 {
        let n = super::counted(results.without_answer, "question");
        text += &format!("  {n} without a known answer: in no figure\n");
    }
    text + "\n"
}

fn seeds_table(spread: &evaluation::SeedResults) -> String {
    let split = spread.split.map_or("unknown split", Split::code);
    let n_files = super::counted(spread.classes.all.seeds, "file");
    let mut text = format!("{n_files}, {split}: mean ± standard deviation\n");
    for (code, figure) in spread.classes.iter() {
        let deviation = figure.deviation.map_or("?".to_owned(), |sd| format!("{sd:.3}"));
        text += &format!("  {:16}{:.3} ± {deviation}\n", label(code), figure.mean);
    }
    text + "\n"
}
