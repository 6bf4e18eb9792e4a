//! Blanks filled by a lexical memory (§3): the candidate and the words after it are scored, each by the
//! words before it, whether these come from the context or from the query.
//!
//! A candidate and what follows is a run: it needs the memories of its first word, and its own words.

use numerics::device::Backend;

use super::LexicalMemory;
use crate::text::{Cloze, Runs};
use crate::weights::Weights;
use crate::{ClozeNetwork, Result};

/// How many words are scored in one pass, which bounds its memory.
const PLACES: usize = 1 << 13;

impl ClozeNetwork for LexicalMemory {
    fn score<D: Backend>(&self, weights: &Weights<D>, texts: &[Cloze]) -> Result<Vec<Vec<f64>>> {
        let numbered = |(number, text): (usize, &Cloze)| -> Vec<(usize, Vec<u32>)> {
            text.completions().map(|words| (number, words)).collect()
        };
        let completions: Vec<(usize, Vec<u32>)> =
            texts.iter().enumerate().flat_map(numbered).collect();
        // Runs of about the same length are scored together.
        let mut order: Vec<usize> = (0..completions.len()).collect();
        order.sort_by_key(|&place| std::cmp::Reverse(completions[place].1.len()));
        let mut log_probs = vec![0.0; completions.len()];
        let mut rest = &order[..];
        while let Some(&longest) = rest.first() {
            let length = completions[longest].1.len();
            let (pass, after) = rest.split_at(rest.len().min((PLACES / length).max(1)));
            let run = |&place: &usize| {
                let (text, targets) = &completions[place];
                (&texts[*text].before[..], &targets[..])
            };
            let runs: Vec<(&[u32], &[u32])> = pass.iter().map(run).collect();
            let runs = Runs::new(self.config().memories, length, &runs);
            let found = self.log_probs(weights, &runs)?;
            for (&place, found) in pass.iter().zip(found.chunks(length)) {
                log_probs[place] = found.iter().sum();
            }
            rest = after;
        }
        let mut log_probs = log_probs.into_iter();
        Ok(texts
            .iter()
            .map(|text| log_probs.by_ref().take(text.candidates.len()).collect())
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::Cpu;

    use super::*;
    use crate::{Initial, LexicalConfig, Network};

    #[test]
    fn a_batch_has_the_probabilities_of_its_words_one_by_one() {
        let config = LexicalConfig {
            words: 9,
            dim: 4,
            memories: 5,
            hops: 2,
            initial: Initial::Normal(0.7),
            dropout: 0.5,
        };
        let network = LexicalMemory::new(config, None);
        let weights = Weights::initial(&Cpu::<f64>::default(), network.plan(), 2).unwrap();
        let text = |before: &[u32], candidates: &[&[u32]], after: &[u32]| Cloze {
            before: before.to_vec(),
            candidates: candidates.iter().map(|tokens| tokens.to_vec()).collect(),
            after: after.to_vec(),
            ..Cloze::default()
        };
        let texts = [
            text(&[1, 2, 3, 4, 5, 6, 7], &[&[8], &[0], &[1]], &[2]),
            // Candidates of several tokens.
            text(&[5], &[&[6, 2, 2], &[7]], &[1, 1, 3, 0, 4, 4, 8]),
            text(&[2, 0], &[], &[3]),
            text(&[8, 8, 2], &[&[3]], &[]),
        ];
        let found = network.score(&weights, &texts).unwrap();
        for (text, found) in texts.iter().zip(&found) {
            assert_eq!(found.len(), text.candidates.len());
            for (candidate, found) in text.candidates.iter().zip(found) {
                let words = [&text.before[..], candidate, &text.after].concat();
                let of_word = |place: usize| {
                    let runs = Runs::new(5, 1, &[(&words[..place], &words[place..place + 1])]);
                    network.log_probs(&weights, &runs).unwrap()[0]
                };
                let expected: f64 = (text.before.len()..words.len()).map(of_word).sum();
                assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}");
            }
        }
    }
}
