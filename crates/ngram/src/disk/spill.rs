//! Temporary files: numbers that need not stay in memory → the same numbers, in the order they were written.
//!
//! The files have no names, so the system frees them when they are closed, however the program ends.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use bytemuck::Pod;

use crate::{Error, Result};

/// What estimation on disk may use, and who watches it.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// How many bytes of memory it uses at most, the program itself included; see [`Self::LEAST_MEMORY`].
    pub memory: u64,
    /// The folder of its temporary files.
    pub folder: &'a Path,
    /// Is told again and again what is being done; the work stops with [`Error::Cancelled`] if it returns false.
    pub watch: &'a dyn Fn(Stage) -> bool,
}

/// What estimation on disk is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Sorts the longest n-grams of the text.
    Sorting,
    /// Counts the n-grams of all lengths.
    Counting,
    /// Computes the probabilities of the n-grams of this length.
    Estimating {
        /// How many words they have.
        length: usize,
    },
    /// Writes the model.
    Writing,
}

impl Limits<'_> {
    /// What the program takes by itself, and the smallest buffers.
    pub const LEAST_MEMORY: u64 = 64 << 20;

    /// A temporary file.
    pub(crate) fn file(&self) -> Result<File> {
        tempfile::tempfile_in(self.folder).map_err(|reason| self.failed(reason))
    }

    pub(crate) fn failed(&self, reason: io::Error) -> Error {
        Error::Temporary { folder: self.folder.to_owned(), reason }
    }

    /// Fails if the work was cancelled.
    pub(crate) fn check(&self, stage: Stage) -> Result<()> {
        if (self.watch)(stage) { Ok(()) } else { Err(Error::Cancelled) }
    }
}

/// The size of what is written and read at once.
const BLOCK_BYTES: usize = 1 << 16;

/// Numbers that are written one by one and then read, as often as needed.
pub(crate) struct Sequence<'a, T> {
    limits: &'a Limits<'a>,
    file: File,
    block: Vec<T>,
    len: u64,
}

impl<'a, T: Pod> Sequence<'a, T> {
    pub fn new(limits: &'a Limits<'a>) -> Result<Self> {
        let block = Vec::with_capacity(BLOCK_BYTES / size_of::<T>());
        Ok(Self { limits, file: limits.file()?, block, len: 0 })
    }

    /// Writes all of these.
    pub fn of(limits: &'a Limits<'a>, values: impl IntoIterator<Item = T>) -> Result<Self> {
        let mut sequence = Self::new(limits)?;
        values.into_iter().try_for_each(|value| sequence.push(value))?;
        Ok(sequence)
    }

    pub fn push(&mut self, value: T) -> Result<()> {
        self.block.push(value);
        self.len += 1;
        if self.block.len() == self.block.capacity() { self.flush() } else { Ok(()) }
    }

    pub fn extend(&mut self, mut values: &[T]) -> Result<()> {
        while !values.is_empty() {
            let room = self.block.capacity() - self.block.len();
            let (fit, rest) = values.split_at(room.min(values.len()));
            self.block.extend_from_slice(fit);
            self.len += fit.len() as u64;
            if self.block.len() == self.block.capacity() {
                self.flush()?;
            }
            values = rest;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let written = self.file.write_all(bytemuck::cast_slice(&self.block));
        self.block.clear();
        written.map_err(|reason| self.limits.failed(reason))
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// All numbers from the first one on.
    pub fn read(&mut self) -> Result<Reader<'_, T>> {
        self.flush()?;
        let start = self.file.seek(SeekFrom::Start(0));
        start.map_err(|reason| self.limits.failed(reason))?;
        Ok(Reader { limits: self.limits, file: &self.file, block: Block::new(), left: self.len })
    }
}

/// Reads a [`Sequence`].
pub(crate) struct Reader<'a, T> {
    limits: &'a Limits<'a>,
    file: &'a File,
    block: Block<T>,
    left: u64,
}

impl<T: Pod> Reader<'_, T> {
    pub fn next(&mut self) -> Result<Option<T>> {
        if let Some(value) = self.block.next() {
            return Ok(Some(value));
        }
        self.next_block()?;
        Ok(self.block.next())
    }

    /// The next block, empty at the end.
    pub fn next_block(&mut self) -> Result<&[T]> {
        let n = self.left.min((BLOCK_BYTES / size_of::<T>()) as u64);
        self.left -= n;
        self.block.fill(self.file, n as usize).map_err(|reason| self.limits.failed(reason))?;
        Ok(&self.block.values)
    }

    /// The next number, where there must be one.
    pub fn expect_next(&mut self) -> Result<T> {
        let cut = || self.limits.failed(io::ErrorKind::UnexpectedEof.into());
        self.next()?.ok_or_else(cut)
    }
}

/// Numbers that were read at once.
pub(crate) struct Block<T> {
    values: Vec<T>,
    at: usize,
}

impl<T: Pod> Block<T> {
    pub fn new() -> Self {
        Self { values: vec![], at: 0 }
    }

    /// Reads numbers in place of those that are there.
    pub fn fill(&mut self, mut file: &File, n: usize) -> io::Result<()> {
        self.at = 0;
        self.values.resize(n, T::zeroed());
        file.read_exact(bytemuck::cast_slice_mut(&mut self.values))
    }

    pub fn next(&mut self) -> Option<T> {
        let value = *self.values.get(self.at)?;
        self.at += 1;
        Some(value)
    }
}
