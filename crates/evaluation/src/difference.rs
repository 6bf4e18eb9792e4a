//! [`Difference`]: a figure of ours and one of the paper → their difference and its interval.
//!
//! Our sets hold other questions than the paper's, so a difference is judged as one between two
//! independent samples (Newcombe 1998, method 10).

use serde::Serialize;

use crate::Accuracy;

/// The difference between two accuracies on different questions, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Our accuracy minus the paper's.
    pub difference: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Difference {
    /// Ours minus theirs. For a figure of the paper, theirs is `Accuracy::new(figure, n)` with the n
    /// of its table.
    pub fn between(ours: &Accuracy, theirs: &Accuracy) -> Self {
        let difference = ours.accuracy - theirs.accuracy;
        let below = (ours.accuracy - ours.low).hypot(theirs.high - theirs.accuracy);
        let above = (ours.high - ours.accuracy).hypot(theirs.accuracy - theirs.low);
        // Newcombe 1998, method 10: the Wilson limits of the two shares, joined as squares.
        Self { difference, low: difference - below, high: difference + above }
    }

    /// Returns whether the two figures agree within what their n can resolve: the interval holds 0.
    pub fn is_inside(&self) -> bool {
        self.low <= 0.0 && 0.0 <= self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(right: usize, n: usize) -> Accuracy {
        Accuracy::new(right as f64 / n as f64, n)
    }

    #[test]
    fn the_interval_of_a_difference_is_newcombes() {
        // Newcombe 1998, Interval estimation for the difference between independent proportions,
        // Table II, method 10: 56/70 − 48/80 and 9/10 − 3/10.
        for (ours, theirs, low, high) in [
            (share(56, 70), share(48, 80), 0.0524, 0.3339),
            (share(9, 10), share(3, 10), 0.1705, 0.8090),
        ] {
            let difference = Difference::between(&ours, &theirs);
            assert!((difference.low - low).abs() < 5e-5, "{difference:?}");
            assert!((difference.high - high).abs() < 5e-5, "{difference:?}");
            assert!(!difference.is_inside());
        }
    }

    #[test]
    fn a_point_is_inside_and_ten_points_are_not() {
        let paper = Accuracy::new(0.666, 2_500);
        assert!(Difference::between(&Accuracy::new(0.656, 2_500), &paper).is_inside());
        assert!(!Difference::between(&Accuracy::new(0.566, 2_500), &paper).is_inside());
    }
}
