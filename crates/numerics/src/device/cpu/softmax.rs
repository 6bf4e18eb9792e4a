//! Softmax over rows: as attention, as a loss with its gradient, and as log-probabilities.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::for_each_row;
use crate::device::{Layout, NO_TARGET};
use crate::{Real, dot};

pub fn rows<R: Real>(scores: &mut [R], bounds: &[u32]) {
    let (bounds, rest) = bounds.as_chunks::<2>();
    let columns = scores.len() / bounds.len().max(1);
    assert_eq!((rest.len(), bounds.len() * columns), (0, scores.len()), "two bounds a row");
    for_each_row(scores, columns, |row, i| {
        let [first, end] = bounds[i].map(|bound| bound as usize);
        row[..first].fill(R::ZERO);
        row[end..].fill(R::ZERO);
        let row = &mut row[first..end];
        let share = R::ONE / pulp::Arch::new().dispatch(Exponentials { row, bias: None }).sum;
        row.iter_mut().for_each(|value| *value = *value * share);
    });
}

/// ∂s = p ∘ (∂p − pᵀ ∂p).
pub fn rows_backward<R: Real>(gradient: &mut [R], attention: &[R], columns: usize) {
    for_each_row(gradient, columns, |row, i| {
        let attention = &attention[i * columns..][..columns];
        let mean = dot(attention, row);
        for (gradient, &share) in row.iter_mut().zip(attention) {
            *gradient = share * (*gradient - mean);
        }
    });
}

pub fn cross_entropy<R: Real>(
    (scores, row_stride): (&mut [R], usize),
    bias: &[R],
    (targets, scale): (&[u32], R),
    losses: &mut [R],
) {
    let columns = bias.len();
    let n_rows = scores.len().div_ceil(row_stride.max(1));
    assert_eq!((losses.len(), n_rows), (targets.len(), targets.len()), "shapes");
    let rows = scores.par_chunks_mut(row_stride.max(1)).zip(losses.par_iter_mut()).zip(targets);
    rows.for_each(|((row, loss), &target)| {
        let row = &mut row[..columns];
        if target == NO_TARGET {
            *loss = R::ZERO;
            return row.fill(R::ZERO);
        }
        let target = target as usize;
        let score = row[target] + bias[target];
        let of = pulp::Arch::new().dispatch(Exponentials { row, bias: Some(bias) });
        *loss = of.log() - score;
        // ∂s = p − 1(target).
        pulp::Arch::new().dispatch(Scale(row, scale / of.sum));
        row[target] -= scale;
    });
}

pub fn log_probs<R: Real>(
    into: &mut [R],
    (scores, layout): (&[R], Layout),
    bias: &[R],
    words: &[u32],
) {
    let n_words = words.len() / layout.rows.max(1);
    let expected = (words.len(), layout.rows * n_words, layout.columns);
    assert_eq!((into.len(), words.len(), bias.len()), expected, "shapes");
    let rows = into.par_chunks_mut(n_words.max(1)).zip(scores.par_chunks(layout.row_stride.max(1)));
    rows.zip(words.par_chunks(n_words.max(1))).for_each(|((into, scores), words)| {
        let mut row = scores[..bias.len()].to_vec();
        let row = row.as_mut_slice();
        let log = pulp::Arch::new().dispatch(Exponentials { row, bias: Some(bias) }).log();
        for (into, &word) in into.iter_mut().zip(words) {
            let of = |word: usize| scores[word] + bias[word] - log;
            *into = if word == NO_TARGET { R::ZERO } else { of(word as usize) };
        }
    });
}

/// What the exponentials of a row, divided by that of its maximum, sum to.
struct Sum<R> {
    max: R,
    sum: R,
}

impl<R: Real> Sum<R> {
    /// ln Σ exp(s).
    fn log(&self) -> R {
        self.max + self.sum.ln()
    }
}

/// s → exp(s + bias − max) in a row.
struct Exponentials<'a, R> {
    row: &'a mut [R],
    bias: Option<&'a [R]>,
}

/// How many sums are kept side by side, whatever the width of the registers.
const LANES: usize = 32;

impl<R: Real> WithSimd for Exponentials<'_, R> {
    type Output = Sum<R>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Sum<R> {
        if let Some(bias) = self.bias {
            self.row.iter_mut().zip(bias).for_each(|(value, &bias)| *value += bias);
        }
        let lowest = R::from_f64(f64::from(f32::MIN));
        let greater = |a: R, b: R| if a > b { a } else { b };
        let mut greatest = [lowest; LANES];
        let (blocks, rest) = self.row.as_chunks_mut::<LANES>();
        for block in &*blocks {
            for lane in 0..LANES {
                greatest[lane] = greater(block[lane], greatest[lane]);
            }
        }
        let max = greatest.iter().chain(&*rest).fold(lowest, |a, &b| greater(a, b));
        let mut sums = [R::ZERO; LANES];
        for block in blocks {
            for lane in 0..LANES {
                block[lane] = (block[lane] - max).exp_inlined();
                sums[lane] += block[lane];
            }
        }
        let mut sum = sums.iter().fold(R::ZERO, |sum, &lane| sum + lane);
        for value in rest {
            *value = (*value - max).exp_inlined();
            sum += *value;
        }
        Sum { max, sum }
    }
}

struct Scale<'a, R>(&'a mut [R], R);

impl<R: Real> WithSimd for Scale<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.iter_mut().for_each(|value| *value = *value * self.1);
    }
}
