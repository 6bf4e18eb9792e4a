//! Numbers of any width, packed bit by bit: how a level is stored in the model file.

/// Bytes after the last number, so that eight can always be read.
pub(crate) const PADDING: usize = 8;

/// Packs numbers into bytes.
#[derive(Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    pending: u64,
    n_pending: u32,
}

impl Writer {
    /// Appends a number of at most 32 bits.
    pub fn push(&mut self, value: u32, width: u32) {
        self.pending |= u64::from(value) << self.n_pending;
        self.n_pending += width;
        while self.n_pending >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.n_pending -= 8;
        }
    }

    /// Appends the low bits of a number, at most 64.
    pub fn push_low(&mut self, value: u64, width: u32) {
        for start in (0..width).step_by(32) {
            let width = (width - start).min(32);
            self.push(((value >> start) & ((1 << width) - 1)) as u32, width);
        }
    }

    /// The bytes that are complete; they are left out from here on.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// How many bytes are complete.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns all bytes with the padding.
    pub fn finish(mut self) -> Vec<u8> {
        if self.n_pending > 0 {
            self.bytes.push(self.pending as u8);
        }
        self.bytes.extend([0; PADDING]);
        self.bytes
    }
}

/// The most bits of a number that can be read, wherever it starts.
pub(crate) const MAX_WIDTH: u32 = 57;

/// Reads what starts at a bit: the low [`MAX_WIDTH`] bits of the result.
pub(crate) fn read(bytes: &[u8], bit: usize) -> u64 {
    let place = bit / 8;
    let chunk = bytes[place..place + 8].try_into().expect("eight bytes");
    u64::from_le_bytes(chunk) >> (bit % 8)
}

/// The number of bits that every number up to this one fits into.
pub(crate) fn width(largest: usize) -> u32 {
    usize::BITS - largest.leading_zeros()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(numbers in prop::collection::vec((any::<u32>(), 0u32..=32), 0..50)) {
            let numbers: Vec<(u32, u32)> = numbers
                .into_iter()
                .map(|(value, width)| ((u64::from(value) & ((1 << width) - 1)) as u32, width))
                .collect();
            let mut writer = Writer::default();
            numbers.iter().for_each(|&(value, width)| writer.push(value, width));
            let bytes = writer.finish();
            let mut bit = 0;
            for (value, width) in numbers {
                prop_assert_eq!(read(&bytes, bit) & ((1 << width) - 1), u64::from(value));
                bit += width as usize;
            }
        }
    }
}
