//! Operations on single numbers and on rows. Sums have a fixed order, whatever the machine's registers are.

use numerics::Real;
use pulp::{Simd, WithSimd};

/// Divides each row by the root of its mean square, and scales it.
///
/// # Shapes
/// `scale` d, `from` n × d or n · heads × d, `into` as `from`
pub(super) fn rms_norm(into: &mut Vec<f32>, from: &[f32], scale: &[f32], epsilon: f32) {
    into.resize(from.len(), 0.0);
    numerics::dispatch(RmsNorm { into, from, scale, epsilon });
}

/// `gate = gate · σ(gate) · up`.
pub(super) fn swiglu(gate: &mut [f32], up: &[f32]) {
    numerics::dispatch(SwiGlu { gate, up });
}

/// Softmax over the numbers of two slices together.
pub(super) fn softmax(first: &mut [f32], second: &mut [f32]) {
    numerics::dispatch(Softmax { first, second });
}

/// ln p of some tokens, from the scores of all; the scores are overwritten.
pub(crate) fn log_probs(scores: &mut [f32], tokens: impl Iterator<Item = u32>) -> Vec<f64> {
    let chosen: Vec<f64> = tokens.map(|token| f64::from(scores[token as usize])).collect();
    let log_sum = numerics::dispatch(LogSumExp(scores));
    chosen.into_iter().map(|score| score - log_sum).collect()
}

// Only what is inlined into `with_simd` is compiled for the instruction set.

struct RmsNorm<'a> {
    into: &'a mut [f32],
    from: &'a [f32],
    scale: &'a [f32],
    epsilon: f32,
}

impl WithSimd for RmsNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.scale.len();
        let rows = self.into.chunks_exact_mut(width).zip(self.from.chunks_exact(width));
        for (into, from) in rows {
            let squares = sum(from, |value| value * value);
            let factor = 1.0 / (squares / width as f32 + self.epsilon).sqrt();
            for ((into, from), scale) in into.iter_mut().zip(from).zip(self.scale) {
                *into = from * factor * scale;
            }
        }
    }
}

struct SwiGlu<'a> {
    gate: &'a mut [f32],
    up: &'a [f32],
}

impl WithSimd for SwiGlu<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (gate, up) in self.gate.iter_mut().zip(self.up) {
            *gate = *gate * up / (1.0 + (-*gate).exp_fast());
        }
    }
}

struct Softmax<'a> {
    first: &'a mut [f32],
    second: &'a mut [f32],
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { first, second } = self;
        let largest = largest(first).max(largest(second));
        let mut total = 0.0;
        for part in [&mut *first, &mut *second] {
            part.iter_mut().for_each(|value| *value = (*value - largest).exp_fast());
            total += sum(part, |value| value);
        }
        let factor = 1.0 / total;
        for part in [first, second] {
            part.iter_mut().for_each(|value| *value *= factor);
        }
    }
}

/// ln Σ eˣ, of many numbers.
struct LogSumExp<'a>(&'a mut [f32]);

impl WithSimd for LogSumExp<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        /// Numbers whose sum is hardly rounded.
        const PART: usize = 1024;
        let largest = largest(self.0);
        self.0.iter_mut().for_each(|value| *value = (*value - largest).exp_fast());
        let sums = self.0.chunks(PART).map(|part| f64::from(sum(part, |value| value)));
        libm::log(sums.sum::<f64>()) + f64::from(largest)
    }
}

const LANES: usize = 16;

#[inline(always)]
fn largest(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = if *value > *lane { *value } else { *lane };
        }
    }
    lanes.iter().chain(rest).fold(f32::NEG_INFINITY, |largest, &value| largest.max(value))
}

#[inline(always)]
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += of(*value);
        }
    }
    lanes.into_iter().sum::<f32>() + rest.iter().map(|&value| of(value)).sum::<f32>()
}
