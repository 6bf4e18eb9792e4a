//! Blanks filled by an LSTM (§4.4): candidate c is ranked by p(q₁ … q_{k−1}, c, q_{k+1} … q_l).
//!
//! All texts of a batch are read up to their blanks side by side. Then each state is shared by the
//! candidates of its text, and all of these are followed by the rest of the text side by side.

use numerics::device::Backend;

use super::LstmLm;
use crate::text::Cloze;
use crate::weights::Weights;
use crate::{ClozeNetwork, Result};

/// How many words are read in one pass, which bounds its memory.
const STEPS: usize = 32;

/// How many words after blanks are scored in one pass.
const PLACES: usize = 1 << 14;

impl ClozeNetwork for LstmLm {
    fn score<D: Backend>(&self, weights: &Weights<D>, texts: &[Cloze]) -> Result<Vec<Vec<f64>>> {
        let longest = texts.iter().map(|text| text.before.len()).max().unwrap_or(0);
        let mut states = self.lstm.states(&weights.device, texts.len())?;
        for first in (0..longest).step_by(STEPS) {
            let piece = |text: &Cloze| {
                let end = text.before.len();
                first.min(end)..end.min(first + STEPS)
            };
            let pieces: Vec<&[u32]> = texts.iter().map(|text| &text.before[piece(text)]).collect();
            states = self.advance(weights, &states, &pieces)?;
        }
        let mut log_probs = vec![Vec::new(); texts.len()];
        for group in groups(texts) {
            let rows: Vec<u32> = group.iter().map(|&text| text as u32).collect();
            let states = self.gathered(&weights.device, [&states.hidden, &states.cell], &rows)?;
            let (starts, sequences) = completions(texts, &group);
            let sequences: Vec<&[u32]> = sequences.iter().map(Vec::as_slice).collect();
            let contexts: Vec<&[u32]> =
                group.iter().map(|&text| &texts[text].context[..]).collect();
            let of_words = self.log_probs(weights, (&states, &contexts), &starts, &sequences)?;
            for (start, of_words) in starts.iter().zip(of_words) {
                log_probs[group[*start as usize]].push(of_words.iter().sum());
            }
        }
        Ok(log_probs)
    }
}

/// Texts with about equally many words after their blanks, as many as one pass can hold.
fn groups(texts: &[Cloze]) -> Vec<Vec<usize>> {
    // The first token of a candidate needs no step of its own.
    let length = |text: usize| {
        let longest = texts[text].candidates.iter().map(Vec::len).max().unwrap_or(1);
        texts[text].after.len() + longest.max(1) - 1
    };
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&text| std::cmp::Reverse(length(text)));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut places_left = 0;
    for text in order {
        // The first of a group is the longest.
        let longest = groups.last().map_or(0, |group| length(group[0]));
        let needed = texts[text].candidates.len() * longest;
        match groups.last_mut() {
            Some(group) if needed <= places_left => {
                group.push(text);
                places_left -= needed;
            }
            _ => {
                groups.push(vec![text]);
                places_left = PLACES.saturating_sub(texts[text].candidates.len() * length(text));
            }
        }
    }
    groups
}

/// The completions of each text of a group, and the text's place in the group.
fn completions(texts: &[Cloze], group: &[usize]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let of_text = |(start, &text): (usize, &usize)| {
        texts[text].completions().map(move |words| (start as u32, words))
    };
    group.iter().enumerate().flat_map(of_text).unzip()
}

#[cfg(test)]
mod tests {
    use numerics::device::{Cpu, NO_TARGET};
    use proptest::prelude::*;

    use super::*;
    use crate::{
        Initial, LstmConfig, Method, Network as _, Trainer as _, Training, TrainingConfig, Window,
    };

    fn network() -> LstmLm {
        let config = LstmConfig {
            words: 9,
            units: 4,
            attention: None,
            is_tied: false,
            initial: Initial::Uniform(0.9),
            dropout: 0.5,
        };
        LstmLm::new(config, None)
    }

    /// One text after the other, one candidate after the other, word by word.
    fn one_by_one(texts: &[Cloze]) -> Vec<Vec<f64>> {
        let whole = |text: &Cloze, candidate: &[u32]| {
            let words = [&text.before[..], candidate, &text.after].concat();
            let targets = words[1..]
                .iter()
                .enumerate()
                .map(|(place, &word)| if place + 1 < text.before.len() { NO_TARGET } else { word });
            let window = Window {
                streams: 1,
                words: words[..words.len() - 1].to_vec(),
                targets: targets.collect(),
                is_start: (1..words.len()).map(|place| place == 1).collect(),
                contexts: None,
            };
            let config = TrainingConfig { method: Method::Sgd, clip: 5.0, seed: 5 };
            let mut training = Training::new(&Cpu::<f64>::default(), network(), config).unwrap();
            -training.loss(&window).unwrap()
        };
        let of_text = |text: &Cloze| text.candidates.iter().map(|c| whole(text, c)).collect();
        texts.iter().map(of_text).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_batch_has_the_probabilities_of_its_texts_one_by_one(
            texts in prop::collection::vec(
                (
                    prop::collection::vec(0..9u32, 1..40),
                    prop::collection::vec(prop::collection::vec(0..9u32, 1..4), 0..4),
                    prop::collection::vec(0..9u32, 0..40),
                ),
                0..6,
            ),
        ) {
            let texts: Vec<Cloze> = texts
                .into_iter()
                .map(|(before, candidates, after)| Cloze { context: vec![], before, candidates, after })
                .collect();
            let network = network();
            let weights = Weights::initial(&Cpu::<f64>::default(), network.plan(), 5).unwrap();
            let (found, expected) = (network.score(&weights, &texts).unwrap(), one_by_one(&texts));
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(expected) {
                    prop_assert!((found - expected).abs() < 1e-9, "{} {}", found, expected);
                }
            }
        }
    }
}
