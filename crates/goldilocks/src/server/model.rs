//! A language model on a server as a [`Model`]: what `answer` needs to ask it.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base::Vocabulary;
use models::{Concurrency, Model, Scorer, Scores};
use questions::Question;
use servers::{
    ChoiceOutcome, Error as ServerError, FilledQuestion, MultipleChoice, Probe, RequestOptions,
    Scoring, ServerSettings, Transport, Usage, score_pieces,
};

use super::details::{Detail, Details};
use crate::{Error, Result};

/// After this many questions it is an error if one in twenty has equal scores for all candidates.
const ENOUGH: usize = 40;

/// What was counted while questions were answered.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ServerCounts {
    /// Questions that were asked in this run.
    pub asked: usize,
    /// Questions whose answers an earlier run had left.
    pub known: usize,
    /// Questions whose context had to be cut.
    pub cut: usize,
    /// Sentences that were left out of them.
    pub sentences_cut: usize,
    /// Questions whose candidates have equal scores.
    pub equal: usize,
    /// Chat: replies that refuse.
    pub refused: usize,
    /// Chat: replies without a letter.
    pub unparsable: usize,
    /// Chat: how often each letter was chosen.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub letters: std::collections::BTreeMap<char, usize>,
    /// What the server counted, for all questions, those of earlier runs included.
    pub usage: Usage,
}

impl ServerCounts {
    /// The counts of a whole file, of which this run has asked some.
    pub(super) fn of(details: &[Detail], asked: usize) -> Self {
        let mut counts =
            Self { asked, known: details.len() - asked.min(details.len()), ..Self::default() };
        for detail in details {
            counts.cut += usize::from(detail.cut > 0);
            counts.sentences_cut += detail.cut;
            counts.equal += usize::from(detail.is_equal());
            counts.usage = counts.usage.plus(detail.usage);
            for reply in &detail.replies {
                match reply.chosen {
                    ChoiceOutcome::Refused => counts.refused += 1,
                    ChoiceOutcome::Unparsable => counts.unparsable += 1,
                    ChoiceOutcome::Candidate(_) => {}
                }
                if let Some(letter) = reply.letter {
                    *counts.letters.entry(letter).or_default() += 1;
                }
            }
        }
        counts
    }
}

/// A model on a server, ready to be asked.
pub(super) struct ServerModel {
    pub transport: Box<dyn Transport>,
    pub probe: Probe,
    pub settings: ServerSettings,
    pub seed: u64,
    pub in_flight: NonZeroUsize,
    pub budget: Option<u64>,
    pub details: Option<Details>,
    pub counts: Mutex<ServerCounts>,
}

impl ServerModel {
    /// The key of a question: what is asked, and for a chat in which order.
    pub(super) fn key(&self, question: &Question<'_>) -> String {
        let key = FilledQuestion::new(question, self.settings.text, 0).key();
        match self.settings.scoring {
            Scoring::Choice => format!("{key}-{}-{}", self.settings.rotations, self.seed),
            _ => key,
        }
    }

    /// The answer to a question, from the file or from the server.
    pub(super) fn detail(&self, question: &Question<'_>, slot: usize) -> Result<Detail> {
        let key = self.key(question);
        let known = self.details.as_ref().and_then(|details| details.get(&key));
        let is_known = known.is_some();
        let detail = match known {
            Some(detail) => detail,
            None => {
                self.check_budget(question)?;
                let detail = self.ask(question, key, slot)?;
                if let Some(details) = &self.details {
                    details.add(&detail)?;
                }
                detail
            }
        };
        self.count(&detail, is_known)?;
        Ok(detail)
    }

    /// Asks, and leaves out sentences from the start of the context until it fits.
    fn ask(&self, question: &Question<'_>, key: String, slot: usize) -> Result<Detail> {
        let mut cut = 0;
        loop {
            let result = match &self.probe.protocol {
                Some(_) => self.log_probs(question, cut, slot),
                None => self.choice(question, cut),
            };
            match result {
                Ok(detail) => return Ok(Detail { key, cut, ..detail }),
                Err(ServerError::TooLong { .. }) if cut < question.context.len() => cut += 1,
                Err(ServerError::TooLong { message }) => {
                    return Err(ServerError::QueryTooLong { message }.into());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn log_probs(
        &self,
        question: &Question<'_>,
        cut: usize,
        slot: usize,
    ) -> Result<Detail, ServerError> {
        let filled = FilledQuestion::new(question, self.settings.text, cut);
        let n_slots = self.probe.server.n_slots.unwrap_or(usize::MAX).max(1);
        let options = RequestOptions { slot: slot % n_slots, may_cache: true };
        let protocol = self.probe.protocol.as_ref().expect("it scores by log-probabilities");
        let (pieces, usage) = protocol.score(&*self.transport, &filled, options)?;
        let scores = score_pieces(&filled, &pieces)?;
        Ok(Detail {
            key: String::new(),
            query: scores.iter().map(|score| score.query).collect(),
            candidate: scores.iter().map(|score| score.candidate).collect(),
            tokens: scores.iter().map(|score| score.n_tokens).collect(),
            cut,
            replies: Vec::new(),
            usage,
        })
    }

    fn choice(&self, question: &Question<'_>, cut: usize) -> Result<Detail, ServerError> {
        let choice = MultipleChoice::new(&self.probe.server, self.seed, self.settings.rotations);
        let (replies, usage) = choice.ask(&*self.transport, question, cut)?;
        let mut query = vec![0.0; question.candidates.len()];
        for reply in &replies {
            if let ChoiceOutcome::Candidate(place) = reply.chosen {
                query[place] += 1.0 / replies.len() as f64;
            }
        }
        Ok(Detail {
            key: String::new(),
            query,
            candidate: Vec::new(),
            tokens: Vec::new(),
            cut,
            replies,
            usage,
        })
    }

    /// Stops before a question that could cost more than what is left.
    fn check_budget(&self, question: &Question<'_>) -> Result<()> {
        let Some(budget) = self.budget else { return Ok(()) };
        let used = self.lock().usage.tokens();
        let needed = FilledQuestion::new(question, self.settings.text, 0).estimated_tokens();
        let needed = if self.probe.protocol.is_some() {
            needed
        } else {
            needed / 10 * self.settings.rotations as u64
        };
        if used + needed > budget {
            return Err(ServerError::Budget { used, budget }.into());
        }
        Ok(())
    }

    fn count(&self, detail: &Detail, is_known: bool) -> Result<()> {
        let mut counts = self.lock();
        counts.known += usize::from(is_known);
        if !is_known {
            counts.asked += 1;
            counts.usage = counts.usage.plus(detail.usage);
        }
        counts.equal += usize::from(detail.is_equal());
        let n = counts.asked + counts.known;
        if n >= ENOUGH && counts.equal * 20 > n {
            return Err(ServerError::AllEqual { n_equal: counts.equal, n }.into());
        }
        Ok(())
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, ServerCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scores that the setting asks for.
    pub(super) fn scores(&self, detail: Detail) -> Vec<f64> {
        if self.settings.scoring == Scoring::Candidate { detail.candidate } else { detail.query }
    }
}

impl Model for ServerModel {
    fn scorer(self: Arc<Self>, _: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        Box::new(ServerScorer { model: self, slot: 0, n_forks: Arc::new(AtomicUsize::new(1)) })
    }

    /// There is nothing to save: the model is the server's.
    fn save(&self, _: &Path) -> models::Result<()> {
        Ok(())
    }
}

struct ServerScorer {
    model: Arc<ServerModel>,
    slot: usize,
    n_forks: Arc<AtomicUsize>,
}

impl Scorer for ServerScorer {
    fn concurrency(&self) -> Concurrency {
        Concurrency::InFlight(self.model.in_flight)
    }

    fn batch_size(&self) -> usize {
        1
    }

    fn score(&mut self, questions: &[Question<'_>], scores: &mut Scores) -> models::Result<()> {
        for question in questions {
            let detail = self.model.detail(question, self.slot).map_err(models::Error::external)?;
            scores.push(self.model.scores(detail).into_iter().map(|score| score as f32));
        }
        Ok(())
    }

    fn fork(&self) -> Box<dyn Scorer> {
        let slot = self.n_forks.fetch_add(1, Ordering::SeqCst);
        Box::new(Self { model: self.model.clone(), slot, n_forks: self.n_forks.clone() })
    }
}

/// The error of the library that a scorer's error carries.
pub(super) fn unwrapped(error: Error) -> Error {
    match error {
        Error::Models(models::Error::External(inner)) => match inner.downcast::<Error>() {
            Ok(error) => *error,
            Err(inner) => Error::Models(models::Error::External(inner)),
        },
        error => error,
    }
}
