//! `goldilocks answer MODELDIR SET…`: a model's scores for every question, as a predictions file.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;
use goldilocks::questions::{Control, Split};
use goldilocks::{AnswerFile, AnswerOptions, AnswerProvenance, Error, load_model, sets};

use crate::args::{self, DeviceArgs, SelectionArgs};
use crate::progress::Progress;

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
    selection: SelectionArgs,
    /// Seed of draws between equal scores, and of --shuffle-sentences
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
    /// Ablation: leave the context out
    #[arg(long, conflicts_with_all = ["context_only", "last_sentences", "shuffle_sentences"])]
    query_only: bool,
    /// Ablation: replace the query by its blank
    #[arg(long)]
    context_only: bool,
    /// Ablation: keep K sentences of the context, those nearest to the query
    #[arg(long, value_name = "K")]
    last_sentences: Option<usize>,
    /// Ablation: shuffle the sentences of the context
    #[arg(long)]
    shuffle_sentences: bool,
    #[command(flatten)]
    device: DeviceArgs,
    /// Overwrite existing predictions
    #[arg(long)]
    force: bool,
}

/// Answers and writes; without `--on`, a folder's validation and test splits.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    super::check_output(&options.output, options.force)?;
    let mut named = BTreeSet::new();
    let mut is_new = |path: &PathBuf| named.insert(path.canonicalize().unwrap_or(path.clone()));
    if let Some(path) = options.sets.iter().find(|path| !is_new(path)) {
        return Err(Error::NamedTwice { path: path.clone() }.into());
    }
    let (model, manifest) = load_model(&options.model, options.device.device, progress)?;
    let mut file = AnswerFile::open(&options.output, progress)?;
    let selection = options.selection.options();
    for path in &options.sets {
        let splits = match options.selection.on.as_slice() {
            [] if path.is_dir() => vec![Split::Valid, Split::Test],
            splits => splits.to_vec(),
        };
        let set = sets::open(path, &selection, &splits, progress)?;
        let (controls, seed) = (options.controls(), options.seed);
        let answering = AnswerOptions { splits, controls, seed };
        let from = AnswerProvenance::new(&manifest.provenance, set.fingerprint(), &answering);
        file.answer(&model, &set, &answering, &from)?;
    }
    let n_questions = super::counted(file.finish()?.iter().count(), "question");
    super::print(format_args!("{n_questions} answered in {}\n", options.output.display()))
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
