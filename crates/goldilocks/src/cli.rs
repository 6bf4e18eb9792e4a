//! Everything that can be typed: the list of commands and the options they share.

use clap::{CommandFactory, Parser, Subcommand};

use crate::commands::fetch;
use crate::progress::Progress;

/// Version and commit, as every manifest records them.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("GOLDILOCKS_COMMIT"), ")");

/// The Children's Book Test: build it from any books, answer it with any model, see who reads well.
#[derive(Parser, Debug)]
#[command(
    name = "goldilocks",
    version = VERSION,
    after_help = "After Hill, Bordes, Chopra & Weston, The Goldilocks Principle: Reading Children's Books with Explicit Memory Representations (ICLR 2016)."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Threads to work with; the results are the same for any number [default: all cores]
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
    /// Print results and errors only
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Fetch a released data set
    Fetch(fetch::Options),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

impl Cli {
    /// Runs the command that was typed.
    pub fn run(self) -> anyhow::Result<()> {
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
        }
        let progress = Progress { quiet: self.quiet };
        match self.command {
            Command::Fetch(options) => fetch::run(&options, progress),
            Command::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Self::command(), "goldilocks", &mut script);
                crate::commands::print(format_args!("{}", String::from_utf8_lossy(&script)))
            }
        }
    }
}
