//! Estimation on disk: a text that need not fit into memory → the same model as [`crate::estimate()`] makes.
//!
//! ```text
//! sentences ──text──▶ longest n-grams ──levels──▶ n-grams of each length, with adjusted counts
//!                     in suffix order             │
//!            ┌────────────────────────────────────┘ for each length
//!            └──trie──▶ contexts ──interpolate──▶ probabilities ──write──▶ Model
//!              in the order of the trie  in suffix order  in the order of the tables
//! ```
//!
//! An n-gram comes next to its context in the order of the trie, and next to the shorter n-gram that it is interpolated
//! with in suffix order. So each length is sorted once and permuted twice, and everything else is read and written from
//! the first to the last. In memory are the distinct words, the buffers of the stage, and the words that follow one
//! context.

mod levels;
mod permutation;
mod sorter;
mod spill;
mod text;
mod trie;
mod write;

pub use spill::{Limits, Stage};
pub use text::LargeText;

use self::levels::Levels;
use self::permutation::Permutation;
use self::spill::Sequence;
use self::trie::{Join, Joined};
use self::write::{Tables, TrieLevel};
use crate::discounts::{Discounts, Fallback, TakenDiscounts};
use crate::estimate::Options;
use crate::model::Model;
use crate::probabilities::{log, unigrams};
use crate::{Error, MAX_ORDER, Result, quantise};

/// What [`LargeText::estimate`] returns: a model in a temporary file, and how its discounts came about.
pub struct LargeEstimate {
    /// The model.
    pub model: Model,
    /// The discounts of each length, from 1.
    pub discounts: Vec<Discounts>,
    /// The lengths whose discounts could not be estimated.
    pub fallbacks: Vec<Fallback>,
}

impl LargeText<'_> {
    /// Estimates a model of the text; `quantise` is that of [`Model::new`].
    ///
    /// # Errors
    /// As [`crate::estimate()`]; if the disk is full; if a number of n-grams or of words is beyond what a model can
    /// have; [`Error::Cancelled`].
    pub fn estimate(self, options: &Options, quantise: bool) -> Result<LargeEstimate> {
        let Options { order, pruning } = *options;
        if !(1..=MAX_ORDER).contains(&order) {
            return Err(Error::Order { max: MAX_ORDER, found: order });
        }
        if self.is_empty() {
            return Err(Error::NoText);
        }
        let mut text = self.sort(order)?;
        let Levels { unigrams: counts, longer, counts_of_counts } =
            levels::count(&mut text, pruning)?;
        let text::CountedText { limits, vocabulary, keys, memory, grams } = text;
        drop(grams);
        let bits = if quantise { quantise::BITS } else { 32 };
        let n_longer: Vec<u32> = longer.iter().map(|level| level.n_kept).collect();
        let mut taken = TakenDiscounts::default();
        counts_of_counts.into_iter().for_each(|n| {
            taken.estimate(n);
        });

        let probabilities = unigrams(&counts, taken.discounts[0]);
        drop(counts);
        let log_probs = probabilities.iter().map(|&p| log(p.into()).to_bits());
        let mut level = TrieLevel {
            log_probs: Sequence::of(limits, log_probs)?,
            words: Sequence::of(limits, (0..).take(vocabulary.len()))?,
        };
        let mut lower = Sequence::of(limits, probabilities.into_iter().map(f32::to_bits))?;
        let n_longer = n_longer.into_iter();
        let mut tables = Tables::new(limits, memory, vocabulary, bits, n_longer);
        for (longer, length) in longer.into_iter().zip(2..) {
            let stage = Stage::Estimating { length };
            let join = Join {
                bits: keys.bits,
                discounts: taken.discounts[length - 1],
                shorter: level.words.read()?,
                joined: Joined::new(limits, longer.n_kept as usize, memory / 4)?,
                n_placed: 0,
            };
            let joined = join.run(longer.sorter.sorted(stage)?)?;
            let parts = Parts { parts: joined.parts, suffixes: longer.suffixes, stage };
            let log_probs;
            (lower, log_probs) = parts.interpolate(limits, &mut lower, memory / 4)?;
            let shorter =
                std::mem::replace(&mut level, TrieLevel { words: joined.words, log_probs });
            tables.add(shorter, Some(joined.contexts))?;
        }
        drop(lower);
        tables.add(level, None)?;
        let model = tables.write()?;
        let TakenDiscounts { discounts, fallbacks } = taken;
        Ok(LargeEstimate { model, discounts, fallbacks })
    }
}

/// What the probabilities of one length are computed from.
struct Parts<'a> {
    parts: Permutation<'a, 3>,
    suffixes: Sequence<'a, u32>,
    stage: Stage,
}

impl Parts<'_> {
    /// The bits of the probabilities, in suffix order, from those of the n-grams one word shorter; and the bits of their
    /// logarithms, in the order of the trie.
    fn interpolate<'a>(
        mut self,
        limits: &'a Limits<'a>,
        lower: &mut Sequence<'_, u32>,
        memory: u64,
    ) -> Result<(Sequence<'a, u32>, Sequence<'a, u32>)> {
        let mut by_trie = Permutation::new(limits, self.suffixes.len() as usize, memory)?;
        let mut parts = self.parts.ordered(self.stage);
        let mut probabilities = Sequence::new(limits)?;
        let mut suffixes = self.suffixes.read()?;
        let mut lower = lower.read()?;
        let (mut shorter, mut n_read) = (0.0, 0);
        while let Some([seen, gamma, places]) = parts.next()? {
            let suffix = suffixes.expect_next()?;
            while n_read <= u64::from(suffix) {
                shorter = f32::from_bits(lower.expect_next()?).into();
                n_read += 1;
            }
            // Chen & Goodman 1998, §4.1.6: (c − D(c)) / Σ c + γ(context) p(w | shorter context).
            let probability: f64 = f64::from_bits(seen) + f64::from_bits(gamma) * shorter;
            probabilities.push((probability as f32).to_bits())?;
            by_trie.push([places << 32 | u64::from(log(probability).to_bits())])?;
        }
        drop(parts);
        let mut by_trie = by_trie.ordered(self.stage);
        let mut log_probs = Sequence::new(limits)?;
        while let Some([value]) = by_trie.next()? {
            log_probs.push(value as u32)?;
        }
        Ok((probabilities, log_probs))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Pruning, Text, estimate};

    fn bytes(model: &Model) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        model.write(&path).unwrap();
        std::fs::read(path).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn the_bytes_are_those_of_estimation_in_memory(
            sentences in prop::collection::vec(prop::collection::vec("[a-e]|<s>", 0..8), 1..30),
            order in 1..=MAX_ORDER, at_most in 0u32..3, from in 2usize..5, quantise: bool,
            memory in prop_oneof![3 => Just(0), 1 => Just(1 << 30)],
        ) {
            let options = Options { order, pruning: Pruning { at_most, from } };
            let folder = tempfile::tempdir().unwrap();
            let limits = Limits { memory, folder: folder.path(), watch: &|_| true };
            let (mut text, mut large) = (Text::default(), LargeText::unchecked(&limits).unwrap());
            for sentence in &sentences {
                text.push(sentence.iter().map(String::as_str)).unwrap();
                large.push(sentence.iter().map(String::as_str)).unwrap();
            }
            let in_memory = estimate(&text.sort(order).unwrap(), &options).unwrap();
            let on_disk = large.estimate(&options, quantise).unwrap();
            prop_assert!(bytes(&Model::new(&in_memory.table, quantise).unwrap()) == bytes(&on_disk.model));
            prop_assert_eq!(in_memory.discounts, on_disk.discounts);
            prop_assert_eq!(in_memory.fallbacks, on_disk.fallbacks);
            prop_assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        }
    }

    fn three_words<'a>(limits: &'a Limits<'a>) -> LargeText<'a> {
        let mut text = LargeText::new(limits).unwrap();
        text.push(["the", "bear", "slept"]).unwrap();
        text
    }

    #[test]
    fn it_stops_when_it_is_cancelled() {
        let folder = tempfile::tempdir().unwrap();
        let watch = |stage| stage != Stage::Writing;
        let limits = Limits { memory: 1 << 30, folder: folder.path(), watch: &watch };
        let cancelled = three_words(&limits).estimate(&Options::default(), false).err().unwrap();
        assert!(matches!(cancelled, Error::Cancelled));
    }

    #[test]
    fn limits_and_refusals_of_the_disk_are_errors_with_a_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        let message = |memory, folder| {
            let limits = Limits { memory, folder, watch: &|_| true };
            let error = LargeText::new(&limits).err().unwrap();
            format!("{error}; {}", error.remedy().unwrap())
                .replace(&gone.display().to_string(), "GONE")
        };
        expect_test::expect![
            "too little memory: expected at least 64 MiB, found 1; allow more memory"
        ]
        .assert_eq(&message(1 << 20, folder.path()));
        expect_test::expect!["GONE: cannot keep temporary files: No such file or directory (os error 2); make room, or choose another folder for temporary files"].assert_eq(&message(1 << 30, &gone));

        let limits = Limits { memory: 1 << 30, folder: folder.path(), watch: &|_| true };
        let order = |order| {
            let options = Options { order, ..Options::default() };
            three_words(&limits).estimate(&options, false).err().unwrap().to_string()
        };
        assert_eq!(order(0), "n-grams of 0 words: expected an order from 1 to 6");
        assert_eq!(order(7), "n-grams of 7 words: expected an order from 1 to 6");
        let nothing = LargeText::new(&limits).unwrap().estimate(&Options::default(), false);
        assert!(matches!(nothing.err().unwrap(), Error::NoText));
    }
}
