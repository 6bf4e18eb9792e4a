//! Rotary positions of normalised queries and keys: what is learnt → what attention multiplies, and back.

use rayon::prelude::*;

use super::for_each_row;
use super::transformer::{HEIGHT, norm_row, norm_row_backward, sum_of_blocks};
use crate::Real;
use crate::device::Rotation;
use crate::sparse::pages::Pages;

/// As in [`Rotation`].
#[derive(Clone, Copy)]
pub struct Inputs<'a, R> {
    from: &'a [R],
    scales: Option<[&'a [R]; 2]>,
    angles: &'a [R],
    heads: usize,
    dim: usize,
}

impl<'a, R: Real> Inputs<'a, R> {
    pub fn of(rotation: Rotation<'a, Pages<R>, Pages<R>>) -> Self {
        let Rotation { from, scales, angles, heads, dim } = rotation;
        let scales = scales.map(|scales| scales.get().split_at(dim).into());
        Self { from: from.get(), scales, angles: angles.get(), heads, dim }
    }

    /// The scale of a query or a key, which have numbers in a place: the queries, then the keys.
    fn scale(&self, number: usize) -> Option<&'a [R]> {
        self.scales.map(|scales| scales[number / self.heads])
    }

    /// A query or a key of a place.
    fn part(&self, place: usize, number: usize) -> &'a [R] {
        &self.from[(3 * place * self.heads + number) * self.dim..][..self.dim]
    }

    /// Turns a query or a key of a place, or turns it back if the sign is −1.
    fn turn(&self, part: &mut [R], place: usize, sign: R) {
        let (positions, half) = (self.angles.len() / self.dim, self.dim / 2);
        let angles = &self.angles[place % positions * self.dim..][..self.dim];
        let (cosines, sines) = angles.split_at(half);
        let (first, second) = part.split_at_mut(half);
        for j in 0..half {
            let (x, y, sine) = (first[j], second[j], sign * sines[j]);
            first[j] = x * cosines[j] - y * sine;
            second[j] = y * cosines[j] + x * sine;
        }
    }
}

pub fn rotate<R: Real>(into: &mut [R], inputs: Inputs<'_, R>) {
    for_each_row(into, 2 * inputs.heads * inputs.dim, |into, place| {
        for (number, into) in into.chunks_mut(inputs.dim).enumerate() {
            let from = inputs.part(place, number);
            match inputs.scale(number) {
                Some(scale) => norm_row(into, from, scale),
                None => into.copy_from_slice(from),
            }
            inputs.turn(into, place, R::ONE);
        }
    });
}

pub fn rotate_backward<R: Real>(
    into: &mut [R],
    of_scales: Option<&mut [R]>,
    inputs: Inputs<'_, R>,
    gradient: &[R],
) {
    let Inputs { heads, dim, .. } = inputs;
    let blocks = into.par_chunks_mut(3 * heads * dim * HEIGHT).enumerate();
    let sums: Vec<Vec<R>> = blocks
        .map(|(block, into)| {
            let (mut sums, mut above) = (vec![R::ZERO; 2 * dim], vec![R::ZERO; dim]);
            for (i, into) in into.chunks_mut(3 * heads * dim).enumerate() {
                let place = block * HEIGHT + i;
                for (number, into) in into.chunks_mut(dim).take(2 * heads).enumerate() {
                    above.copy_from_slice(&gradient[(2 * place * heads + number) * dim..][..dim]);
                    inputs.turn(&mut above, place, -R::ONE);
                    match inputs.scale(number) {
                        Some(scale) => {
                            let sums = &mut sums[number / heads * dim..][..dim];
                            norm_row_backward(
                                into,
                                sums,
                                (inputs.part(place, number), scale),
                                &above,
                            );
                        }
                        None => into.copy_from_slice(&above),
                    }
                }
            }
            sums
        })
        .collect();
    if let Some(of_scales) = of_scales {
        sum_of_blocks(of_scales, sums);
    }
}
