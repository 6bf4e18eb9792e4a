//! Kernels on vectors whose sums have a fixed order: two vectors → the same bits on any machine.
//!
//! A sum is kept in [`LANES`] lanes whatever the width of the machine's registers. `dispatch` compiles each
//! kernel for several instruction sets and chooses at run time, so a portable build is fast.

use pulp::{Simd, WithSimd};

use crate::Real;

/// How many partial sums there are: one register of AVX-512, two of AVX2, four of SSE, of `f32`.
const LANES: usize = 16;

/// Σ aᵢ·bᵢ over the shorter of two vectors.
pub fn dot<R: Real>(a: &[R], b: &[R]) -> R {
    crate::simd::dispatch(Dot(a, b))
}

/// y ← y + scale · x over the shorter of two vectors.
pub fn axpy<R: Real>(scale: R, x: &[R], y: &mut [R]) {
    crate::simd::dispatch(Axpy(scale, x, y));
}

// A closure would not do: only what is inlined into `with_simd` is compiled for the instruction set.
struct Dot<'a, R>(&'a [R], &'a [R]);

impl<R: Real> WithSimd for Dot<'_, R> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> R {
        dot_in_lanes(self.0, self.1)
    }
}

struct Axpy<'a, R>(R, &'a [R], &'a mut [R]);

impl<R: Real> WithSimd for Axpy<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        axpy_in_lanes(self.0, self.1, self.2);
    }
}

#[inline(always)]
pub(crate) fn dot_in_lanes<R: Real>(a: &[R], b: &[R]) -> R {
    let n = a.len().min(b.len());
    let (a_blocks, a_rest) = a[..n].as_chunks::<LANES>();
    let (b_blocks, b_rest) = b[..n].as_chunks::<LANES>();
    let mut sums = [R::ZERO; LANES];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    for (sum, (&a, &b)) in sums.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *sum += a * b;
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            let other = sums[lane + half];
            sums[lane] += other;
        }
        half /= 2;
    }
    sums[0]
}

#[inline(always)]
pub(crate) fn axpy_in_lanes<R: Real>(scale: R, x: &[R], y: &mut [R]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += scale * x;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vectors() -> impl Strategy<Value = Vec<(f32, f32)>> {
        prop::collection::vec((-4.0..4.0f32, -4.0..4.0f32), 0..70)
    }

    proptest! {
        #[test]
        fn kernels_give_the_bits_of_the_plain_loops(pairs in vectors(), scale in -2.0..2.0f32) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let mut lanes = [0.0f32; LANES];
            for (place, (a, b)) in a.iter().zip(&b).enumerate() {
                lanes[place % LANES] += a * b;
            }
            let mut sums = lanes.to_vec();
            while sums.len() > 1 {
                let (left, right) = sums.split_at(sums.len() / 2);
                sums = left.iter().zip(right).map(|(a, b)| a + b).collect();
            }
            prop_assert_eq!(dot(&a, &b).to_bits(), sums[0].to_bits());

            let mut fast = b.clone();
            axpy(scale, &a, &mut fast);
            let slow: Vec<f32> = a.iter().zip(&b).map(|(x, y)| y + scale * x).collect();
            prop_assert_eq!(fast, slow);
        }
    }

    #[test]
    fn the_shorter_vector_decides() {
        assert_eq!(dot(&[1.0, 2.0, 3.0], &[4.0, 5.0]), 14.0);
        let mut y = [1.0, 1.0, 1.0];
        axpy(2.0, &[1.0, 3.0], &mut y);
        assert_eq!(y, [3.0, 7.0, 1.0]);
    }
}
