//! Exclusion of co-occurrences (§5, last row of the CNN table): candidates that occur in the query are
//! removed from the choice.
//!
//! The output keeps all candidates, as the question set has them; the removed ones get probability 0
//! and the others their share of the rest.

use crate::ensemble::Scores;
use crate::{Error, MatchedPredictions, Prediction, Predictions};

/// Removes the candidates that occur in their query and gives the predictions a new name; ties are broken by
/// the seed. Where all candidates are in the query, all stay.
///
/// # Errors
/// Those of [`Predictions::new`]; none for predictions that were matched.
pub fn exclude_cooccurrences(
    name: &str,
    matched: &MatchedPredictions<'_>,
    seed: u64,
) -> Result<Predictions, Error> {
    let kind = Scores::of(matched.predictions());
    let exclude = |(prediction, example): (&Prediction, questions::Example<'_>)| {
        let question = &example.question;
        let stays: Vec<bool> = question
            .candidates
            .iter()
            .map(|candidate| !question.query.contains(candidate))
            .collect();
        prediction.rescored(renormalise(kind, &prediction.scores, &stays), seed)
    };
    Predictions::new(name, matched.iter().map(exclude).collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_against;
    use crate::testing::{question_set, valid_predictions};

    #[test]
    fn a_candidate_of_the_query_loses_to_the_others() {
        let set = question_set();
        // The second question has `jug` in its query, the first has not.
        let predictions = valid_predictions(&set, [[-1.0, 3.0], [-1.0, 3.0]]);
        let matched = check_against(predictions, &set).unwrap();
        let excluded = exclude_cooccurrences("excluded", &matched, 1).unwrap();
        let chosen: Vec<&str> =
            excluded.iter().map(|p| p.candidates[p.predicted].as_str()).collect();
        assert_eq!(chosen, ["Goose", "jug"]);
        assert_eq!(excluded.iter().next().unwrap().scores, [1.0, 0.0]);
        check_against(excluded, &set).unwrap();
    }

    #[test]
    fn the_rest_keeps_its_proportions() {
        let shares = renormalise(Scores::Distributions, &[0.5, 0.1, 0.4], &[false, true, true]);
        assert!((shares[1] - 0.2).abs() < 1e-12 && (shares[2] - 0.8).abs() < 1e-12);
        // exp(−2000) is 0 next to exp(0), yet it is all that stays.
        let shares = renormalise(Scores::LogWeights, &[0.0, -2000.0], &[false, true]);
        assert_eq!(shares, [0.0, 1.0]);
    }

    #[test]
    fn nothing_left_or_nothing_known_is_shared_evenly() {
        assert_eq!(renormalise(Scores::Distributions, &[0.7, 0.3], &[false, false]), [0.7, 0.3]);
        let shares = renormalise(Scores::Distributions, &[1.0, 0.0, 0.0], &[false, true, true]);
        assert_eq!(shares, [0.0, 0.5, 0.5]);
    }
}
