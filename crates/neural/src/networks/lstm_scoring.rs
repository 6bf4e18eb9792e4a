//! What answering needs of the LSTM language model (§4.4): states after some words, and how probable
//! other words are from there on.
//!
//! Sequences of different lengths are read side by side; what a shorter one reads beyond its end is
//! never looked at. A contextual LSTM looks at a context for each state that sequences start from.

use numerics::Real;
use numerics::device::{Array, Backend, NO_TARGET, Reals};

use super::LstmLm;
use crate::Result;
use crate::layers::{LstmBuffers, Order, ROWS, States};
use crate::text::Contexts;
use crate::weights::Weights;

impl LstmLm {
    /// The states after each sequence, read from the state of the same number.
    ///
    /// # Errors
    /// If the device fails.
    pub fn advance<D: Backend>(
        &self,
        weights: &Weights<D>,
        states: &States<Reals<D>>,
        sequences: &[&[u32]],
    ) -> Result<States<Reals<D>>> {
        let pass = self.read(weights, states, sequences)?;
        let ends: Vec<u32> = sequences
            .iter()
            .enumerate()
            .map(|(stream, words)| (words.len() * sequences.len() + stream) as u32)
            .collect();
        self.gathered(&weights.device, [&pass.trace.hiddens, &pass.trace.cells], &ends)
    }

    /// ln p of each word of each sequence, given the state that it starts from (`starts`, one of `states`
    /// each), the words before it and, for a contextual LSTM, the context of each state. Sequences that
    /// start from the same state share its softmax.
    ///
    /// # Errors
    /// If the device fails.
    pub fn log_probs<D: Backend>(
        &self,
        weights: &Weights<D>,
        (states, contexts): (&States<Reals<D>>, &[&[u32]]),
        starts: &[u32],
        sequences: &[&[u32]],
    ) -> Result<Vec<Vec<f64>>> {
        let mut log_probs: Vec<Vec<f64>> =
            sequences.iter().map(|words| Vec::with_capacity(words.len())).collect();
        let first = self.first_log_probs(weights, (states, contexts), starts, sequences)?;
        for (log_probs, first) in log_probs.iter_mut().zip(first) {
            log_probs.extend(first);
        }
        let longest = sequences.iter().map(|words| words.len()).max().unwrap_or(0);
        if longest < 2 {
            return Ok(log_probs);
        }
        let shortened: Vec<&[u32]> =
            sequences.iter().map(|words| &words[..words.len().saturating_sub(1)]).collect();
        let starting = self.gathered(&weights.device, [&states.hidden, &states.cell], starts)?;
        let pass = self.read(weights, &starting, &shortened)?;
        let (places, words): (Vec<u32>, Vec<u32>) = (1..longest)
            .flat_map(|step| (0..sequences.len()).map(move |stream| (step, stream)))
            .filter_map(|(step, stream)| {
                let word = sequences[stream].get(step)?;
                Some((((step - 1) * sequences.len() + stream) as u32, *word))
            })
            .unzip();
        let n_sequences = sequences.len();
        let of_context = places.iter().map(|&place| starts[place as usize % n_sequences]).collect();
        let places_of = Places { rows: places, contexts: of_context };
        let later = self.chosen(weights, (&pass.trace.outputs, contexts), &places_of, &words)?;
        for (place, log_prob) in places_of.rows.iter().zip(later) {
            log_probs[*place as usize % sequences.len()].push(log_prob);
        }
        Ok(log_probs)
    }

    /// ln p of the first word of each sequence.
    fn first_log_probs<D: Backend>(
        &self,
        weights: &Weights<D>,
        (states, contexts): (&States<Reals<D>>, &[&[u32]]),
        starts: &[u32],
        sequences: &[&[u32]],
    ) -> Result<Vec<Option<f64>>> {
        let n_states = states.hidden.len() / self.lstm.units().max(1);
        let mut of_state: Vec<Vec<usize>> = vec![Vec::new(); n_states];
        for (sequence, &start) in starts.iter().enumerate() {
            if !sequences[sequence].is_empty() {
                of_state[start as usize].push(sequence);
            }
        }
        let most = of_state.iter().map(Vec::len).max().unwrap_or(0);
        let mut first = vec![None; sequences.len()];
        if most == 0 {
            return Ok(first);
        }
        let mut words = vec![NO_TARGET; n_states * most];
        for (row, sequences_of) in words.chunks_mut(most).zip(&of_state) {
            for (word, &sequence) in row.iter_mut().zip(sequences_of) {
                *word = sequences[sequence][0];
            }
        }
        let rows: Vec<u32> = (0..n_states as u32).collect();
        let places = Places { contexts: rows.clone(), rows };
        let log_probs = self.chosen(weights, (&states.hidden, contexts), &places, &words)?;
        for (row, sequences_of) in log_probs.chunks(most).zip(&of_state) {
            for (&log_prob, &sequence) in row.iter().zip(sequences_of) {
                first[sequence] = Some(log_prob);
            }
        }
        Ok(first)
    }

    /// ln p of some words at each of some places, place after place.
    fn chosen<D: Backend>(
        &self,
        weights: &Weights<D>,
        (states, contexts): (&Reals<D>, &[&[u32]]),
        places: &Places,
        words: &[u32],
    ) -> Result<Vec<f64>> {
        let device = &weights.device;
        let Some(attention) = &self.attention else {
            return self.softmax_at(weights, &self.rows_at(device, states, &places.rows)?, words);
        };
        let (order, per_context) = places.by_context(contexts.len());
        let k = words.len() / places.rows.len().max(1);
        let mut rows = vec![0; contexts.len() * per_context];
        let mut in_order = vec![NO_TARGET; rows.len() * k];
        for (place, &to) in order.iter().enumerate() {
            rows[to] = places.rows[place];
            in_order[to * k..][..k].copy_from_slice(&words[place * k..][..k]);
        }
        let inputs = self.rows_at(device, states, &rows)?;
        let contexts = Contexts::whole(contexts).repeated(per_context);
        let mut buffers = attention.buffers(device, &contexts, Order::ContextByContext, false)?;
        attention.forward(weights, inputs.all(), &mut buffers);
        let found = self.softmax_at(weights, &buffers.joined.value, &in_order)?;
        Ok(order.iter().flat_map(|&to| found[to * k..][..k].iter().copied()).collect())
    }

    fn rows_at<D: Backend>(&self, device: &D, states: &Reals<D>, rows: &[u32]) -> Result<Reals<D>> {
        let mut inputs: Reals<D> = device.zeros(rows.len() * self.lstm.units())?;
        device.gather_rows(inputs.all_mut(), states.all(), device.upload(rows)?.all());
        Ok(inputs)
    }

    fn softmax_at<D: Backend>(
        &self,
        weights: &Weights<D>,
        inputs: &Reals<D>,
        words: &[u32],
    ) -> Result<Vec<f64>> {
        let device = &weights.device;
        let n = inputs.len() / self.softmax.table.columns().max(1);
        let mut into: Reals<D> = device.zeros(words.len())?;
        let mut scores = self.softmax.scores(device, n.min(ROWS))?;
        let words = device.upload(words)?;
        let chosen = (words.all(), into.all_mut());
        self.softmax.log_probs(weights, &mut scores, inputs.all(), chosen);
        Ok(device.read(into.all())?.into_iter().map(Real::to_f64).collect())
    }

    /// Reads sequences side by side.
    fn read<D: Backend>(
        &self,
        weights: &Weights<D>,
        states: &States<Reals<D>>,
        sequences: &[&[u32]],
    ) -> Result<LstmBuffers<Reals<D>>> {
        let (device, units) = (&weights.device, self.lstm.units());
        let (streams, longest) =
            (sequences.len(), sequences.iter().map(|words| words.len()).max().unwrap_or(0));
        let padded: Vec<u32> = (0..longest)
            .flat_map(|step| sequences.iter().map(move |words| words.get(step).map_or(0, |&w| w)))
            .collect();
        let words = device.upload(&padded)?;
        let mut inputs: Reals<D> = device.zeros(padded.len() * units)?;
        self.embedding.forward(weights, words.all(), inputs.all_mut());
        let mut keep: Reals<D> = device.zeros(padded.len())?;
        device.fill(keep.all_mut(), 1.0);
        let mut buffers = self.lstm.buffers(device, longest, streams)?;
        self.lstm.begin(device, &mut buffers, states);
        self.lstm.forward(weights, (inputs.all(), keep.all()), &mut buffers);
        Ok(buffers)
    }

    /// Some rows of states, perhaps several times.
    pub(super) fn gathered<D: Backend>(
        &self,
        device: &D,
        [hidden, cell]: [&Reals<D>; 2],
        rows: &[u32],
    ) -> Result<States<Reals<D>>> {
        let mut into = self.lstm.states(device, rows.len())?;
        let rows = device.upload(rows)?;
        device.gather_rows(into.hidden.all_mut(), hidden.all(), rows.all());
        device.gather_rows(into.cell.all_mut(), cell.all(), rows.all());
        Ok(into)
    }
}

/// Places at which words are predicted.
struct Places {
    /// The row of the state of each.
    rows: Vec<u32>,
    /// The context of each.
    contexts: Vec<u32>,
}

impl Places {
    /// The position of each when they are sorted by contexts, with as many positions for each context as
    /// the fullest one needs; and that number.
    fn by_context(&self, n_contexts: usize) -> (Vec<usize>, usize) {
        let mut counts = vec![0; n_contexts];
        let mut count = |&context: &u32| {
            counts[context as usize] += 1;
            (context as usize, counts[context as usize] - 1)
        };
        let numbered: Vec<(usize, usize)> = self.contexts.iter().map(&mut count).collect();
        let per_context = counts.iter().copied().max().unwrap_or(0);
        (
            numbered.iter().map(|(context, number)| context * per_context + number).collect(),
            per_context,
        )
    }
}

#[cfg(test)]
mod tests {
    use numerics::device::Cpu;

    use super::*;
    use crate::{Attention, Initial, LstmConfig, Merge, Method};
    use crate::{Trainer as _, Training, TrainingConfig, Window};

    fn training(attention: Option<Attention>) -> Training<Cpu<f64>, LstmLm> {
        let config = LstmConfig {
            words: 9,
            units: 6,
            attention,
            is_tied: false,
            initial: Initial::Uniform(0.8),
            dropout: 0.5,
        };
        let training = TrainingConfig { method: Method::Sgd, clip: 5.0, seed: 1 };
        Training::new(&Cpu::default(), LstmLm::new(config, None), training).unwrap()
    }

    /// −ln p of the words after the first, as validation computes it.
    fn loss(training: &mut Training<Cpu<f64>, LstmLm>, context: &[u32], words: &[u32]) -> f64 {
        let n = words.len() - 1;
        let is_start = (0..n).map(|place| place == 0).collect();
        let (words, targets) = (words[..n].to_vec(), words[1..].to_vec());
        let contexts = Some(Contexts::whole(&[context]).repeated(n));
        training.loss(&Window { streams: 1, words, targets, is_start, contexts }).unwrap()
    }

    #[test]
    fn sequences_of_any_length_side_by_side_are_scored_as_each_by_itself() {
        let prefixes: [&[u32]; 3] = [&[1, 2, 3], &[4], &[5, 6, 7, 8, 0]];
        let contexts: [&[u32]; 3] = [&[4, 4, 1, 0, 2, 8], &[3, 7], &[6, 5, 1]];
        let starts = [2, 0, 0, 1, 0];
        let sequences: [&[u32]; 5] = [&[1, 2, 2], &[3], &[8, 7, 6, 5], &[0, 1], &[]];
        let attention = |merge| Some(Attention { window: 3, merge });
        for attention in [None, attention(Merge::Sum), attention(Merge::Concat)] {
            let mut training = training(attention);
            let (network, weights) = (&training.network, &training.weights);
            let states = network.lstm.states(&weights.device, 3).unwrap();
            let states = network.advance(weights, &states, &prefixes).unwrap();
            let found =
                network.log_probs(weights, (&states, &contexts), &starts, &sequences).unwrap();
            for ((&start, words), found) in starts.iter().zip(sequences).zip(&found) {
                assert_eq!(found.len(), words.len());
                let (context, prefix) = (contexts[start as usize], prefixes[start as usize]);
                let whole = loss(&mut training, context, &[prefix, words].concat());
                let is_short = prefix.len() == 1;
                let before = if is_short { 0.0 } else { loss(&mut training, context, prefix) };
                assert!((found.iter().sum::<f64>() + whole - before).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn probabilities_of_all_words_sum_to_one() {
        let Training { network, weights, .. } = training(None);
        let states = network.lstm.states(&weights.device, 1).unwrap();
        let states = network.advance(&weights, &states, &[&[3, 1, 4]]).unwrap();
        let words: Vec<[u32; 1]> = (0..9).map(|word| [word]).collect();
        let sequences: Vec<&[u32]> = words.iter().map(|word| word.as_slice()).collect();
        let log_probs = network.log_probs(&weights, (&states, &[]), &[0; 9], &sequences).unwrap();
        let sum: f64 = log_probs.iter().map(|log_prob| log_prob[0].exp()).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
}
