//! `goldilocks explain MODEL SET --question N|ID`: what a model looked at before it answered (Figure 2).

use std::path::PathBuf;

use anyhow::Result;
use goldilocks::models::DeviceChoice;
use goldilocks::questions::Split;
use goldilocks::{find_question, load_model, question_number, sets, write_file};

use crate::args::{self, JsonArgs, SelectionArgs};
use crate::progress::Progress;
use crate::stdio;
use crate::terminal;

/// Options of `explain`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A folder that `goldilocks train` wrote, `reader-small`, or a Transformer in Hugging Face's layout
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// A question set: folder or file; `-` is standard input, in JSON lines
    #[arg(value_name = "SET")]
    set: PathBuf,
    /// The question: its number, from 1, or its id; in a folder, numbers count its validation questions unless `--split` names another split
    #[arg(long, value_name = "N|ID")]
    question: String,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Also write an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write an SVG picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    json: JsonArgs,
    /// Seed of draws between equal scores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
    /// Overwrite existing drawings
    #[arg(long)]
    force: bool,
}

/// Finds the question, asks the model, prints and draws.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let (model, manifest) = load_model(&options.model, DeviceChoice::Cpu, progress)?;
    let selection = options.selection.options();
    let splits = match &options.selection.splits[..] {
        [] if options.set.is_dir() && question_number(&options.question).is_some() => {
            &[Split::Valid]
        }
        splits => splits,
    };
    let path = stdio::input(&options.set, "jsonl")?;
    let set = sets::open(&path, &selection, splits, progress)?;
    let index = find_question(&set, &options.set, &options.question, &selection)?;
    let name = &manifest.provenance.model;
    let looked = goldilocks::explain(name, &model, &set, index, options.seed)?;
    let html = options.html.as_ref().map(|path| (path, looked.html()));
    let svg = options.svg.as_ref().map(|path| (path, looked.svg()));
    for (path, text) in [html, svg].into_iter().flatten() {
        super::check_output(path, options.force)?;
        write_file(path, &text)?;
    }
    if options.json.json {
        super::print(format_args!("{}\n", serde_json::to_string_pretty(&looked)?))
    } else {
        super::print(format_args!("{}", looked.text(terminal::width().min(80))))
    }
}
