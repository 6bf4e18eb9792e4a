//! Several models on the same questions, side by side: predictions → one row a question.

use std::collections::HashMap;

use crate::{Error, LineProblem, Prediction, Predictions};

/// One row a question, in the order of the first predictions; one prediction a model in each row.
///
/// # Errors
/// [`Error::OtherQuestions`] where one model has questions that the first lacks, or lacks some of its;
/// [`Error::Line`] where they disagree about a question's candidates or answer.
pub(crate) fn align<'a>(models: &[&'a Predictions]) -> Result<Vec<Vec<&'a Prediction>>, Error> {
    let Some((first, others)) = models.split_first() else { return Ok(Vec::new()) };
    let mut rows: Vec<Vec<&Prediction>> = first.iter().map(|prediction| vec![prediction]).collect();
    let row_of: HashMap<_, usize> = first.iter().map(key).zip(0..).collect();
    for other in others {
        only_in(first, other)?;
        only_in(other, first)?;
        for (line, prediction) in (1..).zip(other.iter()) {
            let row = &mut rows[row_of[&key(prediction)]];
            agree(first.name(), row[0], prediction).map_err(|problem| {
                let name = other.name().to_owned();
                Error::Line { name, line, problem: problem.into() }
            })?;
            row.push(prediction);
        }
    }
    Ok(rows)
}

/// A question may stand in two splits; within a split it is there once.
fn key(prediction: &Prediction) -> (Option<questions::Split>, &str) {
    (prediction.split, &prediction.id)
}

fn only_in(those: &Predictions, these: &Predictions) -> Result<(), Error> {
    let known: std::collections::HashSet<_> = these.iter().map(key).collect();
    let only = those.iter().filter(|prediction| !known.contains(&key(prediction)));
    let ids: Vec<String> = only.map(|prediction| prediction.id.clone()).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let (these, those) = (these.name().to_owned(), those.name().to_owned());
    Err(Error::OtherQuestions { these, those, ids })
}

fn agree(first: &str, expected: &Prediction, found: &Prediction) -> Result<(), LineProblem> {
    let differs = |key, expected: String, found: String| {
        Err(LineProblem::Differs { key, from: format!("`{first}`"), expected, found })
    };
    if expected.candidates != found.candidates {
        let quoted = |prediction: &Prediction| format!("`{}`", prediction.candidates.join("|"));
        return differs("candidates", quoted(expected), quoted(found));
    }
    if expected.answer != found.answer {
        let quoted = |prediction: &Prediction| match prediction.answer {
            Some(answer) => format!("`{}`", prediction.candidates[answer]),
            None => "none".to_owned(),
        };
        return differs("answer", quoted(expected), quoted(found));
    }
    Ok(())
}
