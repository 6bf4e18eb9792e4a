//! [`Pages`]: memory for a table of hundreds of megabytes that is read row by row in random order.
//!
//! It is asked for in huge pages where the system has them: with pages of 4 KiB every row would need an
//! entry of its own in the processor's cache of addresses, which holds a few thousand.

use std::fmt;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::MmapMut;

/// Numbers, 0 at first.
pub struct Pages<R> {
    map: MmapMut,
    len: usize,
    of: std::marker::PhantomData<R>,
}

impl<R: Pod> Pages<R> {
    pub fn zeros(len: usize) -> Self {
        Self::try_zeros(len).expect("there is memory for a table")
    }

    /// Nothing where there is too little memory.
    pub fn try_zeros(len: usize) -> Option<Self> {
        let n_bytes = len.checked_mul(size_of::<R>())?;
        // An empty map is refused by the system.
        let map = MmapMut::map_anon(n_bytes.max(1)).ok()?;
        #[cfg(target_os = "linux")]
        // Only a wish: without huge pages everything works, slower.
        let _ = map.advise(memmap2::Advice::HugePage);
        Some(Self { map, len, of: std::marker::PhantomData })
    }
}

impl<R: Pod> Deref for Pages<R> {
    type Target = [R];

    fn deref(&self) -> &[R] {
        bytemuck::cast_slice(&self.map[..self.len * size_of::<R>()])
    }
}

impl<R: Pod> DerefMut for Pages<R> {
    fn deref_mut(&mut self) -> &mut [R] {
        bytemuck::cast_slice_mut(&mut self.map[..self.len * size_of::<R>()])
    }
}

impl<R: Pod> Clone for Pages<R> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl<R: Pod + PartialEq> PartialEq for Pages<R> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<R: Pod + fmt::Debug> fmt::Debug for Pages<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
