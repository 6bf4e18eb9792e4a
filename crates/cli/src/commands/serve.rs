//! `goldilocks serve`: the page on which people explore, look inside and take the test (§4.5).

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use goldilocks::page::keys::{self, Key};
use goldilocks::page::{self, Limits, Site, Store, study};
use goldilocks::server::LanguageModel;
use goldilocks::{CatalogueOptions, Error, catalogue};

use crate::args::SelectionArgs;
use crate::commands::probe::ServerArgs;
use crate::date::unix_seconds;
use crate::failure::{CliError, warn};
use crate::model_argument::ModelArgument;
use crate::progress::Progress;

/// The shortest token that a file may give.
const SHORTEST_TOKEN: usize = 20;

/// Options of `serve`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Question sets: folders or files [default: the embedded tales]
    #[arg(value_name = "SET")]
    sets: Vec<PathBuf>,
    /// Folders that `goldilocks train` wrote [default on the tales: those that are ready in a moment], `reader-small`,
    /// Transformers in Hugging Face's layout, and addresses of servers, which are asked about visitors' own passages
    /// and questions that are opened
    #[arg(long, value_name = "MODEL", num_args = 1.., value_parser = ModelArgument::parse)]
    models: Vec<ModelArgument>,
    /// Predictions files, to see who is right and wrong
    #[arg(long, value_name = "PRED.jsonl", num_args = 1..)]
    predictions: Vec<PathBuf>,
    /// File of studies, created if missing: people can take the test, and everything else requires a token
    #[arg(long, value_name = "FILE.db")]
    study: Option<PathBuf>,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    server: ServerArgs,
    /// Port to listen on; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 8080)]
    port: u16,
    /// Address to listen on; any but this machine's own loopback asks every visitor for a token
    #[arg(long, value_name = "ADDR", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// Name by which browsers call this machine, besides `localhost` and its address
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// File that holds the researcher's token [default: a new one each time]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// Opens everything, prints the addresses, serves until it is stopped.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let store = options.study.as_deref().map(Store::open).transpose().map_err(Error::from)?;
    let token = match (&options.token_file, store.is_some() || !options.listen.is_loopback()) {
        (Some(path), _) => Some(read_token(path)?),
        (None, true) => Some(keys::token().map_err(Error::from)?),
        (None, false) => None,
    };
    let mut opened = CatalogueOptions {
        sets: options.sets.clone(),
        predictions: options.predictions.clone(),
        ..CatalogueOptions::default()
    };
    for model in &options.models {
        match model {
            ModelArgument::Folder(folder) => opened.models.push(folder.clone()),
            ModelArgument::Server(address) => {
                let model = LanguageModel::connect(address, options.server.options(&[])?)?;
                opened.others.push(model.into_answerer());
            }
        }
    }
    let catalogue = Arc::new(catalogue(opened, &options.selection.options(), progress)?);
    let at = SocketAddr::new(options.listen, options.port);
    let refused = |reason| page::Error::Listen { address: at.to_string(), reason };
    let listener = TcpListener::bind(at).map_err(refused).map_err(Error::from)?;
    let at = listener.local_addr()?;
    announce(at, token.as_deref(), store.as_ref())?;
    let key = store
        .as_ref()
        .map_or_else(Key::random, |store| Ok(store.key().clone()))
        .map_err(Error::from)?;
    let models = Arc::clone(&catalogue);
    std::thread::spawn(move || models.answer_all());
    let site = Site {
        catalogue,
        store,
        token,
        key,
        hosts: options.host.clone(),
        limits: Limits::default(),
        now: unix_seconds,
        on_error: |error| warn(format_args!("{error}")),
        studies: Mutex::new(BTreeMap::new()),
    };
    let limits = site.limits;
    Ok(page::serve(listener, page::router(Arc::new(site)), limits).map_err(Error::from)?)
}

fn read_token(path: &Path) -> Result<String> {
    let token = std::fs::read_to_string(path).map_err(Error::io(path))?.trim().to_owned();
    if token.chars().count() < SHORTEST_TOKEN {
        let message = format!("{}: expected {SHORTEST_TOKEN} characters or more", path.display());
        return Err(CliError::Setting { what: "token", message }.into());
    }
    Ok(token)
}

/// Prints where the page is, and where each study begins.
fn announce(at: SocketAddr, token: Option<&str>, store: Option<&Store>) -> Result<()> {
    let door = token.map_or(String::new(), |token| format!("enter?token={token}"));
    let whose = if token.is_some() { "for you alone" } else { "this machine only" };
    super::print(format_args!("http://{at}/{door}  {whose}\n"))?;
    for listed in store.map(study::list).transpose().map_err(Error::from)?.unwrap_or_default() {
        if listed.is_open {
            let (code, name) = (&listed.code, &listed.name);
            super::print(format_args!("http://{at}/study/{code}  for annotators: {name}\n"))?;
        }
    }
    Ok(std::io::stdout().flush()?)
}
