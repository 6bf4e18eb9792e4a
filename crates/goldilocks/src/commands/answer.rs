//! `goldilocks answer MODELDIR SET…`: a model's scores for every question, as a predictions file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use evaluation::{Prediction, Predictions};
use models::Model;
use questions::Control;
use questions::{QuestionSet, Split};

use crate::device::DeviceOption;
use crate::display::place_of;
use crate::failure::{Failure, warn};
use crate::progress::Progress;
use crate::sets::{self, Origin};

/// Options of `answer`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A folder that `goldilocks train` wrote
    #[arg(value_name = "MODELDIR")]
    model: PathBuf,
    /// Question sets: folders or files
    #[arg(value_name = "SET", required = true)]
    sets: Vec<PathBuf>,
    /// Predictions file to write
    #[arg(short, long, value_name = "PRED.jsonl")]
    output: PathBuf,
    #[command(flatten)]
    origin: Origin,
    /// Seed of draws between equal scores, and of --shuffle-sentences
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::seed())]
    seed: u64,
    /// Control: leave the context out
    #[arg(long, conflicts_with_all = ["context_only", "last_sentences", "shuffle_sentences"])]
    query_only: bool,
    /// Control: leave nothing of the query but the gap
    #[arg(long)]
    context_only: bool,
    /// Control: keep this many sentences of the context, those nearest to the query
    #[arg(long, value_name = "K")]
    last_sentences: Option<usize>,
    /// Control: shuffle the sentences of the context
    #[arg(long)]
    shuffle_sentences: bool,
    #[command(flatten)]
    device: DeviceOption,
    /// Replace the predictions if they are there
    #[arg(long)]
    force: bool,
}

/// Answers and writes; without `--on`, a folder's validation and test splits.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    super::check_output(&options.output, options.force)?;
    let mut named = BTreeSet::new();
    let mut is_new = |path: &PathBuf| named.insert(path.canonicalize().unwrap_or(path.clone()));
    if let Some(path) = options.sets.iter().find(|path| !is_new(path)) {
        return Err(Failure::NamedTwice { path: path.clone() }.into());
    }
    let told = |event| {
        if let Some(place) = place_of(&event) {
            progress.note(format_args!("{}: {place}", options.model.display()));
        }
    };
    let (model, _) = models::load_on(&options.model, options.device.device, &told)?;
    let mut predictions = Vec::new();
    for path in &options.sets {
        let on = match options.origin.on.as_slice() {
            [] if path.is_dir() => &[Split::Valid, Split::Test],
            on => on,
        };
        let set = sets::open(path, &options.origin, on, progress)?;
        let answering = Answering { controls: options.controls(), seed: options.seed };
        predictions.extend(answering.answer(&*model, &set, on, progress)?);
    }
    let n_questions = super::counted(predictions.len(), "question");
    write(&options.output, predictions)?;
    super::print(format_args!("{n_questions} answered in {}\n", options.output.display()))
}

/// Writes a predictions file.
pub fn write(path: &Path, predictions: Vec<Prediction>) -> Result<()> {
    Ok(Predictions::new(path.display().to_string(), predictions)?.write(path)?)
}

impl Options {
    fn controls(&self) -> Vec<Control> {
        let controls = [
            self.last_sentences.map(Control::LastSentences),
            self.shuffle_sentences.then_some(Control::ShuffledSentences { seed: self.seed }),
            self.query_only.then_some(Control::QueryOnly),
            self.context_only.then_some(Control::ContextOnly),
        ];
        controls.into_iter().flatten().collect()
    }
}

/// How questions are answered, whichever the model.
#[derive(Default)]
pub struct Answering {
    /// What is taken away from the questions first.
    pub controls: Vec<Control>,
    /// Seed of draws between equal scores.
    pub seed: u64,
}

impl Answering {
    /// Predictions for the questions of some splits, or of all and of none if no split is named.
    pub fn answer(
        &self,
        model: &dyn Model,
        set: &QuestionSet,
        on: &[Split],
        progress: Progress,
    ) -> Result<Vec<Prediction>> {
        let splits = Split::ALL.map(Some).into_iter().chain([None]);
        let wanted = splits.filter(|split| match split {
            Some(split) => on.is_empty() || on.contains(split),
            None => true,
        });
        let ids: Vec<(usize, String)> = wanted.flat_map(|split| set.ids(split)).collect();
        let places: Vec<usize> = ids.iter().map(|(place, _)| *place).collect();
        let bar = progress.steps("answer", places.len() as u64);
        let score = |model: &dyn Model| {
            models::score_all(model, set, &places, &self.controls, &|n| bar.inc(n as u64))
        };
        let scores = score(model).or_else(|error| match (&error, model.on_processor()) {
            (models::Error::Device(_), Some(model)) => {
                bar.suspend(|| warn(format_args!("{error}; the processor answers all over again")));
                bar.reset();
                score(&*model)
            }
            _ => Err(error),
        })?;
        bar.finish_and_clear();
        let predict = |((place, id), scores): ((usize, String), Vec<f32>)| {
            let scores = scores.into_iter().map(f64::from).collect();
            Prediction::of(&set.example(place), id, scores, self.seed)
        };
        Ok(ids.into_iter().zip(scores).map(predict).collect())
    }
}
