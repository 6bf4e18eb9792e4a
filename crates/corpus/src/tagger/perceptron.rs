//! The averaged perceptron (Collins 2002, *Discriminative training methods for hidden Markov
//! models*): weights move by one whenever the best-scored tag is wrong, and the mean of the weights
//! over all steps is what is kept.
//!
//! Features get weights when they are needed: one that never took part in enough mistakes has none
//! (Goldberg & Elhadad 2011, *Learning sparser perceptron models*).

use super::{
    key_table::KeyTable,
    weights::{MAX_ENTRIES, TagWeight, Weights},
};

/// Weights while they are learnt, for `L` tags.
pub struct Perceptron<const L: usize> {
    /// For each feature how many mistakes it took part in, while fewer than `min_mistakes`; after
    /// that `min_mistakes` plus its row.
    table: KeyTable,
    min_mistakes: u32,
    keys: Vec<u32>,
    weights: Vec<[i32; L]>,
    /// Each change times the step that made it: the mean weight is `weights − lateness / step`.
    lateness: Vec<[i64; L]>,
    step: i64,
}

impl<const L: usize> Perceptron<L> {
    /// No weights yet; a feature gets some after `min_mistakes` mistakes.
    pub fn new(min_mistakes: u32) -> Self {
        Self {
            table: KeyTable::with_capacity(1 << 16),
            min_mistakes: min_mistakes.max(1),
            keys: Vec::new(),
            weights: Vec::new(),
            lateness: Vec::new(),
            step: 0,
        }
    }

    /// The sums of the weights of some features.
    pub fn scores(&self, features: &[u32]) -> [i32; L] {
        let mut scores = [0; L];
        for &key in features {
            let row = self.table.get(key).and_then(|row| row.checked_sub(self.min_mistakes));
            if let Some(row) = row {
                for (score, weight) in scores.iter_mut().zip(&self.weights[row as usize]) {
                    *score += weight;
                }
            }
        }
        scores
    }

    /// Counts a step: means of weights are taken over all steps.
    pub fn advance(&mut self) {
        self.step += 1;
    }

    /// Moves the weights of some features towards the right tag and away from a wrong one.
    pub fn learn(&mut self, features: &[u32], right: usize, wrong: usize) {
        for &key in features {
            let row = self.table.get_or_insert(key, 0);
            if *row < self.min_mistakes {
                *row += 1;
                if *row < self.min_mistakes {
                    continue;
                }
                *row += self.keys.len() as u32;
                self.keys.push(key);
                self.weights.push([0; L]);
                self.lateness.push([0; L]);
            }
            let row = (*row - self.min_mistakes) as usize;
            self.weights[row][right] += 1;
            self.weights[row][wrong] -= 1;
            self.lateness[row][right] += self.step;
            self.lateness[row][wrong] -= self.step;
        }
    }

    /// The largest mean weights, that many of them (more where the smallest are equal), rounded to
    /// a byte.
    pub fn finish(self, n_weights: usize) -> Weights<L> {
        let mut rows: Vec<usize> = (0..self.keys.len()).collect();
        rows.sort_unstable_by_key(|&row| self.keys[row]);
        let means: Vec<(usize, usize, f64)> = rows
            .iter()
            .flat_map(|&row| self.means(row).map(move |(tag, mean)| (row, tag, mean)))
            .collect();
        let mut sizes: Vec<f64> = means.iter().map(|(.., mean)| mean.abs()).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        sizes.drain(..sizes.len().saturating_sub(n_weights.min(MAX_ENTRIES)));
        let smallest = sizes.first().copied().unwrap_or(1.0);
        // One weight in ten thousand may be clipped, so that the others keep more of their digits.
        let largest = sizes.iter().rev().nth(sizes.len() / 10_000).copied().unwrap_or(1.0);

        let (mut keys, mut starts, mut entries) = (Vec::new(), vec![0], Vec::new());
        for of_row in means.chunk_by(|a, b| a.0 == b.0) {
            for &(_, tag, mean) in of_row.iter().filter(|(.., mean)| mean.abs() >= smallest) {
                let weight = (mean / largest * 127.0).round().clamp(-127.0, 127.0) as i8;
                if weight != 0 {
                    entries.push(TagWeight { tag: tag as u8, weight });
                }
            }
            if entries.len() > starts[keys.len()] as usize {
                keys.push(self.keys[of_row[0].0]);
                starts.push(entries.len() as u32);
            }
        }
        Weights::new(keys, starts, entries)
    }

    /// The tags for which a feature's mean weight is not zero, with that weight.
    fn means(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let last_and_late = self.weights[row].iter().zip(&self.lateness[row]);
        let mean = |(&last, &late): (&i32, &i64)| f64::from(last) - late as f64 / self.step as f64;
        last_and_late.map(mean).enumerate().filter(|&(_, mean)| mean != 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_weight_counts_every_step() {
        // Feature 7 is wrong at steps 1 and 3 of 4. Its weights for tag 0 after the steps are 1, 1,
        // 2, 2: mean 6 / 4. The step that makes a change is the first that has it.
        let mut perceptron = Perceptron::<16>::new(1);
        for step in 1..=4 {
            if step % 2 == 1 {
                perceptron.learn(&[7], 0, 1);
            }
            perceptron.advance();
        }
        assert_eq!(perceptron.scores(&[7, 8])[..3], [2, -2, 0]);
        let means: Vec<_> = perceptron.means(0).collect();
        assert_eq!(means, [(0, 1.5), (1, -1.5)]);
    }

    #[test]
    fn a_feature_gets_weights_after_enough_mistakes() {
        let mut perceptron = Perceptron::<16>::new(3);
        perceptron.learn(&[7], 0, 1);
        perceptron.learn(&[7, 8], 0, 1);
        assert_eq!(perceptron.scores(&[7, 8])[..2], [0, 0]);
        perceptron.learn(&[7, 8], 0, 1);
        assert_eq!(perceptron.scores(&[7, 8])[..2], [1, -1]);
    }

    #[test]
    fn the_smallest_weights_are_left_out() {
        let mut perceptron = Perceptron::<16>::new(1);
        perceptron.learn(&[7], 0, 1);
        perceptron.learn(&[7], 0, 1);
        perceptron.learn(&[5], 2, 3);
        perceptron.advance();
        let weights = perceptron.finish(2);
        assert_eq!(weights.keys, [7]);
        let entries = [TagWeight { tag: 0, weight: 127 }, TagWeight { tag: 1, weight: -127 }];
        assert_eq!(weights.entries, entries);
    }
}
