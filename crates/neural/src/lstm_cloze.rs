//! Blanks filled by an LSTM (§4.4): candidate c is ranked by p(q₁ … q_{k−1}, c, q_{k+1} … q_l).
//!
//! All texts of a batch are read up to their blanks side by side. Then each state is shared out to the
//! candidates of its text, and all of these are followed by the rest of the text side by side.

use numerics::device::Device;

use crate::cloze::{Cloze, FillsBlanks};
use crate::{LstmLm, Result};

/// How many words are read in one pass, which bounds its memory.
const STEPS: usize = 32;

/// How many words behind blanks are scored in one pass.
const PLACES: usize = 1 << 14;

impl<D: Device> FillsBlanks for LstmLm<D> {
    fn fill(&self, texts: &[Cloze]) -> Result<Vec<Vec<f64>>> {
        let longest = texts.iter().map(|text| text.before.len()).max().unwrap_or(0);
        let mut states = self.fresh_states(texts.len())?;
        for first in (0..longest).step_by(STEPS) {
            let piece = |text: &Cloze| {
                let end = text.before.len();
                first.min(end)..end.min(first + STEPS)
            };
            let pieces: Vec<&[u32]> = texts.iter().map(|text| &text.before[piece(text)]).collect();
            states = self.advance(&states, &pieces)?;
        }
        let mut log_probs = vec![Vec::new(); texts.len()];
        for group in groups(texts) {
            let rows: Vec<u32> = group.iter().map(|&text| text as u32).collect();
            let states = self.gathered([&states.hidden, &states.cell], &rows)?;
            let (starts, sequences) = ways(texts, &group);
            let sequences: Vec<&[u32]> = sequences.iter().map(Vec::as_slice).collect();
            let contexts: Vec<&[u32]> =
                group.iter().map(|&text| &texts[text].context[..]).collect();
            let of_words = self.log_probs((&states, &contexts), &starts, &sequences)?;
            for (start, of_words) in starts.iter().zip(of_words) {
                log_probs[group[*start as usize]].push(of_words.iter().sum());
            }
        }
        Ok(log_probs)
    }
}

/// Texts with about as many words behind their blanks, so few that a pass has room for them.
fn groups(texts: &[Cloze]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&text| std::cmp::Reverse(texts[text].after.len()));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut room = 0;
    for text in order {
        // The first of a group is the longest.
        let longest = groups.last().map_or(0, |group| texts[group[0]].after.len());
        let needed = texts[text].candidates.len() * longest;
        match groups.last_mut() {
            Some(group) if needed <= room => {
                group.push(text);
                room -= needed;
            }
            _ => {
                groups.push(vec![text]);
                let own = texts[text].candidates.len() * texts[text].after.len();
                room = PLACES.saturating_sub(own);
            }
        }
    }
    groups
}

/// Each candidate of each text of a group, followed by the rest of the text, and the text's place there.
fn ways(texts: &[Cloze], group: &[usize]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let of_text = |(start, &text): (usize, &usize)| {
        let Cloze { candidates, after, .. } = &texts[text];
        let way = move |&candidate: &u32| (start as u32, [&[candidate], &after[..]].concat());
        candidates.iter().map(way)
    };
    group.iter().enumerate().flat_map(of_text).unzip()
}

#[cfg(test)]
mod tests {
    use numerics::device::{Cpu, NO_TARGET};
    use proptest::prelude::*;

    use super::*;
    use crate::{Initial, LstmConfig, Method, Network, Window};

    fn network() -> LstmLm<Cpu<f64>> {
        let config = LstmConfig {
            words: 9,
            units: 4,
            attention: None,
            is_tied: false,
            initial: Initial::Uniform(0.9),
            method: Method::Sgd,
            clip: 5.0,
            dropout: 0.5,
            seed: 5,
        };
        LstmLm::new(&Cpu::default(), config, None).unwrap()
    }

    /// One text after the other, one candidate after the other, word by word.
    fn one_by_one(texts: &[Cloze]) -> Vec<Vec<f64>> {
        let whole = |text: &Cloze, candidate: u32| {
            let words = [&text.before[..], &[candidate], &text.after].concat();
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
            -network().loss(&window).unwrap()
        };
        texts.iter().map(|text| text.candidates.iter().map(|&c| whole(text, c)).collect()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_batch_has_the_probabilities_of_its_texts_one_by_one(
            texts in prop::collection::vec(
                (
                    prop::collection::vec(0..9u32, 1..40),
                    prop::collection::vec(0..9u32, 0..4),
                    prop::collection::vec(0..9u32, 0..40),
                ),
                0..6,
            ),
        ) {
            let texts: Vec<Cloze> = texts
                .into_iter()
                .map(|(before, candidates, after)| Cloze { context: vec![], before, candidates, after })
                .collect();
            let (found, expected) = (network().fill(&texts).unwrap(), one_by_one(&texts));
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
