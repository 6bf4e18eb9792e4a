//! What a candidate's capital or small letter says to a language network that reads lower case (Appendix A):
//! question and log-probabilities of words → those of the words as they are written.
//!
//! Chosen: scoring is strict, so p(With) is p(with) times how well the capital fits. It fits at the start of a
//! sentence or of a quotation, and elsewhere if the context has the word with its capital elsewhere: then it
//! is a name. A small letter fits where no sentence starts. Case twins that both fit stay a tie. Of the answers to
//! the CBT's 8,000 validation questions 99 % fit.

use base::WordId;
use numerics::Real;
use questions::Question;

use crate::words::capitals::{MISFIT, is_start, starts_after};

/// Adds to the log-probability of each candidate that of the way it is written.
pub(crate) fn as_written(question: &Question<'_>, log_probs: &mut [f32]) {
    let is_start = is_start(question);
    let is_name = |word: WordId| {
        let is_inside = |pair: &[WordId]| pair[1] == word && !starts_after(question, pair[0]);
        question.context.iter().any(|sentence| sentence.windows(2).any(is_inside))
    };
    for (&candidate, log_prob) in question.candidates.iter().zip(log_probs) {
        let fits = match question.word(candidate).starts_with(char::is_uppercase) {
            true => is_start || is_name(candidate),
            false => !is_start,
        };
        *log_prob += Real::ln(if fits { 1.0 - MISFIT } else { MISFIT });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::one_question;

    /// Which candidates fit.
    fn fitting(context: &[&str], query: &str) -> Vec<&'static str> {
        const CANDIDATES: [&str; 5] = ["With", "with", "Chuck", "chuck", "wood"];
        let set = one_question(context, query, &CANDIDATES);
        let mut scores = [0.0; 5];
        as_written(&set.example(0).question, &mut scores);
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
