//! Random generators: a seed and what it is used for → a ChaCha stream of its own.
//!
//! What is drawn for one book, class or question then never depends on how much was drawn for another,
//! nor on the number of threads.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// The generator for a use of the seed; other uses of the same seed give unrelated numbers.
pub(crate) fn generator(seed: u64, uses: &[&str]) -> ChaCha8Rng {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    for part in uses {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    ChaCha8Rng::from_seed(hash.finalize().into())
}
