//! The order of a Python 2 `set` of strings, which the released files show: words → the order of iteration.
//!
//! As in CPython 2.7 on 64 bits: the hash of `stringobject.c` and the open addressing of `setobject.c`, for a set
//! that was filled word by word and never lost one.

/// The string hash of CPython 2.7, of the word's UTF-8 bytes.
pub(crate) fn hash(word: &str) -> u64 {
    let Some(&first) = word.as_bytes().first() else { return 0 };
    let mixed = word
        .bytes()
        .fold(u64::from(first) << 7, |hash, byte| hash.wrapping_mul(1_000_003) ^ u64::from(byte));
    match mixed ^ word.len() as u64 {
        // −1 is an error there.
        u64::MAX => u64::MAX - 1,
        hash => hash,
    }
}

/// Indices of distinct words, given by their hashes in the order in which they were added, in the order in which the
/// set gives them.
pub(crate) fn order(hashes: &[u64]) -> Vec<usize> {
    let mut table: Vec<Option<usize>> = vec![None; 8];
    for word in 0..hashes.len() {
        insert(&mut table, word, hashes);
        let n_words = word + 1;
        // It grows when two thirds are full, to more than four times the words.
        if n_words * 3 >= table.len() * 2 {
            let size = (4 * n_words + 1).next_power_of_two();
            let old = std::mem::replace(&mut table, vec![None; size]);
            old.into_iter().flatten().for_each(|word| insert(&mut table, word, hashes));
        }
    }
    table.into_iter().flatten().collect()
}

fn insert(table: &mut [Option<usize>], word: usize, hashes: &[u64]) {
    let mask = table.len() as u64 - 1;
    let (mut slot, mut perturb) = (hashes[word], hashes[word]);
    while table[(slot & mask) as usize].is_some() {
        slot = slot.wrapping_mul(5).wrapping_add(perturb).wrapping_add(1);
        perturb >>= 5;
    }
    table[(slot & mask) as usize] = Some(word);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &str) -> String {
        let mut distinct: Vec<&str> = Vec::new();
        for word in words.split(' ') {
            if !distinct.contains(&word) {
                distinct.push(word);
            }
        }
        let hashes: Vec<u64> = distinct.iter().map(|word| hash(word)).collect();
        order(&hashes).into_iter().map(|at| distinct[at]).collect::<Vec<_>>().join(" ")
    }

    /// The tutorial of Python 2.7 prints `set(basket)` and `set('abracadabra')`.
    #[test]
    fn sets_are_in_the_order_that_python_2_prints() {
        assert_eq!((hash(""), hash("a")), (0, 12_416_037_344));
        assert_eq!(set("apple orange apple pear orange banana"), "orange pear apple banana");
        assert_eq!(set("a b r a c a d a b r a"), "a r b c d");
    }

    #[test]
    fn the_table_grows_at_two_thirds_and_every_word_stays() {
        // Six words go into 32 slots, 22 into 128: small hashes are then their own slots.
        let reversed = |n: u64| order(&(0..n).rev().collect::<Vec<_>>());
        for n in [5, 6, 21, 22, 85, 86, 400] {
            assert_eq!(reversed(n), (0..n as usize).rev().collect::<Vec<_>>(), "{n}");
        }
        // 0, 8 and 16 meet in a table of eight, not in one of 32.
        assert_eq!(order(&[16, 8, 0]), [0, 1, 2]);
        assert_eq!(order(&[16, 8, 0, 1, 2, 3]), [2, 3, 4, 5, 1, 0]);
    }
}
