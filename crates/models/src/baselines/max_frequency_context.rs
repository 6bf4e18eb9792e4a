//! Maximum frequency (context), §4.1: the candidate that is most frequent in the question's context.
//!
//! Question → lower-cased count of each candidate in the context. Nothing is trained or kept.

use std::path::Path;
use std::sync::Arc;

use base::Vocabulary;
use questions::Question;

use crate::contract::scorer::{PerQuestion, ScoreQuestion};
use crate::sources;
use crate::words::lowercase::Lowercase;
use crate::{Method, Model, Result, Scorer};

pub(crate) const METHOD: Method = Method {
    name: "max-frequency-context",
    section: "§4.1",
    settings: &[],
    sources: &[sources::WORDS, sources::BASELINES],
    trains_by_epochs: false,
    train: |_, _| Ok(Arc::new(MaxFrequencyContext)),
    load: |_| Ok(Arc::new(MaxFrequencyContext)),
};

struct MaxFrequencyContext;

impl Model for MaxFrequencyContext {
    fn scorer(self: Arc<Self>, words: &Arc<Vocabulary>) -> Box<dyn Scorer> {
        PerQuestion::boxed(Counter(Lowercase::new(words)))
    }

    fn save(&self, _: &Path) -> Result<()> {
        Ok(())
    }
}

struct Counter(Lowercase);

impl ScoreQuestion for Counter {
    type Buffers = ();

    fn score(&self, question: &Question<'_>, (): &mut ()) -> Vec<f32> {
        let question = self.0.question(question);
        let count = |candidate| question.context.iter().filter(|&word| word == candidate).count();
        question.candidates.iter().map(|candidate| count(candidate) as f32).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixture::{one_question, score, texts};

    #[test]
    fn case_twins_are_ties_and_the_query_does_not_count() {
        let context = ["The Hen saw the fox .", "The hen ran ."];
        let set = one_question(&context, "the fox ate the XXXXX", &["Hen", "hen", "fox", "owl"]);
        assert_eq!(
            score(&Arc::new(MaxFrequencyContext), &set.example(0).question),
            [2.0, 2.0, 1.0, 0.0]
        );
    }

    proptest! {
        #[test]
        fn scores_are_the_counts_by_definition((context, query, candidates) in texts()) {
            let context: Vec<&str> = context.iter().map(String::as_str).collect();
            let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
            let set = one_question(&context, &query, &names);
            let scores = score(&Arc::new(MaxFrequencyContext), &set.example(0).question);
            let text = context.join(" ").to_lowercase();
            for (name, score) in names.iter().zip(scores) {
                let times = text.split(' ').filter(|word| *word == name.to_lowercase()).count();
                prop_assert_eq!(score, times as f32);
            }
        }
    }
}
