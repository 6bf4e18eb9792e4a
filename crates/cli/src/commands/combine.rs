//! `goldilocks combine`: several models as one, by the mean of their distributions or by fitted weights; and
//! candidates that occur in the query left out (§5.1, «excluding co-occurrences»).

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::{CombineOptions, Error};

use crate::args::{self, SelectionArgs};
use crate::progress::Progress;
use crate::stdio;

/// Options of `combine`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Predictions of one or several models on the same questions; `-` is standard input
    #[arg(value_name = "PRED.jsonl", required = true)]
    predictions: Vec<PathBuf>,
    /// Fit one weight per model on these validation predictions, one file per model in the same order [default: the mean]
    #[arg(long, value_name = "VALID.jsonl", num_args = 1..)]
    fit: Vec<PathBuf>,
    /// Fit weights for each class by itself
    #[arg(long, requires = "fit")]
    by_class: bool,
    /// Leave out candidates that occur in the query
    #[arg(long, requires = "questions")]
    exclude_cooccurrences: bool,
    /// The question set that was answered: checks the files, and fills in what they leave out
    #[arg(long, value_name = "SET")]
    questions: Option<PathBuf>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Predictions file to write; `-` is standard output
    #[arg(short, long, value_name = "PRED.jsonl")]
    output: PathBuf,
    /// Seed of draws between equal scores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
    /// Overwrite existing output
    #[arg(long)]
    force: bool,
}

/// Combines and writes; prints the weights that were fitted.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    super::check_output(&options.output, options.force)?;
    let name = options.output.display().to_string();
    let output = stdio::Output::new(&options.output, "jsonl")?;
    let mut text = String::new();
    let mut combined = goldilocks::combine(
        &name,
        &CombineOptions {
            predictions: stdio::inputs(&options.predictions, "jsonl")?,
            fit: options.fit.clone(),
            by_class: options.by_class,
            exclude_cooccurrences: options.exclude_cooccurrences,
            questions: options.questions.clone(),
            set: options.selection.options(),
            seed: options.seed,
        },
        progress,
    )?;
    combined.models.iter_mut().for_each(stdio::rename);
    if combined.fitted.is_empty() {
        text += &format!("mean of {}\n", super::counted(combined.models.len(), "model"));
    }
    for fitted in &combined.fitted {
        let class = fitted.class.map(|class| format!("{}, ", class.code())).unwrap_or_default();
        for (weight, model) in fitted.weights.iter().zip(&combined.models) {
            text += &format!("{weight:8.3}  {model}\n");
        }
        text += &format!("{class}fitted on {}\n", super::counted(fitted.n_questions, "question"));
        if fitted.n_cross_fitted > 0 {
            text += &format!(
                "{} of those are answered here, by weights fitted without their part ({} parts)\n",
                super::thousands(fitted.n_cross_fitted),
                fitted.folds,
            );
        }
    }
    combined.predictions.write(output.path()).map_err(Error::from)?;
    output.finish(progress, format_args!("{text}{name}\n"))
}
