//! Numbers without words: embedding tables, dense operations on a device, and weights on disk.
//!
//! | folder | for | promise |
//! | --- | --- | --- |
//! | [`sparse`] | embedding models: rows of tables, gradients as scaled vectors | the same bytes on any x86-64 machine |
//! | [`device`] | networks: dense operations on the CPU or a GPU | on the CPU, the same bytes for any number of threads |
//! | [`weights`] | tables ↔ safetensors | exact, or rounded in a documented way |
//! | [`testing`] | gradient checks, devices that fail on purpose | |
//!
//! In [`sparse`] sums have a fixed order, no multiplication is fused with an addition, and `exp` and `ln`
//! are computed by `libm` or here, never by the system's library. Products of dense matrices ([`multiply`])
//! use whatever vector instructions the machine has.

pub mod device;
mod error;
mod real;
mod simd;
pub mod sparse;
pub mod testing;
pub mod weights;

pub use device::product::{MatRef, multiply};
pub use error::{Error, Result};
pub use real::Real;
pub use simd::dispatch;
pub use sparse::{Gradient, Table, Update, apply, apply_adagrad, axpy, dot};

/// The hash of the code that embedding models depend on, without comments and tests.
pub const SPARSE_SOURCES: &str = env!("GOLDILOCKS_SPARSE");
/// The hash of the code that networks depend on: all of it.
pub const SOURCES: &str = env!("GOLDILOCKS_SOURCES");
