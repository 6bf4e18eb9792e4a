//! Contextual LSTM, §4.4: an LSTM that attends to windows of the context at every word that it predicts
//! (Rush et al. 2015).
//!
//! It learns from running text with the sentences before each word as context, or from the training
//! questions, as the memory networks do.

use neural::{Attention, Cloze, Contexts, LstmLm, Merge, Sampler, Streams, Window};
use numerics::device::NO_TARGET;
use serde::Deserialize;

use crate::networks::family::{self, NetworkFamily, Source};
use crate::networks::learner::Pieces;
use crate::networks::lstm::{self, DEFAULTS, OF_LSTM, TIED};
use crate::networks::settings::{Defaults, N_SHARED, NetworkConfig, shared};
use crate::words::lexicon::END;
use crate::{Error, Method, Result, Setting};

const OWN: [Setting; 6] = [
    Setting::whole("window", "5", 1..=99)
        .symbol("w")
        .doc("Words of the context per window that is attended to; an even number means the next odd one."),
    Setting::whole("context", "20", 1..=1000)
        .doc("Sentences before a word that are its context in running text."),
    Setting::whole("max_words", "640", 1..=100_000)
        .doc("The greatest number of words in a context while training: those nearest to the word."),
    Setting::flag("burn_in", "false")
        .doc("Whether the context is also read before the query, as running text is while training."),
    Setting::choice("joining", "sum", &["sum", "concatenation"])
        .doc("How what was read of the context joins the state: added after a linear map, or concatenated."),
    Setting::choice("learns_from", "text", &["text", "questions"])
        .doc("Running text, or the training questions with their answers filled in."),
];

pub(crate) const METHOD: Method = Method {
    name: "contextual-lstm",
    section: "§4.4",
    summary: "LSTM language model that attends to windows of the context at every word.",
    settings: &Setting::join::<{ N_SHARED + 11 }>(&[
        &OWN,
        &shared(Defaults { dim: "256", clip: "10", ..DEFAULTS }),
        &OF_LSTM,
    ]),
    ..family::method::<Config>()
};

#[derive(Clone, Debug, Deserialize)]
struct Config {
    window: usize,
    context: usize,
    max_words: usize,
    burn_in: bool,
    #[serde(rename = "joining")]
    merge: Merge,
    learns_from: LearnsFrom,
    tied: bool,
    streams: usize,
    steps: usize,
    forgets: bool,
    #[serde(flatten)]
    shared: NetworkConfig,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LearnsFrom {
    Text,
    Questions,
}

impl Config {
    fn attention(&self) -> Result<Attention> {
        if self.merge == Merge::Concat && self.tied {
            return Err(Error::SettingValue {
                key: TIED.name,
                expected: "`false` where `joining` is `concatenation`".to_owned(),
                found: "true".to_owned(),
            });
        }
        Ok(Attention { window: self.window | 1, merge: self.merge })
    }
}

impl NetworkFamily for Config {
    type Network = LstmLm;
    type Pieces<'t> = ContextualPieces<'t>;

    fn network(&self, n_words: usize, sampler: Option<Sampler>) -> Result<LstmLm> {
        let attention = Some(self.attention()?);
        Ok(lstm::network(n_words, &self.shared, (self.tied, attention), sampler))
    }

    fn pieces<'t>(&self, source: &'t Source<'t>) -> (ContextualPieces<'t>, usize) {
        let streams =
            || Streams::new(&source.text, self.streams, self.steps).forgetting(self.forgets);
        match self.learns_from {
            LearnsFrom::Text => (ContextualPieces::Text(streams(), self.clone()), 1),
            LearnsFrom::Questions => {
                let places = source.part.answered();
                (ContextualPieces::Questions { source, places, config: self.clone() }, self.streams)
            }
        }
    }

    fn config(&self) -> &NetworkConfig {
        &self.shared
    }

    // §4.4: the context is what is attended to. Chosen: the query is read alone unless `burn_in`; whether the
    // paper's network reads the context too is not said.
    fn reads(&self, context: Vec<u32>, cloze: Cloze) -> Cloze {
        // In running text the end of the last sentence before is not attended to.
        let attended = context.strip_suffix(&[END]).unwrap_or(&context).to_vec();
        let read = if self.burn_in { family::with_burn_in(context, cloze) } else { cloze };
        Cloze { context: attended, ..read }
    }
}

/// What is learnt from: windows of running text, or questions.
enum ContextualPieces<'t> {
    Text(Streams<'t>, Config),
    Questions { source: &'t Source<'t>, places: Vec<u32>, config: Config },
}

impl Pieces for ContextualPieces<'_> {
    type Batch = Window;

    fn len(&self) -> usize {
        match self {
            Self::Text(streams, _) => streams.len(),
            Self::Questions { places, .. } => places.len(),
        }
    }

    fn is_running(&self) -> bool {
        matches!(self, Self::Text(..))
    }

    fn n_targets(&self, pieces: &[u32]) -> usize {
        match self {
            Self::Text(streams, _) => Pieces::n_targets(streams, pieces),
            Self::Questions { source, places, config } => {
                let n_targets = |&piece: &u32| {
                    let example = source.part.example(places[piece as usize] as usize);
                    config.steps.min(example.question.query.len() + 1)
                };
                pieces.iter().map(n_targets).sum()
            }
        }
    }

    fn batch(&self, pieces: &[u32]) -> Window {
        match self {
            Self::Text(streams, config) => {
                streams.window_with_contexts(pieces[0] as usize, config.context, config.max_words)
            }
            Self::Questions { source, places, config } => {
                let places: Vec<usize> =
                    pieces.iter().map(|&piece| places[piece as usize] as usize).collect();
                of_questions(source, &places, config)
            }
        }
    }
}

/// Queries with their answers as rows that begin with the end of sentence, each with its context; all windows
/// have the same size.
///
/// Chosen: what is longer than a window or a context is cut, the furthest words of the context first.
fn of_questions(source: &Source<'_>, places: &[usize], config: &Config) -> Window {
    let Config { streams, steps, max_words, .. } = *config;
    let mut window = Window {
        streams,
        words: vec![END; streams * steps],
        targets: vec![NO_TARGET; streams * steps],
        is_start: (0..streams * steps).map(|place| place < streams).collect(),
        contexts: None,
    };
    let mut contexts = Contexts {
        n: streams,
        words: vec![END; streams * max_words],
        bounds: vec![0; 2 * streams * steps],
    };
    for (row, &place) in places.iter().enumerate() {
        let (context, query) = source.answered(place);
        // As in running text and in answering, the end of the last sentence is not attended to.
        let context = context.strip_suffix(&[END]).unwrap_or(&context);
        let context = &context[context.len().saturating_sub(max_words)..];
        contexts.words[row * max_words..][..context.len()].copy_from_slice(context);
        for (step, pair) in query.windows(2).take(steps).enumerate() {
            let to = step * streams + row;
            (window.words[to], window.targets[to]) = (pair[0], pair[1]);
            contexts.bounds[2 * to + 1] = context.len() as u32;
        }
    }
    window.contexts = Some(contexts);
    window
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    fn config(texts: &[&str]) -> Config {
        Settings::from_text(&METHOD, texts.iter().copied()).unwrap().config()
    }

    #[test]
    fn a_concatenated_state_can_not_be_tied_to_the_embeddings() {
        let attention = config(&["tied=true", "window=4"]).attention().unwrap();
        assert_eq!(attention, Attention { window: 5, merge: Merge::Sum });
        let error = config(&["tied=true", "joining=concatenation"]).attention().unwrap_err();
        assert_eq!(
            error.to_string(),
            "wrong value of `tied`: expected `false` where `joining` is `concatenation`, found `true`"
        );
    }

    /// The context is `1 2. 3.`, the query `4 _ 5`.
    #[test]
    fn a_question_is_read_with_its_context_or_alone() {
        let cloze = Cloze { before: vec![END, 4], after: vec![5, END], ..Cloze::default() };
        let reads = |texts: &[&str]| config(texts).reads(vec![1, 2, END, 3, END], cloze.clone());
        let (with_burn_in, alone) = (reads(&["burn_in=true"]), reads(&[]));
        assert_eq!(with_burn_in.before, [END, 1, 2, END, 3, END, 4]);
        assert_eq!(alone.before, [END, 4]);
        assert_eq!((with_burn_in.context, alone.context), (vec![1, 2, END, 3], vec![1, 2, END, 3]));
    }
}
