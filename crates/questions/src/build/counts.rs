//! How many questions of each class and split are kept: all, or at most a number of them.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::{Split, WordClass};
use base::seeds::{Use, generator};

/// The most questions that are kept of each class and split; which, is drawn from the seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// All that the rules yield.
    #[default]
    All,
    /// At most this many per split (training, validation, test) and class, both in the order of their `ALL`.
    AtMost([[usize; WordClass::ALL.len()]; Split::ALL.len()]),
}

/// A class of a split for which the rules yield fewer questions than [`Counts`] allows: a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shortfall {
    /// The split that has too few questions of the class.
    pub split: Split,
    /// The class that is short.
    pub class: WordClass,
    /// How many [`Counts`] allows.
    pub wanted: usize,
    /// What the rules yield: all of it is kept.
    pub found: usize,
}

impl Counts {
    /// At most `limits` questions of each class, for training, validation and test.
    pub const fn per_split(limits: [usize; Split::ALL.len()]) -> Self {
        let [train, valid, test] = limits;
        Self::AtMost([[train; 4], [valid; 4], [test; 4]])
    }

    /// The most questions of a class and split, if there is a limit.
    pub fn limit(self, split: Split, class: WordClass) -> Option<usize> {
        match self {
            Self::All => None,
            Self::AtMost(limits) => Some(limits[split as usize][class as usize]),
        }
    }
}

/// Keeps a number of questions out of those that pass by, each with the same chance, in their order.
/// (Knuth, The Art of Computer Programming, vol. 2, 3.4.2, Algorithm S.)
#[derive(Clone, Debug)]
pub struct Sampler {
    random: ChaCha8Rng,
    passing: usize,
    wanted: usize,
}

impl Sampler {
    /// For the `n` questions of a class and split that will pass by.
    pub fn new(n: usize, counts: Counts, seed: u64, split: Split, class: WordClass) -> Self {
        let random = generator(seed, Use::Counts, &[split.code(), class.code()]);
        let wanted = counts.limit(split, class).map_or(n, |limit| limit.min(n));
        Self { random, passing: n, wanted }
    }

    /// Whether to keep the next question.
    pub fn keep(&mut self) -> bool {
        let keep =
            self.wanted == self.passing || self.random.random_range(0..self.passing) < self.wanted;
        self.passing -= 1;
        self.wanted -= usize::from(keep);
        keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sampler_keeps_exactly_the_number_asked_for_without_favouring_a_place() {
        let mut kept_at = [0_i32; 6];
        for seed in 0..3000 {
            let mut sampler =
                Sampler::new(6, Counts::per_split([9, 9, 2]), seed, Split::Test, WordClass::Verb);
            let kept: Vec<usize> = (0..6).filter(|_| sampler.keep()).collect();
            assert_eq!(kept.len(), 2);
            kept.into_iter().for_each(|index| kept_at[index] += 1);
        }
        // Each question in 1/3 of 3,000 draws, standard deviation 26.
        assert!(kept_at.iter().all(|&n| (n - 1000).abs() < 130), "{kept_at:?}");

        let mut all =
            Sampler::new(6, Counts::per_split([9, 9, 2]), 1, Split::Train, WordClass::Verb);
        assert!((0..6).all(|_| all.keep()));
    }
}
