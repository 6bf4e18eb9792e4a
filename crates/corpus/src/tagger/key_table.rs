//! A hash table from feature keys to row numbers, for keys that are hashes already.
//!
//! A key's slot is its highest bits, so keys that arrive in ascending order (as they are in the
//! weights file) fill the table from front to back.

/// Open addressing with linear probing; at most three quarters of the slots are taken.
pub struct KeyTable {
    slots: Vec<Slot>,
    len: usize,
    shift: u32,
    /// Two bits per slot, of which the highest bits of a key give one: it is set for each key that is there. The table
    /// is far larger than the caches, and this fits: most keys that are not there are known by it.
    filter: Vec<u64>,
}

#[derive(Clone, Copy)]
struct Slot {
    key: u32,
    row: u32,
}

const EMPTY: Slot = Slot { key: 0, row: u32::MAX };

impl KeyTable {
    /// An empty table that holds this many keys without growing.
    pub fn with_capacity(keys: usize) -> Self {
        let n_slots = (keys.max(8) * 4 / 3 + 1).next_power_of_two();
        Self {
            slots: vec![EMPTY; n_slots],
            len: 0,
            shift: 32 - n_slots.trailing_zeros(),
            filter: vec![0; (n_slots / 32).max(1)],
        }
    }

    /// Returns false for most of the keys that are not there, and for no other.
    #[inline]
    fn may_have(&self, key: u32) -> bool {
        let bit = key >> (self.shift - 1);
        self.filter[(bit / u64::BITS) as usize] >> (bit % u64::BITS) & 1 != 0
    }

    /// The row of a key.
    #[inline]
    pub fn get(&self, key: u32) -> Option<u32> {
        let slot = self.slots[self.slot_of(key)];
        (slot.row != u32::MAX).then_some(slot.row)
    }

    /// Calls `found` with the row of each key that has one, in order.
    ///
    /// What counts is how many slots are waited for at once: all first slots are copied before any of them
    /// is looked at.
    #[inline]
    pub fn for_each(&self, keys: &[u32], mut found: impl FnMut(u32)) {
        const AT_ONCE: usize = 16;
        for keys in keys.chunks(AT_ONCE) {
            let (mut kept, mut n_kept) = ([0; AT_ONCE], 0);
            for &key in keys {
                // Without a branch, which would often be predicted wrongly.
                kept[n_kept] = key;
                n_kept += usize::from(self.may_have(key));
            }
            let (keys, mut slots) = (&kept[..n_kept], [EMPTY; AT_ONCE]);
            for (slot, &key) in slots.iter_mut().zip(keys) {
                *slot = self.slots[(key >> self.shift) as usize];
            }
            for (slot, &key) in slots.iter().zip(keys) {
                if slot.row == u32::MAX {
                    continue;
                }
                let row = if slot.key == key { Some(slot.row) } else { self.get(key) };
                if let Some(row) = row {
                    found(row);
                }
            }
        }
    }

    /// The row of a key, for changing; a key that is new gets `row` first.
    pub fn get_or_insert(&mut self, key: u32, row: u32) -> &mut u32 {
        debug_assert_ne!(row, u32::MAX, "the largest number marks an empty slot");
        if 4 * (self.len + 1) > 3 * self.slots.len() {
            self.grow();
        }
        let index = self.slot_of(key);
        if self.slots[index].row == u32::MAX {
            self.slots[index] = Slot { key, row };
            self.len += 1;
            self.mark(key);
        }
        &mut self.slots[index].row
    }

    /// The slot that holds the key, or the empty one where it belongs.
    #[inline]
    fn slot_of(&self, key: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut index = (key >> self.shift) as usize;
        while self.slots[index].row != u32::MAX && self.slots[index].key != key {
            index = (index + 1) & mask;
        }
        index
    }

    fn mark(&mut self, key: u32) {
        let bit = key >> (self.shift - 1);
        self.filter[(bit / u64::BITS) as usize] |= 1 << (bit % u64::BITS);
    }

    fn grow(&mut self) {
        let mut larger = Self::with_capacity(2 * self.len);
        for slot in self.slots.iter().filter(|slot| slot.row != u32::MAX) {
            let index = larger.slot_of(slot.key);
            larger.slots[index] = *slot;
            larger.mark(slot.key);
        }
        larger.len = self.len;
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_holds_what_a_sorted_map_holds(keys in prop::collection::vec(0u32..300, 0..400), spread: bool) {
            // Spread keys are scattered over the table; the others fall into its first slots, where they collide.
            let spread = |key: u32| if spread { key.wrapping_mul(0x9E37_79B9) } else { key };
            let (mut table, mut map) = (KeyTable::with_capacity(0), BTreeMap::new());
            for (row, &key) in (0u32..).zip(&keys) {
                prop_assert_eq!(*table.get_or_insert(spread(key), row), *map.entry(key).or_insert(row));
            }
            let all: Vec<u32> = (0..300).collect();
            let mut found = Vec::new();
            table.for_each(&all.iter().map(|&key| spread(key)).collect::<Vec<_>>(), |row| found.push(row));
            prop_assert_eq!(found, map.values().copied().collect::<Vec<_>>());
            for key in all {
                prop_assert_eq!(table.get(spread(key)), map.get(&key).copied());
            }
        }
    }
}
