//! [`Exponential`]: many exponentials at once, the same bits on any machine.

use pulp::{Simd, WithSimd};

/// Numbers whose exponentials are computed many at a time.
pub trait Exponential: Sized {
    /// e^x for each number of a slice, accurate to 2 units in the last place or better where the result
    /// is a normal number, 0 below; an `f32` above 88.3 is taken for 88.3.
    fn exp_all(values: &mut [Self]);

    /// e^x in the same way for one number, to be inlined into the loop of a kernel.
    fn exp_inlined(self) -> Self;
}

impl Exponential for f32 {
    fn exp_all(values: &mut [Self]) {
        pulp::Arch::new().dispatch(ExpAll(values));
    }

    #[inline(always)]
    fn exp_inlined(self) -> Self {
        exp(self)
    }
}

struct ExpAll<'a>(&'a mut [f32]);

impl WithSimd for ExpAll<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.iter_mut().for_each(|value| *value = exp(*value));
    }
}

impl Exponential for f64 {
    fn exp_all(values: &mut [Self]) {
        values.iter_mut().for_each(|value| *value = libm::exp(*value));
    }

    #[inline(always)]
    fn exp_inlined(self) -> Self {
        libm::exp(self)
    }
}

/// e^x = 2ⁿ · eʳ with n the whole number nearest to x / ln 2 and |r| ≤ ln 2 / 2. There is no branch in
/// it, so the compiler does several at once.
#[inline(always)]
#[expect(clippy::excessive_precision, reason = "the two parts of ln 2 are meant to the last digit")]
fn exp(x: f32) -> f32 {
    /// Adding and subtracting 1.5 · 2²³ rounds to a whole number, which is left in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_375;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    const LOWEST: f32 = -87.3;
    let bounded = x.clamp(LOWEST, 88.3);
    let shifted = bounded * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (bounded - n * LN_2_HIGH) - n * LN_2_LOW;
    // Cephes, expf.c: the minimax polynomial of (eʳ − 1 − r) / r² on that interval.
    let mut sum = 1.987_569_1e-4;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        sum = sum * r + coefficient;
    }
    let mantissa = sum * r * r + r + 1.0;
    let exponent = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    let result = mantissa * f32::from_bits(exponent);
    if x < LOWEST { 0.0 } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_exponential_is_within_two_units_of_the_exact_one() {
        let inputs: Vec<f32> = (-87_000..88_000).map(|n| n as f32 / 1000.0).collect();
        let mut outputs = inputs.clone();
        f32::exp_all(&mut outputs);
        for (x, found) in inputs.iter().zip(outputs) {
            let exact = libm::exp(f64::from(*x));
            let unit = f64::from(f32::EPSILON) * exact;
            assert!((f64::from(found) - exact).abs() < 2.0 * unit, "e^{x}: {found} {exact}");
        }
    }

    #[test]
    fn far_below_it_is_nothing_and_at_zero_it_is_one() {
        let mut values = [-1e30, -100.0, 0.0];
        f32::exp_all(&mut values);
        assert_eq!(values, [0.0, 0.0, 1.0]);
        let mut values = [-1e30, 0.0];
        f64::exp_all(&mut values);
        assert_eq!(values, [0.0, 1.0]);
    }
}
