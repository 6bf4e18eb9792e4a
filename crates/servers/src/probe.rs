//! [`probe`]: what a server can do, and whether its figures are meaningful.
//!
//! Servers and models fail silently: an `echo` that is ignored, a list that is shifted by one token, a BOS token that
//! is missing or doubled all give figures, and accuracies near chance. Each is looked for with a few requests before
//! the first question is asked.

use serde::{Deserialize, Serialize};

use crate::pieces::checked;
use crate::protocol::choice::MultipleChoice;
use crate::protocol::{self, Protocol, RequestOptions, Usage};
use crate::{
    Error, FilledQuestion, Result, Scoring, Server, ServerSettings, Transport, score_pieces,
};

/// Beginnings with a word that fits and one that does not.
const PAIRS: [(&str, &str, &str); 5] = [
    ("one two three four five six seven", "eight", "cheese"),
    ("Monday, Tuesday, Wednesday, Thursday,", "Friday", "purple"),
    ("The children ran out of the house and into the", "garden", "although"),
    ("Once upon a", "time", "gravel"),
    ("He opened his mouth but did not say a", "word", "happily"),
];

/// How much better, in nats, the word that fits must be.
const LEAST_GAP: f64 = 3.0;

/// How far log-probabilities of the same token may be apart, in nats. Kernels for weights of 4 bits round differently
/// when they compute one token and when they compute several.
const TOLERANCE: f64 = 0.2;

/// How far scores of the same question may be apart, in nats.
const MOST_NOISE: f64 = 0.5;

/// A passage whose name comes back after some sentences.
const STORY: &str = "The old miller had a servant whose name was Bartholomew. The mill was built of grey stone. \
    Every morning the wheel began to turn before the sun was up. The road to the village was long. In winter the \
    pond froze and the children came to skate. There were two cats in the barn. The younger one was lazy. On market \
    days the miller rode into town. He sold flour and bought salt. One evening the wheel stopped.";

/// What the probe measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeFigures {
    /// By how many nats a word that fits is better than one that does not, for each pair.
    pub gaps: Vec<f64>,
    /// The largest difference between scores of the same question.
    pub noise: f64,
    /// By how many nats a name gains when a passage mentions it.
    pub context_gain: f64,
    /// The log-probability of a token when generated, less that of the same token when given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated_less_given: Option<f64>,
}

/// A server that passed the probe.
pub struct Probe {
    /// The program and its model.
    pub server: Server,
    /// How log-probabilities are asked for; none: by [`MultipleChoice`].
    pub protocol: Option<Box<dyn Protocol>>,
    /// What was measured; nothing for a chat.
    pub figures: ProbeFigures,
    /// The tokens that the probe itself used.
    pub usage: Usage,
}

/// Finds out who answers, chooses how to ask, and checks the answers.
///
/// # Errors
/// If nothing answers, or if the server's figures would be meaningless: each case has its [`Error`].
pub fn probe(
    transport: &dyn Transport,
    settings: &ServerSettings,
    is_anthropic: bool,
) -> Result<Probe> {
    let server = Server::identify(transport, settings.name.as_deref(), is_anthropic)?;
    if settings.scoring == Scoring::Choice {
        let (_, usage) = MultipleChoice::new(&server, 0, 1).greet(transport)?;
        return Ok(Probe { server, protocol: None, figures: ProbeFigures::default(), usage });
    }
    let protocol = protocol::protocol_of(&server, settings.method)?;
    let mut checks = Checks { transport, protocol: &*protocol, usage: Usage::default() };
    let mut figures =
        ProbeFigures { generated_less_given: checks.crossed()?, ..ProbeFigures::default() };
    for (text, sensible, absurd) in PAIRS {
        let gap = checks.gap(&format!("{text} "), sensible, absurd, true)?;
        figures.gaps.push(gap);
        if gap <= LEAST_GAP && !settings.untrained {
            return Err(Error::NoSense { text, sensible, absurd, gap, least: LEAST_GAP });
        }
    }
    let asked = "\"Where are you, ";
    let with = format!("{STORY} {asked}");
    let first = checks.gap(&with, "Bartholomew", "Cornelius", true)?;
    figures.context_gain = first - checks.gap(asked, "Bartholomew", "Cornelius", true)?;
    for may_cache in [true, false] {
        let again = checks.gap(&with, "Bartholomew", "Cornelius", may_cache)?;
        figures.noise = figures.noise.max((again - first).abs());
    }
    if figures.noise > MOST_NOISE {
        return Err(Error::Noisy { spread: figures.noise });
    }
    let usage = checks.usage;
    Ok(Probe { server, protocol: Some(protocol), figures, usage })
}

struct Checks<'a> {
    transport: &'a dyn Transport,
    protocol: &'a dyn Protocol,
    usage: Usage,
}

impl Checks<'_> {
    /// How much more probable one word is than another after a text, in nats.
    fn gap(&mut self, before: &str, one: &str, other: &str, may_cache: bool) -> Result<f64> {
        let texts = [one, other].map(|word| format!("{before}{word}."));
        let candidates = [one, other].map(|word| before.len()..before.len() + word.len());
        let filled = FilledQuestion { texts: texts.into(), candidates: candidates.into() };
        let options = RequestOptions { slot: 0, may_cache };
        let (pieces, usage) = self.protocol.score(self.transport, &filled, options)?;
        self.usage = self.usage.plus(usage);
        let scores = score_pieces(&filled, &pieces)?;
        Ok(scores[0].candidate - scores[1].candidate)
    }

    /// The log-probability of a token when it is generated, less that of the same token when it is given: 0 but for
    /// rounding. None where the tokeniser splits no text so that the two can be compared.
    fn crossed(&mut self) -> Result<Option<f64>> {
        for (text, ..) in PAIRS {
            let next = self.protocol.next(self.transport, text)?;
            if next.text.contains('\u{fffd}') {
                continue;
            }
            let generated = checked(&next)?;
            if next.text.trim().is_empty() {
                continue;
            }
            let filled = FilledQuestion {
                texts: vec![format!("{text}{}", next.text)],
                candidates: vec![std::ops::Range::default()],
            };
            let options = RequestOptions { slot: 0, may_cache: true };
            let (pieces, usage) = self.protocol.score(self.transport, &filled, options)?;
            self.usage = self.usage.plus(usage);
            let Some(last) = pieces.first().and_then(|pieces| pieces.last()) else { continue };
            if last.text != next.text {
                continue;
            }
            let given = checked(last)?;
            if (generated - given).abs() > TOLERANCE {
                return Err(Error::Shifted { generated, given });
            }
            return Ok(Some(generated - given));
        }
        Ok(None)
    }
}
