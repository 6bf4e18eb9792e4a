//! Where a capital belongs, for models that read lower case (Appendix A) while scoring is strict: question and
//! log-probabilities of words → those of the words as they are written.
//!
//! Two families treat case differently, and both choices are ours; the paper does not say what it did.
//!
//! - **Memory networks and embedding models** give candidates that differ only in case the same score, so
//!   [`break_case_ties`] only has to choose among twins (With / with); candidates without a twin keep their score.
//!   Chosen: a capital fits at the start of a sentence or of a quotation, and where half of the candidates without a
//!   twin have one: then the answer is a name. Elsewhere a small letter fits. In 240,000 training questions this is
//!   right for 96 % of the answers that have a twin.
//! - **Language networks** that read lower case (Appendix A) return the probability of a whole sentence, in which
//!   the spelling of a word is one more thing to predict: [`add_case_log_prob`] multiplies p(with) by how well the
//!   capital or small letter fits, for every candidate. Chosen: a capital fits at the start of a sentence or of a quotation, and elsewhere if the context has
//!   the word with its capital elsewhere: then it is a name. A small letter fits where no sentence starts. Case twins
//!   that both fit stay a tie. Of the answers to the CBT's 8,000 validation questions 99 % fit.

use base::WordId;
use numerics::Real;
use questions::Question;

use crate::words::lowercase::Lowercase;

/// The share of the probability that goes to what is not written as it should be.
const CASE_MISMATCH: f32 = 0.05;

/// Words that a sentence or a quotation starts after.
const STARTERS: [&str; 7] = ["``", "`", "\"", ".", "?", "!", ":"];

/// Whether a sentence or a quotation starts at the blank.
fn is_start(question: &Question<'_>) -> bool {
    match question.blank.checked_sub(1) {
        None => true,
        Some(before) => starts_after(question, question.query[before]),
    }
}

/// Whether a sentence or a quotation starts after a word.
fn starts_after(question: &Question<'_>, word: WordId) -> bool {
    STARTERS.contains(&question.word(word))
}

/// Adds to the log-probabilities of twins, which are equal, that of being the right one.
pub(crate) fn break_case_ties(
    question: &Question<'_>,
    lowercase: &Lowercase,
    log_probs: &mut [f32],
) {
    let candidates = question.candidates;
    let is_twin = |a: usize, b: usize| lowercase.of(candidates[a]) == lowercase.of(candidates[b]);
    let twins = |place: usize| (0..candidates.len()).filter(move |&other| is_twin(place, other));
    if (0..candidates.len()).all(|place| twins(place).count() == 1) {
        return;
    }
    let has_capital =
        |place: usize| question.word(candidates[place]).starts_with(char::is_uppercase);
    let lone: Vec<usize> =
        (0..candidates.len()).filter(|&place| twins(place).count() == 1).collect();
    let n_capitals = lone.iter().filter(|&&place| has_capital(place)).count();
    let capital_fits = is_start(question) || (n_capitals > 0 && 2 * n_capitals >= lone.len());
    let fits = |place: usize| has_capital(place) == capital_fits;
    for (place, log_prob) in log_probs.iter_mut().enumerate() {
        let n_fitting = twins(place).filter(|&twin| fits(twin)).count();
        if n_fitting > 0 && n_fitting < twins(place).count() {
            *log_prob += Real::ln(if fits(place) { 1.0 - CASE_MISMATCH } else { CASE_MISMATCH });
        }
    }
}

/// Adds to the log-probability of each candidate that of the way it is written.
pub(crate) fn add_case_log_prob(question: &Question<'_>, log_probs: &mut [f32]) {
    let is_start = is_start(question);
    let is_name = |word: WordId| {
        let is_inside = |pair: &[WordId]| pair[1] == word && !starts_after(question, pair[0]);
        question.context.iter().any(|sentence| sentence.windows(2).any(is_inside))
    };
    for (&candidate, log_prob) in question.candidates.iter().zip(log_probs) {
        let has_capital = question.word(candidate).starts_with(char::is_uppercase);
        let fits = if has_capital { is_start || is_name(candidate) } else { !is_start };
        *log_prob += Real::ln(if fits { 1.0 - CASE_MISMATCH } else { CASE_MISMATCH });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::one_question;

    fn told_apart(query: &str, candidates: &[&str]) -> Vec<f32> {
        let set = one_question(&[], query, candidates);
        let mut scores = vec![0.0; candidates.len()];
        break_case_ties(&set.example(0).question, &Lowercase::new(set.vocabulary()), &mut scores);
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
    fn the_capital_belongs_to_a_name_among_names() {
        let (fits, misfits) = (0.95f32.ln(), 0.05f32.ln());
        let candidates = ["chuck", "Chuck", "Peter", "Polly", "wood"];
        assert_eq!(told_apart("met XXXXX .", &candidates), [misfits, fits, 0.0, 0.0, 0.0]);
        let candidates = ["chuck", "Chuck", "Peter", "stone", "wood"];
        assert_eq!(told_apart("met XXXXX .", &candidates), [fits, misfits, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn twins_that_the_rule_can_not_separate_stay_a_tie() {
        assert_eq!(told_apart("came XXXXX", &["With", "WITH", "in"]), [0.0, 0.0, 0.0]);
        let [capital, capitals, small] = told_apart("came XXXXX", &["With", "WITH", "with"])[..]
        else {
            panic!("one score per candidate")
        };
        assert!(capital == capitals && capitals < small);
    }

    /// The candidates whose case fits.
    fn fitting(context: &[&str], query: &str) -> Vec<&'static str> {
        const CANDIDATES: [&str; 5] = ["With", "with", "Chuck", "chuck", "wood"];
        let set = one_question(context, query, &CANDIDATES);
        let mut scores = [0.0; 5];
        add_case_log_prob(&set.example(0).question, &mut scores);
        let fits = |&(_, score): &(&str, f32)| score == 0.95f32.ln();
        CANDIDATES.into_iter().zip(scores).filter(fits).map(|(word, _)| word).collect()
    }

    #[test]
    fn capitals_fit_where_a_sentence_starts_and_in_names() {
        let context = ["With Chuck came a fox", "he met Chuck with wood"];
        assert_eq!(fitting(&context, "XXXXX a hat"), ["With", "Chuck"]);
        assert_eq!(fitting(&context, "he said : `` XXXXX a hat"), ["With", "Chuck"]);
        assert_eq!(fitting(&context, "he came XXXXX a hat"), ["with", "Chuck", "chuck", "wood"]);
        // Here all that is known of Chuck is that sentences start with it.
        assert_eq!(
            fitting(&["Chuck came", "`` Chuck !"], "he met XXXXX"),
            ["with", "chuck", "wood"]
        );
    }
}
