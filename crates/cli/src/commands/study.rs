//! `goldilocks study`: studies of people (§4.5) for scripts; `goldilocks serve` has the same on its page.

use std::path::{Path, PathBuf};

use anyhow::Result;
use goldilocks::page::study::{self, Mode, Settings, Study};
use goldilocks::page::{self, Store, keys};
use goldilocks::questions::Split;
use goldilocks::{Error, sets};

use crate::args::{self, SelectionArgs};
use crate::cli::WithWork;
use crate::date::unix_seconds;
use crate::failure::CliError;
use crate::interrupt::{NOTHING, OnInterrupt};
use crate::progress::Progress;

/// Options of `study`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  goldilocks study create study.db questions --annotators 6
  goldilocks serve questions --study study.db
  goldilocks study export study.db -o people")]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Draw questions for a study and share them out
    #[command(after_help = "\
Examples:
  goldilocks study create study.db questions --annotators 6
  goldilocks study create study.db questions --mode query --sample 50 --split valid
  goldilocks study create study.db questions --consent consent.txt --completion-code C1A2")]
    Create(WithWork<Create>),
    /// Write people's answers as predictions files
    #[command(after_help = "\
Example:
  goldilocks study export study.db -o people")]
    Export(Export),
}

/// Options of `study create`.
#[derive(clap::Args, Debug)]
struct Create {
    /// File of studies, created if missing
    #[arg(value_name = "FILE.db")]
    store: PathBuf,
    /// The question set to draw from
    #[arg(value_name = "SET")]
    set: PathBuf,
    #[command(flatten)]
    selection: SelectionArgs,
    /// What the study is called
    #[arg(long, default_value_t = Settings::default().name)]
    name: String,
    /// What annotators see: query, context-query
    #[arg(long = "mode", value_name = "MODE", value_parser = mode, default_values = ["query", "context-query"])]
    modes: Vec<Mode>,
    /// Let every annotator work in all modes, on different questions
    #[arg(long)]
    every_mode: bool,
    /// Questions of each class [default: a tenth of them, as in the paper]
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Annotators to share the questions out among
    #[arg(long, value_name = "N", default_value_t = Settings::default().annotators)]
    annotators: usize,
    /// Questions of each class and mode that go to several annotators
    #[arg(long, value_name = "N", default_value_t = Settings::default().shared)]
    shared: usize,
    /// How many annotators those go to
    #[arg(long, value_name = "N", default_value_t = Settings::default().times)]
    times: usize,
    /// A text that annotators must agree to before they begin
    #[arg(long, value_name = "FILE")]
    consent: Option<PathBuf>,
    /// Leave out the practice question that comes first
    #[arg(long)]
    no_practice: bool,
    /// Ask for a named word after every N answers, to see who is reading [default: never]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    check_every: Option<u32>,
    /// What the end shows as proof that the test was taken
    #[arg(long, value_name = "CODE", default_value = "", hide_default_value = true)]
    completion_code: String,
    /// Address of the button at the end, such as that of a platform of paid work
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    return_to: String,
    /// Seed of all draws
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = args::seed())]
    seed: u64,
}

/// Options of `study export`.
#[derive(clap::Args, Debug)]
struct Export {
    /// File of studies
    #[arg(value_name = "FILE.db")]
    store: PathBuf,
    /// Folder to write the predictions files into
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The study's number [default: the only one]
    #[arg(long, value_name = "N")]
    id: Option<i64>,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

fn mode(code: &str) -> Result<Mode, String> {
    Mode::from_code(code).ok_or_else(|| "expected query or context-query".to_owned())
}

/// Does what was typed.
pub fn run(options: Options) -> Result<()> {
    match &options.action {
        Action::Create(create) => create.run(OnInterrupt::Stop(NOTHING), Create::run),
        Action::Export(export) => export.run(),
    }
}

impl Create {
    fn run(&self, progress: &Progress) -> Result<()> {
        let split = self.selection.splits.first().copied().unwrap_or(Split::Test);
        let only = if self.set.is_dir() { vec![split] } else { vec![] };
        let set = sets::open(&self.set, &self.selection.options(), &only, progress)?;
        let settings = Settings {
            name: self.name.clone(),
            split,
            sample: self.sample,
            modes: self.modes.clone(),
            every_mode: self.every_mode,
            annotators: self.annotators,
            shared: self.shared,
            times: self.times,
            seed: self.seed,
            consent: self.consent_text()?,
            practice: !self.no_practice,
            check_every: self.check_every.unwrap_or(0) as usize,
            completion_code: self.completion_code.trim().to_owned(),
            return_to: self.return_to.trim().to_owned(),
        };
        let deal = study::deal(&set, &settings).map_err(Error::from)?;
        let store = Store::open(&self.store).map_err(Error::from)?;
        let token = keys::token().map_err(Error::from)?;
        let id =
            study::create(&store, &settings, &deal, token, unix_seconds()).map_err(Error::from)?;
        let sizes = deal.shares.iter().map(Vec::len);
        super::print(format_args!(
            "study {id} in {}: {} for {}, {} to {} each\n",
            self.store.display(),
            super::counted(deal.questions.len(), "question"),
            super::counted(deal.shares.len(), "annotator"),
            sizes.clone().min().unwrap_or(0),
            sizes.max().unwrap_or(0),
        ))
    }
}

impl Create {
    fn consent_text(&self) -> Result<String> {
        let Some(path) = &self.consent else { return Ok(String::new()) };
        Ok(std::fs::read_to_string(path).map_err(Error::io(path))?.trim().to_owned())
    }
}

impl Export {
    fn run(&self) -> Result<()> {
        // Opening it would make a new one.
        std::fs::metadata(&self.store).map_err(Error::io(&self.store))?;
        let store = Store::open(&self.store).map_err(Error::from)?;
        let study = self.study(&store)?;
        let of_modes = study::by_mode(&store, &study).map_err(Error::from)?;
        if of_modes.is_empty() {
            let error = page::Error::NoAnswers { path: self.store.clone() };
            return Err(Error::from(error).into());
        }
        let path = |mode: Mode| self.output.join(mode.file());
        let existing = |path: &PathBuf| path.exists() && !self.force;
        if let Some(path) = of_modes.iter().map(|(mode, _)| path(*mode)).find(existing) {
            return Err(Error::Exists { path }.into());
        }
        std::fs::create_dir_all(&self.output).map_err(Error::io(&self.output))?;
        for (mode, predictions) in of_modes {
            predictions.write(&path(mode)).map_err(Error::from)?;
            let answers = super::counted(predictions.people().len(), "answer");
            super::print(format_args!("{answers} in {}\n", path(mode).display()))?;
        }
        Ok(())
    }

    fn study(&self, store: &Store) -> Result<Study> {
        let ids: Vec<i64> =
            study::list(store).map_err(Error::from)?.iter().map(|study| study.id).collect();
        match (self.id, ids.as_slice()) {
            (Some(id), _) | (None, &[id]) => Ok(study::study(store, id).map_err(Error::from)?),
            (None, _) => Err(no_choice(&self.store, &ids).into()),
        }
    }
}

fn no_choice(store: &Path, ids: &[i64]) -> CliError {
    let ids: Vec<String> = ids.iter().rev().map(i64::to_string).collect();
    let found = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
    let message =
        format!("{}: expected one study, found {found}; `--id N` names one", store.display());
    CliError::Setting { what: "study", message }
}
