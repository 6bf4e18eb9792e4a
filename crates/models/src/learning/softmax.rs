//! The softmax of Eq. (1) and of §3.2's â: scores → shares that sum to 1.

use numerics::Real;

/// Turns scores into shares that sum to 1, and returns ln Σ e^score; an empty slice stays empty.
pub(crate) fn softmax<R: Real>(scores: &mut [R]) -> R {
    let lowest = R::from_f64(f64::NEG_INFINITY);
    let highest = scores.iter().fold(lowest, |highest, &score| highest.max(score));
    let mut total = R::ZERO;
    for score in scores.iter_mut() {
        *score = (*score - highest).exp();
        total += *score;
    }
    scores.iter_mut().for_each(|share| *share = *share / total);
    highest + total.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_definition_however_large_the_scores() {
        // e^0 : e^ln 3 = 1 : 3, and ln (1 + 3) above the first.
        for first in [-2000.0f64, 0.0, 2000.0] {
            let mut scores = [first, first + 3.0f64.ln()];
            let log_sum = softmax(&mut scores);
            assert!((scores[0] - 0.25).abs() < 1e-12 && (scores[1] - 0.75).abs() < 1e-12);
            assert!((log_sum - first - 4.0f64.ln()).abs() < 1e-12, "{log_sum}");
        }
        assert_eq!(softmax::<f32>(&mut []), f32::NEG_INFINITY);
    }
}
