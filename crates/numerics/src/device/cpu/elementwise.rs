//! Operations on each number by itself.

use rayon::prelude::*;

use super::BLOCK;
use crate::{Real, axpy};

pub fn fill<R: Real>(into: &mut [R], value: R) {
    into.par_chunks_mut(BLOCK).for_each(|into| into.fill(value));
}

pub fn add<R: Real>(into: &mut [R], scale: R, from: &[R]) {
    assert_eq!(into.len(), from.len(), "as many numbers");
    let pairs = into.par_chunks_mut(BLOCK).zip(from.par_chunks(BLOCK));
    pairs.for_each(|(into, from)| axpy(scale, from, into));
}

pub fn dropout<R: Real>(values: &mut [R], probability: f64, draw: &[u32], layer: u32) {
    // As on a GPU: a whole number of 2⁻³² and a factor in single precision.
    let threshold = (probability * 4_294_967_296.0) as u32;
    let factor = R::from_f64(1.0 / (1.0 - probability));
    let key = mixed(mixed(draw[0] ^ layer.wrapping_mul(0x9e37_79b9)) ^ draw[1]);
    values.par_chunks_mut(BLOCK).enumerate().for_each(|(block, values)| {
        for (place, value) in values.iter_mut().enumerate() {
            let is_kept = mixed((block * BLOCK + place) as u32 ^ key) >= threshold;
            *value = if is_kept { *value * factor } else { R::ZERO };
        }
    });
}

/// Thirty-two bits, each of which depends on each bit of the input (Ettinger 2019, «lowbias32»).
fn mixed(mut bits: u32) -> u32 {
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x7feb_352d);
    bits = (bits ^ (bits >> 15)).wrapping_mul(0x846c_a68b);
    bits ^ (bits >> 16)
}
