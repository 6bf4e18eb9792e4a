//! [`Element`]: what an array on a device can hold.

use std::fmt::Debug;

use half::bf16;

mod sealed {
    /// Devices know the types below and no others.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for u32 {}
    impl Sealed for half::bf16 {}
}

/// An element of an array: `f32`, `f64`, `u32` or [`bf16`], which is for [`super::Device::Half`] alone.
pub trait Element:
    sealed::Sealed + bytemuck::Pod + Debug + Default + PartialEq + Send + Sync
{
}

impl Element for f32 {}
impl Element for f64 {}
impl Element for u32 {}
impl Element for bf16 {}
