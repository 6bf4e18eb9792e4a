//! Exclusion of co-occurrences (§5, last row of the CNN table): candidates that stand in the query are
//! removed from the choice.
//!
//! The output keeps all candidates, as the question set has them; the removed ones get probability 0
//! and the others their share of the rest.

use crate::ensemble::Scores;
use crate::{Checked, Error, Prediction, Predictions};

/// Predictions without the candidates that stand in their query, under a new name; ties are drawn from
/// the seed. Where all candidates stand in the query, all stay.
///
/// # Errors
/// None for predictions that were checked; [`Predictions::new`] has the last word.
pub fn exclude_cooccurrences(
    name: &str,
    checked: &Checked<'_>,
    seed: u64,
) -> Result<Predictions, Error> {
    let kind = Scores::of(checked.predictions());
    let exclude = |(prediction, example): (&Prediction, questions::Example<'_>)| {
        let question = &example.question;
        let stays: Vec<bool> = question
            .candidates
            .iter()
            .map(|candidate| !question.query.contains(candidate))
            .collect();
        prediction.rescored(renormalise(kind, &prediction.scores, &stays), seed)
    };
    Predictions::new(name, checked.iter().map(exclude).collect())
}

/// The distribution over the candidates that stay, 0 for the others; over all where none stays.
fn renormalise(kind: Scores, scores: &[f64], stays: &[bool]) -> Vec<f64> {
    let kept: Vec<f64> =
        scores.iter().zip(stays).filter(|(_, stays)| **stays).map(|(score, _)| *score).collect();
    if kept.is_empty() {
        return kind.distribution(scores);
    }
    // The softmax is taken over the rest alone: its best candidate may have had no measurable share.
    let mut shares = kind.distribution(&kept);
    let sum: f64 = shares.iter().sum();
    if sum > 0.0 {
        shares.iter_mut().for_each(|share| *share /= sum);
    } else {
        // A distribution that gave the rest nothing at all leaves it even.
        shares.fill(1.0 / kept.len() as f64);
    }
    let mut shares = shares.into_iter();
    let mut next = || shares.next().expect("one share for each candidate that stays");
    stays.iter().map(|&stays| if stays { next() } else { 0.0 }).collect()
}
