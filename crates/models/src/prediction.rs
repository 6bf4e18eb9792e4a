//! From scores to a prediction: the best candidate, ties broken by chance that depends on nothing but
//! the seed and the question, so neither the order of questions nor the number of threads matters.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// The place of the highest score; one of several equal ones is drawn from the seed and the question's
/// id.
///
/// # Panics
/// If there are no scores: readers refuse questions without candidates.
pub fn predict(scores: &[f32], seed: u64, id: &str) -> usize {
    let best = best(scores);
    best[generator("tie", seed, id).random_range(0..best.len())]
}

/// How much of a point the scores earn: 1/k if the answer is among the k best, else 0.
pub fn credit(scores: &[f32], answer: usize) -> f64 {
    let best = best(scores);
    if best.contains(&answer) { 1.0 / best.len() as f64 } else { 0.0 }
}

fn best(scores: &[f32]) -> Vec<usize> {
    let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    (0..scores.len()).filter(|&place| scores[place] == highest).collect()
}

/// Chance for one purpose, one seed and one question.
pub(crate) fn generator(purpose: &str, seed: u64, id: &str) -> ChaCha8Rng {
    let hash = Sha256::new().chain_update(purpose).chain_update(seed.to_le_bytes());
    ChaCha8Rng::from_seed(hash.chain_update(id).finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_score_is_predicted_whatever_the_seed() {
        for seed in 0..20 {
            assert_eq!(predict(&[-3.0, 0.5, 0.25], seed, "id"), 1);
        }
    }

    #[test]
    fn ties_are_drawn_evenly_over_questions_and_repeat_with_the_seed() {
        let draw = |seed, id: usize| predict(&[1.0, 0.0, 1.0, 1.0], seed, &id.to_string());
        let mut times = [0; 4];
        for id in 0..3000 {
            times[draw(1, id)] += 1;
            assert_eq!(draw(1, id), draw(1, id));
        }
        // Standard deviation of each: √(3000 · ⅓ · ⅔) ≈ 26.
        assert_eq!(times[1], 0);
        assert!([0, 2, 3].iter().all(|&place| (900..1100).contains(&times[place])), "{times:?}");
        assert!((0..100).any(|id| draw(1, id) != draw(2, id)));
    }

    #[test]
    fn credit_is_shared_among_the_best() {
        assert_eq!(credit(&[2.0, 2.0, 1.0], 0), 0.5);
        assert_eq!(credit(&[2.0, 2.0, 1.0], 2), 0.0);
        assert_eq!(credit(&[0.0; 4], 3), 0.25);
    }
}
