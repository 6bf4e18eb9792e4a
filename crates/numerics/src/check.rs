//! Checks of gradients against central differences in `f64`, for the tests of every learner.

use crate::{Gradient, Table, apply};

/// The greatest relative error of a gradient at the numbers of a table:
/// |g − d| / max(|g|, |d|, `floor`), with d the central difference of the fourth order,
/// (8 (L(x + h) − L(x − h)) − (L(x + 2h) − L(x − 2h))) / 12h: that of the second order is not precise enough for the small
/// gradients of a large network.
///
/// `floor` is the size below which errors count absolutely: a component of 10⁻⁹ of the largest is
/// rounding. `loss` must not depend on anything but the table.
pub fn worst_error(
    table: &mut Table<f64>,
    gradient: &Table<f64>,
    floor: f64,
    mut loss: impl FnMut(&Table<f64>) -> f64,
) -> f64 {
    let mut worst = 0.0f64;
    for place in 0..table.values().len() {
        let kept = table.values()[place];
        // The fifth root of the precision, 2⁻⁵², balances rounding against the fifth derivative.
        let h = 2f64.powi(-10) * kept.abs().max(1.0);
        let mut across = |h: f64| {
            let mut at = |value: f64| {
                table.values_mut()[place] = value;
                loss(table)
            };
            at(kept + h) - at(kept - h)
        };
        let difference = (8.0 * across(h) - across(2.0 * h)) / (12.0 * h);
        table.values_mut()[place] = kept;
        let ours = gradient.values()[place];
        let size = ours.abs().max(difference.abs()).max(floor);
        let error = (ours - difference).abs() / size;
        assert!(error.is_finite(), "number {place}: gradient {ours}, difference {difference}");
        worst = worst.max(error);
    }
    worst
}

/// A sparse gradient as a table.
pub fn dense(rows: usize, dim: usize, gradient: &Gradient<f64>) -> Table<f64> {
    let mut table = Table::zeros(rows, dim);
    apply(&mut table, 1.0, &[gradient]);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L = x³ + 2xy at (1.5, −0.5): ∂x = 3x² + 2y = 5.75, ∂y = 2x = 3.
    fn error_of(gradient: [f64; 2]) -> f64 {
        let mut table = Table::from_values(2, 1, &[1.5, -0.5]).unwrap();
        let gradient = Table::from_values(2, 1, &gradient).unwrap();
        worst_error(&mut table, &gradient, 1e-3, |table| {
            let (x, y) = (table.values()[0], table.values()[1]);
            x * x * x + 2.0 * x * y
        })
    }

    #[test]
    fn a_right_gradient_passes_and_a_wrong_one_does_not() {
        assert!(error_of([5.75, 3.0]) < 1e-9);
        assert!(error_of([5.75, 3.001]) > 1e-4);
    }
}
