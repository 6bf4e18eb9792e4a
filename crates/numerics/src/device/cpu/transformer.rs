//! The operations of Transformer blocks other than products and softmax.

use rayon::prelude::*;

use super::for_each_row;
use crate::device::{Layout, RmsNorm};
use crate::{Real, dot};

/// The parts of a row that a batch of matrices has side by side.
fn parts(layout: Layout) -> impl Iterator<Item = std::ops::Range<usize>> {
    let Layout { columns, batch, batch_stride, .. } = layout;
    (0..batch).map(move |part| part * batch_stride..part * batch_stride + columns)
}

/// 1 / √(mean x² + ε).
fn inverse<R: Real>(row: &[R]) -> R {
    let mean = dot(row, row) / R::from_f64(row.len() as f64);
    R::ONE / (mean + R::from_f64(RmsNorm::<()>::EPSILON)).sqrt()
}

pub fn rms_norm<R: Real>(
    (into, layout): (&mut [R], Layout),
    (from, other): (&[R], Layout),
    scale: &[R],
) {
    into.par_chunks_mut(layout.row_stride).take(layout.rows).enumerate().for_each(|(i, into)| {
        let from = &from[i * other.row_stride..];
        for (part, of) in parts(layout).zip(parts(other)) {
            let (into, from) = (&mut into[part], &from[of]);
            let inverse = inverse(from);
            for ((into, &x), &scale) in into.iter_mut().zip(from).zip(scale) {
                *into = x * inverse * scale;
            }
        }
    });
}

/// Rows whose gradients of the scale are summed together.
const HEIGHT: usize = 256;

/// With x̂ = x / rms and g = scale ∘ ∂y: ∂x = (g − x̂ · mean(g ∘ x̂)) / rms, ∂scale = Σ ∂y ∘ x̂.
pub fn rms_norm_backward<R: Real>(
    (into, layout, beta): (&mut [R], Layout, R),
    scale_gradient: &mut [R],
    (from, other, scale): (&[R], Layout, &[R]),
    (gradient, above): (&[R], Layout),
) {
    let columns = scale.len();
    let blocks = into.par_chunks_mut(layout.row_stride * HEIGHT).enumerate();
    let sums: Vec<Vec<R>> = blocks
        .map(|(block, into)| {
            let mut sums = vec![R::ZERO; columns];
            let rows = HEIGHT.min(layout.rows - block * HEIGHT);
            for (i, into) in into.chunks_mut(layout.row_stride).take(rows).enumerate() {
                let row = block * HEIGHT + i;
                let (from, gradient) =
                    (&from[row * other.row_stride..], &gradient[row * above.row_stride..]);
                for ((part, of), over) in parts(layout).zip(parts(other)).zip(parts(above)) {
                    let row = (&mut into[part], beta);
                    row_backward(row, &mut sums, (&from[of], scale), &gradient[over]);
                }
            }
            sums
        })
        .collect();
    scale_gradient.fill(R::ZERO);
    for sums in sums {
        scale_gradient.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
}

fn row_backward<R: Real>(
    (into, beta): (&mut [R], R),
    sums: &mut [R],
    (from, scale): (&[R], &[R]),
    gradient: &[R],
) {
    let (inverse, columns) = (inverse(from), from.len());
    let mut mean = R::ZERO;
    for j in 0..columns {
        let along = gradient[j] * from[j] * inverse;
        sums[j] += along;
        mean += along * scale[j];
    }
    mean = mean / R::from_f64(columns as f64);
    for j in 0..columns {
        let new = (gradient[j] * scale[j] - from[j] * inverse * mean) * inverse;
        into[j] = if beta == R::ZERO { new } else { beta * into[j] + new };
    }
}

pub fn rotate<R: Real>(values: &mut [R], angles: &[R], [columns, dim]: [usize; 2], sign: R) {
    let (n_positions, half) = (angles.len() / dim, dim / 2);
    for_each_row(values, columns, |row, i| {
        let (cosines, sines) = angles[i % n_positions * dim..][..dim].split_at(half);
        for part in row.chunks_mut(dim) {
            let (first, second) = part.split_at_mut(half);
            for j in 0..half {
                let (x, y, sine) = (first[j], second[j], sign * sines[j]);
                first[j] = x * cosines[j] - y * sine;
                second[j] = y * cosines[j] + x * sine;
            }
        }
    });
}

/// 1 / (1 + e⁻ˣ).
#[inline(always)]
fn sigmoid<R: Real>(x: R) -> R {
    R::ONE / (R::ONE + (-x).exp_fast())
}

pub fn swiglu<R: Real>(into: &mut [R], from: &[R], columns: usize) {
    for_each_row(into, columns, |into, i| {
        let (gates, ups) = from[2 * i * columns..][..2 * columns].split_at(columns);
        for ((into, &gate), &up) in into.iter_mut().zip(gates).zip(ups) {
            *into = gate * sigmoid(gate) * up;
        }
    });
}

/// silu′ = σ (1 + x (1 − σ)).
pub fn swiglu_backward<R: Real>(into: &mut [R], from: &[R], gradient: &[R], columns: usize) {
    for_each_row(into, 2 * columns, |into, i| {
        let (gates, ups) = from[2 * i * columns..][..2 * columns].split_at(columns);
        let (into_gates, into_ups) = into.split_at_mut(columns);
        let gradient = &gradient[i * columns..][..columns];
        for j in 0..columns {
            let (gate, open) = (gates[j], sigmoid(gates[j]));
            into_gates[j] = gradient[j] * ups[j] * open * (R::ONE + gate * (R::ONE - open));
            into_ups[j] = gradient[j] * gate * open;
        }
    });
}
