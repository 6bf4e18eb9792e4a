//! [`Real`]: `f32` to train with, `f64` to check every gradient with.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A floating-point number.
pub trait Real:
    bytemuck::Pod
    + Copy
    + crate::Exponential
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Div<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + Sub<Output = Self>
    + SubAssign
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The nearest number.
    fn from_f64(value: f64) -> Self;
    /// The same number.
    fn to_f64(self) -> f64;
    /// The exponential, the same on every machine.
    fn exp(self) -> Self;
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
    ($float:ident, $exp:path, $ln:path) => {
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

real!(f32, libm::expf, libm::logf);
real!(f64, libm::exp, libm::log);
