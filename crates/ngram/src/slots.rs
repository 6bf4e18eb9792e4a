//! The table of a level: the context and the last word of an n-gram ↔ the slot where it is.
//!
//! Both together are the key of an n-gram. Keys are scrambled, so that they are spread evenly over the numbers of `k`
//! bits, and a level is sorted by them, with gaps: the n-gram with the scrambled key m is in slot ⌊m · n ∕ 2ᵏ⌋, its
//! home, or in the first free one after it. So an n-gram is found where its key says or a little later, and one that
//! does not exist is known by the first larger key.
//!
//! Since a slot says what the high bits of its key must be, only the low ones are kept. Comparisons are exact as long
//! as differences are less than half of what these bits can count. An empty slot holds the first key whose home is
//! the next slot, which is larger than any that is looked for there.

use crate::packed::width;

/// How the keys of a level are spread over its slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// Bits of a word in a key, and of a whole key.
    word: u32,
    key: u32,
    n_homes: u64,
}

/// Odd numbers, by which a multiplication can be undone: the golden ratio, and one of good spectrum.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// The number that undoes a multiplication by an odd one, by Newton's iteration.
const fn inverse(factor: u64) -> u64 {
    let mut inverse = factor;
    let mut round = 0;
    while round < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(inverse)));
        round += 1;
    }
    inverse
}

impl Spread {
    /// Spreads `len` n-grams whose contexts are in a table of `n_contexts` slots.
    pub fn new(n_words: usize, n_contexts: usize, len: usize) -> Self {
        let bits = |n: usize| width(n.saturating_sub(1));
        let (word, key) = (bits(n_words), (bits(n_words) + bits(n_contexts)).max(1));
        // Chosen: three of four slots are taken. Keys of very many bits need more slots, or too many of their bits
        // would have to be kept.
        let n_homes = (len as u64 + len as u64 / 3 + 1).max(1 << key.saturating_sub(48));
        Self { word, key, n_homes }
    }

    /// The number of slots, if the last n-grams are up to `reach` slots behind their homes; one at the end is empty.
    pub fn n_slots(self, reach: u32) -> usize {
        self.n_homes as usize + reach as usize + 1
    }

    /// The number of low bits of a key that are kept.
    pub fn n_kept_bits(self, reach: u32) -> u32 {
        let gap = (1u128 << self.key).div_ceil(self.n_homes.into());
        // In a slot is a key whose home is at most `reach` before it and at most one after it.
        let largest_difference = (u128::from(reach) + 2) * gap;
        u128::BITS - largest_difference.leading_zeros() + 1
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.key)
    }

    /// The scrambled key.
    pub fn key(self, context: u32, word: u32) -> u64 {
        let key = u64::from(context) << self.word | u64::from(word);
        let key = key.wrapping_mul(FACTORS[0]) & self.mask();
        let key = key ^ (key >> self.key.div_ceil(2));
        key.wrapping_mul(FACTORS[1]) & self.mask()
    }

    /// The context and the word of a scrambled key.
    pub fn gram(self, key: u64) -> (u32, u32) {
        const UNDO: [u64; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];
        let key = key.wrapping_mul(UNDO[1]) & self.mask();
        let key = key ^ (key >> self.key.div_ceil(2));
        let key = key.wrapping_mul(UNDO[0]) & self.mask();
        let word = key & ((1u64 << self.word) - 1);
        ((key >> self.word) as u32, word as u32)
    }

    /// ⌊m · n ∕ 2ᵏ⌋, the slot of a key unless that is taken.
    pub fn home(self, key: u64) -> usize {
        ((u128::from(key << (64 - self.key)) * u128::from(self.n_homes)) >> 64) as usize
    }

    /// The first key whose home is this slot: what the slot before it holds if that is empty.
    pub fn first_key(self, home: usize) -> u128 {
        ((home as u128) << self.key).div_ceil(self.n_homes.into())
    }

    /// The key in a slot, from its `n_bits` low bits; `None` if the slot is empty.
    pub fn whole_key(self, slot: usize, low: u64, n_bits: u32) -> Option<u64> {
        let limit = self.first_key(slot + 1);
        let below = (limit as u64).wrapping_sub(low) & (u64::MAX >> (64 - n_bits));
        limit.checked_sub(below.into()).filter(|&key| key < limit).map(|key| key as u64)
    }
}

/// Puts keys that come in ascending order into slots.
pub(crate) struct Placement {
    spread: Spread,
    next: usize,
    /// How many slots an n-gram is behind its home, at most.
    pub reach: u32,
}

impl Placement {
    pub fn new(spread: Spread) -> Self {
        Self { spread, next: 0, reach: 0 }
    }

    /// The slot of the next key.
    pub fn slot(&mut self, key: u64) -> usize {
        let home = self.spread.home(key);
        let slot = home.max(self.next);
        self.next = slot + 1;
        self.reach = self.reach.max((slot - home) as u32);
        slot
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn scrambling_can_be_undone(
            n_words in 1usize..1 << 32, n_contexts in 1usize..1 << 32, word: u32, context: u32,
        ) {
            let (word, context) = (word % n_words as u32, context % n_contexts as u32);
            let spread = Spread::new(n_words, n_contexts, 1000);
            prop_assert_eq!(spread.gram(spread.key(context, word)), (context, word));
        }

        #[test]
        fn slots_give_back_their_keys_and_empty_ones_are_known(
            keys in prop::collection::btree_set(any::<u64>(), 0..300),
            n_words in 1usize..1 << 20, n_contexts in 1usize..1 << 30, len in 1usize..300,
        ) {
            let spread = Spread::new(n_words, n_contexts, len);
            let keys: std::collections::BTreeSet<u64> =
                keys.into_iter().map(|key| key & spread.mask()).take(len).collect();
            let mut placement = Placement::new(spread);
            let slots: Vec<usize> = keys.iter().map(|&key| placement.slot(key)).collect();
            let n_bits = spread.n_kept_bits(placement.reach);
            let low = |key: u64| key & (u64::MAX >> (64 - n_bits));
            for (&key, &slot) in keys.iter().zip(&slots) {
                prop_assert_eq!(spread.whole_key(slot, low(key), n_bits), Some(key));
            }
            for slot in (0..spread.n_slots(placement.reach)).filter(|slot| !slots.contains(slot)) {
                let empty = spread.first_key(slot + 1) as u64;
                prop_assert_eq!(spread.whole_key(slot, low(empty), n_bits), None);
            }
        }
    }
}
