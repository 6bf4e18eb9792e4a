//! Candidates that differ in case alone (With / with) look the same to a model that lower-cases: question
//! and scores → scores that tell them apart.
//!
//! Chosen: at the start of a sentence or of a quotation the twin with a capital gets nearly all of the
//! twins' probability, elsewhere the one without. The paper does not say what it did; scoring is strict.

use questions::Question;

use crate::lowercase::Lowercase;

/// The share of the probability that goes to the twins that don't fit.
const MISFIT: f32 = 0.05;

/// Words that a sentence or a quotation starts after.
const STARTERS: [&str; 8] = ["``", "`", "\"", ".", "?", "!", "--", ":"];

/// Adds to the log-probabilities of twins, which are equal, that of being the right one.
pub(crate) fn tell_apart(question: &Question<'_>, lowercase: &Lowercase, log_probs: &mut [f32]) {
    let form = |place: usize| lowercase.of(question.candidates[place]);
    let n = question.candidates.len();
    for place in 0..n {
        let twins = (0..n).filter(|&twin| form(twin) == form(place));
        let (fitting, misfits): (Vec<usize>, Vec<usize>) = twins.partition(|&twin| {
            let is_capital =
                question.word(question.candidates[twin]).starts_with(char::is_uppercase);
            is_capital == is_start(question)
        });
        if fitting.is_empty() || misfits.is_empty() {
            continue;
        }
        let share = if misfits.contains(&place) { MISFIT } else { 1.0 - MISFIT };
        log_probs[place] += share.ln();
    }
}

/// Whether a sentence or a quotation starts at the blank.
fn is_start(question: &Question<'_>) -> bool {
    match question.blank.checked_sub(1) {
        None => true,
        Some(before) => STARTERS.contains(&question.word(question.query[before])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::one_question;

    fn told_apart(query: &str, candidates: &[&str]) -> Vec<f32> {
        let set = one_question(&[], query, candidates);
        let mut scores = vec![0.0; candidates.len()];
        tell_apart(&set.example(0).question, &Lowercase::new(set.vocabulary()), &mut scores);
        scores
    }

    #[test]
    fn the_capital_belongs_to_the_start_of_a_sentence_or_quotation() {
        let (fits, misfits) = (0.95f32.ln(), 0.05f32.ln());
        for start in ["XXXXX a hat", "`` XXXXX a hat", "he said : `` XXXXX a hat"] {
            assert_eq!(told_apart(start, &["with", "in", "With"]), [misfits, 0.0, fits], "{start}");
        }
        for middle in ["came XXXXX a hat", "yes , XXXXX a hat"] {
            assert_eq!(
                told_apart(middle, &["with", "in", "With"]),
                [fits, 0.0, misfits],
                "{middle}"
            );
        }
    }

    #[test]
    fn twins_that_the_rule_can_not_tell_apart_stay_a_tie() {
        assert_eq!(told_apart("came XXXXX", &["With", "WITH", "in"]), [0.0, 0.0, 0.0]);
        let [capital, capitals, small] = told_apart("came XXXXX", &["With", "WITH", "with"])[..]
        else {
            panic!("one score a candidate")
        };
        assert!(capital == capitals && capitals < small);
    }
}
