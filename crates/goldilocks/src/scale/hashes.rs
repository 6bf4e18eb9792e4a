//! The hashes of a shard, bucket by bucket, in each bucket kind by kind: written by the task of a shard, read by those of
//! the buckets, each of which takes its run from every file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use questions::DuplicateKind;

use super::files;
use crate::{Error, Result};

/// What is hashed: 8-grams of books, and questions in three ways.
pub const KINDS: usize = 1 + DuplicateKind::ALL.len();
/// The bytes of a count or a hash.
const COUNT: usize = 8;
/// The bytes of a hash and of what it is of.
const WIDTH: usize = COUNT + 4;

/// A hash, and the number of the book or of the split that it is of.
pub type Hashed = (u64, u32);

/// Writes hashes after 64 digits that identify them and how many there are in each bucket of each kind.
pub fn write(
    path: &Path,
    identity: &str,
    n_buckets: usize,
    kinds: [Vec<Hashed>; KINDS],
) -> Result<()> {
    let kinds = kinds.map(|mut hashes| {
        hashes.sort_unstable();
        hashes
    });
    let bucket = |&(hash, _): &Hashed| {
        usize::try_from((u128::from(hash) * n_buckets as u128) >> 64).unwrap_or(0)
    };
    let of_bucket = |number: usize, kind: usize| {
        let hashes = &kinds[kind];
        let start = hashes.partition_point(|hashed| bucket(hashed) < number);
        let end = hashes.partition_point(|hashed| bucket(hashed) <= number);
        &hashes[start..end]
    };
    let runs = || (0..n_buckets).flat_map(|b| (0..KINDS).map(move |kind| (b, kind)));
    let failed = |error| Error::io(path)(error);
    files::write(path, |out| {
        out.write_all(identity.as_bytes()).map_err(failed)?;
        for (number, kind) in runs() {
            let n = of_bucket(number, kind).len() as u64;
            out.write_all(&n.to_le_bytes()).map_err(failed)?;
        }
        for (number, kind) in runs() {
            for (hash, of) in of_bucket(number, kind) {
                out.write_all(&hash.to_le_bytes()).map_err(failed)?;
                out.write_all(&of.to_le_bytes()).map_err(failed)?;
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// Reads a run of a file: the hashes of a kind in a bucket.
pub fn read(
    path: &Path,
    identity: &str,
    (run, n_runs): (usize, usize),
    hashes: &mut Vec<Hashed>,
) -> Result<()> {
    let failed = |error| Error::io(path)(error);
    let corrupt = || Error::Corrupt { path: path.to_owned(), message: "it ends too early".into() };
    let mut file = File::open(path).map_err(failed)?;
    let mut head = Vec::new();
    let length = identity.len() + COUNT * n_runs;
    Read::by_ref(&mut file).take(length as u64).read_to_end(&mut head).map_err(failed)?;
    if head.len() < length {
        return Err(corrupt());
    }
    let (found, counts) = head.split_at(identity.len());
    if found != identity.as_bytes() {
        let message = "it is of another shard or of another version".to_owned();
        return Err(Error::Corrupt { path: path.to_owned(), message });
    }
    let counts: Vec<u64> = counts.chunks_exact(COUNT).map(number).collect();
    let start = counts[..run].iter().sum::<u64>() * WIDTH as u64;
    let n_bytes = counts[run] * WIDTH as u64;
    file.seek(SeekFrom::Start(length as u64 + start)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(n_bytes).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 != n_bytes {
        return Err(corrupt());
    }
    hashes.extend(bytes.chunks_exact(WIDTH).map(|entry| {
        let (hash, of) = entry.split_at(COUNT);
        (number(hash), number(of) as u32)
    }));
    Ok(())
}

/// Little-endian bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
