//! The operations of Transformer blocks other than products and softmax.

use rayon::prelude::*;

use super::{Cpu, attention, for_each_row, rotary};
use crate::device::{
    Attention, AttentionGradients, AttentionResults, Device as _, RmsNorm, Rotation, Slice,
    SliceMut, Transformer,
};
use crate::sparse::pages::Pages;
use crate::{Real, dot};

impl<R: Real> Transformer for Cpu<R> {
    fn rms_norm(
        &self,
        into: SliceMut<'_, Pages<R>>,
        copy: Option<SliceMut<'_, Pages<R>>>,
        norm: RmsNorm<'_, Pages<R>>,
    ) {
        norm.check(into.len);
        if let Some(copy) = copy {
            self.copy(copy, norm.from);
        }
        rms_norm(into.get(), norm.from.get(), norm.scale.get());
    }

    fn rms_norm_backward(
        &self,
        (into, rounded): (SliceMut<'_, Pages<R>>, SliceMut<'_, Pages<R>>),
        scale: SliceMut<'_, Pages<R>>,
        norm: RmsNorm<'_, Pages<R>>,
        gradient: Slice<'_, Pages<R>>,
    ) {
        norm.check(into.len);
        let (into, from) = (into.get(), (norm.from.get(), norm.scale.get()));
        rms_norm_backward(into, scale.get(), from, gradient.get());
        rounded.get().copy_from_slice(into);
    }

    fn rotate(&self, into: SliceMut<'_, Pages<R>>, rotation: Rotation<'_, Pages<R>, Pages<R>>) {
        rotation.check(into.len);
        rotary::rotate(into.get(), rotary::Inputs::of(rotation));
    }

    fn rotate_backward(
        &self,
        into: SliceMut<'_, Pages<R>>,
        scales: Option<SliceMut<'_, Pages<R>>>,
        rotation: Rotation<'_, Pages<R>, Pages<R>>,
        gradient: Slice<'_, Pages<R>>,
    ) {
        rotation.check(gradient.len);
        let inputs = rotary::Inputs::of(rotation);
        let scales = scales.map(SliceMut::get);
        rotary::rotate_backward(into.get(), scales, inputs, gradient.get());
    }

    fn attention(
        &self,
        read: SliceMut<'_, Pages<R>>,
        log_sums: SliceMut<'_, Pages<R>>,
        attention: Attention<'_, Pages<R>, Pages<u32>>,
    ) {
        let (inputs, shape) = attention_of(attention, read.len, log_sums.len);
        attention::attention(read.get(), log_sums.get(), inputs, shape);
    }

    fn attention_backward(
        &self,
        into: AttentionGradients<'_, Pages<R>, Pages<R>>,
        attention: Attention<'_, Pages<R>, Pages<u32>>,
        results: AttentionResults<'_, Pages<R>, Pages<R>>,
    ) {
        let (inputs, shape) = attention_of(attention, results.read.len, results.log_sums.len);
        assert_eq!(into.values.layout, attention.values.layout, "values");
        let into = (into.queries_and_keys.get(), into.values.slice.get());
        attention::attention_backward(into, inputs, results.gradient.get(), shape);
    }

    fn swiglu(&self, into: SliceMut<'_, Pages<R>>, from: Slice<'_, Pages<R>>, columns: usize) {
        assert_eq!(from.len, 2 * into.len, "a gate for each number");
        swiglu(into.get(), from.get(), columns);
    }

    fn swiglu_backward(
        &self,
        into: SliceMut<'_, Pages<R>>,
        from: Slice<'_, Pages<R>>,
        gradient: Slice<'_, Pages<R>>,
        columns: usize,
    ) {
        assert_eq!((into.len, from.len), (2 * gradient.len, 2 * gradient.len), "a gate for each");
        swiglu_backward(into.get(), from.get(), gradient.get(), columns);
    }
}

/// What attention reads, and its checked shape.
fn attention_of<'a, R: Real>(
    attention: Attention<'a, Pages<R>, Pages<u32>>,
    read: usize,
    log_sums: usize,
) -> (attention::Inputs<'a, R>, attention::Shape) {
    let [_, dim] = attention.check(read, log_sums);
    let Attention { queries_and_keys, values, length, heads, bounds } = attention;
    let shape = attention::Shape { length, heads, dim, stride: values.layout.row_stride };
    let (queries_and_keys, values) = (queries_and_keys.get(), values.slice.get());
    let bounds = bounds.map_or(&[][..], |bounds| bounds.get());
    (attention::Inputs { queries_and_keys, values, bounds }, shape)
}

/// 1 / √(mean x² + ε).
fn inverse<R: Real>(row: &[R]) -> R {
    let mean = dot(row, row) / R::from_f64(row.len() as f64);
    R::ONE / (mean + R::from_f64(RmsNorm::<()>::EPSILON)).sqrt()
}

pub fn rms_norm<R: Real>(into: &mut [R], from: &[R], scale: &[R]) {
    let columns = scale.len();
    for_each_row(into, columns, |into, i| norm_row(into, &from[i * columns..][..columns], scale));
}

pub fn norm_row<R: Real>(into: &mut [R], from: &[R], scale: &[R]) {
    let inverse = inverse(from);
    for ((into, &x), &scale) in into.iter_mut().zip(from).zip(scale) {
        *into = x * inverse * scale;
    }
}

/// Rows whose gradients of the scale are summed together.
pub const HEIGHT: usize = 256;

/// Adds to `into`.
pub fn rms_norm_backward<R: Real>(
    into: &mut [R],
    scale_gradient: &mut [R],
    (from, scale): (&[R], &[R]),
    gradient: &[R],
) {
    let columns = scale.len();
    let blocks = into.par_chunks_mut(columns * HEIGHT).enumerate();
    let sums: Vec<Vec<R>> = blocks
        .map(|(block, into)| {
            let (mut sums, mut added) = (vec![R::ZERO; columns], vec![R::ZERO; columns]);
            for (i, into) in into.chunks_mut(columns).enumerate() {
                let row = (block * HEIGHT + i) * columns..(block * HEIGHT + i + 1) * columns;
                let from = (&from[row.clone()], scale);
                norm_row_backward(&mut added, &mut sums, from, &gradient[row]);
                into.iter_mut().zip(&added).for_each(|(into, &added)| *into += added);
            }
            sums
        })
        .collect();
    sum_of_blocks(scale_gradient, sums);
}

/// The sum of what blocks have summed, in their order.
pub fn sum_of_blocks<R: Real>(into: &mut [R], sums: Vec<Vec<R>>) {
    into.fill(R::ZERO);
    for sums in sums {
        into.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
}

/// With x̂ = x / rms and g = scale ∘ ∂y: ∂x = (g − x̂ · mean(g ∘ x̂)) / rms, ∂scale = Σ ∂y ∘ x̂.
pub fn norm_row_backward<R: Real>(
    into: &mut [R],
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
        into[j] = (gradient[j] * scale[j] - from[j] * inverse * mean) * inverse;
    }
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
