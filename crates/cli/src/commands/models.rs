//! `goldilocks models`: the registry, and the settings of one model.

use anyhow::Result;
use goldilocks::Error;
use goldilocks::models::{self, MODELS, Method};

/// Options of `models`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A model, to see its settings
    name: Option<String>,
}

/// Prints the list, or one model with its settings.
pub fn run(options: &Options) -> Result<()> {
    match &options.name {
        Some(name) => {
            super::print(format_args!("{}", settings(models::find(name).map_err(Error::from)?)))
        }
        None => {
            let row =
                |entry: &Method| format!("{:28}{:12}{}\n", entry.name, entry.section, label(entry));
            super::print(format_args!("{}", MODELS.iter().map(row).collect::<String>()))
        }
    }
}

/// What the paper calls a method.
fn label(entry: &Method) -> &'static str {
    goldilocks::report::paper::label(entry.name).unwrap_or(entry.name)
}

fn settings(entry: &Method) -> String {
    let mut text = format!("{}: {} ({})\n", entry.name, label(entry), entry.section);
    if entry.settings.is_empty() {
        text += "\nno settings\n";
    }
    for setting in entry.settings {
        let symbol = if setting.symbol.is_empty() { "" } else { ", the paper's " };
        text += &format!(
            "\n{}={}{symbol}{}\n    {}\n    {}\n",
            setting.name,
            setting.default,
            setting.symbol,
            setting.doc,
            setting.expected(),
        );
    }
    text
}
