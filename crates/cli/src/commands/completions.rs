//! `goldilocks completions SHELL`: a script that completes commands and flags.

use anyhow::Result;
use clap::CommandFactory;

use crate::cli::Cli;

/// Options of `completions`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Shell to complete for
    shell: clap_complete::Shell,
}

/// Prints the completion script of a shell.
pub fn run(options: &Options) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "goldilocks", &mut script);
    super::print(format_args!("{}", String::from_utf8_lossy(&script)))
}
