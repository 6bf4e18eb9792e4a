//! Attention of each place to those before it, or to some of them: queries, keys, values → what is read, and back; a row of places at
//! a time, head after head.

use std::ops::Range;

use rayon::prelude::*;

use crate::Real;
use crate::device::product::{MatRef, multiply};

/// Rows of `length` places, each of some heads of `dim` numbers.
#[derive(Clone, Copy)]
pub struct Shape {
    pub length: usize,
    pub heads: usize,
    pub dim: usize,
    /// The distance from the values of a place to those of the next.
    pub stride: usize,
}

/// What attention reads.
#[derive(Clone, Copy)]
pub struct Inputs<'a, R> {
    pub queries_and_keys: &'a [R],
    pub values: &'a [R],
    /// Three for each place, or none.
    pub bounds: &'a [u32],
}

impl<R> Inputs<'_, R> {
    /// The two runs of places that a place reads, one after the other.
    fn seen(&self, first_of_row: usize, place: usize) -> [Range<usize>; 2] {
        match self.bounds.get(3 * (first_of_row + place)..) {
            Some(&[first, trunk, start, ..]) => {
                [first as usize..trunk as usize, start as usize..place + 1]
            }
            _ => [0..0, 0..place + 1],
        }
    }
}

impl Shape {
    fn width(self) -> usize {
        self.heads * self.dim
    }

    fn scale<R: Real>(self) -> R {
        R::from_f64(1.0 / (self.dim as f64).sqrt())
    }

    /// The numbers of a head in all places of a row.
    fn of<'a, R: Real>(self, values: &'a [R], first: usize, stride: usize) -> MatRef<'a, R> {
        MatRef::strided(&values[first..], [self.length, self.dim], stride)
    }

    /// Queries, keys and values of a head in a row of places.
    fn factors<'a, R: Real>(
        self,
        of: Inputs<'a, R>,
        row: usize,
        head: usize,
    ) -> [MatRef<'a, R>; 3] {
        let (first, width, at) = (row * self.length, self.width(), head * self.dim);
        let pairs = &of.queries_and_keys[first * 2 * width..];
        let values = &of.values[first * self.stride..];
        [
            self.of(pairs, at, 2 * width),
            self.of(pairs, width + at, 2 * width),
            self.of(values, at, self.stride),
        ]
    }

    /// softmax(Q Kᵀ / √dim) of a head in a row of places, and the logarithm of each softmax's sum.
    fn weights<R: Real>(
        self,
        [queries, keys, _]: [MatRef<'_, R>; 3],
        of: Inputs<'_, R>,
        row: usize,
    ) -> (Vec<R>, Vec<R>) {
        let mut weights = vec![R::ZERO; self.length * self.length];
        multiply(&mut weights, R::ZERO, self.scale(), queries, keys.transposed());
        let log_sums = weights.chunks_mut(self.length).enumerate().map(|(place, weights)| {
            let [trunk, branch] = of.seen(row * self.length, place);
            for hidden in [0..trunk.start, trunk.end..branch.start, branch.end..self.length] {
                weights[hidden].fill(R::ZERO);
            }
            let seen = [trunk, branch];
            let scores = seen.iter().flat_map(|range| &weights[range.clone()]);
            let most = scores.copied().fold(weights[place], |a, b| if b > a { b } else { a });
            let mut sum = R::ZERO;
            for range in &seen {
                for x in &mut weights[range.clone()] {
                    *x = (*x - most).exp();
                    sum += *x;
                }
            }
            for range in seen {
                weights[range].iter_mut().for_each(|x| *x = *x / sum);
            }
            most + sum.ln()
        });
        let log_sums = log_sums.collect();
        (weights, log_sums)
    }

    /// Writes the numbers of a head into all places of a row.
    fn write<R: Real>(self, into: &mut [R], first: usize, stride: usize, from: &[R]) {
        for (into, from) in into.chunks_mut(stride).zip(from.chunks(self.dim)) {
            into[first..first + self.dim].copy_from_slice(from);
        }
    }
}

pub fn attention<R: Real>(read: &mut [R], log_sums: &mut [R], of: Inputs<'_, R>, shape: Shape) {
    let Shape { length, heads, dim, .. } = shape;
    let rows = read.par_chunks_mut(length * shape.width());
    rows.zip(log_sums.par_chunks_mut(length * heads)).enumerate().for_each(
        |(row, (read, sums))| {
            let mut result = vec![R::ZERO; length * dim];
            for head in 0..heads {
                let factors = shape.factors(of, row, head);
                let (weights, log_sums) = shape.weights(factors, of, row);
                multiply(&mut result, R::ZERO, R::ONE, MatRef::new(&weights, length), factors[2]);
                shape.write(read, head * dim, shape.width(), &result);
                sums.iter_mut()
                    .skip(head)
                    .step_by(heads)
                    .zip(log_sums)
                    .for_each(|(into, x)| *into = x);
            }
        },
    );
}

/// With weights P and the gradient G of what was read: ∂V = Pᵀ G, ∂S = P ∘ (G Vᵀ − Σ P ∘ G Vᵀ), ∂Q = ∂S K / √dim and
/// ∂K = ∂Sᵀ Q / √dim.
pub fn attention_backward<R: Real>(
    (into, into_values): (&mut [R], &mut [R]),
    of: Inputs<'_, R>,
    gradient: &[R],
    shape: Shape,
) {
    let Shape { length, heads, dim, stride } = shape;
    let width = shape.width();
    let rows =
        into.par_chunks_mut(length * 2 * width).zip(into_values.par_chunks_mut(length * stride));
    rows.enumerate().for_each(|(row, (into, into_values))| {
        let (mut slopes, mut result) =
            (vec![R::ZERO; length * length], vec![R::ZERO; length * dim]);
        for head in 0..heads {
            let factors @ [queries, keys, values] = shape.factors(of, row, head);
            let above = shape.of(&gradient[row * length * width..], head * dim, width);
            let (weights, _) = shape.weights(factors, of, row);
            let of_weights = MatRef::new(&weights, length);
            multiply(&mut result, R::ZERO, R::ONE, of_weights.transposed(), above);
            shape.write(into_values, head * dim, stride, &result);
            multiply(&mut slopes, R::ZERO, R::ONE, above, values.transposed());
            for (slopes, weights) in slopes.chunks_mut(length).zip(weights.chunks(length)) {
                let mean = crate::dot(slopes, weights);
                slopes
                    .iter_mut()
                    .zip(weights)
                    .for_each(|(slope, &weight)| *slope = weight * (*slope - mean));
            }
            let slopes = MatRef::new(&slopes, length);
            multiply(&mut result, R::ZERO, shape.scale(), slopes, keys);
            shape.write(into, head * dim, 2 * width, &result);
            multiply(&mut result, R::ZERO, shape.scale(), slopes.transposed(), queries);
            shape.write(into, width + head * dim, 2 * width, &result);
        }
    });
}
