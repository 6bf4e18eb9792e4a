//! `goldilocks answer MODEL SET…`: a model's scores for every question, as a predictions file.

mod shards;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;
use goldilocks::questions::{Control, QuestionSet, Split};
use goldilocks::server::{LanguageModel, ServerAddress, estimated_tokens};
use goldilocks::servers::Usage;
use goldilocks::{
    AnswerFile, AnswerOptions, AnswerProvenance, Error, checkpoint, load_model, sets,
};

use crate::args::{self, DeviceArgs, SelectionArgs};
use crate::commands::probe::ServerArgs;
use crate::failure::CliError;
use crate::model_argument::ModelArgument;
use crate::prices::Prices;
use crate::progress::Progress;
use crate::stdio;

/// Options of `answer`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A folder that `goldilocks train` wrote, `reader-small`, a Transformer in Hugging Face's layout, or the
    /// address of a server: http://HOST:PORT
    #[arg(value_name = "MODEL", value_parser = ModelArgument::parse)]
    model: ModelArgument,
    /// Question sets: folders or files; `-` is standard input, in JSON lines
    #[arg(value_name = "SET", required = true)]
    sets: Vec<PathBuf>,
    /// Predictions file to write; `-` is standard output. For a set in shards, a name without an ending is a folder
    /// with a file for each shard
    #[arg(short, long, value_name = "PRED.jsonl")]
    output: PathBuf,
    /// Answer this shard alone of a set in shards, into a folder; without a number, that of SLURM_ARRAY_TASK_ID
    #[arg(long, value_name = "N")]
    shard: Option<Option<usize>>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Answer at most N questions of each split and class, drawn by the seed
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Seed of draws: equal scores, --sample, --shuffle-sentences, --rename-entities
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
    /// Ablation: exchange the names of the passage with each other
    #[arg(long)]
    rename_entities: bool,
    /// A setting of a server: scoring, method, text, rotations, untrained
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    server: ServerArgs,
    /// Print what a server would be asked, from a few timed questions, and write nothing
    #[arg(long)]
    estimate: bool,
    /// What a server takes for a million tokens, sent and generated: 0.15,0.60
    #[arg(long, value_name = "SENT,GENERATED")]
    prices: Option<Prices>,
    #[command(flatten)]
    device: DeviceArgs,
    /// Overwrite existing predictions
    #[arg(long)]
    force: bool,
}

/// Answers and writes; without `--split`, a folder's validation and test splits.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    if let Some(shards) = shards::find(options)? {
        return shards::run(options, &shards, progress);
    }
    super::check_output(&options.output, options.force)?;
    let output = stdio::Output::new(&options.output, "jsonl")?;
    let server_only = options.estimate || options.prices.is_some() || !options.set.is_empty();
    if let (true, ModelArgument::Folder(_)) = (server_only, &options.model) {
        let message = "--set, --estimate and --prices are for servers: a model in a folder has the settings of its training";
        return Err(CliError::Setting { what: "answer", message: message.to_owned() }.into());
    }
    let mut named = BTreeSet::new();
    let mut is_new = |path: &PathBuf| named.insert(path.canonicalize().unwrap_or(path.clone()));
    if let Some(path) = options.sets.iter().find(|path| !is_new(path)) {
        return Err(Error::NamedTwice { path: path.clone() }.into());
    }
    let folder = match &options.model {
        ModelArgument::Folder(folder) => folder,
        ModelArgument::Server(address) => return ask(options, address, output, progress),
    };
    let (model, manifest) = load_model(folder, options.device.device, progress)?;
    let sets = options.open(progress)?;
    let mut file = AnswerFile::open(output.path(), progress)?;
    let mut made_from = Vec::new();
    for (set, answering) in &sets {
        let from = AnswerProvenance::new(&manifest.provenance, set.fingerprint(), answering);
        file.answer(&model, set, answering, &from)?;
        made_from.push(from);
    }
    let n_questions = super::counted(file.finish()?.iter().count(), "question");
    if checkpoint::is_at(folder) && options.output.is_file() {
        checkpoint::write_note(&options.output, &made_from)?;
    }
    let name = output.name();
    output.finish(progress, format_args!("{n_questions} answered in {name}\n"))
}

/// Answers with a language model on a server.
fn ask(
    options: &Options,
    address: &ServerAddress,
    output: stdio::Output,
    progress: &Progress,
) -> Result<()> {
    let sets = options.open(progress)?;
    let server = options.server.options(&options.set)?;
    // Before the first request: the probe costs tokens as well.
    let tokens: u64 = sets
        .iter()
        .map(|(set, answering)| estimated_tokens(set, answering, &server.settings))
        .sum();
    let is_too_much = server.budget.filter(|budget| tokens > *budget);
    if let (false, Some(budget)) = (options.estimate, is_too_much) {
        let [tokens, budget] = [tokens, budget].map(|n| super::thousands(n as usize));
        let message = format!("about {tokens} tokens are needed, and the budget is {budget}");
        return Err(CliError::Setting { what: "--budget", message }.into());
    }
    if !address.is_loopback() || options.prices.is_some() {
        let n = super::thousands(tokens as usize);
        let money = options.prices.map_or(String::new(), |prices| {
            format!(", {}", prices.of(Usage { sent: tokens, ..Usage::default() }))
        });
        progress.note(format_args!("  about {n} tokens will be sent{money}"));
    }
    let model = LanguageModel::connect(address, server)?;
    if options.estimate {
        return estimate(model, &sets, tokens, options.prices, progress);
    }
    let (predictions, run) = model.answer(&sets, output.path(), options.force, progress)?;
    let counts = &run.counts;
    let mut text = format!(
        "{} answered in {}: {} asked, {} known; {} tokens sent, {} of them cached, {} generated\n",
        super::counted(predictions.iter().count(), "question"),
        output.name(),
        super::thousands(counts.asked),
        super::thousands(counts.known),
        super::thousands(counts.usage.sent as usize),
        super::thousands(counts.usage.cached as usize),
        super::thousands(counts.usage.generated as usize),
    );
    if let Some(prices) = options.prices {
        text += &format!("{}\n", prices.of(counts.usage));
    }
    if counts.cut > 0 {
        let sentences = super::counted(counts.sentences_cut, "sentence");
        text += &format!(
            "{} were too long: {sentences} left out\n",
            super::counted(counts.cut, "context")
        );
    }
    if !counts.letters.is_empty() || counts.refused + counts.unparsable > 0 {
        let letters: Vec<String> =
            counts.letters.iter().map(|(letter, n)| format!("{letter} {n}")).collect();
        text += &format!(
            "letters: {}; {} refused, {} without a letter\n",
            letters.join(", "),
            counts.refused,
            counts.unparsable
        );
    }
    output.finish(progress, format_args!("{text}"))
}

/// Times a few questions, without a file.
fn estimate(
    model: LanguageModel,
    sets: &[(QuestionSet, AnswerOptions)],
    tokens: u64,
    prices: Option<Prices>,
    progress: &Progress,
) -> Result<()> {
    const TIMED: usize = 5;
    let n: usize =
        sets.iter().map(|(set, answering)| goldilocks::server::n_questions(set, answering)).sum();
    let folder = tempfile::tempdir()?;
    let few: Vec<(QuestionSet, AnswerOptions)> = sets
        .iter()
        .take(1)
        .map(|(set, answering)| {
            (
                set.clone(),
                AnswerOptions {
                    sample: Some(answering.sample.unwrap_or(TIMED).min(TIMED)),
                    ..answering.clone()
                },
            )
        })
        .collect();
    let started = std::time::Instant::now();
    let (_, run) = model.answer(&few, &folder.path().join("estimate.jsonl"), false, progress)?;
    let asked = run.counts.asked.max(1);
    let seconds = started.elapsed().as_secs_f64() / asked as f64 * n as f64;
    let requests = run.counts.usage.requests as usize * n / asked;
    let counted = run.counts.usage.tokens() as usize * n / asked;
    let computed = counted - run.counts.usage.cached as usize * n / asked;
    let all = |tokens: u64| tokens * n as u64 / asked as u64;
    let money = prices.map_or(String::new(), |prices| {
        let usage = run.counts.usage;
        let whole = Usage { sent: all(usage.sent), generated: all(usage.generated), ..usage };
        format!("; {}", prices.of(whole))
    });
    super::print(format_args!(
        "{}, {}, about {} tokens as text, {} as the server counts, {} to compute; about {:.0} min (from {asked} timed){money}\n",
        super::counted(n, "question"),
        super::counted(requests, "request"),
        super::thousands(tokens as usize),
        super::thousands(counted),
        super::thousands(computed),
        (seconds / 60.0).ceil(),
    ))
}

impl Options {
    /// The sets with which questions of each are answered, and how. No question may be in two of them: that would be
    /// found when all are answered.
    fn open(&self, progress: &Progress) -> Result<Vec<(QuestionSet, AnswerOptions)>> {
        let mut seen: BTreeMap<(Option<Split>, String), &PathBuf> = BTreeMap::new();
        let mut sets = Vec::new();
        for (path, named) in stdio::inputs(&self.sets, "jsonl")?.iter().zip(&self.sets) {
            let answering = self.answering(path);
            let set = sets::open(path, &self.selection.options(), &answering.splits, progress)?;
            let splits = Split::ALL.map(Some).into_iter().chain([None]);
            for (split, (_, id)) in
                splits.flat_map(|split| set.ids(split).into_iter().map(move |id| (split, id)))
            {
                if let Some(first) = seen.insert((split, id.clone()), named) {
                    let (first, second) = (first.clone(), named.clone());
                    return Err(Error::OverlappingSets { first, second, id }.into());
                }
            }
            sets.push((set, answering));
        }
        Ok(sets)
    }

    /// Which questions of a set are answered, and how; without `--split`, a folder's validation and test splits.
    fn answering(&self, path: &Path) -> AnswerOptions {
        let splits = match self.selection.splits.as_slice() {
            [] if path.is_dir() => vec![Split::Valid, Split::Test],
            splits => splits.to_vec(),
        };
        AnswerOptions { splits, controls: self.controls(), seed: self.seed, sample: self.sample }
    }

    fn controls(&self) -> Vec<Control> {
        let controls = [
            self.last_sentences.map(Control::LastSentences),
            self.shuffle_sentences.then_some(Control::ShuffledSentences { seed: self.seed }),
            self.rename_entities.then_some(Control::RenamedEntities { seed: self.seed }),
            self.query_only.then_some(Control::QueryOnly),
            self.context_only.then_some(Control::ContextOnly),
        ];
        controls.into_iter().flatten().collect()
    }
}
