//! Steps of gradient descent, plain or by Adagrad, that any number of threads does in the same way.
//!
//! ```text
//! mini-batch ──parts──▶ Gradient of each part, on frozen parameters ──apply──▶ the table, shard by shard
//! ```
//!
//! A gradient of a sparse model is a sum of few vectors times numbers: all rows of a question's windows
//! move along the query's embedding. So an [`Update`] is three numbers, and vectors are shared.
//!
//! Every row belongs to one shard, and a shard takes its updates in the order of the parts and, within a
//! part, in the order in which they were added: each row sees the same sums in the same order whatever
//! the number of threads.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::prefetch::{AHEAD, prefetch};
use super::vector::axpy_in_lanes;
use crate::{Real, Table, axpy, dot};

/// How many shards a table has: enough for 16 threads to share them evenly although few rows take most
/// of the updates, few enough to look through for a small mini-batch.
const SHARDS: usize = 64;

/// `gradient.row(row) += scale · vectors.row(vector)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update<R> {
    /// The row of the table.
    pub row: u32,
    /// The factor of the vector.
    pub scale: R,
    /// The number of the vector, as [`Gradient::push_vector`] gave it.
    pub vector: u32,
}

/// The gradient of a table with respect to a part of a mini-batch, as a sum of scaled vectors.
#[derive(Clone, Debug)]
pub struct Gradient<R> {
    dim: usize,
    rows_per_shard: usize,
    shards: Vec<Vec<Update<R>>>,
    vectors: Vec<R>,
}

impl<R: Real> Gradient<R> {
    /// The gradient 0 of a table of this shape.
    pub fn new(rows: usize, dim: usize) -> Self {
        let rows_per_shard = rows.div_ceil(SHARDS).max(1);
        let shards = vec![Vec::new(); rows.div_ceil(rows_per_shard)];
        Self { dim, rows_per_shard, shards, vectors: Vec::new() }
    }

    /// Makes it 0 again and keeps its memory.
    pub fn clear(&mut self) {
        self.shards.iter_mut().for_each(Vec::clear);
        self.vectors.clear();
    }

    /// Adds a vector of the table's dimension for updates to refer to; returns its number.
    pub fn push_vector(&mut self, vector: &[R]) -> u32 {
        debug_assert_eq!(vector.len(), self.dim);
        self.vectors.extend_from_slice(vector);
        (self.vectors.len() / self.dim) as u32 - 1
    }

    /// Adds an update of a row.
    #[inline]
    pub fn push(&mut self, update: Update<R>) {
        self.shards[update.row as usize / self.rows_per_shard].push(update);
    }

    /// The mean square of each vector's components.
    fn mean_squares(&self) -> Vec<R> {
        let dim = R::from_f64(self.dim as f64);
        self.vectors.chunks_exact(self.dim).map(|vector| dot(vector, vector) / dim).collect()
    }

    #[inline(always)]
    fn vector(&self, number: u32) -> &[R] {
        &self.vectors[number as usize * self.dim..][..self.dim]
    }
}

/// `table += step · gradient`, summed over the parts of a mini-batch in their order; descent takes a
/// negative step.
pub fn apply<R: Real>(table: &mut Table<R>, step: R, gradients: &[&Gradient<R>]) {
    let Some(first) = gradients.first() else { return };
    let (dim, rows_per_shard) = (table.dim(), first.rows_per_shard);
    let shards = table.values_mut().par_chunks_mut((rows_per_shard * dim).max(1));
    shards.enumerate().for_each(|(shard, rows)| {
        let first_row = shard * rows_per_shard;
        for gradient in gradients {
            let updates = &gradient.shards[shard];
            crate::simd::dispatch(ApplyToShard { updates, gradient, step, first_row, rows });
        }
    });
}

// Duchi et al. 2011, Adagrad: θ ← θ − λ g / √Σg². Chosen: one sum for a row, as the rows are words, and
// every update counts by itself, though a mini-batch may have several of a row.
/// As [`apply`], but each update is divided by the root of the mean squares of all updates of its row so
/// far, which `squares` (one number per row, at first 0) adds up: rare words take large steps.
pub fn apply_adagrad<R: Real>(
    table: &mut Table<R>,
    squares: &mut Table<R>,
    step: R,
    gradients: &[&Gradient<R>],
) {
    let Some(first) = gradients.first() else { return };
    let (dim, rows_per_shard) = (table.dim(), first.rows_per_shard);
    let means: Vec<Vec<R>> = gradients.iter().map(|gradient| gradient.mean_squares()).collect();
    let rows = table.values_mut().par_chunks_mut((rows_per_shard * dim).max(1));
    let squares = squares.values_mut().par_chunks_mut(rows_per_shard);
    rows.zip(squares).enumerate().for_each(|(shard, (rows, squares))| {
        for (gradient, means) in gradients.iter().zip(&means) {
            for update in &gradient.shards[shard] {
                let row = update.row as usize - shard * rows_per_shard;
                squares[row] += update.scale * update.scale * means[update.vector as usize];
                if squares[row] > R::ZERO {
                    let scale = step * update.scale / squares[row].sqrt();
                    axpy(scale, gradient.vector(update.vector), &mut rows[row * dim..][..dim]);
                }
            }
        }
    });
}

struct ApplyToShard<'a, R> {
    updates: &'a [Update<R>],
    gradient: &'a Gradient<R>,
    step: R,
    first_row: usize,
    rows: &'a mut [R],
}

impl<R: Real> WithSimd for ApplyToShard<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let dim = self.gradient.dim;
        for (place, update) in self.updates.iter().enumerate() {
            if let Some(later) = self.updates.get(place + AHEAD) {
                prefetch(&self.rows[(later.row as usize - self.first_row) * dim..][..dim]);
            }
            let row = update.row as usize - self.first_row;
            let vector = self.gradient.vector(update.vector);
            axpy_in_lanes(self.step * update.scale, vector, &mut self.rows[row * dim..][..dim]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DIM: usize = 3;

    /// Row, scale, vector.
    type Sent = (u32, f32, [f32; DIM]);

    fn update(rows: u32) -> impl Strategy<Value = Sent> {
        (0..rows, -2.0..2.0f32, prop::array::uniform3(-2.0..2.0f32))
    }

    fn batch() -> impl Strategy<Value = (usize, Vec<Vec<Sent>>)> {
        (1u32..300).prop_flat_map(|rows| {
            let parts = prop::collection::vec(prop::collection::vec(update(rows), 0..20), 0..5);
            (Just(rows as usize), parts)
        })
    }

    proptest! {
        #[test]
        fn any_number_of_threads_gives_the_bits_of_one_update_after_the_other((rows, parts) in batch()) {
            let mut slow = Table::<f32>::zeros(rows, DIM);
            let mut gradients = vec![Gradient::new(rows, DIM); parts.len()];
            for (part, gradient) in parts.iter().zip(&mut gradients) {
                for (row, scale, vector) in part {
                    axpy(-0.1 * scale, vector, slow.row_mut(*row as usize));
                    let vector = gradient.push_vector(vector);
                    gradient.push(Update { row: *row, scale: *scale, vector });
                }
            }
            for n_threads in [1, 2, 4] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                let mut fast = Table::zeros(rows, DIM);
                let gradients: Vec<&Gradient<f32>> = gradients.iter().collect();
                pool.install(|| apply(&mut fast, -0.1, &gradients));
                prop_assert_eq!(&fast, &slow);
            }
        }

        #[test]
        fn any_number_of_threads_gives_the_bits_of_one_adagrad_update_after_the_other(
            (rows, parts) in batch(),
        ) {
            let mut slow = [Table::<f32>::zeros(rows, DIM), Table::zeros(rows, 1)];
            let mut gradients = vec![Gradient::new(rows, DIM); parts.len()];
            for (part, gradient) in parts.iter().zip(&mut gradients) {
                for (row, scale, vector) in part {
                    let [table, squares] = &mut slow;
                    let square = &mut squares.row_mut(*row as usize)[0];
                    *square += scale * scale * (dot(vector, vector) / DIM as f32);
                    if *square > 0.0 {
                        let scale = -0.1 * scale / square.sqrt();
                        axpy(scale, vector, table.row_mut(*row as usize));
                    }
                    let vector = gradient.push_vector(vector);
                    gradient.push(Update { row: *row, scale: *scale, vector });
                }
            }
            for n_threads in [1, 2, 4] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                let [mut table, mut squares] = [Table::zeros(rows, DIM), Table::zeros(rows, 1)];
                let gradients: Vec<&Gradient<f32>> = gradients.iter().collect();
                pool.install(|| apply_adagrad(&mut table, &mut squares, -0.1, &gradients));
                prop_assert_eq!(&[table, squares], &slow);
            }
        }
    }

    #[test]
    fn adagrad_divides_by_the_root_of_all_squares_so_far() {
        let mut table = Table::zeros(2, 2);
        let mut squares = Table::zeros(2, 1);
        let mut gradient = Gradient::new(2, 2);
        // Mean squares 1 and 4.
        let [one, two] = [[1.0f64, 1.0], [2.0, -2.0]].map(|vector| gradient.push_vector(&vector));
        gradient.push(Update { row: 0, scale: 3.0, vector: one });
        gradient.push(Update { row: 1, scale: 0.0, vector: one });
        gradient.push(Update { row: 0, scale: 2.0, vector: two });
        apply_adagrad(&mut table, &mut squares, -1.0, &[&gradient]);
        // The first step is 3/√9; the second 4/√(9 + 16) in each component.
        assert_eq!(table.values(), [-1.0 - 0.8, -1.0 + 0.8, 0.0, 0.0]);
        assert_eq!(squares.values(), [25.0, 0.0]);
    }

    #[test]
    fn a_cleared_gradient_is_zero() {
        let mut gradient = Gradient::new(2, 1);
        let vector = gradient.push_vector(&[1.0]);
        gradient.push(Update { row: 1, scale: 2.0, vector });
        gradient.clear();
        let mut table = Table::zeros(2, 1);
        apply(&mut table, 1.0, &[&gradient]);
        assert_eq!(table.values(), [0.0, 0.0]);
        assert_eq!(gradient.push_vector(&[1.0]), 0);
    }
}
