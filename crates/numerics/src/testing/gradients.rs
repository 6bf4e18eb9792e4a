//! Checks of gradients against central differences in `f64`, for the tests of every learner.

use crate::{Gradient, Table, apply};

/// The greatest relative error of a gradient at the numbers of a table:
/// |g − d| / max(|g|, |d|, `floor`), with d = (L(x + h) − L(x − h)) / 2h.
///
/// `floor` is the size below which errors count absolutely: a component of 10⁻⁹ of the largest is
/// rounding. `loss` must not depend on anything but the table.
pub fn worst_error(
    table: &mut Table<f64>,
    gradient: &Table<f64>,
    floor: f64,
    loss: impl FnMut(&Table<f64>) -> f64,
) -> f64 {
    // The cube root of the precision balances rounding against the third derivative.
    worst(table, gradient, floor, loss, |across, size| {
        let h = f64::EPSILON.cbrt() * size;
        across(h) / (2.0 * h)
    })
}

/// The same by differences of the fourth order, d = (8 (L(x + h) − L(x − h)) − (L(x + 2h) − L(x − 2h))) /
/// 12h: precise enough for the small gradients of a large network. Their steps are long, so the loss must
/// have no kinks nearby.
pub fn worst_error_of_smooth(
    table: &mut Table<f64>,
    gradient: &Table<f64>,
    floor: f64,
    loss: impl FnMut(&Table<f64>) -> f64,
) -> f64 {
    // The fifth root of the precision, 2⁻⁵², balances rounding against the fifth derivative.
    worst(table, gradient, floor, loss, |across, size| {
        let h = 2f64.powi(-10) * size;
        (8.0 * across(h) - across(2.0 * h)) / (12.0 * h)
    })
}

/// `difference` gets L(x + h) − L(x − h) for any h, and the size of x.
fn worst(
    table: &mut Table<f64>,
    gradient: &Table<f64>,
    floor: f64,
    mut loss: impl FnMut(&Table<f64>) -> f64,
    difference: impl Fn(&mut dyn FnMut(f64) -> f64, f64) -> f64,
) -> f64 {
    let mut worst = 0.0f64;
    for place in 0..table.values().len() {
        let kept = table.values()[place];
        let mut across = |h: f64| {
            let mut at = |value: f64| {
                table.values_mut()[place] = value;
                loss(table)
            };
            at(kept + h) - at(kept - h)
        };
        let difference = difference(&mut across, kept.abs().max(1.0));
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
    fn errors_of(gradient: [f64; 2]) -> [f64; 2] {
        let mut table = Table::from_values(2, 1, &[1.5, -0.5]).unwrap();
        let gradient = Table::from_values(2, 1, &gradient).unwrap();
        let loss = |table: &Table<f64>| {
            let (x, y) = (table.values()[0], table.values()[1]);
            x * x * x + 2.0 * x * y
        };
        [
            worst_error(&mut table, &gradient, 1e-3, loss),
            worst_error_of_smooth(&mut table, &gradient, 1e-3, loss),
        ]
    }

    #[test]
    fn a_right_gradient_passes_and_a_wrong_one_does_not() {
        assert!(errors_of([5.75, 3.0]).iter().all(|&error| error < 1e-9));
        assert!(errors_of([5.75, 3.001]).iter().all(|&error| error > 1e-4));
    }
}
