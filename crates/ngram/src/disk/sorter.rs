//! External merge sort: (key, value) in any order → ascending keys, each once, with the sum of its values.
//!
//! Entries fill a buffer; a full one is sorted and written as a run. At the end the runs are merged, a block of
//! each in memory at a time; if there are more than can be merged at once, some are first merged into longer ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use rayon::prelude::*;

use super::spill::{Block, Limits, Stage};
use crate::Result;

/// The high and low half of the key, then the value: in this form entries are written and read.
type Entry = [u64; 3];

fn key([high, low, _]: &Entry) -> u128 {
    u128::from(*high) << 64 | u128::from(*low)
}

/// How much memory is used, in entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Of the buffer that is sorted.
    pub buffer: usize,
    /// What is read of a run at once.
    pub block: usize,
    /// How many runs are merged at once.
    pub fan_in: usize,
}

impl Sizes {
    /// Those that stay within a number of bytes.
    pub fn within(bytes: u64) -> Self {
        let buffer = (bytes as usize / size_of::<Entry>()).max(16);
        let fan_in = (buffer / 1024).clamp(2, 512);
        Self { buffer, block: (buffer / fan_in).clamp(1, 1 << 15), fan_in }
    }
}

pub(crate) struct Sorter<'a> {
    limits: &'a Limits<'a>,
    sizes: Sizes,
    buffer: Vec<Entry>,
    runs: Runs,
}

impl<'a> Sorter<'a> {
    pub fn new(limits: &'a Limits<'a>, sizes: Sizes) -> Result<Self> {
        // Pages of it that are never written take no memory.
        let buffer = Vec::with_capacity(sizes.buffer);
        Ok(Self {
            limits,
            sizes,
            buffer,
            runs: Runs { file: limits.file()?, runs: vec![], end: 0 },
        })
    }

    pub fn push(&mut self, key: u128, value: u64) -> Result<()> {
        if self.buffer.len() == self.sizes.buffer {
            self.spill()?;
        }
        self.buffer.push([(key >> 64) as u64, key as u64, value]);
        Ok(())
    }

    /// Sorts what is in the buffer and adds up the values of equal keys.
    fn sort(&mut self) {
        self.buffer.par_sort_unstable_by_key(key);
        self.buffer.dedup_by(|entry, before| {
            let is_same = key(entry) == key(before);
            before[2] += if is_same { entry[2] } else { 0 };
            is_same
        });
    }

    /// Moves what is in the buffer to the disk.
    pub fn spill(&mut self) -> Result<()> {
        self.sort();
        let written = self.runs.append(&self.buffer);
        self.buffer.clear();
        written.map_err(|reason| self.limits.failed(reason))
    }

    /// Frees the memory of the buffer until the entries are read.
    pub fn shrink(&mut self) -> Result<()> {
        self.spill()?;
        self.buffer = Vec::new();
        Ok(())
    }

    /// All entries in ascending order.
    pub fn sorted(mut self, stage: Stage) -> Result<Sorted<'a>> {
        if self.runs.runs.is_empty() {
            self.sort();
            let heads = BinaryHeap::new();
            let Self { limits, buffer, runs, .. } = self;
            let (in_memory, file) = (buffer.into_iter(), runs.file);
            let (open, block, n_taken) = (vec![], 0, 0);
            return Ok(Sorted { limits, stage, in_memory, heads, file, open, block, n_taken });
        }
        self.shrink()?;
        while self.runs.runs.len() > self.sizes.fan_in {
            let rest = self.runs.runs.split_off(self.sizes.fan_in);
            let first = std::mem::replace(&mut self.runs.runs, rest);
            self.merge(first, stage)?;
        }
        let runs = std::mem::take(&mut self.runs.runs);
        Sorted::new(self.limits, stage, self.runs.file, &runs, self.sizes.block)
    }

    /// Merges some runs into one.
    fn merge(&mut self, runs: Vec<Run>, stage: Stage) -> Result<()> {
        let file = self.runs.file.try_clone().map_err(|reason| self.limits.failed(reason))?;
        let mut merged = Sorted::new(self.limits, stage, file, &runs, self.sizes.block)?;
        let start = self.runs.end;
        let mut block = Vec::with_capacity(self.sizes.block);
        loop {
            let entry = merged.next()?;
            if let Some((key, value)) = entry {
                block.push([(key >> 64) as u64, key as u64, value]);
            }
            if block.len() == self.sizes.block || entry.is_none() {
                self.runs.write(&block).map_err(|reason| self.limits.failed(reason))?;
                block.clear();
            }
            if entry.is_none() {
                self.runs.runs.push(Run { next: start, end: self.runs.end });
                return Ok(());
            }
        }
    }
}

/// Sorted runs, one after the other in a file.
struct Runs {
    file: File,
    runs: Vec<Run>,
    /// The length of the file, in entries.
    end: u64,
}

/// The part of the file that is still to be read, in entries.
#[derive(Clone, Copy)]
struct Run {
    next: u64,
    end: u64,
}

impl Runs {
    fn append(&mut self, entries: &[Entry]) -> std::io::Result<()> {
        let start = self.end;
        self.write(entries)?;
        self.runs.push(Run { next: start, end: self.end });
        Ok(())
    }

    fn write(&mut self, entries: &[Entry]) -> std::io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end * size_of::<Entry>() as u64))?;
        self.file.write_all(bytemuck::cast_slice(entries))?;
        self.end += entries.len() as u64;
        Ok(())
    }
}

/// The entries in ascending order of their keys.
pub(crate) struct Sorted<'a> {
    limits: &'a Limits<'a>,
    stage: Stage,
    /// All of them, if they never had to leave the memory.
    in_memory: std::vec::IntoIter<Entry>,
    /// The next key and value of each run, and which run it is.
    heads: BinaryHeap<Reverse<(u128, u64, usize)>>,
    file: File,
    open: Vec<(Run, Block<Entry>)>,
    block: usize,
    n_taken: u64,
}

impl<'a> Sorted<'a> {
    fn new(
        limits: &'a Limits<'a>,
        stage: Stage,
        file: File,
        runs: &[Run],
        block: usize,
    ) -> Result<Self> {
        let open = runs.iter().map(|&run| (run, Block::new())).collect();
        let heads = BinaryHeap::with_capacity(runs.len());
        let in_memory = Vec::new().into_iter();
        let mut sorted = Self { limits, stage, in_memory, heads, file, open, block, n_taken: 0 };
        for run in 0..runs.len() {
            if let Some([high, low, value]) = sorted.advance(run)? {
                sorted.heads.push(Reverse((key(&[high, low, 0]), value, run)));
            }
        }
        Ok(sorted)
    }

    /// The next entry of a run.
    fn advance(&mut self, run: usize) -> Result<Option<Entry>> {
        let (rest, block) = &mut self.open[run];
        if let Some(entry) = block.next() {
            return Ok(Some(entry));
        }
        let n = (rest.end - rest.next).min(self.block as u64);
        if n == 0 {
            return Ok(None);
        }
        let place = SeekFrom::Start(rest.next * size_of::<Entry>() as u64);
        rest.next += n;
        let read = self.file.seek(place).and_then(|_| block.fill(&self.file, n as usize));
        read.map_err(|reason| self.limits.failed(reason))?;
        Ok(block.next())
    }

    /// The smallest entry that is left, and its run's next one takes its place.
    fn pop(&mut self) -> Result<Option<(u128, u64)>> {
        let Some(&Reverse((smallest, value, run))) = self.heads.peek() else {
            return Ok(None);
        };
        let next = self.advance(run)?;
        let mut head = self.heads.peek_mut().expect("it was there");
        match next {
            Some(entry) => *head = Reverse((key(&entry), entry[2], run)),
            None => drop(PeekMut::pop(head)),
        }
        Ok(Some((smallest, value)))
    }

    pub fn next(&mut self) -> Result<Option<(u128, u64)>> {
        self.n_taken += 1;
        if self.n_taken.is_multiple_of(1 << 16) {
            self.limits.check(self.stage)?;
        }
        if let Some(entry) = self.in_memory.next() {
            return Ok(Some((key(&entry), entry[2])));
        }
        let Some((key, mut sum)) = self.pop()? else { return Ok(None) };
        while self.heads.peek().is_some_and(|Reverse((next, ..))| *next == key) {
            sum += self.pop()?.map_or(0, |(_, value)| value);
        }
        Ok(Some((key, sum)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_of_any_size_are_merged_in_any_number_of_passes(
            keys in prop::collection::vec(prop_oneof![0..20u128, any::<u128>()], 0..200),
            buffer in 1usize..40, block in 1usize..8, fan_in in 2usize..5,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let limits = Limits { memory: 0, folder: folder.path(), watch: &|_| true };
            let mut sorter = Sorter::new(&limits, Sizes { buffer, block, fan_in }).unwrap();
            let mut expected = BTreeMap::new();
            for (value, key) in (1..).zip(keys) {
                sorter.push(key, value).unwrap();
                *expected.entry(key).or_insert(0) += value;
            }
            let mut sorted = sorter.sorted(Stage::Sorting).unwrap();
            let mut found = Vec::new();
            while let Some(entry) = sorted.next().unwrap() {
                found.push(entry);
            }
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
