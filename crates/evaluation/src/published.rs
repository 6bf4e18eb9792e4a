//! A figure of the paper beside ours: the interval that its n implies, and the difference.
//!
//! Our sets hold other questions than the paper's, so a difference is judged as one between two
//! independent samples (Newcombe 1998, method 10).

use serde::Serialize;

use crate::Accuracy;

/// Questions behind each figure of Table 2's test columns.
pub const TEST_QUESTIONS: usize = 2_500;
/// Questions behind each figure of the validation table.
pub const VALID_QUESTIONS: usize = 2_000;
/// Questions behind each figure of Table 2's two rows of people.
pub const HUMAN_QUESTIONS: usize = 250;
/// Questions behind the CNN table's validation column.
pub const CNN_VALID_QUESTIONS: usize = 3_924;
/// Questions behind the CNN table's test column.
pub const CNN_TEST_QUESTIONS: usize = 3_198;

/// The difference between two accuracies on different questions, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Ours minus theirs.
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

    /// Whether the two figures agree as far as their n can tell: the interval holds 0.
    pub fn is_inside(&self) -> bool {
        self.low <= 0.0 && 0.0 <= self.high
    }
}
