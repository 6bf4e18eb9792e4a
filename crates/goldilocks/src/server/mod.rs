//! Language models on servers: an address and questions → predictions, with what the server said kept next to them.

mod address;
mod connection;
mod details;
mod model;
#[cfg(test)]
mod tests;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evaluation::{Prediction, Predictions};
use models::{Program, Provenance};
use questions::{Control, QuestionSet};
use serde::{Deserialize, Serialize};
use servers::{
    LeakCount, LeakPassage, Probe, ProbeFigures, Scoring, Server, ServerSettings, Transport,
};

pub use self::address::{Keys, ServerAddress};
pub use self::details::Detail;
pub use self::model::ServerCounts;

use self::connection::Connection;
use self::details::Details;
use self::model::{ServerModel, unwrapped};
use crate::answer::questions_of;
use crate::{AnswerFile, AnswerOptions, AnswerProvenance, Error, Reporter, Result};

/// How a server is asked.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// What is asked of it.
    pub settings: ServerSettings,
    /// Questions that are asked at the same time; none: as many as the server can.
    pub in_flight: Option<NonZeroUsize>,
    /// Tokens that may be used; needed for servers that are not on this machine.
    pub budget: Option<u64>,
    /// The longest wait for an answer.
    pub timeout: Duration,
    /// Keys from the environment.
    pub keys: Keys,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            settings: ServerSettings::default(),
            in_flight: None,
            budget: None,
            timeout: Duration::from_secs(120),
            keys: Keys::default(),
        }
    }
}

/// A server that was probed and can be asked.
pub struct LanguageModel {
    address: String,
    options: ServerOptions,
    transport: Box<dyn Transport>,
    probe: Probe,
}

/// What predictions of a server were made from, written next to them as TOML.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServerRun {
    /// The address without user, key or path.
    pub address: String,
    /// How many questions are answered at the same time.
    pub in_flight: usize,
    /// Seed of letters, shuffled sentences and renamed entities.
    pub seed: String,
    /// The content of the questions, per set.
    pub questions: Vec<String>,
    /// What was taken away from the questions.
    pub controls: Vec<String>,
    /// The program that asked.
    pub program: Program,
    /// The server that answered.
    pub server: Server,
    /// How it was asked.
    pub settings: ServerSettings,
    /// What the probe measured.
    pub probe: ProbeFigures,
    /// Questions and tokens, counted.
    pub counts: ServerCounts,
}

impl LanguageModel {
    /// Connects to a server and probes it.
    ///
    /// # Errors
    /// [`Error::Servers`] if the server does not answer or its figures would mean nothing; [`Error::InvalidOption`]
    /// for a server elsewhere without a budget, and for a key that would be sent unencrypted.
    pub fn connect(address: &ServerAddress, options: ServerOptions) -> Result<Self> {
        if !address.is_loopback() && options.budget.is_none() {
            return Err(Error::InvalidOption {
                what: "budget",
                message: format!(
                    "expected the number of tokens that may be used: {address} is not on this machine, gets the \
                     texts and may cost money"
                ),
            });
        }
        let connection = Connection::new(address, &options.keys, options.timeout)?;
        Self::over(Box::new(connection), address.to_string(), address.is_anthropic(), options)
    }

    /// Probes whoever answers over a transport of one's own.
    ///
    /// # Errors
    /// Those of [`servers::probe`].
    pub fn over(
        transport: Box<dyn Transport>,
        address: String,
        is_anthropic: bool,
        options: ServerOptions,
    ) -> Result<Self> {
        let probe = servers::probe(&*transport, &options.settings, is_anthropic)?;
        Ok(Self { address, options, transport, probe })
    }

    /// What the probe found out.
    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Questions that are asked at the same time.
    pub fn in_flight(&self) -> NonZeroUsize {
        let n_slots = self.probe.server.n_slots.and_then(NonZeroUsize::new);
        let four = NonZeroUsize::MIN.saturating_add(3);
        match (self.options.in_flight, n_slots) {
            // A slot keeps the context of one question.
            (Some(asked), Some(n_slots)) => asked.min(n_slots),
            (Some(asked), None) => asked,
            (None, n_slots) => n_slots.unwrap_or(four),
        }
    }

    /// The model for a page: it is asked what a visitor asks for, and nothing is kept.
    #[cfg(feature = "page")]
    pub fn into_answerer(self) -> page::NewAnswerer {
        let in_flight = self.in_flight();
        let name = self.probe.server.model.clone();
        let model = ServerModel {
            transport: self.transport,
            probe: self.probe,
            settings: self.options.settings,
            seed: 1,
            in_flight,
            budget: self.options.budget,
            details: None,
            counts: Mutex::default(),
        };
        page::NewAnswerer {
            label: name.clone(),
            name,
            model: Some(Arc::new(model)),
            predictions: None,
            learnt_from: Vec::new(),
            on_request: true,
        }
    }

    /// How many passages of a set, and of the tales, the model continues as the text does.
    ///
    /// # Errors
    /// [`Error::Servers`] if the server fails.
    pub fn leaks(&self, passages: &[LeakPassage]) -> Result<LeakCount> {
        let protocol = self.probe.protocol.as_ref().ok_or_else(|| servers::Error::NoLogProbs {
            name: self.probe.server.kind.name().to_owned(),
        })?;
        Ok(servers::leaks(&*self.transport, &**protocol, passages)?)
    }

    /// Answers the questions of sets into a predictions file, and writes what the server said and who it is next to
    /// it: `some.details.jsonl`, `some.toml` and, for the score by the whole query, `some.candidate.jsonl` with that
    /// of the candidate alone.
    ///
    /// # Errors
    /// Those of [`AnswerFile::answer`] and [`Error::Servers`]. What was answered is kept.
    pub fn answer(
        self,
        sets: &[(QuestionSet, AnswerOptions)],
        output: &Path,
        may_replace: bool,
        reporter: &dyn Reporter,
    ) -> Result<(Predictions, ServerRun)> {
        let seed = sets.first().map_or(1, |(_, options)| options.seed);
        let in_flight = self.in_flight();
        let path = Details::path_for(output);
        let is_new = !output.exists() || may_replace;
        let details = Details::open(&path, &self.header(seed), may_replace && is_new)?;
        let model = Arc::new(ServerModel {
            transport: self.transport,
            probe: self.probe,
            settings: self.options.settings.clone(),
            seed,
            in_flight,
            budget: self.options.budget,
            details: Some(details),
            counts: Mutex::default(),
        });
        let mut file = AnswerFile::open(output, reporter)?;
        let as_model: Arc<dyn models::Model> = model.clone();
        for (set, options) in sets {
            let from = AnswerProvenance::new(&model.provenance(), set.fingerprint(), options);
            file.answer(&as_model, set, options, &from).map_err(unwrapped)?;
        }
        // The exact scores, where the file of a run that resumes has rounded ones.
        let exact = exact(&model, sets)?;
        let counts = ServerCounts::of(&exact, model.lock().asked);
        let run = ServerRun {
            address: self.address,
            in_flight: in_flight.get(),
            seed: seed.to_string(),
            questions: sets.iter().map(|(set, _)| set.fingerprint()).collect(),
            controls: sets.first().map_or(Vec::new(), |(_, options)| {
                options.controls.iter().map(|control| format!("{control:?}")).collect()
            }),
            program: Program::new(""),
            server: model.probe.server.clone(),
            settings: model.settings.clone(),
            probe: model.probe.figures.clone(),
            counts,
        };
        let rescored = |place: usize, prediction: Prediction| {
            prediction.rescored(model.scores(exact[place].clone()), seed)
        };
        // The predictions come last: until they are in their place, the same command resumes.
        let predictions = file.finish_with(rescored, |predictions| {
            if model.settings.scoring == Scoring::Query {
                write_candidate_scores(output, predictions, &exact, seed)?;
            }
            write_run(&output.with_extension("toml"), &run)
        })?;
        Ok((predictions, run))
    }

    /// Who is asked, and how: answers of others are not taken.
    fn header(&self, seed: u64) -> serde_json::Value {
        let settings = &self.options.settings;
        let is_choice = settings.scoring == Scoring::Choice;
        serde_json::json!({
            "format": 1,
            "server": self.probe.server,
            "scoring": if is_choice { "choice" } else { "log-probabilities" },
            "method": settings.method,
            "text": settings.text,
            "seed": if is_choice { seed.to_string() } else { String::new() },
        })
    }
}

/// What the server said about each question, in the order of the predictions.
fn exact(model: &ServerModel, sets: &[(QuestionSet, AnswerOptions)]) -> Result<Vec<Detail>> {
    let (mut buffers, mut list) = (Vec::new(), Vec::new());
    for (set, options) in sets {
        for (index, _) in questions_of(set, options) {
            let question =
                Control::apply_all(&options.controls, set.example(index).question, &mut buffers);
            let key = model.key(&question);
            let known = model.details.as_ref().and_then(|details| details.get(&key));
            // A file of details that was removed between two runs.
            list.push(known.map_or_else(|| model.detail(&question, 0), Ok)?);
        }
    }
    Ok(list)
}

impl ServerModel {
    fn provenance(&self) -> Provenance {
        let server =
            serde_json::to_string(&self.probe.server).expect("texts and numbers can be written");
        let settings =
            serde_json::to_string(&self.settings).expect("texts and numbers can be written");
        Provenance {
            model: "server".to_owned(),
            data: String::new(),
            seed: self.seed,
            program: Program::new(""),
            settings: [("server".to_owned(), server), ("settings".to_owned(), settings)].into(),
        }
    }
}

/// Writes the same predictions, scored by the candidate alone.
fn write_candidate_scores(
    output: &Path,
    predictions: &Predictions,
    exact: &[Detail],
    seed: u64,
) -> Result<()> {
    let path = output.with_extension("candidate.jsonl");
    let pairs = predictions.iter().zip(exact);
    let list =
        pairs.map(|(prediction, detail)| prediction.rescored(detail.candidate.clone(), seed));
    Ok(Predictions::new(path.display().to_string(), list.collect())?.write(&path)?)
}

fn write_run(path: &Path, run: &ServerRun) -> Result<()> {
    let corrupt = |error: toml::ser::Error| Error::Corrupt {
        path: path.to_owned(),
        message: error.to_string(),
    };
    let text = toml::to_string(run).map_err(corrupt)?;
    crate::write_file(path, &text)
}

/// About how many tokens the questions of a set are, before anybody is asked.
pub fn estimated_tokens(
    set: &QuestionSet,
    options: &AnswerOptions,
    settings: &ServerSettings,
) -> u64 {
    let mut buffers = Vec::new();
    let ids = questions_of(set, options);
    let tokens = ids.iter().map(|&(index, _)| {
        let question =
            Control::apply_all(&options.controls, set.example(index).question, &mut buffers);
        let tokens = servers::FilledQuestion::new(&question, settings.text, 0).estimated_tokens();
        match settings.scoring {
            Scoring::Choice => tokens / 10 * settings.rotations as u64,
            _ => tokens,
        }
    });
    tokens.sum()
}

/// How many questions of a set are answered.
pub fn n_questions(set: &QuestionSet, options: &AnswerOptions) -> usize {
    questions_of(set, options).len()
}

/// Passages of a set's books to continue, and passages of the tales, which no model can have memorised.
pub fn leak_passages(set: &QuestionSet, n: usize, seed: u64) -> [Vec<LeakPassage>; 2] {
    let mut sentences: Vec<Vec<&str>> = Vec::new();
    // Contexts of neighbouring questions overlap: one in twenty is enough.
    for example in set.examples().step_by(20) {
        let question = example.question;
        sentences.extend(
            question
                .context
                .iter()
                .map(|sentence| sentence.iter().map(|&word| question.word(word)).collect()),
        );
    }
    let tales: Vec<Vec<String>> =
        corpus::tales::TALES.iter().flat_map(|tale| corpus::tokenise(tale.text)).collect();
    let fresh: Vec<Vec<&str>> =
        tales.iter().map(|sentence| sentence.iter().map(String::as_str).collect()).collect();
    [servers::passages_of(&sentences, n, seed), servers::passages_of(&fresh, n, seed)]
}

/// What a predictions file of a server was made from, and in words how it was asked; none for other files.
///
/// # Errors
/// If the file next to it can't be read.
pub fn server_run(predictions: &Path) -> Result<Option<(ServerRun, String)>> {
    let name = predictions.to_string_lossy();
    let of_query = name.strip_suffix(".candidate.jsonl");
    let path: PathBuf = match of_query {
        Some(stem) => format!("{stem}.toml").into(),
        None => predictions.with_extension("toml"),
    };
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
    let Ok(run) = toml::from_str::<ServerRun>(&text) else { return Ok(None) };
    let scoring = match run.settings.scoring {
        _ if of_query.is_some() => "candidate alone",
        Scoring::Query => "whole query",
        Scoring::Candidate => "candidate alone",
        Scoring::Choice => "choice of a letter",
    };
    let asked = run
        .controls
        .iter()
        .fold(scoring.to_owned(), |asked, control| asked + ", " + &words_of(control));
    Ok(Some((run, asked)))
}

/// `ShuffledSentences { seed: 1 }` is `shuffled sentences`.
fn words_of(control: &str) -> String {
    let name = control.split(' ').next().unwrap_or_default();
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}
