//! The program `goldilocks` as a function: command line → exit code.
//!
//! For other programs that offer the same commands, such as a Python package; everything else they need is in the
//! library `goldilocks`.

mod args;
mod cli;
mod commands;
mod date;
mod failure;
mod interrupt;
mod model_argument;
mod prices;
mod progress;
mod remedy;
mod stdio;
mod terminal;

use std::ffi::OsString;
use std::io::ErrorKind;

use clap::Parser;

pub use cli::program;
pub use date::today;

/// Runs a command line, of which the first word is the program's name, and returns the exit code: 0 for success, 1 for
/// failure, 2 for a command line that can't be parsed, 130 for work that was interrupted. Errors are printed here and nowhere else.
pub fn main_with<I>(arguments: I) -> u8
where
    I: IntoIterator,
    I::Item: Into<OsString> + Clone,
{
    let cli = match cli::Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // What can't be printed has no other place to be reported.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let code = match cli.run() {
        Ok(()) => 0,
        // A reader that has seen enough (`| head`) is not an error.
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) if is_interrupted(&error) => {
            interrupt::show(interrupt::RESUMES);
            interrupt::EXIT_CODE
        }
        Err(error) => {
            failure::show(&error);
            1
        }
    };
    stdio::clean_up();
    code
}

fn is_interrupted(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<goldilocks::Error>());
    causes.any(|cause| cause.kind() == goldilocks::ErrorKind::Interrupted)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|cause| cause.kind() == ErrorKind::BrokenPipe)
}
