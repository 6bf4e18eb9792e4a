//! Blanks filled by an LSTM (§4.4): candidate c is ranked by p(q₁ … q_{k−1}, c, q_{k+1} … q_l).
//!
//! All texts of a batch are read up to their blanks at the same time, so that they end together. Then each
//! state is shared out to the candidates of its text, and all candidates are followed by the rest of the
//! text at the same time. Only words whose probability is asked for reach the output layer.

use std::ops::Range;

use numerics::Real;
use numerics::device::{Array, Device, NO_TARGET};

use crate::cloze::{Cloze, FillsBlanks};
use crate::lstm::States;
use crate::softmax::Scores;
use crate::{LstmLm, Result};

/// How many words are read in one pass: more only need more memory.
const STEPS: usize = 16;

/// How many rows of scores are held at once.
const ROWS_OF_SCORES: usize = 1024;

/// A candidate's way through the rest of its text.
struct Way<'a> {
    text: usize,
    candidate: usize,
    /// The candidate and the words behind it, the last of which is only predicted.
    first: u32,
    after: &'a [u32],
}

impl Way<'_> {
    fn word(&self, step: usize) -> u32 {
        if step == 0 { self.first } else { self.after[step - 1] }
    }
}

impl<D: Device> FillsBlanks for LstmLm<D> {
    fn log_probs(&self, texts: &[Cloze]) -> Result<Vec<Vec<f64>>> {
        if texts.iter().all(|text| text.candidates.is_empty()) {
            return Ok(vec![Vec::new(); texts.len()]);
        }
        let befores: Vec<&[u32]> = texts.iter().map(|text| text.before.as_slice()).collect();
        let states = self.states_after(&befores)?;
        let mut log_probs = self.of_candidates(&states, texts)?;
        let mut ways: Vec<Way<'_>> = Vec::new();
        for (text, Cloze { candidates, after, .. }) in texts.iter().enumerate() {
            let way = |(candidate, &first)| Way { text, candidate, first, after };
            ways.extend(candidates.iter().enumerate().map(way));
        }
        // The longest first: those that are over are the last rows and fall away.
        ways.sort_by_key(|way| std::cmp::Reverse(way.after.len()));
        let rows: Vec<u32> = ways.iter().map(|way| way.text as u32).collect();
        let mut states = self.rows_of(&states, &rows)?;
        let longest = ways.first().map_or(0, |way| way.after.len());
        for first in (0..longest).step_by(STEPS) {
            let n_open = ways.partition_point(|way| way.after.len() > first);
            let rows: Vec<u32> = (0..n_open as u32).collect();
            states = self.rows_of(&states, &rows)?;
            let steps = first..longest.min(first + STEPS);
            self.follow(&mut states, &ways[..n_open], steps, &mut log_probs)?;
        }
        Ok(log_probs)
    }
}

impl<D: Device> LstmLm<D> {
    /// The states behind texts that are read from an empty state on.
    fn states_after(&self, texts: &[&[u32]]) -> Result<States<D::Array>> {
        let device = &self.parameters.device;
        let (streams, units) = (texts.len(), self.lstm.units());
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let mut states = States::fresh(device, streams, units)?;
        let mut pass = self.lstm.pass(device, STEPS, streams)?;
        let mut inputs = device.zeros(STEPS * streams * units)?;
        // The first pass is padded so that all are whole.
        let n_steps = longest.next_multiple_of(STEPS);
        for first in (0..n_steps).step_by(STEPS) {
            let place = |n: usize| (first + n / streams, texts[n % streams]);
            let at = |n: usize| {
                let (step, text) = place(n);
                (step + text.len()).checked_sub(n_steps).map(|within| (within, text[within]))
            };
            let places = 0..STEPS * streams;
            let words: Vec<u32> = places.clone().map(|n| at(n).map_or(0, |at| at.1)).collect();
            // Before its text begins a row reads padding; where it begins, that is forgotten.
            let keep = |n: usize| D::Real::from_f64(f64::from(u8::from(at(n).is_some_and(|at| at.0 > 0))));
            let keep: Vec<D::Real> = places.map(keep).collect();
            let (words, keep) = (device.words(&words)?, self.array(&keep)?);
            self.embedding.forward(&self.parameters, words.all(), inputs.all_mut());
            self.lstm.begin(device, &mut pass, &states);
            self.lstm.forward(&self.parameters, (inputs.all(), keep.all()), &mut pass);
            self.lstm.end(device, &pass, &mut states);
        }
        Ok(states)
    }

    /// ln p of each text's candidates in the state before the blank.
    fn of_candidates(&self, states: &States<D::Array>, texts: &[Cloze]) -> Result<Vec<Vec<f64>>> {
        let most = texts.iter().map(|text| text.candidates.len()).max().unwrap_or(0);
        let mut words = vec![NO_TARGET; texts.len() * most];
        for (row, text) in texts.iter().enumerate() {
            words[row * most..][..text.candidates.len()].copy_from_slice(&text.candidates);
        }
        let log_probs = self.of_words(&states.hidden, &words)?;
        let of_text = |(row, text): (usize, &Cloze)| {
            log_probs[row * most..][..text.candidates.len()].to_vec()
        };
        Ok(texts.iter().enumerate().map(of_text).collect())
    }

    /// Reads some steps of all ways and adds ln p of the words that follow.
    fn follow(
        &self,
        states: &mut States<D::Array>,
        ways: &[Way<'_>],
        steps: Range<usize>,
        log_probs: &mut [Vec<f64>],
    ) -> Result<()> {
        let device = &self.parameters.device;
        let (streams, units) = (ways.len(), self.lstm.units());
        let n = steps.len() * streams;
        let is_open = |place: usize| steps.start + place / streams < ways[place % streams].after.len();
        let word = |place: usize| {
            if is_open(place) { ways[place % streams].word(steps.start + place / streams) } else { 0 }
        };
        let words = device.words(&(0..n).map(word).collect::<Vec<u32>>())?;
        let keep = self.array(&vec![D::Real::ONE; n])?;
        let mut inputs = device.zeros(n * units)?;
        let mut pass = self.lstm.pass(device, steps.len(), streams)?;
        self.embedding.forward(&self.parameters, words.all(), inputs.all_mut());
        self.lstm.begin(device, &mut pass, states);
        self.lstm.forward(&self.parameters, (inputs.all(), keep.all()), &mut pass);
        self.lstm.end(device, &pass, states);

        let asked: Vec<u32> = (0..n as u32).filter(|&place| is_open(place as usize)).collect();
        let mut outputs = device.zeros(asked.len() * units)?;
        let places = device.words(&asked)?;
        device.gather_rows(outputs.all_mut(), pass.trace.outputs.all(), places.all());
        let target = |&place: &u32| {
            let place = place as usize;
            ways[place % streams].after[steps.start + place / streams]
        };
        let targets: Vec<u32> = asked.iter().map(target).collect();
        for (place, log_prob) in asked.iter().zip(self.of_words(&outputs, &targets)?) {
            let way = &ways[*place as usize % streams];
            log_probs[way.text][way.candidate] += log_prob;
        }
        Ok(())
    }

    /// ln p of words, as many for each row of outputs.
    fn of_words(&self, outputs: &D::Array, words: &[u32]) -> Result<Vec<f64>> {
        let device = &self.parameters.device;
        let n = outputs.len() / self.lstm.units();
        let mut room = Scores::new(device, n.min(ROWS_OF_SCORES), self.config().words)?;
        let mut into = device.zeros(words.len())?;
        let words = device.words(words)?;
        let asked = (words.all(), into.all_mut());
        self.softmax.log_probs(&self.parameters, &mut room, outputs.all(), asked);
        Ok(device.read(into.all())?.into_iter().map(Real::to_f64).collect())
    }

    /// States by their numbers.
    fn rows_of(&self, states: &States<D::Array>, rows: &[u32]) -> Result<States<D::Array>> {
        let device = &self.parameters.device;
        let mut chosen = States::fresh(device, rows.len(), self.lstm.units())?;
        let rows = device.words(rows)?;
        device.gather_rows(chosen.hidden.all_mut(), states.hidden.all(), rows.all());
        device.gather_rows(chosen.cell.all_mut(), states.cell.all(), rows.all());
        Ok(chosen)
    }

    fn array(&self, values: &[D::Real]) -> Result<D::Array> {
        let device = &self.parameters.device;
        let mut array = device.zeros(values.len())?;
        device.write(array.all_mut(), values)?;
        Ok(array)
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::Cpu;
    use proptest::prelude::*;

    use super::*;
    use crate::{Initial, LstmConfig, Method, Network, Window};

    fn network() -> LstmLm<Cpu<f64>> {
        let config = LstmConfig {
            words: 9,
            units: 4,
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
            let targets = words[1..].iter().enumerate().map(|(place, &word)| {
                if place + 1 < text.before.len() { NO_TARGET } else { word }
            });
            let window = Window {
                streams: 1,
                words: words[..words.len() - 1].to_vec(),
                targets: targets.collect(),
                is_start: (1..words.len()).map(|place| place == 1).collect(),
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
            let (found, expected) = (network().log_probs(&texts).unwrap(), one_by_one(&texts));
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
