//! Support for tests, here and in the crates above: gradient checks, and devices that fail on purpose.

mod gradients;

pub use crate::device::cpu::{cpu_lost_after, cpu_with_memory};
pub use gradients::{dense, worst_error, worst_error_of_smooth};
