//! Sliding window, §4.1: a window as long as the set T of the query's words and a candidate is slid across the
//! context; the candidate whose T overlaps best anywhere wins (Richardson, Burges & Renshaw 2013, Algorithm 1).
//!
//! Question → best weighted overlap of each candidate, lower-cased. Nothing is trained or kept.

use std::ops::Range;
use std::sync::Arc;

use base::WordId;
use questions::Question;

use crate::baselines::Untrained;
use crate::contract::scorer::{PerQuestion, ScoreQuestion};
use crate::sources;
use crate::words::lowercase::{Lowercase, LowercaseQuestion};
use crate::{Cost, Explanation, Method, Span};

pub(crate) const METHOD: Method = Method {
    name: "sliding-window",
    section: "§4.1",
    summary: "Slides the query with each candidate over the context and chooses the candidate \
              with the best overlap.",
    cost: Cost::Seconds,
    wants_gpu: false,
    settings: &[],
    sources: &[sources::WORDS, sources::BASELINES],
    trains_by_epochs: false,
    train: |_, _| Ok(Arc::new(SLIDING_WINDOW)),
    load: |_| Ok(Arc::new(SLIDING_WINDOW)),
};

const SLIDING_WINDOW: Untrained = Untrained(|words| PerQuestion::boxed(SlidingWindow(words)));

struct SlidingWindow(Lowercase);

impl ScoreQuestion for SlidingWindow {
    type Buffers = ();

    fn score(&self, question: &Question<'_>, (): &mut ()) -> Vec<f32> {
        overlaps(&self.0.question(question)).map(|(overlap, _)| overlap).collect()
    }

    fn explain(&self, question: &Question<'_>, (): &mut ()) -> Explanation {
        let query = Some(0..question.query.len());
        let question = self.0.question(question);
        let spans = overlaps(&question).enumerate().map(|(candidate, (weight, words))| Span {
            words,
            candidate: Some(candidate),
            mention: None,
            weight,
            score: None,
            is_supporting: false,
        });
        Explanation { spans: spans.collect(), query }
    }
}

/// For each candidate its best overlap and the window that has it.
fn overlaps(question: &LowercaseQuestion) -> impl Iterator<Item = (f32, Range<usize>)> {
    let LowercaseQuestion { context, query, blank, candidates } = question;
    let mut of_query = vec![0.0; context.len()];
    let mut targets: Vec<WordId> = [&query[..*blank], &query[blank + 1..]].concat();
    targets.sort_unstable();
    targets.dedup();
    targets.iter().for_each(|&word| weigh(word, context, &mut of_query));
    candidates.iter().map(move |&candidate| {
        let mut weights = of_query.clone();
        weigh(candidate, context, &mut weights);
        // Richardson et al. 2013, Algorithm 1: a window of |T| words, T the set of the query's words and the candidate.
        heaviest(&weights, targets.len() + usize::from(!targets.contains(&candidate)))
    })
}

/// Gives every instance of a word in the context its weight.
fn weigh(word: WordId, context: &[WordId], weights: &mut [f64]) {
    let count = context.iter().filter(|&&other| other == word).count();
    if count == 0 {
        return;
    }
    // Richardson et al. 2013, inverse count: IC(w) = log(1 + 1/C(w)).
    let inverse_count = (1.0 / count as f64).ln_1p();
    for (weight, _) in weights.iter_mut().zip(context).filter(|&(_, &other)| other == word) {
        *weight = inverse_count;
    }
}

/// The heaviest window of a length, the first of several. One that reaches over an end of the context
/// holds no more than the one that ends there, so only those inside are tried.
fn heaviest(weights: &[f64], length: usize) -> (f32, Range<usize>) {
    let length = length.min(weights.len());
    let mut sums = Vec::with_capacity(weights.len() + 1);
    sums.push(0.0);
    for (place, weight) in weights.iter().enumerate() {
        sums.push(sums[place] + weight);
    }
    // Richardson et al. 2013, Algorithm 1: max over j of Σ_i IC(w_{j+i}) where w_{j+i} is in the query.
    let windows = (0..=weights.len() - length).map(|start| sums[start + length] - sums[start]);
    let (start, overlap) = windows
        .enumerate()
        .fold((0, 0.0), |best, window| if window.1 > best.1 { window } else { best });
    // In f32 sums of the same weights in another order are equal, so ties are ties.
    (overlap as f32, start..start + length)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::fixture::{explain, one_question, score, texts};

    #[test]
    fn the_rarer_words_of_the_best_window_weigh_more() {
        let context = ["the fox saw the hen .", "the hen ran ."];
        let set = one_question(&context, "the XXXXX saw", &["fox", "hen", "owl", "cow"]);
        // Windows of three words: fox has `the fox saw`, hen `saw the hen`, the others `saw the` with
        // fox or hen. Counts: the 3, hen 2, fox 1, saw 1.
        let [the, hen, once] = [3.0, 2.0, 1.0].map(|count: f64| (1.0 + 1.0 / count).ln() as f32);
        let scores = score(&Arc::new(SLIDING_WINDOW), &set.example(0).question);
        let expected = [the + once + once, once + the + hen, once + the, once + the];
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-6, "{scores:?}");
        }
        assert_eq!(scores[2], scores[3], "a tie is exact");
        let spans = explain(&Arc::new(SLIDING_WINDOW), &set.example(0).question).spans;
        assert_eq!((spans[0].words.clone(), spans[0].weight), (0..3, scores[0]));
    }

    /// Algorithm 1 word by word, with strings.
    fn by_definition(text: &[String], query: &[String], blank: usize, candidate: &str) -> f64 {
        let count = |word: &String| text.iter().filter(|&other| other == word).count() as f64;
        let mut targets: HashSet<&str> = HashSet::from([candidate]);
        targets.extend(query.iter().enumerate().filter(|(i, _)| *i != blank).map(|(_, w)| &**w));
        let overlap = |start: usize| -> f64 {
            let places = (start..start + targets.len()).filter_map(|place| text.get(place));
            let hits = places.filter(|word| targets.contains(word.as_str()));
            hits.map(|word| (1.0 + 1.0 / count(word)).ln()).sum()
        };
        (0..text.len()).map(overlap).fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn scores_are_those_of_algorithm_1((context, query, candidates) in texts()) {
            let lines: Vec<&str> = context.iter().map(String::as_str).collect();
            let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
            let set = one_question(&lines, &query, &names);
            let question = set.example(0).question;
            let words = |text: &str| -> Vec<String> {
                text.split_whitespace().map(str::to_lowercase).collect()
            };
            let (text, query) = (words(&context.join(" ")), words(&query));
            for (name, score) in names.iter().zip(score(&Arc::new(SLIDING_WINDOW), &question)) {
                let expected =
                    by_definition(&text, &query, question.blank, &name.to_lowercase());
                prop_assert!((f64::from(score) - expected).abs() < 1e-6, "{score} {expected}");
            }
        }
    }
}
