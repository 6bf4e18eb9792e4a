//! Everything that can be typed: the list of commands and the options they share.

use clap::{Parser, Subcommand};
use goldilocks::Program;

use crate::args::{QuietArgs, WorkArgs};
use crate::commands::{
    answer, bench, build, build_news, combine, compare, completions, convert, evaluate, explain,
    export, fetch, lm, man, models, plan, probe, report, reproduce, serve, stats, study, tag,
    train, train_tagger, try_book, tune,
};
use crate::interrupt::{self, OnInterrupt};
use crate::progress::Progress;

/// The version, and the commit that it was built from.
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
    after_help = "\
Examples:
  goldilocks reproduce                      # Table 2 of the paper, on the embedded tales
  goldilocks build my-books -o questions    # questions from your own books
  goldilocks help train                     # more about a command

After Hill, Bordes, Chopra & Weston, The Goldilocks Principle: Reading Children's Books with Explicit Memory Representations (ICLR 2016)."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// A command that works for longer than a moment: its own options, and those of all such commands.
#[derive(clap::Args, Debug)]
pub struct WithWork<O: clap::Args> {
    #[command(flatten)]
    pub options: O,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// A command that shows its progress and uses one thread.
#[derive(clap::Args, Debug)]
struct WithProgress<O: clap::Args> {
    #[command(flatten)]
    options: O,
    #[command(flatten)]
    quiet: QuietArgs,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Build, train, answer, evaluate and report for a table of the paper
    #[command(after_help = "\
Examples:
  goldilocks reproduce                                  # Table 2 on the embedded tales
  goldilocks reproduce --questions SET --skip lstm-query,lstm-context-query
  goldilocks reproduce goldilocks --questions SET       # accuracy against the size of windows
  goldilocks reproduce --show table-2 > own.toml        # a table of your own begins as the paper's
  goldilocks reproduce --experiment own.toml")]
    Reproduce(WithWork<reproduce::Options>),
    /// Build the questions of one book, answer them, report
    #[command(after_help = "\
Examples:
  goldilocks try alice.txt                              # the report is in alice-report
  goldilocks try                                        # one of the embedded tales
  goldilocks try alice.epub --models reader SmolLM2-135M -o alice")]
    Try(WithWork<try_book::Options>),
    /// Build questions from books
    #[command(after_help = "\
Examples:
  goldilocks build -o tales                             # from the embedded tales
  goldilocks build my-books -o questions
  goldilocks build my-books -o questions --by author --valid 0.1 --test 0.2
  goldilocks build books -o cbt --like cbt --counts cbt --splits splits.tsv
  goldilocks build alice.txt -o names --classes NE --context 10
  goldilocks build --plan set --shard 7                 # a shard of what `goldilocks plan` planned")]
    Build(WithWork<build::Options>),
    /// Plan a set in shards, for books that one machine can't hold
    #[command(after_help = "\
Examples:
  goldilocks plan library -o set --split-by hash
  goldilocks build --plan set --shard 7                 # any worker, any order, any number of times
  goldilocks merge set")]
    Plan(WithWork<plan::Options>),
    /// Check the shards of a planned set and complete it
    #[command(after_help = "\
Example:
  goldilocks merge set")]
    Merge(WithWork<plan::MergeOptions>),
    /// Build questions like those of CNN QA from anonymised news articles
    #[command(after_help = "\
Examples:
  goldilocks build-news -o news                         # from the embedded articles
  goldilocks build-news articles.jsonl --with cnn/questions -o news")]
    BuildNews(WithWork<build_news::Options>),
    /// Count a question set (Table 1) and look for leaks
    #[command(after_help = "\
Examples:
  goldilocks stats questions
  goldilocks stats questions --split test --json")]
    Stats(WithWork<stats::Options>),
    /// Convert a question set: CBT text, JSON lines, Parquet, compact
    #[command(after_help = "\
Examples:
  goldilocks convert questions questions.parquet
  goldilocks convert questions released --to cbt        # a folder like that of the release
  goldilocks convert questions hub --to hf              # for load_dataset(\"hub\", \"NE\")
  goldilocks convert questions - --to jsonl --split test --class NE")]
    Convert(WithWork<convert::Options>),
    /// List the models, or the settings of one
    #[command(after_help = "\
Examples:
  goldilocks models
  goldilocks models memnn-window-selfsup")]
    Models(models::Options),
    /// Train a model
    #[command(after_help = "\
Examples:
  goldilocks train word-distance questions -o word-distance
  goldilocks train memnn-window-selfsup questions -o memory --set dim=100 --seed 2
  goldilocks train lstm-query questions -o lstm --device cuda
  goldilocks train reader questions --text novels -o reader --device cuda")]
    Train(WithWork<train::Options>),
    /// Try settings of a model on the validation split
    #[command(after_help = "\
Examples:
  goldilocks tune word-distance questions -o tuned --grid max_penalty=1,3,5
  goldilocks tune memnn-window-selfsup questions -o tuned --grid dim=50,100 --seeds 3")]
    Tune(WithWork<tune::Options>),
    /// Answer questions with a trained model
    #[command(after_help = "\
Examples:
  goldilocks answer word-distance questions -o word-distance.jsonl
  goldilocks answer memory questions -o memory.jsonl --split valid
  goldilocks answer memory questions -o query-only.jsonl --query-only
  goldilocks answer memory questions -o -               # to standard output
  goldilocks answer http://localhost:8000 questions -o server.jsonl --sample 100")]
    Answer(WithWork<answer::Options>),
    /// Ask what a server with a language model can do
    #[command(after_help = "\
Examples:
  goldilocks probe http://localhost:8000
  goldilocks probe http://localhost:8080 --leaks questions --json")]
    Probe(WithWork<probe::Options>),
    /// Show what a model looked at before it answered
    #[command(after_help = "\
Examples:
  goldilocks explain word-distance questions --question 3
  goldilocks explain memory questions --question 3 --split test --html question.html")]
    Explain(WithWork<explain::Options>),
    /// Write a Transformer in Hugging Face's layout, with its numbers in 32, 16 or 8 bits
    #[command(after_help = "\
Examples:
  goldilocks export reader reader-hf                    # for transformers, vLLM and others
  goldilocks export reader small --weights int8")]
    Export(WithWork<export::Options>),
    /// Print the accuracy of predictions, with intervals
    #[command(after_help = "\
Examples:
  goldilocks evaluate memory.jsonl --questions questions
  goldilocks evaluate memory.jsonl word-distance.jsonl --split test
  goldilocks evaluate *.jsonl --questions questions --table md
  goldilocks evaluate seed-1.jsonl seed-2.jsonl seed-3.jsonl --seeds")]
    Evaluate(WithWork<evaluate::Options>),
    /// Compare two models on the same questions
    #[command(after_help = "\
Examples:
  goldilocks compare memory.jsonl word-distance.jsonl
  goldilocks compare memory.jsonl word-distance.jsonl --split test --class NE")]
    Compare(WithWork<compare::Options>),
    /// Combine several models into one
    #[command(after_help = "\
Examples:
  goldilocks combine seed-1.jsonl seed-2.jsonl -o mean.jsonl
  goldilocks combine a.jsonl b.jsonl --split test --fit a.jsonl b.jsonl -o both.jsonl")]
    Combine(WithWork<combine::Options>),
    /// Make tables and pictures from predictions
    #[command(after_help = "\
Examples:
  goldilocks report memory.jsonl word-distance.jsonl --questions questions
  goldilocks report memory.jsonl --questions questions --table validation -o report")]
    Report(WithWork<report::Options>),
    /// Serve the page: explore, look inside, take the test
    #[command(after_help = "\
Examples:
  goldilocks serve                                      # the embedded tales
  goldilocks serve questions --models memory word-distance
  goldilocks serve questions --study study.db --port 9000")]
    Serve(WithWork<serve::Options>),
    /// Create and export studies of people who take the test
    Study(study::Options),
    /// Language models: estimate, perplexity, ARPA in and out
    Lm(lm::Options),
    /// Split and tag a book
    #[command(after_help = "\
Examples:
  goldilocks tag alice.txt
  goldilocks tag -                                      # from standard input")]
    Tag(tag::Options),
    /// Make the tagger's weights from tagged books
    #[command(after_help = "\
Example:
  goldilocks train-tagger tagged-books -o tagger.bin")]
    TrainTagger(WithWork<train_tagger::Options>),
    /// Measure how fast the stages run on this machine
    #[command(after_help = "\
Examples:
  goldilocks bench
  goldilocks bench my-books --threads 1 --json")]
    Bench(WithWork<bench::Options>),
    /// Fetch a released data set
    #[command(after_help = "\
Example:
  goldilocks fetch cbt -o data                          # then: goldilocks stats data/CBTest/data")]
    Fetch(WithProgress<fetch::Options>),
    /// Print a completion script for a shell
    #[command(after_help = "\
Example:
  goldilocks completions bash")]
    Completions(completions::Options),
    /// Write manual pages
    #[command(after_help = "\
Example:
  goldilocks man man1                                   # then: man -l man1/goldilocks-build.1")]
    Man(man::Options),
}

/// What Ctrl-C does to a command that resumes, and to one that does not.
const RESUMES: OnInterrupt = OnInterrupt::Stop(interrupt::RESUMES);
const STOPS: OnInterrupt = OnInterrupt::Stop(interrupt::NOTHING);

impl Cli {
    /// Runs the command that was typed.
    pub fn run(self) -> anyhow::Result<()> {
        use Command as C;
        match self.command {
            C::Reproduce(typed) => typed
                .run(OnInterrupt::Cancel("the rows that are done are reported"), reproduce::run),
            C::Try(typed) => typed.run(STOPS, try_book::run),
            C::Build(typed) => typed.run(STOPS, build::run),
            C::Plan(typed) => typed.run(STOPS, plan::run),
            C::Merge(typed) => typed.run(STOPS, plan::run_merge),
            C::BuildNews(typed) => typed.run(STOPS, build_news::run),
            C::Stats(typed) => typed.run(STOPS, stats::run),
            C::Convert(typed) => typed.run(STOPS, convert::run),
            C::Models(options) => models::run(&options),
            C::Train(typed) => typed.run(RESUMES, train::run),
            C::Tune(typed) => typed.run(RESUMES, tune::run),
            C::Answer(typed) => typed.run(RESUMES, answer::run),
            C::Probe(typed) => typed.run(STOPS, probe::run),
            C::Explain(typed) => typed.run(STOPS, explain::run),
            C::Export(typed) => typed.run(STOPS, export::run),
            C::Evaluate(typed) => typed.run(STOPS, evaluate::run),
            C::Compare(typed) => typed.run(STOPS, compare::run),
            C::Combine(typed) => typed.run(STOPS, combine::run),
            C::Report(typed) => typed.run(STOPS, report::run),
            C::Serve(typed) => {
                typed.run(OnInterrupt::Stop("every answer that was confirmed is kept"), serve::run)
            }
            C::Study(options) => study::run(options),
            C::Lm(options) => lm::run(options),
            C::Tag(options) => tag::run(&options),
            C::TrainTagger(typed) => typed.run(STOPS, train_tagger::run),
            C::Bench(typed) => typed.run(STOPS, bench::run),
            C::Fetch(typed) => fetch::run(&typed.options, &typed.quiet.start(RESUMES)?),
            C::Completions(options) => completions::run(&options),
            C::Man(options) => man::run(&options),
        }
    }
}

impl<O: clap::Args> WithWork<O> {
    /// Sets up threads, progress and interrupts, and runs the command.
    pub fn run(
        &self,
        on_interrupt: OnInterrupt,
        run: impl FnOnce(&O, &Progress) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        run(&self.options, &self.work.start(on_interrupt)?)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Every command, each with the names that lead to it.
    fn all(command: &clap::Command, names: &[String]) -> Vec<(String, clap::Command)> {
        let path = [names, &[command.get_name().to_owned()]].concat();
        let below = command.get_subcommands().flat_map(|command| all(command, &path));
        [(path.join(" "), command.clone())].into_iter().chain(below).collect()
    }

    #[test]
    fn every_command_has_examples_that_can_be_parsed() {
        Cli::command().debug_assert();
        let mut n_examples = 0;
        for (name, command) in all(&Cli::command(), &[]) {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples = after.lines().filter_map(|line| line.strip_prefix("  goldilocks "));
            let examples: Vec<&str> = examples.collect();
            assert!(!examples.is_empty(), "{name} has no example");
            for example in examples {
                let typed = example.split("  # ").next().unwrap_or_default();
                let typed = typed.split(" > ").next().unwrap_or_default();
                let typed = typed.split(" | ").next().unwrap_or_default();
                let words = ["goldilocks"].into_iter().chain(typed.split_whitespace());
                match Cli::try_parse_from(words) {
                    Err(error) if error.kind() != clap::error::ErrorKind::DisplayHelp => {
                        panic!("{name}: `{example}`: {error}")
                    }
                    _ => n_examples += 1,
                }
            }
        }
        assert!(n_examples > 50, "only {n_examples} examples");
    }
}
