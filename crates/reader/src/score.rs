//! [`Accuracy`]: the validation questions answered as answering does, by Σ ln p of each text.

use std::collections::BTreeMap;
use std::fmt;

use base::WordClass;
use neural::Tables;
use serde::Serialize;

use crate::answering::Answerer;
use crate::passages::Key;
use crate::train::Run;
use crate::{Result, tune};

/// How many questions of each class were answered rightly.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Accuracy {
    /// By class: right ones and all.
    pub classes: BTreeMap<WordClass, [usize; 2]>,
}

impl Accuracy {
    /// The share of right ones of a class.
    pub fn of(&self, class: WordClass) -> Option<f64> {
        self.classes.get(&class).map(|&[right, n]| right as f64 / n as f64)
    }
}

impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (class, [right, n])) in self.classes.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            write!(f, "{comma}{} {:.3} ({right} of {n})", class.code(), *right as f64 / *n as f64)?;
        }
        Ok(())
    }
}

/// The accuracy of weights on the validation questions; none if there are no questions.
pub(crate) fn valid(run: &Run<'_>, weights: &Tables) -> Result<Option<Accuracy>> {
    let (config, prepared) = (&run.state.config, run.prepared);
    let (passages, shape) = tune::passages(run, &prepared.valid)?;
    if passages.is_empty() {
        return Ok(None);
    }
    let network = tune::chooser(config, prepared.pieces.len(), shape);
    let mut answerer = Answerer::new(run.compute, network, weights)?;
    let mut accuracy = Accuracy::default();
    let questions = passages.iter().flat_map(|passage| &passage.questions);
    for (question, sums) in questions.zip(answerer.of_shape(&passages, shape)?) {
        let Some(Key { class, answer }) = question.key else { continue };
        let best = sums.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        let of_class = accuracy.classes.entry(class).or_default();
        of_class[0] += usize::from(best.is_some_and(|(text, _)| text == answer));
        of_class[1] += 1;
    }
    Ok(Some(accuracy))
}
