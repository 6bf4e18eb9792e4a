//! Several models on the same questions: predictions → one row per question.

use std::collections::{HashMap, HashSet};

use crate::{Error, LineError, Prediction, Predictions};

/// One row per question, in the order of the first predictions, with one prediction per model.
///
/// # Errors
/// [`Error::OtherQuestions`] where one model has questions that the first lacks, or lacks some of its;
/// [`Error::Line`] where they disagree about a question: its candidates, answer, class or book.
pub(crate) fn align<'a>(models: &[&'a Predictions]) -> Result<Vec<Vec<&'a Prediction>>, Error> {
    let Some((first, others)) = models.split_first() else { return Ok(Vec::new()) };
    let mut rows: Vec<Vec<&Prediction>> = first.iter().map(|prediction| vec![prediction]).collect();
    let row_of: HashMap<_, usize> = first.iter().map(key).zip(0..).collect();
    for other in others {
        only_in(first, other)?;
        only_in(other, first)?;
        for (line, prediction) in (1..).zip(other.iter()) {
            let row = &mut rows[row_of[&key(prediction)]];
            agree(first.name(), row[0], prediction).map_err(|error| {
                let name = other.name().to_owned();
                Error::Line { name, line, error: error.into() }
            })?;
            row.push(prediction);
        }
    }
    Ok(rows)
}

/// A question may be in two splits; within a split it is there once.
fn key(prediction: &Prediction) -> (Option<base::Split>, &str) {
    (prediction.split, &prediction.id)
}

fn only_in(those: &Predictions, these: &Predictions) -> Result<(), Error> {
    let known: HashSet<_> = these.iter().map(key).collect();
    let only = those.iter().filter(|prediction| !known.contains(&key(prediction)));
    let id = |prediction: &Prediction| match prediction.split {
        Some(split) => format!("{} ({})", prediction.id, split.code()),
        None => prediction.id.clone(),
    };
    let ids: Vec<String> = only.map(id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let (these, those) = (these.name().to_owned(), those.name().to_owned());
    Err(Error::OtherQuestions { these, those, ids })
}

/// Checks that two models answered one question: all but scores and predictions must be the same.
fn agree(first: &str, expected: &Prediction, found: &Prediction) -> Result<(), LineError> {
    type Text = fn(&Prediction) -> Option<String>;
    let facts: [(&'static str, bool, Text); 4] = [
        ("candidates", expected.candidates == found.candidates, |p| Some(p.candidates.join("|"))),
        ("answer", expected.answer == found.answer, |p| Some(p.candidates[p.answer?].clone())),
        ("class", expected.class == found.class, |p| Some(p.class?.code().to_owned())),
        ("book", expected.book == found.book, |p| p.book.clone()),
    ];
    let Some((key, _, text)) = facts.into_iter().find(|(_, same, _)| !same) else { return Ok(()) };
    let quoted = |text: Option<String>| text.map_or("none".to_owned(), |text| format!("`{text}`"));
    let (expected, found) = (quoted(text(expected)), quoted(text(found)));
    Err(LineError::Differs { key, from: format!("`{first}`"), expected, found })
}
