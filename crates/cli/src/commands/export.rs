//! `goldilocks export MODEL DIR`: a reader, or any Transformer that is read here, in Hugging Face's layout.

use std::path::PathBuf;

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use goldilocks::ExportOptions;
use goldilocks::transformer::NumberFormat;

use crate::progress::Progress;

/// Options of `export`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// `reader-small`, a reader that `goldilocks train` wrote, or a Transformer in Hugging Face's layout
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Folder to write
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Number format: `transformers` loads f32 and bf16; only this program loads int8, a quarter of f32's size, and
    /// int6, which compresses to less
    #[arg(long, value_name = "FORMAT", default_value = "f32", value_parser = numbers())]
    weights: NumberFormat,
    /// Overwrite an existing folder of this kind
    #[arg(long)]
    force: bool,
}

fn numbers() -> impl TypedValueParser<Value = NumberFormat> {
    PossibleValuesParser::new(NumberFormat::ALL.map(NumberFormat::name)).map(|name| {
        let is_named = |format: &NumberFormat| format.name() == name;
        NumberFormat::ALL.into_iter().find(is_named).expect("it is one of the possible values")
    })
}

/// Reads the network, writes the folder.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let exporting = ExportOptions { numbers: options.weights, overwrite: options.force };
    goldilocks::export(&options.model, &options.folder, &exporting, progress)?;
    super::print(format_args!("{}\n", options.folder.display()))
}
