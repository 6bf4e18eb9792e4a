//! `goldilocks compare A.jsonl B.jsonl`: is one better than the other, on the same questions?

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::evaluation::{Comparison, Resampling};
use goldilocks::questions::{Split, WordClass};
use goldilocks::report::difference;

use crate::args::{self, SelectionArgs};
use crate::progress::Progress;
use crate::stdio;
use crate::terminal;

/// Options of `compare`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Predictions of the first model; `-` is standard input
    #[arg(value_name = "A.jsonl")]
    first: PathBuf,
    /// Predictions of the second model on the same questions
    #[arg(value_name = "B.jsonl")]
    second: PathBuf,
    /// The question set that was answered: checks the files, and fills in what they leave out
    #[arg(long, value_name = "SET")]
    questions: Option<PathBuf>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Seed of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// Prints the differences, one table per split.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let paths = [stdio::input(&options.first, "jsonl")?, stdio::input(&options.second, "jsonl")?];
    let questions = stdio::optional_input(options.questions.as_ref(), "jsonl")?;
    let (questions, selection) = (questions.as_deref(), options.selection.options());
    let mut comparisons =
        goldilocks::compare(&paths, questions, &selection, options.seed, progress)?;
    for comparison in &mut comparisons {
        stdio::rename(&mut comparison.first);
        stdio::rename(&mut comparison.second);
    }
    if options.json {
        return super::print(format_args!("{}\n", serde_json::to_string_pretty(&comparisons)?));
    }
    let width = terminal::width();
    comparisons
        .iter()
        .try_for_each(|comparison| super::print(format_args!("{}", table(comparison, width))))
}

/// Four places, and never 0: no test gives that.
fn probability(p: f64) -> String {
    if p < 0.0001 { "< .0001".to_owned() } else { format!("{p:.4}").replacen("0.", ".", 1) }
}

/// Resampled books are too few to tell how much another book would change.
const FEW_BOOKS: usize = 5;

fn table(comparison: &Comparison, width: usize) -> String {
    let split = comparison.split.map_or("unknown split", Split::code);
    let title = format!("{} − {}, {split}", comparison.first, comparison.second);
    let text = rows(comparison, WordClass::label, " to ");
    let is_wide = text.lines().all(|line| line.chars().count() <= width);
    let text = if is_wide { text } else { rows(comparison, WordClass::code, " ") };
    let note = match comparison.resampled {
        Resampling::Books => {
            let books = super::counted(comparison.books, "book");
            let few = if comparison.books < FEW_BOOKS {
                "; too few to tell how other books would differ"
            } else {
                ""
            };
            format!("95 %: bootstrap of {books}, then of their questions{few}.")
        }
        Resampling::Questions => {
            "95 %: bootstrap of questions, since their books are not known; too narrow.".to_owned()
        }
    };
    let tests = "A, B: questions that only the one or only the other has right; p: McNemar’s test; \
                 Holm: p, corrected for the number of classes.";
    let notes = terminal::wrapped(&note, width) + &terminal::wrapped(tests, width);
    format!("{}{text}{notes}\n", terminal::wrapped(&title, width))
}

fn rows(comparison: &Comparison, label: fn(WordClass) -> &'static str, to: &str) -> String {
    let head = ["", "A − B", "95 %", "A", "B", "p", "Holm", "n"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (code, paired) in comparison.classes.iter() {
        let label = WordClass::from_code(code).map_or("All", label);
        rows.push(vec![
            format!("  {label}"),
            difference(paired.difference),
            format!("{}{to}{}", difference(paired.low), difference(paired.high)),
            super::thousands(paired.only_first),
            super::thousands(paired.only_second),
            probability(paired.p),
            paired.p_holm.map_or(String::new(), probability),
            super::thousands(paired.n),
        ]);
    }
    terminal::columns(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_probability_is_not_nought() {
        assert_eq!(
            [1.0, 0.0001, 0.000_099, 1e-300].map(probability),
            ["1.0000", ".0001", "< .0001", "< .0001"]
        );
    }
}
