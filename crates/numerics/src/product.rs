//! Products of dense matrices by the `gemm` crate, each on one thread: whoever wants more threads cuts
//! the work into blocks of a fixed size, so that the sums have one order.
//!
//! Unlike the other kernels of this crate these use whatever vector instructions the machine has: their
//! last bits may differ between kinds of processors, never between numbers of threads.

use crate::Real;

/// A matrix in a slice, row after row, or the transpose of one.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, R> {
    values: &'a [R],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, R: Real> Matrix<'a, R> {
    /// A matrix whose rows stand one after the other.
    ///
    /// # Panics
    /// If the last row is not whole.
    pub fn new(values: &'a [R], columns: usize) -> Self {
        let rows = values.len() / columns.max(1);
        assert_eq!(rows * columns, values.len(), "whole rows of {columns} numbers");
        Self { values, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// Rows become columns; nothing is moved.
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// `into = keep · into + scale · left · right`, with `into` row after row; where `keep` is 0, what `into`
/// held does not matter.
///
/// # Shapes
/// `left` m × k, `right` k × n, `into` m × n.
///
/// # Panics
/// If the shapes don't fit.
pub fn multiply<R: Real>(
    into: &mut [R],
    keep: R,
    scale: R,
    left: Matrix<'_, R>,
    right: Matrix<'_, R>,
) {
    assert_eq!(left.columns, right.rows, "inner dimensions of a product");
    assert_eq!(into.len(), left.rows * right.columns, "outer dimensions of a product");
    #[expect(unsafe_code, reason = "the only door to the `gemm` crate")]
    // SAFETY: `Matrix::new` checks that a matrix fills its slice exactly and transposing keeps that, and
    // the assertions above that `into` is m × n; all strides follow from these shapes. `Real` is
    // implemented for f32 and f64 alone, which `gemm` knows.
    unsafe {
        gemm::gemm(
            left.rows,
            right.columns,
            left.columns,
            into.as_mut_ptr(),
            1,
            right.columns.cast_signed(),
            keep != R::ZERO,
            left.values.as_ptr(),
            left.column_stride.cast_signed(),
            left.row_stride.cast_signed(),
            right.values.as_ptr(),
            right.column_stride.cast_signed(),
            right.row_stride.cast_signed(),
            keep,
            scale,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(n: usize) -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(-2.0..2.0f64, n)
    }

    fn case() -> impl Strategy<Value = ([usize; 3], Vec<f64>, Vec<f64>, Vec<f64>)> {
        let shape = prop::array::uniform3(1usize..20);
        shape.prop_flat_map(|[m, k, n]| {
            (Just([m, k, n]), numbers(m * k), numbers(k * n), numbers(m * n))
        })
    }

    proptest! {
        #[test]
        fn products_are_those_of_three_loops(
            ([m, k, n], left, right, into) in case(), keep in prop::sample::select(vec![0.0, 1.0, 0.5]),
        ) {
            let mut expected: Vec<f64> = into.iter().map(|value| keep * value).collect();
            for i in 0..m {
                for j in 0..n {
                    let sum: f64 = (0..k).map(|l| left[i * k + l] * right[l * n + j]).sum();
                    expected[i * n + j] -= 0.3 * sum;
                }
            }
            let (l, r) = (Matrix::new(&left, k), Matrix::new(&right, n));
            let mut straight = into.clone();
            multiply(&mut straight, keep, -0.3, l, r);
            // (left · right)ᵀ = rightᵀ · leftᵀ.
            let transpose = |values: &[f64], rows: usize, columns: usize| -> Vec<f64> {
                (0..columns).flat_map(|j| (0..rows).map(move |i| values[i * columns + j])).collect()
            };
            let mut across = transpose(&into, m, n);
            multiply(&mut across, keep, -0.3, r.transposed(), l.transposed());
            let across = transpose(&across, n, m);
            for ((a, b), expected) in straight.iter().zip(&across).zip(&expected) {
                prop_assert!((a - expected).abs() < 1e-12 && (b - expected).abs() < 1e-12);
            }
        }
    }
}
