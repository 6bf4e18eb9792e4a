//! Tie credit: how much of a point the scores of a question earn.

/// Returns 1/k if the answer is among the k candidates with the highest score, else 0.
///
/// Expected accuracy when ties are broken at random, without the noise of drawing.
///
/// # Panics
/// If `answer` is not an index into `scores`.
pub fn credit<S: Copy + PartialOrd>(scores: &[S], answer: usize) -> f64 {
    if scores.iter().any(|&score| score > scores[answer]) {
        return 0.0;
    }
    let n_best = scores.iter().filter(|&&score| score == scores[answer]).count();
    1.0 / n_best as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_of_k_earns_one_kth_and_a_lower_score_nothing() {
        assert_eq!(credit(&[1.0, 3.0, 2.0], 1), 1.0);
        assert_eq!(credit(&[3.0, 3.0, 2.0], 0), 0.5);
        assert_eq!(credit(&[3.0, 3.0, 2.0], 2), 0.0);
        assert_eq!(credit(&[0.5f32; 10], 7), 0.1);
    }
}
