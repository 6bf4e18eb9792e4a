//! `goldilocks probe URL`: what a server is, how it can be asked, and whether its figures mean something.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use goldilocks::server::{Keys, LanguageModel, ServerAddress, ServerOptions, leak_passages};
use goldilocks::servers::{LeakCount, Scoring, ServerSettings};
use goldilocks::{SetOptions, sets};

use crate::args::JsonArgs;
use crate::progress::Progress;

/// How a server is asked, for `probe` and `answer`.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ServerArgs {
    /// The model, where a server has several
    #[arg(long, value_name = "NAME")]
    named: Option<String>,
    /// Questions sent to a server at once [default: what it can take]
    #[arg(long, value_name = "N")]
    in_flight: Option<std::num::NonZeroUsize>,
    /// Most tokens a server may count; needed if it is remote
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// Longest wait for a server's answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
}

impl ServerArgs {
    /// For the library; keys come from the environment.
    pub fn options(&self, set: &[String]) -> Result<ServerOptions> {
        let mut settings = ServerSettings { name: self.named.clone(), ..ServerSettings::default() };
        for text in set {
            settings.set(text).map_err(goldilocks::Error::from)?;
        }
        Ok(ServerOptions {
            settings,
            in_flight: self.in_flight,
            budget: self.budget,
            timeout: Duration::from_secs(self.timeout.max(1)),
            keys: keys(),
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "the program reads the environment")]
fn keys() -> Keys {
    let key = |name: &str| std::env::var(name).ok().filter(|key| !key.is_empty());
    Keys {
        any: key("GOLDILOCKS_API_KEY"),
        openai: key("OPENAI_API_KEY"),
        anthropic: key("ANTHROPIC_API_KEY"),
    }
}

/// Options of `probe`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The address of a server: http://HOST:PORT
    #[arg(value_name = "URL")]
    address: String,
    /// A setting: scoring, method, text, rotations, untrained
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    server: ServerArgs,
    /// Ask the model to continue sentences of this set, and fresh ones
    #[arg(long, value_name = "SET")]
    leaks: Option<PathBuf>,
    /// Sentences to continue of each
    #[arg(long, value_name = "N", default_value_t = 100)]
    sample: usize,
    #[command(flatten)]
    json: JsonArgs,
}

/// Finds out what a server can be asked for, and prints it.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let address = ServerAddress::parse(&options.address)?;
    let server_options = options.server.options(&options.set)?;
    let is_choice = server_options.settings.scoring == Scoring::Choice;
    let model = LanguageModel::connect(&address, server_options)?;
    let leaks = match &options.leaks {
        None => None,
        Some(path) => {
            let set = sets::open(path, &SetOptions::default(), &[], progress)?;
            let [books, fresh] = leak_passages(&set, options.sample, 1);
            Some([model.leaks(&books)?, model.leaks(&fresh)?])
        }
    };
    if options.json.json {
        let probe = model.probe();
        let value = serde_json::json!({
            "server": probe.server, "probe": probe.figures, "usage": probe.usage,
            "in_flight": model.in_flight(), "leaks": leaks.map(|[books, fresh]| {
                serde_json::json!({"books": books, "fresh": fresh})
            }),
        });
        return super::print(format_args!("{value}\n"));
    }
    super::print(format_args!("{}", words(&model, is_choice, leaks)))
}

/// The findings, one per line.
fn words(model: &LanguageModel, is_choice: bool, leaks: Option<[LeakCount; 2]>) -> String {
    let probe = model.probe();
    let server = &probe.server;
    let mut lines = vec![
        format!("server      {} {}", server.kind.name(), server.version.as_deref().unwrap_or("")),
        format!("model       {}", server.model),
    ];
    lines.extend(server.file.as_ref().map(|file| format!("file        {file}")));
    lines.extend(server.n_context.map(|n| format!("fits        {n} tokens")));
    lines.push(format!("in flight   {}", model.in_flight()));
    if is_choice {
        lines.push("scoring     choice: a letter per question".to_owned());
    } else {
        let figures = &probe.figures;
        let gaps: Vec<String> = figures.gaps.iter().map(|gap| format!("{gap:.1}")).collect();
        lines.push("scoring     query and candidate: log-probabilities of given texts".to_owned());
        lines.push(format!("sense       {} nats (more than 3 each)", gaps.join("  ")));
        lines.push(format!("again       the same but for {:.4} nats", figures.noise));
        let reads = if figures.context_gain > 1.0 {
            "it reads the context"
        } else {
            "it hardly reads the context"
        };
        lines.push(format!("context     a name gains {:.1} nats: {reads}", figures.context_gain));
    }
    if let Some([books, fresh]) = leaks {
        let share = |count: LeakCount| format!("{} of {}", count.n_exact, count.n);
        lines.push(format!(
            "memorised   {} sentences of the set continued as the book does, {} of tales that are in no book",
            share(books),
            share(fresh),
        ));
    }
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}
