//! Softmax over rows: as attention, as a loss with its gradient, and as log-probabilities.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::for_each_row;
use crate::device::{Layout, NO_TARGET};
use crate::{Real, dot};

pub fn rows<R: Real>(scores: &mut [R], bounds: &[u32]) {
    let (bounds, rest) = bounds.as_chunks::<2>();
    let columns = scores.len() / bounds.len().max(1);
    assert_eq!((rest.len(), bounds.len() * columns), (0, scores.len()), "two bounds per row");
    for_each_row(scores, columns, |row, i| {
        let [first, end] = bounds[i].map(|bound| bound as usize);
        row[..first].fill(R::ZERO);
        row[end..].fill(R::ZERO);
        let row = &mut row[first..end];
        let share = R::ONE / crate::simd::dispatch(Exponentials { row, bias: None }).sum;
        row.iter_mut().for_each(|value| *value = *value * share);
    });
}

/// ∂s = p ∘ (∂p − pᵀ ∂p).
pub fn rows_backward<R: Real>(gradient: &mut [R], attention: &[R], columns: usize) {
    assert_eq!((gradient.len(), gradient.len() % columns.max(1)), (attention.len(), 0), "rows");
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
        let of = crate::simd::dispatch(Exponentials { row, bias: Some(bias) });
        *loss = of.log() - score;
        // ∂s = p − 1(target).
        crate::simd::dispatch(Scale(row, scale / of.sum));
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
        let log = crate::simd::dispatch(Exponentials { row, bias: Some(bias) }).log();
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
                block[lane] = (block[lane] - max).exp_fast();
                sums[lane] += block[lane];
            }
        }
        let mut sum = sums.iter().fold(R::ZERO, |sum, &lane| sum + lane);
        for value in rest {
            *value = (*value - max).exp_fast();
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// −ln softmax(scores + bias)[target] as it is written.
    fn loss(scores: &[f64], bias: &[f64], target: usize) -> f64 {
        let sum: f64 = scores.iter().zip(bias).map(|(score, bias)| (score + bias).exp()).sum();
        sum.ln() - scores[target] - bias[target]
    }

    proptest! {
        /// Lengths around the number of lanes; a number between the rows must not matter.
        #[test]
        fn the_loss_and_its_gradient_are_those_of_the_definition(
            columns in 1usize..80, target in 0usize..1000, seed in 0u32..1000,
        ) {
            let target = target % columns;
            let number = |i: usize| f64::from((i as u32 * 7919 + seed) % 997) / 200.0 - 2.0;
            let bias: Vec<f64> = (0..columns).map(number).collect();
            let rows: Vec<f64> = (0..2 * (columns + 1)).map(|i| number(i + 5)).collect();
            let (mut scores, mut losses) = (rows.clone(), [9.0; 2]);
            let targets = [target as u32, NO_TARGET];
            cross_entropy((&mut scores, columns + 1), &bias, (&targets, 0.5), &mut losses);
            prop_assert!((losses[0] - loss(&rows[..columns], &bias, target)).abs() < 1e-12);
            prop_assert_eq!(losses[1], 0.0);
            for column in 0..columns {
                // p − 1(target), and nothing where there is no target.
                let probability = (-loss(&rows[..columns], &bias, column)).exp();
                let expected = 0.5 * (probability - f64::from(u8::from(column == target)));
                prop_assert!((scores[column] - expected).abs() < 1e-12);
                prop_assert_eq!(scores[columns + 1 + column], 0.0);
            }
            let layout = Layout { row_stride: columns + 1, ..Layout::batch(1, 2, columns) };
            let (mut into, words) = ([9.0; 4], [0, target as u32, NO_TARGET, 0]);
            log_probs(&mut into, (&rows, layout), &bias, &words);
            prop_assert!((into[1] + losses[0]).abs() < 1e-12);
            let second = -loss(&rows[columns + 1..][..columns], &bias, 0);
            prop_assert!((into[3] - second).abs() < 1e-12 && into[2] == 0.0);
        }
    }

    #[test]
    fn scores_far_apart_neither_overflow_nor_lose_the_loss() {
        let (mut scores, mut losses) = ([500.0f32, -500.0, 499.0], [0.0]);
        cross_entropy((&mut scores, 3), &[0.0; 3], (&[1], 1.0), &mut losses);
        // 1000 + ln(1 + e⁻¹).
        assert!((losses[0] - 1000.3133).abs() < 1e-3);
        assert_eq!(scores[1], -1.0);
    }
}
