//! The program `goldilocks`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(goldilocks_cli::main_with(std::env::args_os()))
}
