//! The averaged perceptron (Collins 2002, *Discriminative training methods for hidden Markov
//! models*): weights move by one whenever the best-scored tag is wrong, and the mean of the weights
//! over all steps is what is kept.
//!
//! Features get weights when they are needed: one that never took part in enough mistakes has none
//! (Goldberg & Elhadad 2011, *Learning sparser perceptron models*).

use super::{
    key_table::KeyTable,
    weights::{Entry, Weights},
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
            min_mistakes,
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

    /// Counts a step.
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

    /// The mean weights, rounded to a byte, without those below `prune`.
    pub fn finish(self, prune: f64) -> Weights<L> {
        let mean = |row: usize, tag: usize| {
            f64::from(self.weights[row][tag])
                - self.lateness[row][tag] as f64 / self.step.max(1) as f64
        };
        let mut rows: Vec<usize> = (0..self.keys.len()).collect();
        rows.sort_by_key(|&row| self.keys[row]);
        let largest = largest_weight(rows.iter().flat_map(|&row| {
            (0..L).map(move |tag| mean(row, tag)).filter(|weight| weight.abs() >= prune)
        }));
        let (mut keys, mut starts, mut entries) = (Vec::new(), vec![0], Vec::new());
        for row in rows {
            for tag in 0..L {
                let weight = mean(row, tag);
                let rounded = (weight / largest * 127.0).round().clamp(-127.0, 127.0) as i8;
                if weight.abs() >= prune && rounded != 0 {
                    entries.push(Entry { tag: tag as u8, weight: rounded });
                }
            }
            if entries.len() > starts[keys.len()] as usize {
                keys.push(self.keys[row]);
                starts.push(entries.len() as u32);
            }
        }
        Weights::new(keys, starts, entries)
    }
}

/// The weight that is rounded to 127: all but one in ten thousand are below.
fn largest_weight(weights: impl Iterator<Item = f64>) -> f64 {
    let mut sizes: Vec<f64> = weights.map(f64::abs).filter(|&size| size > 0.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(sizes.len().saturating_sub(1 + sizes.len() / 10_000)).copied().unwrap_or(1.0)
}
