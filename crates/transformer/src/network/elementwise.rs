//! Operations on single numbers and on rows. Sums have a fixed order.

use numerics::{Real, dot};

/// Divides each row by the root of its mean square, and scales it.
///
/// # Shapes
/// `scale` d, `from` n × d or n · heads × d, `into` as `from`
pub(super) fn rms_norm(into: &mut Vec<f32>, from: &[f32], scale: &[f32], epsilon: f32) {
    into.resize(from.len(), 0.0);
    let width = scale.len();
    for (into, from) in into.chunks_exact_mut(width).zip(from.chunks_exact(width)) {
        let factor = 1.0 / (dot(from, from) / width as f32 + epsilon).sqrt();
        for ((into, from), scale) in into.iter_mut().zip(from).zip(scale) {
            *into = from * factor * scale;
        }
    }
}

/// `gate = gate · σ(gate) · up`; `up` is overwritten.
pub(super) fn swiglu(gate: &mut [f32], up: &mut [f32]) {
    for (gate, up) in gate.iter().zip(&mut *up) {
        *up *= gate;
    }
    gate.iter_mut().for_each(|gate| *gate = -*gate);
    f32::exp_slice(gate);
    for (gate, up) in gate.iter_mut().zip(up) {
        *gate = *up / (1.0 + *gate);
    }
}

/// Softmax over the numbers of a row.
pub(super) fn softmax(row: &mut [f32]) {
    let largest = largest(row);
    row.iter_mut().for_each(|value| *value -= largest);
    f32::exp_slice(row);
    let factor = 1.0 / sum(row);
    row.iter_mut().for_each(|value| *value *= factor);
}

/// ln p of some tokens, from the scores of all; the scores are overwritten.
pub(crate) fn log_probs(scores: &mut [f32], tokens: impl Iterator<Item = u32>) -> Vec<f64> {
    let largest = largest(scores);
    scores.iter_mut().for_each(|score| *score -= largest);
    let chosen: Vec<f64> = tokens.map(|token| f64::from(scores[token as usize])).collect();
    f32::exp_slice(scores);
    let log_sum = libm::log(scores.iter().copied().map(f64::from).sum());
    chosen.into_iter().map(|score| score - log_sum).collect()
}

const LANES: usize = 16;

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

fn sum(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().chain(rest).sum()
}
