//! Operations on rows: gathered, scattered, added, smoothed, half of them rectified.

use rayon::prelude::*;

use super::for_each_row;
use crate::device::Layout;
use crate::{Real, axpy};

/// How long the rows of `n` words are, which a table has too.
fn dim(len: usize, n: usize, table: usize) -> usize {
    let dim = len / n.max(1);
    assert_eq!((dim * n, table % dim.max(1)), (len, 0), "one row per word");
    dim
}

pub fn gather<R: Real>(into: &mut [R], table: &[R], words: &[u32]) {
    let dim = dim(into.len(), words.len(), table.len());
    for_each_row(into, dim, |row, i| row.copy_from_slice(&table[words[i] as usize * dim..][..dim]));
}

/// Each shard of the table's rows takes what is its own, in the order of the words.
pub fn scatter_add<R: Real>(table: &mut [R], words: &[u32], from: &[R]) {
    const SHARDS: usize = 64;
    let dim = dim(from.len(), words.len(), table.len()).max(1);
    let n_rows = (table.len() / dim).div_ceil(SHARDS).max(1);
    let mut order: Vec<u32> = (0..words.len() as u32).collect();
    order.sort_by_key(|&i| words[i as usize]);
    table.par_chunks_mut(n_rows * dim).enumerate().for_each(|(shard, table)| {
        let first_row = shard * n_rows;
        let first = order.partition_point(|&i| (words[i as usize] as usize) < first_row);
        let rest = order[first..].iter().map(|&i| i as usize);
        for i in rest.take_while(|&i| (words[i] as usize) < first_row + n_rows) {
            let row = words[i] as usize - first_row;
            axpy(R::ONE, &from[i * dim..][..dim], &mut table[row * dim..][..dim]);
        }
    });
}

pub fn copy<R: Real>(into: &mut [R], from: &[R], [layout, other]: [Layout; 2]) {
    for row in 0..layout.rows {
        let from = &from[row * other.row_stride..][..other.columns];
        into[row * layout.row_stride..][..layout.columns].copy_from_slice(from);
    }
}

pub fn add_groups<R: Real>(table: &mut [R], (starts, order): (&[u32], &[u32]), from: &[R]) {
    let dim = from.len() / order.len().max(1);
    for_each_row(table, dim, |into, row| {
        for &which in &order[starts[row] as usize..starts[row + 1] as usize] {
            let from = &from[which as usize * dim..][..dim];
            into.iter_mut().zip(from).for_each(|(into, &x)| *into += x);
        }
    });
}

pub fn sum<R: Real>(into: &mut [R], keep: R, from: &[R], row_stride: usize) {
    /// Columns that are summed together: their sums stay in the nearest cache.
    const WIDTH: usize = 1024;
    assert!(into.len() <= row_stride, "columns");
    into.par_chunks_mut(WIDTH).enumerate().for_each(|(block, into)| {
        into.iter_mut().for_each(|sum| *sum = if keep == R::ZERO { R::ZERO } else { keep * *sum });
        for row in from.chunks(row_stride) {
            axpy(R::ONE, &row[block * WIDTH..][..into.len()], into);
        }
    });
}

pub fn scale<R: Real>(values: &mut [R], factors: &[R]) {
    let columns = values.len() / factors.len().max(1);
    assert_eq!(columns * factors.len(), values.len(), "whole rows");
    for_each_row(values, columns, |row, i| row.iter_mut().for_each(|x| *x = *x * factors[i]));
}

pub fn relu_tail<R: Real>(values: &mut [R], columns: usize, first: usize) {
    for_each_row(values, columns, |row, _| {
        row[first..].iter_mut().for_each(|value| *value = value.max(R::ZERO));
    });
}

pub fn relu_tail_backward<R: Real>(
    gradient: &mut [R],
    outputs: &[R],
    columns: usize,
    first: usize,
) {
    for_each_row(gradient, columns, |row, i| {
        let outputs = &outputs[i * columns..][..columns];
        for (gradient, &output) in row[first..].iter_mut().zip(&outputs[first..]) {
            if output <= R::ZERO {
                *gradient = R::ZERO;
            }
        }
    });
}

pub fn smooth<R: Real>(into: &mut [R], from: &[R], bounds: &[u32], reach: usize) {
    let (bounds, rest) = bounds.as_chunks::<2>();
    let columns = into.len() / bounds.len().max(1);
    let shape = (0, bounds.len() * columns, into.len());
    assert_eq!((rest.len(), into.len(), from.len()), shape, "two bounds per row");
    let share = R::ONE / R::from_f64((2 * reach + 1) as f64);
    for_each_row(into, columns, |into, i| {
        let [first, end] = bounds[i].map(|bound| bound as usize);
        into.fill(R::ZERO);
        let from = &from[i * columns..][first..end];
        let into = &mut into[first..end];
        for shift in 0..=reach.min(from.len().saturating_sub(1)) {
            axpy(share, &from[shift..], &mut into[..from.len() - shift]);
            if shift > 0 {
                axpy(share, &from[..from.len() - shift], &mut into[shift..]);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DIM: usize = 3;

    proptest! {
        /// x · gather(E) = scatter(x) · E for any x.
        #[test]
        fn scattering_is_the_transpose_of_gathering(
            words in prop::collection::vec(0u32..70, 0..200), seed in 0u32..1000,
        ) {
            let number = |i: usize| f64::from((i as u32 * 37 + seed) % 101) - 50.0;
            let table: Vec<f64> = (0..70 * DIM).map(number).collect();
            let from: Vec<f64> = (0..words.len() * DIM).map(|i| number(i + 7)).collect();
            let mut gathered = vec![0.0; from.len()];
            gather(&mut gathered, &table, &words);
            let mut scattered = vec![0.0; table.len()];
            scatter_add(&mut scattered, &words, &from);
            // Whole numbers: the sums are exact.
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            prop_assert_eq!(product(&from, &gathered), product(&scattered, &table));
        }
    }

    #[test]
    fn rows_are_summed_whatever_lies_between_them() {
        let mut sums = [10.0, 20.0];
        sum(&mut sums, 0.5, &[1.0, 2.0, 99.0, 3.0, 4.0, 99.0], 3);
        assert_eq!(sums, [9.0, 16.0]);
        sum(&mut sums, 0.0, &[1.0, 2.0, 99.0], 3);
        assert_eq!(sums, [1.0, 2.0]);
    }

    #[test]
    fn only_columns_from_the_first_on_are_rectified() {
        let mut values = [-1.0, -2.0, 3.0, -4.0, 5.0, -6.0];
        relu_tail(&mut values, 3, 1);
        assert_eq!(values, [-1.0, 0.0, 3.0, -4.0, 5.0, 0.0]);
        let mut gradient = [1.0; 6];
        relu_tail_backward(&mut gradient, &values, 3, 1);
        assert_eq!(gradient, [1.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
    }
}
