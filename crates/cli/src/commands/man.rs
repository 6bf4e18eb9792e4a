//! `goldilocks man DIR`: manual pages, made from the same descriptions as `--help`.

use std::path::PathBuf;

use anyhow::Result;
use clap::CommandFactory;
use goldilocks::Error;

use super::{counted, print};
use crate::cli::Cli;

/// Options of `man`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Folder to write the pages into, created if missing; pages that are there are replaced
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes a page for the program and one for each command.
pub fn run(options: &Options) -> Result<()> {
    let folder = &options.folder;
    std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
    // `help` has nothing to say about itself.
    clap_mangen::generate_to(Cli::command().disable_help_subcommand(true), folder)
        .map_err(Error::io(folder))?;
    let is_page =
        |entry: &std::fs::DirEntry| entry.path().extension().is_some_and(|end| end == "1");
    let entries = std::fs::read_dir(folder).map_err(Error::io(folder))?;
    let n_pages = entries.filter_map(Result::ok).filter(is_page).count();
    print(format_args!("{} in {}\n", counted(n_pages, "page"), folder.display()))
}
