//! [`Table`]: a matrix of parameters that is read and written by rows, such as one embedding per word.

use pulp::{Simd, WithSimd};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::prefetch::{AHEAD, prefetch};
use super::vector::{axpy_in_lanes, dot_in_lanes};
use crate::Real;
use crate::sparse::pages::Pages;

/// A matrix of `rows` × `dim` numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<R: Real> {
    rows: usize,
    dim: usize,
    values: Pages<R>,
}

impl<R: Real> Table<R> {
    /// A table of zeros.
    pub fn zeros(rows: usize, dim: usize) -> Self {
        Self { rows, dim, values: Pages::zeros(rows * dim) }
    }

    /// Numbers drawn from a normal distribution with mean 0. Each row has a stream of its own, so any
    /// number of threads makes the same table.
    pub fn normal(rows: usize, dim: usize, sd: f64, rng: &mut ChaCha8Rng) -> Self {
        let mut key = [0; 32];
        rng.fill_bytes(&mut key);
        let mut table = Self::zeros(rows, dim);
        table.values.par_chunks_mut(dim.max(1)).enumerate().for_each(|(row, values)| {
            let mut rng = ChaCha8Rng::from_seed(key);
            rng.set_stream(row as u64);
            for value in values {
                let drawn: f64 = StandardNormal.sample(&mut rng);
                *value = R::from_f64(sd * drawn);
            }
        });
        table
    }

    /// A table of these numbers, row after row; none unless there are `rows` × `dim` of them.
    pub fn from_values(rows: usize, dim: usize, values: &[R]) -> Option<Self> {
        (rows.checked_mul(dim) == Some(values.len())).then(|| {
            let mut table = Self::zeros(rows, dim);
            table.values.copy_from_slice(values);
            table
        })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How long a row is.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// All numbers, row after row.
    pub fn values(&self) -> &[R] {
        &self.values
    }

    /// All numbers, row after row, to be changed.
    pub fn values_mut(&mut self) -> &mut [R] {
        &mut self.values
    }

    /// The numbers of a row.
    #[inline]
    pub fn row(&self, row: usize) -> &[R] {
        &self.values[row * self.dim..][..self.dim]
    }

    /// The product of each of some rows with a vector, appended to `products`.
    pub fn dots(&self, rows: &[u32], vector: &[R], products: &mut Vec<R>) {
        crate::simd::dispatch(Dots { table: self, rows, vector, products });
    }

    /// Adds some rows, each times its scale, to a vector; rows whose scale is 0 are not touched.
    pub fn add_rows(&self, rows: &[u32], scales: &[R], sum: &mut [R]) {
        crate::simd::dispatch(AddRows { table: self, rows, scales, sum });
    }

    /// A row, to be changed.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [R] {
        &mut self.values[row * self.dim..][..self.dim]
    }
}

struct Dots<'a, R: Real> {
    table: &'a Table<R>,
    rows: &'a [u32],
    vector: &'a [R],
    products: &'a mut Vec<R>,
}

impl<R: Real> WithSimd for Dots<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (values, dim) = (self.table.values(), self.table.dim);
        for (place, &row) in self.rows.iter().enumerate() {
            if let Some(&later) = self.rows.get(place + AHEAD) {
                prefetch(&values[later as usize * dim..][..dim]);
            }
            let row = &values[row as usize * dim..][..dim];
            self.products.push(dot_in_lanes(row, self.vector));
        }
    }
}

struct AddRows<'a, R: Real> {
    table: &'a Table<R>,
    rows: &'a [u32],
    scales: &'a [R],
    sum: &'a mut [R],
}

impl<R: Real> WithSimd for AddRows<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (values, dim) = (self.table.values(), self.table.dim);
        for (&row, &scale) in self.rows.iter().zip(self.scales) {
            if scale != R::ZERO {
                axpy_in_lanes(scale, &values[row as usize * dim..][..dim], self.sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_normal_table_is_the_same_for_any_number_of_threads_and_has_its_deviation() {
        let made = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let mut rng = ChaCha8Rng::seed_from_u64(3);
            pool.install(|| {
                let first = Table::<f32>::normal(300, 7, 0.5, &mut rng);
                (first, Table::<f32>::normal(300, 7, 0.5, &mut rng))
            })
        };
        let (first, second) = made(1);
        assert_eq!((&first, &second), (&made(3).0, &made(3).1));
        assert_ne!(first, second);
        let n = first.values().len() as f32;
        let variance = first.values().iter().map(|value| value * value).sum::<f32>() / n;
        // The standard error of the variance is 0.25 · √(2 / 2,100) = 0.008.
        assert!((variance - 0.25).abs() < 0.03, "{variance}");
    }

    #[test]
    fn many_rows_at_once_give_the_bits_of_one_after_the_other() {
        let table = Table::<f32>::normal(9, 21, 1.0, &mut ChaCha8Rng::seed_from_u64(1));
        let (rows, scales) = ([3, 8, 3, 0], [0.5, -2.0, 1.5, 0.0]);
        let mut products = Vec::new();
        table.dots(&rows, table.row(5), &mut products);
        let one: Vec<f32> =
            rows.iter().map(|&row| crate::dot(table.row(row as usize), table.row(5))).collect();
        assert_eq!(products, one);
        let [mut many, mut one] = [[1.0; 21]; 2];
        table.add_rows(&rows, &scales, &mut many);
        for (&row, &scale) in rows.iter().zip(&scales) {
            crate::axpy(scale, table.row(row as usize), &mut one);
        }
        assert_eq!(many, one);
    }

    #[test]
    fn rows_are_where_they_should_be() {
        let mut table = Table::<f32>::from_values(3, 2, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        table.row_mut(1)[0] = 9.0;
        assert_eq!((table.row(1), table.row(2)), (&[9.0, 3.0][..], &[4.0, 5.0][..]));
        assert_eq!(Table::<f32>::from_values(2, 2, &[0.0; 5]), None);
    }
}
