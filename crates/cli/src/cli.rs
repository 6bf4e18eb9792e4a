//! Everything that can be typed: the list of commands and the options they share.

use clap::{CommandFactory, Parser, Subcommand};
use goldilocks::Program;

use crate::commands::{
    answer, bench, build, combine, compare, convert, evaluate, explain, fetch, lm, models, report,
    reproduce, serve, stats, study, tag, train, train_tagger, tune,
};
use crate::failure::install_interrupt_handler;
use crate::progress::Progress;

/// Version and commit.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("GOLDILOCKS_COMMIT"),
    env!("GOLDILOCKS_DIRTY"),
    ")"
);

/// The same, as every manifest records them.
pub fn program() -> Program {
    Program {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: Some(env!("GOLDILOCKS_COMMIT").to_owned()),
        dirty: !env!("GOLDILOCKS_DIRTY").is_empty(),
        code: String::new(),
    }
}

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
    /// Number of threads; the results are the same for any number [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print results and errors only
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Build, train, answer, evaluate and report for a table of the paper
    Reproduce(reproduce::Options),
    /// Build questions from books
    Build(build::Options),
    /// Count a question set (Table 1) and look for leaks
    Stats(stats::Options),
    /// Convert a question set: CBT text, JSON lines, Parquet, compact
    Convert(convert::Options),
    /// List the models, or the settings of one
    Models(models::Options),
    /// Train a model
    Train(train::Options),
    /// Try settings of a model on the validation split
    Tune(tune::Options),
    /// Answer questions with a trained model
    Answer(answer::Options),
    /// Show what a model looked at before it answered
    Explain(explain::Options),
    /// Print the accuracy of predictions, with intervals
    Evaluate(evaluate::Options),
    /// Compare two models on the same questions
    Compare(compare::Options),
    /// Combine several models into one
    Combine(combine::Options),
    /// Make tables and pictures from predictions
    Report(report::Options),
    /// Serve the page: explore, look inside, take the test
    Serve(serve::Options),
    /// Create and export studies of people who take the test
    Study(study::Options),
    /// Language models: estimate, perplexity, ARPA in and out
    Lm(lm::Options),
    /// Split and tag a book
    Tag(tag::Options),
    /// Make the tagger's weights from tagged books
    TrainTagger(train_tagger::Options),
    /// Measure how fast the stages run on this machine
    Bench(bench::Options),
    /// Fetch a released data set
    Fetch(fetch::Options),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

impl Command {
    /// What Ctrl-C leaves.
    fn kept_when_stopped(&self) -> &'static str {
        match self {
            Self::Reproduce(_)
            | Self::Tune(_)
            | Self::Train(_)
            | Self::Answer(_)
            | Self::Fetch(_) => "run the same command again to resume",
            Self::Serve(_) => "every answer that was confirmed is kept",
            _ => "nothing was written",
        }
    }
}

impl Cli {
    /// Runs the command that was typed.
    pub fn run(self) -> anyhow::Result<()> {
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global()?;
        }
        let progress = &Progress::new(self.quiet);
        install_interrupt_handler(self.command.kept_when_stopped())?;
        match self.command {
            Command::Reproduce(options) => reproduce::run(&options, progress),
            Command::Build(options) => build::run(&options, progress),
            Command::Stats(options) => stats::run(&options, progress),
            Command::Convert(options) => convert::run(&options, progress),
            Command::Models(options) => models::run(&options),
            Command::Train(options) => train::run(&options, progress),
            Command::Tune(options) => tune::run(&options, progress),
            Command::Explain(options) => explain::run(&options, progress),
            Command::Answer(options) => answer::run(&options, progress),
            Command::Evaluate(options) => evaluate::run(&options, progress),
            Command::Compare(options) => compare::run(&options, progress),
            Command::Combine(options) => combine::run(&options, progress),
            Command::Report(options) => report::run(&options, progress),
            Command::Serve(options) => serve::run(&options, progress),
            Command::Study(options) => study::run(&options, progress),
            Command::Lm(options) => lm::run(&options, progress),
            Command::Tag(options) => tag::run(&options),
            Command::TrainTagger(options) => train_tagger::run(&options, progress),
            Command::Bench(options) => bench::run(&options, progress),
            Command::Fetch(options) => fetch::run(&options, progress),
            Command::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Self::command(), "goldilocks", &mut script);
                crate::commands::print(format_args!("{}", String::from_utf8_lossy(&script)))
            }
        }
    }
}
