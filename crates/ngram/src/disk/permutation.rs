//! Values that know their place, in any order → the values in the order of their places.
//!
//! Places are cut into ranges that fit into memory one at a time. A value is first added to those of its range, in
//! blocks on the disk; then each range is put in order in memory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use super::spill::{Limits, Stage};
use crate::Result;

/// Numbers, the last of which has the place in its upper half.
type Placed<const N: usize> = [u64; N];

fn place<const N: usize>(value: &Placed<N>) -> usize {
    (value[N - 1] >> 32) as usize
}

/// Every place of `0..len` must be taken once.
pub(crate) struct Permutation<'a, const N: usize> {
    limits: &'a Limits<'a>,
    len: usize,
    /// How many places a range has.
    width: usize,
    /// How many values of a range are written at once.
    block: usize,
    ranges: Vec<Range<N>>,
    file: File,
    /// The length of the file, in blocks.
    n_blocks: u64,
}

#[derive(Default)]
struct Range<const N: usize> {
    /// What is not written yet.
    values: Vec<Placed<N>>,
    /// Where its blocks are in the file.
    blocks: Vec<u64>,
}

impl<'a, const N: usize> Permutation<'a, N> {
    pub fn new(limits: &'a Limits<'a>, len: usize, memory: u64) -> Result<Self> {
        let fit = (memory as usize / size_of::<Placed<N>>()).max(16);
        let width = fit.min(len.max(1));
        let n_ranges = len.div_ceil(width);
        // Of a single range nothing is written.
        let block = if n_ranges <= 1 { len + 1 } else { (fit / n_ranges).clamp(1, 1 << 12) };
        let range = || Range { values: Vec::with_capacity(block), blocks: vec![] };
        let ranges = std::iter::repeat_with(range).take(n_ranges).collect();
        Ok(Self { limits, len, width, block, ranges, file: limits.file()?, n_blocks: 0 })
    }

    pub fn push(&mut self, value: Placed<N>) -> Result<()> {
        let range = &mut self.ranges[place(&value) / self.width];
        range.values.push(value);
        if range.values.len() < self.block {
            return Ok(());
        }
        range.blocks.push(self.n_blocks);
        self.n_blocks += 1;
        let written = self.file.write_all(bytemuck::cast_slice(range.values.as_flattened()));
        range.values.clear();
        written.map_err(|reason| self.limits.failed(reason))
    }

    /// The values by their places.
    pub fn ordered(self, stage: Stage) -> Ordered<'a, N> {
        Ordered { permutation: self, stage, range: 0, values: vec![], at: 0 }
    }
}

/// Gives out the values of a [`Permutation`].
pub(crate) struct Ordered<'a, const N: usize> {
    permutation: Permutation<'a, N>,
    stage: Stage,
    /// The next range.
    range: usize,
    /// Those of the last range.
    values: Vec<Placed<N>>,
    at: usize,
}

impl<const N: usize> Ordered<'_, N> {
    pub fn next(&mut self) -> Result<Option<Placed<N>>> {
        while self.at == self.values.len() {
            if self.range == self.permutation.ranges.len() {
                return Ok(None);
            }
            self.load()?;
        }
        self.at += 1;
        Ok(Some(self.values[self.at - 1]))
    }

    fn load(&mut self) -> Result<()> {
        let Permutation { limits, len, width, block, ranges, file, .. } = &mut self.permutation;
        limits.check(self.stage)?;
        let start = self.range * *width;
        let Range { values: rest, blocks } = std::mem::take(&mut ranges[self.range]);
        self.values.clear();
        self.values.resize((*len - start).min(*width), [0; N]);
        let mut read = vec![[0; N]; if blocks.is_empty() { 0 } else { *block }];
        for number in blocks {
            let at = SeekFrom::Start(number * (*block * size_of::<Placed<N>>()) as u64);
            let bytes = bytemuck::cast_slice_mut(read.as_flattened_mut());
            let filled = file.seek(at).and_then(|_| file.read_exact(bytes));
            filled.map_err(|reason| limits.failed(reason))?;
            read.iter().for_each(|value| self.values[place(value) - start] = *value);
        }
        rest.iter().for_each(|value| self.values[place(value) - start] = *value);
        self.range += 1;
        self.at = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_come_out_by_their_places(
            places in (0..300u64).prop_flat_map(|len| Just((0..len).collect::<Vec<_>>()).prop_shuffle()),
            memory in 0u64..8000,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let limits = Limits { memory: 0, folder: folder.path(), watch: &|_| true };
            let mut permutation = Permutation::new(&limits, places.len(), memory).unwrap();
            for place in &places {
                permutation.push([7 * place, place << 32 | 5]).unwrap();
            }
            let mut ordered = permutation.ordered(Stage::Writing);
            for place in 0..places.len() as u64 {
                prop_assert_eq!(ordered.next().unwrap(), Some([7 * place, place << 32 | 5]));
            }
            prop_assert_eq!(ordered.next().unwrap(), None);
        }
    }
}
