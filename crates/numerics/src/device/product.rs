//! Products of dense matrices by the `gemm` crate, cut into tiles by their shapes alone, each on one
//! thread: the sums have one order for any number of threads.
//!
//! Unlike the other kernels of this crate these use whatever vector instructions the machine has: their
//! last bits may differ between kinds of processors, never between numbers of threads.

use rayon::prelude::*;

use crate::Real;
use crate::device::Layout;

/// A matrix in a slice, row after row, or the transpose of one.
#[derive(Clone, Copy, Debug)]
pub struct MatRef<'a, R> {
    values: &'a [R],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, R: Real> MatRef<'a, R> {
    /// A matrix of consecutive rows.
    ///
    /// # Panics
    /// If the last row is not whole.
    pub fn new(values: &'a [R], columns: usize) -> Self {
        let rows = values.len() / columns.max(1);
        assert_eq!(rows * columns, values.len(), "whole rows of {columns} numbers");
        Self { values, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// A matrix whose rows are `row_stride` apart.
    pub(crate) fn strided(values: &'a [R], [rows, columns]: [usize; 2], row_stride: usize) -> Self {
        assert!(end([rows, columns], row_stride) <= values.len(), "rows within the numbers");
        Self { values, rows, columns, row_stride, column_stride: 1 }
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

    fn rows_from(self, first: usize, n: usize) -> Self {
        let rows = n.min(self.rows - first);
        Self { values: &self.values[first * self.row_stride..], rows, ..self }
    }

    fn columns_from(self, first: usize, n: usize) -> Self {
        self.transposed().rows_from(first, n).transposed()
    }
}

/// How many numbers a matrix reaches over.
fn end([rows, columns]: [usize; 2], row_stride: usize) -> usize {
    assert!(columns <= row_stride || rows <= 1, "rows of {columns} numbers, {row_stride} apart");
    if rows == 0 { 0 } else { (rows - 1) * row_stride + columns }
}

/// `into = beta · into + alpha · left · right`, with `into` row after row; where `beta` is 0, what `into`
/// held does not matter. On one thread.
///
/// # Shapes
/// `left` m × k, `right` k × n, `into` m × n.
///
/// # Panics
/// If the shapes don't fit.
pub fn multiply<R: Real>(
    into: &mut [R],
    beta: R,
    alpha: R,
    left: MatRef<'_, R>,
    right: MatRef<'_, R>,
) {
    assert_eq!(into.len(), left.rows * right.columns, "outer dimensions of a product");
    let into = Output::new(into, right.columns, left, right);
    into.tile(beta, alpha, left, right);
}

/// The same with the rows of `into` `row_stride` apart, on all threads.
pub(crate) fn multiply_in_tiles<R: Real>(
    (into, row_stride): (&mut [R], usize),
    beta: R,
    alpha: R,
    left: MatRef<'_, R>,
    right: MatRef<'_, R>,
) {
    let into = Output::new(into, row_stride, left, right);
    let [height, width] = tile(left.rows, left.columns, right.columns);
    let n_across = right.columns.div_ceil(width);
    let n_tiles = left.rows.div_ceil(height) * n_across;
    (0..n_tiles).into_par_iter().for_each(|tile| {
        let (row, column) = (tile / n_across * height, tile % n_across * width);
        let (left, right) = (left.rows_from(row, height), right.columns_from(column, width));
        into.at(row, column).tile(beta, alpha, left, right);
    });
}

/// A product for each matrix of a batch, on all threads.
pub(crate) fn multiply_batch<'a, R: Real>(
    into: &mut [R],
    layout: Layout,
    [beta, alpha]: [R; 2],
    factors: &(impl Fn(usize) -> (MatRef<'a, R>, MatRef<'a, R>) + Sync),
) {
    let Layout { rows, columns, row_stride, batch, batch_stride } = layout;
    let after_another = batch_stride >= end([rows, columns], row_stride);
    let side_by_side = batch_stride >= columns && row_stride >= batch * batch_stride;
    assert!(after_another || side_by_side, "results that don't overlap");
    let reach = batch.saturating_sub(1) * batch_stride + end([rows, columns], row_stride);
    assert!(reach <= into.len(), "outer dimensions of a product");
    let into = Output { first: into.as_mut_ptr(), row_stride };
    (0..batch).into_par_iter().for_each(|i| {
        let (left, right) = factors(i);
        assert_eq!([left.rows, right.columns], [rows, columns], "outer dimensions of a product");
        assert_eq!(left.columns, right.rows, "inner dimensions of a product");
        into.at(0, i * batch_stride).tile(beta, alpha, left, right);
    });
}

/// The height and width of the tiles of a product, from its shape alone.
///
/// The longer side is cut: every tile packs the whole of the other factor for itself, so the tiles
/// must be few.
fn tile(m: usize, k: usize, n: usize) -> [usize; 2] {
    /// Products with fewer multiplications than this are not worth a second thread.
    const SMALL: usize = 1 << 18;
    const TILES: usize = 16;
    /// What a tile's side is a multiple of, so that no register is half empty.
    const GRAIN: usize = 48;
    let cut = |side: usize| side.div_ceil(TILES).next_multiple_of(GRAIN);
    match m.max(1) * k.max(1) * n.max(1) {
        ..SMALL => [m.max(1), n.max(1)],
        _ if m > n => [cut(m), n.max(1)],
        _ => [m.max(1), cut(n)],
    }
}

/// Where a product goes; its tiles are written by several threads at once.
#[derive(Clone, Copy)]
struct Output<R> {
    first: *mut R,
    row_stride: usize,
}

#[expect(unsafe_code, reason = "tiles of one matrix are written by several threads")]
// SAFETY: every tile is given to one thread alone, and tiles don't overlap.
unsafe impl<R: Send> Send for Output<R> {}
#[expect(unsafe_code, reason = "tiles of one matrix are written by several threads")]
// SAFETY: as above.
unsafe impl<R: Send> Sync for Output<R> {}

impl<R: Real> Output<R> {
    fn new(into: &mut [R], row_stride: usize, left: MatRef<'_, R>, right: MatRef<'_, R>) -> Self {
        assert_eq!(left.columns, right.rows, "inner dimensions of a product");
        let shape = [left.rows, right.columns];
        assert!(end(shape, row_stride) <= into.len(), "outer dimensions of a product");
        Self { first: into.as_mut_ptr(), row_stride }
    }

    fn at(self, row: usize, column: usize) -> Self {
        Self { first: self.first.wrapping_add(row * self.row_stride + column), ..self }
    }

    fn tile(self, beta: R, alpha: R, left: MatRef<'_, R>, right: MatRef<'_, R>) {
        #[expect(unsafe_code, reason = "the only door to the `gemm` crate")]
        // SAFETY: the constructors check that a matrix stays within its slice, transposing and cutting keep
        // that, and `Output::new` checks that m × n numbers at its stride stay within what it was made of;
        // all strides follow from these shapes. `Real` is implemented for f32 and f64 alone, which `gemm`
        // knows.
        unsafe {
            gemm::gemm(
                left.rows,
                right.columns,
                left.columns,
                self.first,
                1,
                self.row_stride.cast_signed(),
                beta != R::ZERO,
                left.values.as_ptr(),
                left.column_stride.cast_signed(),
                left.row_stride.cast_signed(),
                right.values.as_ptr(),
                right.column_stride.cast_signed(),
                right.row_stride.cast_signed(),
                beta,
                alpha,
                false,
                false,
                false,
                gemm::Parallelism::None,
            );
        }
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
            let (l, r) = (MatRef::new(&left, k), MatRef::new(&right, n));
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

    /// Rows with gaps between them, and tiles of a product that is large enough to be cut in both ways.
    #[test]
    fn products_in_tiles_are_those_of_one_piece() {
        let numbers = |n: usize, seed: usize| -> Vec<f64> {
            (0..n).map(|i| ((i * 7919 + seed) % 1009) as f64 / 500.0 - 1.0).collect()
        };
        for [m, k, n] in [[200, 70, 90], [50, 70, 400]] {
            let (left, right) = (numbers(m * k, 1), numbers(k * n, 2));
            let (left, right) = (MatRef::new(&left, k), MatRef::new(&right, n));
            let mut whole = numbers(m * n, 3);
            let mut tiled = vec![9.0; m * (n + 1)];
            for (row, values) in whole.chunks(n).enumerate() {
                tiled[row * (n + 1)..][..n].copy_from_slice(values);
            }
            multiply(&mut whole, 0.5, 2.0, left, right);
            multiply_in_tiles((&mut tiled, n + 1), 0.5, 2.0, left, right);
            for (whole, tiled) in whole.chunks(n).zip(tiled.chunks(n + 1)) {
                assert!(whole.iter().zip(tiled).all(|(a, b)| (a - b).abs() < 1e-12));
                assert_eq!(tiled[n], 9.0, "what is between the rows stays");
            }
        }
    }

    /// Two products whose results are side by side, the right factor the same.
    #[test]
    fn a_batch_gives_each_product_its_place() {
        let (left, right) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0]);
        let mut into = [0.0; 8];
        let layout = Layout { rows: 2, columns: 2, row_stride: 4, batch: 2, batch_stride: 2 };
        multiply_batch(&mut into, layout, [0.0, 1.0], &|i| {
            (MatRef::new(&left[2 * i..][..2], 1), MatRef::new(&right, 2))
        });
        assert_eq!(into, [5.0, 6.0, 15.0, 18.0, 10.0, 12.0, 20.0, 24.0]);
    }
}
