//! [`Real`]: `f32` to train with, `f64` to check every gradient with.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use pulp::{Simd, WithSimd};

use crate::device::Element;

mod sealed {
    /// Unsafe code relies on there being no other implementations than those below.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A floating-point number: `f32` or `f64`, and no other type.
pub trait Real:
    sealed::Sealed
    + Element
    + PartialOrd
    + Add<Output = Self>
    + AddAssign
    + Div<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + Sub<Output = Self>
    + SubAssign
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// Rounds to the nearest number of this type.
    fn from_f64(value: f64) -> Self;
    /// Widens to f64, without rounding.
    fn to_f64(self) -> f64;
    /// The exponential, the same on every machine.
    fn exp(self) -> Self;
    /// The exponential, the same on every machine, for the loop of a kernel: accurate to 2 units in the last
    /// place where the result is a normal number, 0 below; an `f32` above 88.3 is taken for 88.3.
    fn exp_fast(self) -> Self;
    /// Replaces each number by its [`Real::exp_fast`], several at a time.
    fn exp_slice(values: &mut [Self]);
    /// The natural logarithm, the same on every machine.
    fn ln(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The value without its sign.
    fn abs(self) -> Self;
    /// The greater of two numbers.
    fn max(self, other: Self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
}

macro_rules! real {
    ($float:ident, $exp:path, $exp_fast:path, $ln:path) => {
        impl Real for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            fn from_f64(value: f64) -> Self {
                value as Self
            }
            fn to_f64(self) -> f64 {
                self.into()
            }
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline(always)]
            fn exp_fast(self) -> Self {
                $exp_fast(self)
            }
            fn exp_slice(values: &mut [Self]) {
                crate::simd::dispatch(ExpSlice(values));
            }
            fn ln(self) -> Self {
                $ln(self)
            }
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            fn abs(self) -> Self {
                self.abs()
            }
            fn max(self, other: Self) -> Self {
                self.max(other)
            }
            fn is_finite(self) -> bool {
                self.is_finite()
            }
        }
    };
}

real!(f32, libm::expf, fast_exp, libm::logf);
real!(f64, libm::exp, libm::exp, libm::log);

struct ExpSlice<'a, R>(&'a mut [R]);

impl<R: Real> WithSimd for ExpSlice<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.iter_mut().for_each(|value| *value = value.exp_fast());
    }
}

/// e^x = 2ⁿ · eʳ with n the whole number nearest to x / ln 2 and |r| ≤ ln 2 / 2. There is no branch in
/// it, so the compiler does several at once.
#[inline(always)]
#[expect(clippy::excessive_precision, reason = "the two parts of ln 2 are meant to the last digit")]
fn fast_exp(x: f32) -> f32 {
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
        f32::exp_slice(&mut outputs);
        for (x, found) in inputs.iter().zip(outputs) {
            let exact = libm::exp(f64::from(*x));
            let unit = f64::from(f32::EPSILON) * exact;
            assert!((f64::from(found) - exact).abs() < 2.0 * unit, "e^{x}: {found} {exact}");
        }
    }

    #[test]
    fn far_below_it_is_nothing_and_at_zero_it_is_one() {
        let mut values = [-1e30, -100.0, 0.0];
        f32::exp_slice(&mut values);
        assert_eq!(values, [0.0, 0.0, 1.0]);
        let mut values = [-1e30, 0.0];
        f64::exp_slice(&mut values);
        assert_eq!(values, [0.0, 1.0]);
    }
}
