//! `goldilocks models`: what each method does and costs, and the settings of one.

use anyhow::Result;
use goldilocks::models::{self, MODELS, Method};
use goldilocks::{Error, READER, READER_SETTINGS};
use serde::Serialize;

use crate::args::JsonArgs;
use crate::terminal;

/// Options of `models`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A model, to see its settings [default: list all]
    #[arg(value_name = "MODEL")]
    name: Option<String>,
    #[command(flatten)]
    json: JsonArgs,
}

/// What a reader is, which is no method of the paper's table.
const READER_SUMMARY: &str =
    "a Transformer that learns from running text and from questions (docs/reader.md)";

/// Terminals that are narrower get a line for the name and others for the sentence.
const NARROW: usize = 80;

/// Prints the list, or one model with its settings.
pub fn run(options: &Options) -> Result<()> {
    if options.name.as_deref() == Some(READER) && !options.json.json {
        let text = settings(READER_SETTINGS, terminal::width());
        return super::print(format_args!("{READER}: {READER_SUMMARY}\n{text}"));
    }
    let named = options.name.as_deref().map(models::find).transpose().map_err(Error::from)?;
    let text = match (named, options.json.json) {
        (Some(method), true) => serde_json::to_string_pretty(&Described::of(method))? + "\n",
        (None, true) => {
            let all: Vec<Described> = MODELS.iter().map(Described::of).collect();
            serde_json::to_string_pretty(&all)? + "\n"
        }
        (Some(method), false) => one(method, terminal::width()),
        (None, false) => list(terminal::width()),
    };
    super::print(format_args!("{text}"))
}

/// What the paper calls a method.
fn label(method: &Method) -> &'static str {
    goldilocks::report::paper::label(method.name).unwrap_or(method.name)
}

/// `minutes`, `hours, GPU`.
fn cost(method: &Method) -> String {
    let gpu = if method.wants_gpu { ", GPU" } else { "" };
    format!("{}{gpu}", method.cost.name())
}

fn list(width: usize) -> String {
    let mut text = String::new();
    for method in MODELS {
        let (name, cost) = (method.name, cost(method));
        text += &if width < NARROW {
            let summary = terminal::hanging("", method.summary, 2, width);
            format!("{name}  ({cost})\n{summary}")
        } else {
            terminal::hanging(&format!("{name:28}{cost}"), method.summary, 40, width)
        };
    }
    let note = "Time to train on the 656,957 released training questions with two cores; a GPU takes \
        minutes where it says so. `goldilocks models MODEL` lists the settings of one.";
    text + "\n" + &terminal::hanging("", note, 0, width)
}

fn one(method: &Method, width: usize) -> String {
    let mut text = format!("{}: {} ({})\n", method.name, label(method), method.section);
    text += &terminal::hanging("", method.summary, 0, width);
    text += &format!("Training: {}\n", cost(method));
    if method.settings.is_empty() {
        text += "\nno settings\n";
    }
    text + &settings(method.settings, width)
}

fn settings(settings: &[models::Setting], width: usize) -> String {
    let mut text = String::new();
    for setting in settings {
        let symbol = if setting.symbol.is_empty() { "" } else { ", the paper's " };
        text += &format!("\n{}={}{symbol}{}\n", setting.name, setting.default, setting.symbol);
        text += &terminal::hanging("", setting.doc, 4, width);
        text += &terminal::hanging("", &setting.expected(), 4, width);
    }
    text
}

/// A method in JSON.
#[derive(Serialize)]
struct Described {
    name: &'static str,
    label: &'static str,
    section: &'static str,
    summary: &'static str,
    cost: &'static str,
    wants_gpu: bool,
    settings: Vec<DescribedSetting>,
}

#[derive(Serialize)]
struct DescribedSetting {
    name: &'static str,
    default: &'static str,
    symbol: &'static str,
    doc: &'static str,
    expected: String,
}

impl Described {
    fn of(method: &Method) -> Self {
        let setting = |setting: &models::Setting| DescribedSetting {
            name: setting.name,
            default: setting.default,
            symbol: setting.symbol,
            doc: setting.doc,
            expected: setting.expected(),
        };
        Self {
            name: method.name,
            label: label(method),
            section: method.section,
            summary: method.summary,
            cost: method.cost.name(),
            wants_gpu: method.wants_gpu,
            settings: method.settings.iter().map(setting).collect(),
        }
    }
}
