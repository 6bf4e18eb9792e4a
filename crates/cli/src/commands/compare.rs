//! `goldilocks compare A.jsonl B.jsonl`: is one better than the other, on the same questions?

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::evaluation::{Comparison, Resampling};
use goldilocks::questions::{Split, WordClass};

use crate::args::{self, SelectionArgs};
use crate::progress::Progress;
use crate::stdio;

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
    let comparisons = goldilocks::compare(&paths, questions, &selection, options.seed, progress)?;
    if options.json {
        return super::print(format_args!("{}\n", serde_json::to_string_pretty(&comparisons)?));
    }
    comparisons
        .iter()
        .try_for_each(|comparison| super::print(format_args!("{}", table(comparison))))
}

/// Four places, and never 0: no test gives that.
fn probability(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

fn table(comparison: &Comparison) -> String {
    let split = comparison.split.map_or("unknown split", Split::code);
    let mut text = format!("{} − {}, {split}\n", comparison.first, comparison.second);
    text += &format!(
        "  {:16}{:>7}{:>18}{:>8}{:>8}{:>12}{:>12}{:>8}\n",
        "", "diff", "95 %", "only A", "only B", "McNemar p", "Holm p", "n"
    );
    for (code, paired) in comparison.classes.iter() {
        let label = WordClass::from_code(code).map_or("All", WordClass::label);
        let interval = format!("{:+.3} to {:+.3}", paired.low, paired.high);
        text += &format!(
            "  {label:16}{:>+7.3}{interval:>18}{:>8}{:>8}{:>12}{:>12}{:>8}\n",
            paired.difference,
            super::thousands(paired.only_first),
            super::thousands(paired.only_second),
            probability(paired.p),
            paired.p_holm.map_or(String::new(), probability),
            super::thousands(paired.n),
        );
    }
    text += &match comparison.resampled {
        Resampling::Books => {
            format!(
                "  intervals: {} resampled, then questions within\n\n",
                super::counted(comparison.books, "book")
            )
        }
        Resampling::Questions => {
            "  intervals: questions resampled, since their books are not known; too narrow\n\n"
                .into()
        }
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_probability_is_not_nought() {
        assert_eq!(
            [1.0, 0.0001, 0.000_099, 1e-300].map(probability),
            ["1.0000", "0.0001", "< 0.0001", "< 0.0001"]
        );
    }
}
