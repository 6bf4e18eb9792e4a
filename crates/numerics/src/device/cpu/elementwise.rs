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

pub fn dropout<R: Real>(values: &mut [R], probability: f64, key: &[u32], layer: u32) {
    // As on a GPU: the threshold is a whole number of 2⁻³².
    let threshold = (probability * 4_294_967_296.0) as u32;
    let factor = R::from_f64(1.0 / (1.0 - probability));
    let key = mixed(mixed(key[0] ^ layer.wrapping_mul(0x9e37_79b9)) ^ key[1]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropout_keeps_the_mean_and_each_draw_and_layer_has_a_mask_of_its_own() {
        let masked = |draw: [u32; 2], layer| {
            let mut values = vec![1.0f64; 100_000];
            dropout(&mut values, 0.3, &draw, layer);
            values
        };
        let first = masked([7, 1], 0);
        assert!(first.iter().all(|&value| value == 0.0 || value == 1.0 / 0.7));
        let mean = first.iter().sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert_eq!(first, masked([7, 1], 0));
        for other in [masked([7, 2], 0), masked([8, 1], 0), masked([7, 1], 1)] {
            let n_both = first.iter().zip(&other).filter(|(a, b)| **a > 0.0 && **b > 0.0).count();
            assert!((n_both as f64 / 1e5 - 0.49).abs() < 0.01, "{n_both} of 49,000 expected");
        }
    }
}
