//! `goldilocks combine`: several models as one, by the mean of their distributions or by fitted weights.

use std::path::PathBuf;

use anyhow::Result;
use evaluation::Predictions;

use crate::failure::Failure;

/// Options of `combine`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Predictions of several models on the same questions
    #[arg(value_name = "PRED.jsonl", required = true)]
    predictions: Vec<PathBuf>,
    /// Fit one weight a model on these validation predictions, one a model in the same order [default: the mean]
    #[arg(long, value_name = "VALID.jsonl", num_args = 1..)]
    fit: Vec<PathBuf>,
    /// Predictions file to write
    #[arg(short, long, value_name = "PRED.jsonl")]
    output: PathBuf,
    /// Seed of draws between equal scores
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Replace the output if it is there
    #[arg(long)]
    force: bool,
}

/// Combines and writes; says which weights were fitted.
pub fn run(options: &Options) -> Result<()> {
    if options.output.exists() && !options.force {
        return Err(Failure::OutputExists { path: options.output.clone() }.into());
    }
    let read = |paths: &[PathBuf]| -> Result<Vec<Predictions>, evaluation::Error> {
        paths.iter().map(|path| Predictions::read(path)).collect()
    };
    let (models, fit) = (read(&options.predictions)?, read(&options.fit)?);
    let models: Vec<&Predictions> = models.iter().collect();
    let name = options.output.display().to_string();
    if fit.is_empty() {
        evaluation::ensemble::mean(&name, &models, options.seed)?.write(&options.output)?;
        return super::print(format_args!("mean of {} models in {name}\n", models.len()));
    }
    let fit: Vec<&Predictions> = fit.iter().collect();
    let combined = evaluation::combine(&name, &models, &fit, options.seed)?;
    combined.predictions.write(&options.output)?;
    for (weight, model) in combined.weights.iter().zip(&models) {
        super::print(format_args!("{weight:8.3}  {}\n", model.name()))?;
    }
    super::print(format_args!(
        "fitted on {}; {} of those answered here, by weights fitted without their part ({} parts)\n{name}\n",
        super::counted(combined.n_fitted, "question"),
        super::thousands(combined.n_cross_fitted),
        combined.folds,
    ))
}
