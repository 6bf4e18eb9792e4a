//! One length of n-grams in the order of the trie → what their probabilities are computed from, and the backoffs and
//! first children of the n-grams one word shorter.

use super::permutation::Permutation;
use super::sorter::Sorted;
use super::spill::{Limits, Reader, Sequence};
use crate::Result;
use crate::counts::NONE;
use crate::discounts::Discounts;
use crate::probabilities::{Context, log};

/// The n-grams of one length as they are joined with the shorter ones.
pub(super) struct Joined<'a> {
    /// The words of each, the first one highest, in the order of the trie.
    pub words: Sequence<'a, u128>,
    /// In the same order, of those one word shorter: the bits of the backoff, and the first child.
    pub contexts: Sequence<'a, [u32; 2]>,
    /// By places in suffix order: what was seen after the context, the weight of the shorter context, and in the
    /// last number, after the place, the place in the trie.
    pub parts: Permutation<'a, 3>,
}

impl<'a> Joined<'a> {
    pub fn new(limits: &'a Limits<'a>, n_grams: usize, memory: u64) -> Result<Self> {
        Ok(Self {
            words: Sequence::new(limits)?,
            contexts: Sequence::new(limits)?,
            parts: Permutation::new(limits, n_grams, memory)?,
        })
    }
}

/// An n-gram of the context that is being read: its words, its adjusted count, its place in suffix order.
type Gram = (u128, u32, u32);

/// Joins n-grams with their contexts.
pub(super) struct Join<'r, 'a> {
    pub bits: u32,
    pub discounts: Discounts,
    /// The words of the n-grams one word shorter, in the order of the trie.
    pub shorter: Reader<'r, u128>,
    pub joined: Joined<'a>,
    /// How many n-grams are placed in the trie.
    pub n_placed: u32,
}

impl<'a> Join<'_, 'a> {
    pub fn run(mut self, mut grams: Sorted<'_>) -> Result<Joined<'a>> {
        // All that share a context; at most one for each word.
        let mut group: Vec<Gram> = Vec::new();
        let mut next = grams.next()?;
        while let Some((first, _)) = next {
            let context = first >> self.bits;
            group.clear();
            while let Some((words, value)) = next.filter(|(words, _)| words >> self.bits == context)
            {
                group.push((words, (value >> 32) as u32, value as u32));
                next = grams.next()?;
            }
            self.group(context, &group)?;
        }
        while self.shorter.next()?.is_some() {
            self.context(&Context::default(), self.n_placed)?;
        }
        // Where the children of the last one end.
        self.joined.contexts.push([0, self.n_placed])?;
        Ok(self.joined)
    }

    fn context(&mut self, context: &Context, first_child: u32) -> Result<()> {
        let backoff = log(context.gamma(self.discounts));
        self.joined.contexts.push([backoff.to_bits(), first_child])
    }

    /// Takes the n-grams of one context.
    fn group(&mut self, words: u128, group: &[Gram]) -> Result<()> {
        // After a context without words that are kept, the shorter one decides alone: it may be pruned itself.
        if group.iter().all(|&(_, _, place)| place == NONE) {
            return Ok(());
        }
        let mut context = Context::default();
        group.iter().for_each(|&(_, count, place)| context.add(count, place != NONE));
        while self.shorter.expect_next()? != words {
            self.context(&Context::default(), self.n_placed)?;
        }
        self.context(&context, self.n_placed)?;
        let gamma = context.gamma(self.discounts);
        for &(words, count, place) in group.iter().filter(|gram| gram.2 != NONE) {
            self.joined.words.push(words)?;
            let seen = context.seen(count, self.discounts);
            let places = u64::from(place) << 32 | u64::from(self.n_placed);
            self.joined.parts.push([seen.to_bits(), gamma.to_bits(), places])?;
            self.n_placed += 1;
        }
        Ok(())
    }
}
