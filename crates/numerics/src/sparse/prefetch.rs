//! Asks the memory for a row before it is needed: rows in random order come from main memory, and waiting
//! for each in turn takes several times as long as reading them.

/// How many rows ahead of the current one a row is prefetched.
pub(crate) const AHEAD: usize = 6;

/// Asks for a row; changes nothing but the time that reading it takes.
#[inline(always)]
pub(crate) fn prefetch<R>(row: &[R]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        /// Bytes of a line of the cache.
        const LINE: usize = 64;
        let start = row.as_ptr().cast::<i8>();
        for offset in (0..size_of_val(row)).step_by(LINE) {
            // SAFETY: a prefetch is a hint that reads and writes nothing, whatever the address.
            #[expect(unsafe_code, reason = "there is no safe way to ask for a line of memory")]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset));
            }
        }
    }
}
