//! A CPU that fails on purpose: see [`crate::testing`].

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Cpu;
use crate::{Error, Result};

/// How a device fails on purpose; see [`crate::testing`].
#[derive(Debug)]
pub(super) struct Faults {
    /// How many more allocations, writes and reads succeed.
    calls_left: AtomicUsize,
    /// How many numbers an array may hold.
    pub(super) memory: usize,
}

/// A CPU device that is lost after `n` allocations, writes and reads: what happens when a device fails in
/// the middle.
pub fn cpu_lost_after<R>(n: usize) -> Cpu<R> {
    faulty(Faults { calls_left: AtomicUsize::new(n), memory: usize::MAX })
}

/// A CPU device that has too little memory for arrays of more than `n` numbers.
pub fn cpu_with_memory<R>(n: usize) -> Cpu<R> {
    faulty(Faults { calls_left: AtomicUsize::new(usize::MAX), memory: n })
}

fn faulty<R>(faults: Faults) -> Cpu<R> {
    Cpu { faults: Some(Arc::new(faults)), real: PhantomData }
}

impl<R> Cpu<R> {
    /// Counts a call, where the device is to fail.
    pub(super) fn check(&self) -> Result<()> {
        let Some(faults) = &self.faults else { return Ok(()) };
        let count = |n: usize| n.checked_sub(1);
        let counted = faults.calls_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        counted.map(drop).map_err(|_| Error::DeviceLost {
            device: "CPU".to_owned(),
            reason: "a fault on purpose".to_owned(),
        })
    }
}
