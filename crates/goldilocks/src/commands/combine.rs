//! `goldilocks combine`: several models as one, by the mean of their distributions or by fitted weights; and
//! candidates that stand in the query left out (§5.1, «excluding co-occurrences»).

use std::path::PathBuf;

use anyhow::Result;
use base::Selection;
use evaluation::{Predictions, QuestionIndex};

use crate::progress::Progress;
use crate::sets::{self, Origin};

/// Options of `combine`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Predictions of one or several models on the same questions
    #[arg(value_name = "PRED.jsonl", required = true)]
    predictions: Vec<PathBuf>,
    /// Fit one weight a model on these validation predictions, one a model in the same order [default: the mean]
    #[arg(long, value_name = "VALID.jsonl", num_args = 1..)]
    fit: Vec<PathBuf>,
    /// Leave candidates out that stand in the query
    #[arg(long, requires = "questions")]
    exclude_cooccurrences: bool,
    /// The question set that was answered: checks the files, and fills in what they leave out
    #[arg(long, value_name = "SET")]
    questions: Option<PathBuf>,
    #[command(flatten)]
    origin: Origin,
    /// Predictions file to write
    #[arg(short, long, value_name = "PRED.jsonl")]
    output: PathBuf,
    /// Seed of draws between equal scores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::seed())]
    seed: u64,
    /// Replace the output if it is there
    #[arg(long)]
    force: bool,
}

/// Combines and writes; says which weights were fitted.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    super::check_output(&options.output, options.force)?;
    let questions = options.questions.as_deref();
    let read = |paths: &[PathBuf], only: Selection| {
        sets::predictions(paths, questions, &options.origin, &only, progress)
    };
    let models = read(&options.predictions, options.origin.only())?;
    // `--on` chooses what is combined: weights are fitted on other splits than that.
    let fit = read(&options.fit, Selection { splits: Vec::new(), ..options.origin.only() })?;
    let models: Vec<&Predictions> = models.iter().collect();
    let name = options.output.display().to_string();
    let mut combined = if fit.is_empty() {
        super::print(format_args!("mean of {}\n", super::counted(models.len(), "model")))?;
        evaluation::ensemble::mean(&name, &models, options.seed)?
    } else {
        options.fitted(&name, &models, &fit.iter().collect::<Vec<_>>())?
    };
    if let (true, Some(path)) = (options.exclude_cooccurrences, questions) {
        let answered = sets::answered(std::slice::from_ref(&combined));
        let set = sets::open_answered(path, &options.origin, &answered, progress)?;
        let index = QuestionIndex::new(&set, std::slice::from_ref(&combined));
        let index = index.select(options.origin.only());
        let checked = index.check(combined)?;
        combined = evaluation::exclude_cooccurrences(&name, &checked, options.seed)?;
    }
    combined.write(&options.output)?;
    super::print(format_args!("{name}\n"))
}

impl Options {
    fn fitted(
        &self,
        name: &str,
        models: &[&Predictions],
        fit: &[&Predictions],
    ) -> Result<Predictions> {
        let combined = evaluation::combine(name, models, fit, self.seed)?;
        for (weight, model) in combined.weights.iter().zip(models) {
            super::print(format_args!("{weight:8.3}  {}\n", model.name()))?;
        }
        let n_fitted = super::counted(combined.n_fitted, "question");
        super::print(format_args!("fitted on {n_fitted}\n"))?;
        if combined.n_cross_fitted > 0 {
            super::print(format_args!(
                "{} of those are answered here, by weights fitted without their part ({} parts)\n",
                super::thousands(combined.n_cross_fitted),
                combined.folds,
            ))?;
        }
        Ok(combined.predictions)
    }
}
