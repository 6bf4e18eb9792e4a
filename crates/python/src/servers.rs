//! Language models on servers.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use goldilocks::evaluation::Predictions;
use goldilocks::server::{Keys, LanguageModel, ServerAddress, ServerOptions};
use pyo3::prelude::*;

use crate::errors::exception;
use crate::options::{AnswerArgs, positive};
use crate::predictions::PredictionList;
use crate::questions::QuestionList;
use crate::state;
use crate::work::Work;

/// A server that was probed.
#[pyclass(frozen, module = "goldilocks_cbt._native")]
pub struct ServerHandle {
    address: ServerAddress,
    options: ServerOptions,
    /// The probed server, which the first run takes; later runs probe again.
    probed: Mutex<Option<LanguageModel>>,
    /// The model, as the server names it.
    #[pyo3(get)]
    name: String,
}

/// How a server is asked.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ServerArgs {
    settings: Vec<String>,
    in_flight: Option<usize>,
    budget: Option<u64>,
    timeout: u64,
    /// The keys of any server, of OpenAI and of Anthropic.
    keys: (Option<String>, Option<String>, Option<String>),
}

/// Probes the server at an address and returns a handle.
#[pyfunction]
pub fn connect(
    py: Python<'_>,
    address: &str,
    asking: ServerArgs,
    work: Work,
) -> PyResult<ServerHandle> {
    let address = ServerAddress::parse(address).map_err(|error| exception(py, error))?;
    let in_flight = asking.in_flight.map(|n| positive(py, "in_flight", n)).transpose()?;
    let (any, openai, anthropic) = asking.keys;
    let mut options = ServerOptions {
        in_flight,
        budget: asking.budget,
        timeout: Duration::from_secs(asking.timeout.max(1)),
        keys: Keys { any, openai, anthropic },
        ..ServerOptions::default()
    };
    for text in &asking.settings {
        options.settings.set(text).map_err(|error| exception(py, error.into()))?;
    }
    let (asked, how) = (address.clone(), options.clone());
    let model = work.run(py, move |_| LanguageModel::connect(&asked, how))?;
    let name = model.probe().server.model.clone();
    Ok(ServerHandle { address, options, probed: Mutex::new(Some(model)), name })
}

#[pymethods]
impl ServerHandle {
    /// Answers questions; what the server said is kept next to the output.
    fn answer(
        &self,
        py: Python<'_>,
        questions: &QuestionList,
        answering: AnswerArgs,
        work: Work,
    ) -> PyResult<PredictionList> {
        answering.check_output(py)?;
        let options = answering.options(py)?;
        let set = questions.own(py)?;
        let probed = self.probed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (address, how) = (self.address.clone(), self.options.clone());
        let AnswerArgs { name, out, overwrite, .. } = answering;
        let answered = work.run(py, move |reporter| {
            let model = match probed {
                Some(model) => model,
                None => LanguageModel::connect(&address, how)?,
            };
            let sets = [((*set).clone(), options)];
            let answer = |path: PathBuf| model.answer(&sets, &path, overwrite, reporter);
            match out {
                Some(path) => Ok(answer(path)?.0),
                None => {
                    let folder = state::temporary()?;
                    let (answered, _) = answer(folder.path().join("answers.jsonl"))?;
                    Ok(Predictions::new(name, answered.iter().cloned().collect())?)
                }
            }
        })?;
        Ok(PredictionList::new(answered))
    }
}
