//! How well memories match the query (§3.2, `c_i·q`): lists of rows → scores, and back to the gradient.
//!
//! With q = A φ(q) and `c_i` = A φ(`s_i`), a score is the sum over the rows of a memory of row · q. A row that
//! occurs in several memories is multiplied once; this halves the work, since candidates repeat and so do
//! their neighbours.
//!
//! The gradient: with e_i = ∂L/∂score_i, row r gets q times the sum of e_i over the memories that r
//! occurs in, and each row of the query gets Σ_i e_i c_i = Σ_r (that sum for r) · r.

use numerics::{Gradient, Real, Table, Update, axpy};

use crate::memories::windows::Memories;

/// The scores of a question's memories; used again and again, so that nothing is allocated.
#[derive(Default)]
pub(crate) struct Matching<R> {
    /// One a memory; the time feature is added by `Config::add_time`.
    pub scores: Vec<R>,
    /// A φ(q).
    query: Vec<R>,
    distinct: Distinct,
    /// For each distinct row, its product with the query.
    products: Vec<R>,
    /// For each distinct row, the sum of the errors of its memories.
    errors: Vec<R>,
    /// ∂L/∂q.
    query_gradient: Vec<R>,
}

/// Derivatives of a loss.
pub(crate) struct Errors<'a, R> {
    /// By the score of each memory.
    pub by_scores: &'a [R],
    /// By the query's embedding, over other ways than the scores.
    pub by_query: Option<&'a Vec<R>>,
    /// Smaller ones by scores are taken for 0: most memories are so far from the best ones that their rows
    /// need not be touched.
    pub noticeable: R,
}

impl<R: Real> Matching<R> {
    /// The embedding of the query.
    pub fn query(&self) -> &[R] {
        &self.query
    }

    /// Scores the memories of a question.
    pub fn score(&mut self, table: &Table<R>, memories: &Memories) {
        embed(table, &memories.query, &mut self.query);
        self.distinct.find(memories.all_rows());
        self.products.clear();
        table.dots(&self.distinct.rows, &self.query, &mut self.products);
        self.scores.clear();
        let mut places = self.distinct.places.as_slice();
        for memory in 0..memories.len() {
            let (of_memory, rest) = places.split_at(memories.rows(memory).len());
            places = rest;
            let sum = |sum: R, &place: &u32| sum + self.products[place as usize];
            self.scores.push(of_memory.iter().fold(R::ZERO, sum));
        }
    }

    /// Adds the gradient of a loss whose derivatives are given.
    pub fn add_gradient(
        &mut self,
        table: &Table<R>,
        memories: &Memories,
        errors: &Errors<'_, R>,
        gradient: &mut Gradient<R>,
    ) {
        self.errors.clear();
        self.errors.resize(self.distinct.rows.len(), R::ZERO);
        let mut places = self.distinct.places.as_slice();
        for (memory, &error) in errors.by_scores.iter().enumerate() {
            let (of_memory, rest) = places.split_at(memories.rows(memory).len());
            places = rest;
            if error.abs() > errors.noticeable {
                of_memory.iter().for_each(|&place| self.errors[place as usize] += error);
            }
        }
        self.query_gradient.clear();
        match errors.by_query {
            Some(by_query) => self.query_gradient.extend_from_slice(by_query),
            None => self.query_gradient.resize(table.dim(), R::ZERO),
        }
        let vector = gradient.push_vector(&self.query);
        table.add_rows(&self.distinct.rows, &self.errors, &mut self.query_gradient);
        for (&row, &scale) in self.distinct.rows.iter().zip(&self.errors) {
            if scale != R::ZERO {
                gradient.push(Update { row, scale, vector });
            }
        }
        let vector = gradient.push_vector(&self.query_gradient);
        for &row in &memories.query {
            gradient.push(Update { row, scale: R::ONE, vector });
        }
    }
}

/// A φ(s): the sum of the rows.
pub(crate) fn embed<R: Real>(table: &Table<R>, rows: &[u32], sum: &mut Vec<R>) {
    sum.clear();
    sum.resize(table.dim(), R::ZERO);
    rows.iter().for_each(|&row| axpy(R::ONE, table.row(row as usize), sum));
}

/// Which rows of a list are the same: a small hash table, emptied for each question.
#[derive(Default)]
struct Distinct {
    /// The distinct rows in order of first appearance.
    rows: Vec<u32>,
    /// For each row of the list, its place among the distinct ones.
    places: Vec<u32>,
    /// Places among the distinct rows, plus 1; 0 is free.
    slots: Vec<u32>,
}

impl Distinct {
    fn find(&mut self, list: &[u32]) {
        let bits = (2 * list.len()).next_power_of_two().trailing_zeros().max(1);
        self.slots.clear();
        self.slots.resize(1 << bits, 0);
        self.rows.clear();
        self.places.clear();
        for &row in list {
            // Knuth's multiplicative hash: the high bits of the product are well mixed.
            let mut slot = (row.wrapping_mul(0x9e37_79b1) >> (32 - bits)) as usize;
            let place = loop {
                match self.slots[slot] {
                    0 => {
                        self.rows.push(row);
                        self.slots[slot] = self.rows.len() as u32;
                        break self.rows.len() as u32 - 1;
                    }
                    taken if self.rows[taken as usize - 1] == row => break taken - 1,
                    _ => slot = (slot + 1) % self.slots.len(),
                }
            };
            self.places.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::fixture::{one_question, texts};
    use crate::memories::windows::{Encoding, KnownWords, Layout, MemoryUnit, WindowsAround};
    use crate::words::lowercase::Lowercase;

    proptest! {
        #[test]
        fn scores_are_the_products_of_sums((context, query, candidates) in texts(), seed in any::<u64>()) {
            let context: Vec<&str> = context.iter().map(String::as_str).collect();
            let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
            let set = one_question(&context, &query, &names);
            let rows: Vec<u32> = (0..set.vocabulary().len() as u32).collect();
            let layout = Layout {
                window: 5,
                encoding: Encoding::Positions,
                unit: MemoryUnit::Windows,
                max_memories: None,
                dictionary_rows: rows.len(),
            };
            let mut memories = Memories::default();
            let lowercase = Lowercase::new(set.vocabulary());
            let words = KnownWords { lowercase: &lowercase, rows: &rows };
            memories.read(&set.example(0).question, &words, &layout, WindowsAround::AllWords);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let table = Table::<f64>::normal(layout.n_rows(), 4, 1.0, &mut rng);
            let mut matching = Matching::default();
            matching.score(&table, &memories);
            let [mut q, mut c] = [Vec::new(), Vec::new()];
            embed(&table, &memories.query, &mut q);
            prop_assert_eq!(matching.scores.len(), memories.len());
            for memory in 0..memories.len() {
                embed(&table, memories.rows(memory), &mut c);
                let product: f64 = c.iter().zip(&q).map(|(c, q)| c * q).sum();
                prop_assert!((matching.scores[memory] - product).abs() < 1e-9);
            }
        }
    }
}
