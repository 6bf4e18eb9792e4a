//! The estimator: sorted text → [`Table`], one length of n-grams after the other.
//!
//! Everything is found through the position where an n-gram ends: its context is the n-gram one word shorter
//! that ends one position earlier, and the shorter n-gram it is interpolated with ends at the same position.

use std::borrow::Cow;

use crate::counts::{Grams, NONE};
use crate::discounts::{Discounts, Fallback, TakenDiscounts};
use crate::probabilities::{contexts, log, unigrams};
use crate::pruning::Pruning;
use crate::sorted::SortedText;
use crate::table::{Level, Table};
use crate::text::UNKNOWN;
use crate::{Error, Result};

/// The settings of [`estimate()`].
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The length of the longest n-grams, at most that for which the text was sorted.
    pub order: usize,
    /// Which rare n-grams are left out.
    pub pruning: Pruning,
}

impl Default for Options {
    /// Order 5 (§4.2), nothing left out.
    fn default() -> Self {
        Self { order: 5, pruning: Pruning::default() }
    }
}

/// What [`estimate()`] returns: a model, and how its discounts came about.
pub struct Estimate {
    /// The n-grams with their probabilities and backoffs.
    pub table: Table,
    /// The discounts of each length, from 1.
    pub discounts: Vec<Discounts>,
    /// The lengths whose discounts could not be estimated.
    pub fallbacks: Vec<Fallback>,
}

/// Estimates a model of a text.
///
/// # Errors
/// [`Error::NoText`] if there is no sentence; [`Error::Order`] if the order is 0 or higher than the one that
/// the text was sorted for.
pub fn estimate(sorted: &SortedText, options: &Options) -> Result<Estimate> {
    if !(1..=sorted.order).contains(&options.order) {
        return Err(Error::Order { max: sorted.order, found: options.order });
    }
    if sorted.ends.is_empty() {
        return Err(Error::NoText);
    }
    let mut estimator = Estimator { sorted, options, taken: TakenDiscounts::default() };
    let mut lower = estimator.unigrams();
    let mut levels = Vec::new();
    for length in 2..=options.order {
        let (backoffs, children, longer) = estimator.longer(&lower, length);
        levels.push(Level { backoffs, children, ..lower.level });
        lower = longer;
    }
    levels.push(lower.level);
    let table = Table { vocabulary: sorted.vocabulary.clone(), levels };
    let TakenDiscounts { discounts, fallbacks } = estimator.taken;
    Ok(Estimate { table, discounts, fallbacks })
}

struct Estimator<'a> {
    sorted: &'a SortedText,
    options: &'a Options,
    taken: TakenDiscounts,
}

/// The estimated n-grams of one length.
struct LevelEstimate<'a> {
    /// The n-gram that ends at each position of the text.
    at: Cow<'a, [u32]>,
    /// p of each, in suffix order.
    probabilities: Vec<f32>,
    /// Its index in the level; [`NONE`] if it was pruned.
    slots: Vec<u32>,
    /// Without backoffs and children, which the next length adds.
    level: Level,
}

impl<'a> Estimator<'a> {
    fn discounts(&mut self, counts: &[u32]) -> Discounts {
        self.taken.estimate(counts.iter().copied().collect())
    }

    fn unigrams(&mut self) -> LevelEstimate<'a> {
        let sorted = self.sorted;
        let grams = Grams::new(sorted, 1, self.options.order);
        let discounts = self.discounts(&grams.counts);
        let mut counts = vec![0; sorted.vocabulary.len()];
        for (&end, &count) in grams.ends.iter().zip(&grams.counts) {
            counts[sorted.words[end as usize] as usize] = count;
        }
        let probabilities = unigrams(&counts, discounts);
        let log_probs = probabilities.iter().map(|&p| log(p.into())).collect();
        let slots: Vec<u32> = (UNKNOWN.0..counts.len() as u32).collect();
        let level = Level { words: slots.clone(), log_probs, ..Level::default() };
        LevelEstimate { at: Cow::Borrowed(&sorted.words), probabilities, slots, level }
    }

    /// The n-grams one word longer than `lower`, and the backoffs and children of `lower`.
    fn longer(
        &mut self,
        lower: &LevelEstimate<'_>,
        length: usize,
    ) -> (Vec<f32>, Vec<u32>, LevelEstimate<'a>) {
        let sorted = self.sorted;
        let grams = Grams::new(sorted, length, self.options.order);
        let discounts = self.discounts(&grams.counts);
        let pruning = self.options.pruning;
        let keeps = |gram: usize| pruning.keeps(length, grams.raw_counts[gram]);
        let context = |gram: usize| lower.at[grams.ends[gram] as usize - 1] as usize;
        let contexts = contexts(&grams, lower.slots.len(), context, keeps);

        let mut backoffs = vec![0.0; lower.level.words.len()];
        for (context, &slot) in contexts.iter().zip(&lower.slots).filter(|&(_, &s)| s != NONE) {
            backoffs[slot as usize] = log(context.gamma(discounts));
        }

        let slot_of_context = |gram| lower.slots[context(gram)] as usize;
        let mut children = vec![0; lower.level.words.len() + 1];
        (0..grams.len()).filter(|&gram| keeps(gram)).for_each(|gram| {
            children[slot_of_context(gram) + 1] += 1;
        });
        (1..children.len()).for_each(|slot| children[slot] += children[slot - 1]);

        // In suffix order the last words rise, so those after one context do.
        let mut next = children.clone();
        let n_kept = children[children.len() - 1] as usize;
        let mut level =
            Level { words: vec![0; n_kept], log_probs: vec![0.0; n_kept], ..Level::default() };
        let mut probabilities = vec![0.0; grams.len()];
        let mut slots = vec![NONE; grams.len()];
        for gram in (0..grams.len()).filter(|&gram| keeps(gram)) {
            let end = grams.ends[gram] as usize;
            let shorter = lower.probabilities[lower.at[end] as usize].into();
            let probability =
                contexts[context(gram)].interpolate(grams.counts[gram], discounts, shorter);
            let slot = next[slot_of_context(gram)];
            next[slot_of_context(gram)] += 1;
            slots[gram] = slot;
            probabilities[gram] = probability as f32;
            level.words[slot as usize] = sorted.words[end];
            level.log_probs[slot as usize] = log(probability);
        }
        (
            backoffs,
            children,
            LevelEstimate { at: Cow::Owned(grams.at), probabilities, slots, level },
        )
    }
}
