//! Another output layer than §3.2's: states q^{K+1} of a mini-batch → cross-entropy of their answers among
//! the candidates of their questions, its gradient, and a step of U.
//!
//! Differs: the paper learns against the whole dictionary ([`crate::dictionary_softmax`]). Against ten words
//! of one class a model learns what distinguishes them, and nothing about which class is asked for.

use numerics::{Gradient, Real, Table, Update, apply, apply_adagrad, axpy, dot};

use crate::learning::softmax::softmax;
use crate::soft::dictionary_softmax::{Decoding, OutputGradients};

/// U as rows of a table.
pub(crate) struct Decode<'a, R: Real> {
    pub table: &'a mut Table<R>,
    /// The row of the table that is the first of U.
    pub first: usize,
    /// What Adagrad adds up for each row of the table; empty: plain steps.
    pub squares: &'a mut Table<R>,
}

/// Loss and gradient of a mini-batch, and a step of U against its own gradient.
///
/// `candidates` are rows of U; those of a question may repeat where they differ only in case.
pub(crate) fn descend<R: Real>(
    decode: Decode<'_, R>,
    batch: &Decoding<'_, R>,
    candidates: &[Vec<u32>],
    rate: R,
) -> OutputGradients<R> {
    let Decode { table, first, squares } = decode;
    let dim = table.dim();
    let mut gradient = Gradient::new(table.rows(), dim);
    let mut states = vec![R::ZERO; batch.states.len()];
    let mut loss = 0.0;
    let questions = batch.states.chunks_exact(dim).zip(states.chunks_exact_mut(dim));
    for ((&answer, candidates), (state, by_state)) in
        batch.answers.iter().zip(candidates).zip(questions)
    {
        let mut candidates = candidates.clone();
        candidates.sort_unstable();
        candidates.dedup();
        let row = |candidate: u32| first + candidate as usize;
        let scores: Vec<R> =
            candidates.iter().map(|&word| dot(table.row(row(word)), state)).collect();
        let mut slopes = scores.clone();
        let log_sum = softmax(&mut slopes);
        let vector = gradient.push_vector(state);
        for (&word, (score, mut slope)) in candidates.iter().zip(scores.into_iter().zip(slopes)) {
            // With g = â − 1_a: dL/dq = Uᵀg and dL/dU = g qᵀ.
            if word == answer {
                loss += (log_sum - score).to_f64();
                slope -= R::ONE;
            }
            axpy(slope, table.row(row(word)), by_state);
            gradient.push(Update { row: row(word) as u32, scale: slope, vector });
        }
    }
    match squares.rows() {
        0 => apply(table, -rate, &[&gradient]),
        _ => apply_adagrad(table, squares, -rate, &[&gradient]),
    }
    OutputGradients { loss, states }
}
