//! The layout of the model file: the header of a file → where everything in it is.
//!
//! ```text
//! header      "goldilocks-ngram", version, order, bits of a value, bytes in all, number of words, bytes of their
//!             text, n-grams of each length from 2 and the reach of their table, SHA-256 of the body, SHA-256 of
//!             the header up to here
//! vocabulary  hash table of word numbers, ends of the words, their text
//! codebooks   of a quantised model: for each length from 2 its 256 probabilities and 256 backoffs
//! levels      one per length: a table of [low bits of the key, probability, backoff], bit by bit
//! ```
//!
//! Numbers are little-endian. The SHA-256 of the body is taken over those of its chunks of one mebibyte,
//! which are computed in parallel; both are cut to 16 bytes. Opening a file checks the header, which
//! determines all offsets, and reads nothing else, so a model answers at once. A changed byte of the body is
//! found by [`crate::Model::check`]; without it such a file gives wrong scores, but it is never read out of
//! bounds.

use std::path::Path;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::packed::{MAX_WIDTH, PADDING};
use crate::quantise;
use crate::slots::Spread;
use crate::{Error, MAX_ORDER, Result};

const MAGIC: &str = "goldilocks-ngram";
const VERSION: u32 = 2;
pub(crate) const HEADER: usize = 128;
/// The offsets of the checksums of body and header.
const BODY_SUM: usize = 96;
const HEADER_SUM: usize = 112;
const CHUNK: usize = 1 << 20;

/// An entry of the hash table without a word.
pub(crate) const EMPTY: u32 = u32::MAX;

/// The offset and size of everything in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    pub n_words: usize,
    pub n_slots: usize,
    pub slots: usize,
    pub ends: usize,
    pub text: usize,
    pub n_text: usize,
    pub levels: Vec<LevelLayout>,
    pub n_bytes: usize,
}

/// The offset of a level, and the number of bits of each field of an n-gram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LevelLayout {
    pub start: usize,
    pub len: usize,
    /// Where its n-grams are; 1-grams are in the order of their words.
    pub spread: Spread,
    pub reach: u32,
    pub n_slots: usize,
    /// The low bits of a key that are kept; none of 1-grams.
    pub key: u32,
    pub log_prob: u32,
    pub backoff: u32,
    /// Bits of one n-gram.
    pub stride: usize,
    /// The offset of its codebooks.
    pub codebook: usize,
}

impl LevelLayout {
    pub fn is_quantised(&self) -> bool {
        self.log_prob != 32
    }
}

impl Layout {
    /// Lays out a model with these numbers of longer n-grams, and the reach of each table; `None` if it would not fit
    /// into memory.
    pub fn new(n_words: usize, n_text: usize, longer: &[(usize, u32)], bits: u32) -> Option<Self> {
        let n_slots = n_words.checked_mul(5)? / 4 + 1;
        let slots = HEADER;
        let ends = n_slots.checked_mul(4)?.checked_add(slots)?;
        let text = n_words.checked_mul(4)?.checked_add(ends)?;
        let mut offset = text.checked_add(n_text)?;
        let order = longer.len() + 1;
        let mut codebooks = vec![0];
        for length in 2..=order {
            codebooks.push(offset);
            let n_books = if length < order { 2 } else { 1 };
            let n_values = if bits == 32 { 0 } else { n_books * quantise::N_VALUES };
            offset = offset.checked_add(4 * n_values)?;
        }
        let mut levels = Vec::new();
        let mut n_contexts = n_words;
        for (length, &(len, reach)) in (1..).zip([(n_words, 0)].iter().chain(longer)) {
            let spread = Spread::new(n_words, n_contexts, len);
            let (bits, key, n_slots) = if length == 1 {
                (32, 0, n_words)
            } else {
                (bits, spread.n_kept_bits(reach), spread.n_slots(reach))
            };
            if key > MAX_WIDTH || u32::try_from(n_slots).is_err() {
                return None;
            }
            let backoff = if length == order { 0 } else { bits };
            let stride = (key + bits + backoff) as usize;
            levels.push(LevelLayout {
                start: offset,
                len,
                spread,
                reach,
                n_slots,
                key,
                log_prob: bits,
                backoff,
                stride,
                codebook: codebooks[length - 1],
            });
            let n_bits = n_slots.checked_mul(stride)?;
            offset = offset.checked_add(n_bits.div_ceil(8))?.checked_add(PADDING)?;
            n_contexts = n_slots;
        }
        Some(Self { n_words, n_slots, slots, ends, text, n_text, levels, n_bytes: offset })
    }

    /// Reads the header of a file.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self> {
        if !bytes.starts_with(MAGIC.as_bytes()) {
            return Err(Error::NotAModel { path: path.to_owned(), expected: MAGIC });
        }
        let corrupt = |reason: String| Error::Corrupt { path: path.to_owned(), reason };
        let Some(header) = bytes.get(..HEADER) else {
            return Err(corrupt(format!(
                "expected at least {HEADER} bytes, found {}",
                bytes.len()
            )));
        };
        let found = u32_at(header, 16);
        if found != VERSION {
            return Err(Error::OtherVersion { path: path.to_owned(), expected: VERSION, found });
        }
        if header[HEADER_SUM..] != checksum(&header[..HEADER_SUM])[..] {
            return Err(corrupt("wrong checksum of the header".to_owned()));
        }
        let (order, bits) = (u32_at(header, 20) as usize, u32_at(header, 24));
        let number = |offset: usize| usize::try_from(u64_at(header, offset)).ok();
        let is_supported = (1..=MAX_ORDER).contains(&order) && [quantise::BITS, 32].contains(&bits);
        let longer = |length: usize| {
            let [len, reach] = [0, 4].map(|at| u32_at(header, 48 + 8 * length + at));
            (len as usize, reach)
        };
        let longer: Vec<(usize, u32)> = (1..order.min(MAX_ORDER)).map(longer).collect();
        let n_words = number(40).filter(|&n| is_supported && (1..EMPTY as usize).contains(&n));
        let layout = n_words
            .zip(number(48))
            .and_then(|(n_words, n_text)| Layout::new(n_words, n_text, &longer, bits));
        match layout {
            Some(layout)
                if layout.n_words < EMPTY as usize && number(32) == Some(layout.n_bytes) =>
            {
                if layout.n_bytes == bytes.len() {
                    return Ok(layout);
                }
                let (expected, found) = (layout.n_bytes, bytes.len());
                Err(corrupt(format!("expected {expected} bytes, found {found}")))
            }
            _ => Err(corrupt("inconsistent sizes in the header".to_owned())),
        }
    }
}

/// Returns whether the body has its checksum.
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    bytes[BODY_SUM..HEADER_SUM] == body_checksum(&bytes[HEADER..])[..]
}

/// The header of a file with this checksum of its body.
pub(crate) fn header(layout: &Layout, bits: u32, body_sum: [u8; 16]) -> Vec<u8> {
    let mut bytes = MAGIC.as_bytes().to_vec();
    let order = layout.levels.len() as u32;
    [VERSION, order, bits, 0].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    let of_level = |level: &LevelLayout| u64::from(level.reach) << 32 | level.len as u64;
    let numbers = [layout.n_bytes, layout.n_words, layout.n_text].map(|n| n as u64);
    let numbers = numbers.into_iter().chain(layout.levels[1..].iter().map(of_level));
    numbers.for_each(|n| bytes.extend(n.to_le_bytes()));
    bytes.resize(BODY_SUM, 0);
    bytes.extend(body_sum);
    bytes.extend(checksum(&bytes));
    bytes
}

/// The slot where the search for a word begins: FNV-1a, whose high bits are mixed by a last multiplication.
pub(crate) fn first_slot(word: &str, n_slots: usize) -> usize {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325, step).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((u128::from(hash) * n_slots as u128) >> 64) as usize
}

fn checksum(bytes: &[u8]) -> [u8; 16] {
    *Sha256::digest(bytes).first_chunk().expect("SHA-256 has 32 bytes")
}

pub(crate) fn body_checksum(body: &[u8]) -> [u8; 16] {
    let parts = body.par_chunks(CHUNK).map(checksum).collect();
    BodyChecksum { parts, chunk: vec![] }.finish()
}

/// The checksum of a body that comes in pieces.
#[derive(Default)]
pub(crate) struct BodyChecksum {
    parts: Vec<[u8; 16]>,
    chunk: Vec<u8>,
}

impl BodyChecksum {
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (fit, rest) = bytes.split_at(bytes.len().min(CHUNK - self.chunk.len()));
            self.chunk.extend(fit);
            bytes = rest;
            if self.chunk.len() == CHUNK {
                self.parts.push(checksum(&self.chunk));
                self.chunk.clear();
            }
        }
    }

    pub fn finish(mut self) -> [u8; 16] {
        if !self.chunk.is_empty() {
            self.parts.push(checksum(&self.chunk));
        }
        checksum(self.parts.as_flattened())
    }
}

pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(bytes[offset..offset + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(bytes[offset..offset + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::encode;
    use crate::{Options, Text, estimate};

    #[test]
    fn inconsistent_sizes_are_refused_although_the_checksum_is_right() {
        let mut text = Text::default();
        text.push(["bear"]).unwrap();
        let sound =
            encode(&estimate(&text.sort(5).unwrap(), &Options::default()).unwrap().table, false)
                .unwrap();
        assert!(Layout::read(Path::new("m"), &sound).is_ok());
        // Order, bits of a value, bytes in all, words, bytes of text, bigrams.
        for offset in [20, 24, 32, 40, 48, 56] {
            let mut bytes = sound.clone();
            bytes[offset..offset + 4].fill(0xff);
            let sum = checksum(&bytes[..HEADER_SUM]);
            bytes[HEADER_SUM..HEADER].copy_from_slice(&sum);
            let error = Layout::read(Path::new("m"), &bytes).unwrap_err().to_string();
            assert_eq!(error, "m: corrupt language model: inconsistent sizes in the header");
        }
    }
}
