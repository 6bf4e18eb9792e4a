//! Levels in the order of the trie → the model file.

use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use base::Vocabulary;

use super::sorter::{Sizes, Sorter};
use super::spill::{Limits, Sequence, Stage};
use crate::Result;
use crate::file::{
    BodyChecksum, HEADER, Layout, LevelEncoder, LevelLayout, encode_vocabulary, header,
};
use crate::model::Model;
use crate::quantise::means;

/// The n-grams of one length, in the order of the trie.
pub(super) struct TrieLevel<'a> {
    /// The words of each, the last one lowest.
    pub words: Sequence<'a, u128>,
    /// The bits of log p of each.
    pub log_probs: Sequence<'a, u32>,
}

/// The bytes of a level in the model file.
pub(super) struct EncodedLevel<'a> {
    codebooks: Vec<u8>,
    grams: Sequence<'a, u8>,
}

/// Encodes a level; `contexts` has the bits of the backoff and the first child of each n-gram, and at the end how
/// many children there are; the longest n-grams have none.
pub(super) fn encode<'a>(
    limits: &'a Limits<'a>,
    memory: u64,
    layout: &LevelLayout,
    level: &mut TrieLevel<'_>,
    mut contexts: Option<&mut Sequence<'_, [u32; 2]>>,
) -> Result<EncodedLevel<'a>> {
    let mut books = [vec![], vec![]];
    if layout.is_quantised() {
        let n = level.log_probs.len();
        let mut log_probs = level.log_probs.read()?;
        books[0] = codebook(limits, memory, n, || log_probs.expect_next())?;
        if let Some(contexts) = &mut contexts {
            let mut contexts = contexts.read()?;
            books[1] = codebook(limits, memory, n, || Ok(contexts.expect_next()?[0]))?;
        }
    }
    let mut encoder = LevelEncoder::new(layout, books);
    let codebooks = encoder.codebooks();
    let mut grams = Sequence::new(limits)?;
    let mut contexts = contexts.map(Sequence::read).transpose()?;
    let mut log_probs = level.log_probs.read()?;
    let mut words = level.words.read()?;
    let mut context = || contexts.as_mut().map_or(Ok([0; 2]), |contexts| contexts.expect_next());
    while let Some(words) = words.next()? {
        let word = (words & ((1 << layout.word) - 1)) as u32;
        let [backoff, child] = context()?;
        let log_prob = f32::from_bits(log_probs.expect_next()?);
        encoder.push(word, log_prob, f32::from_bits(backoff), child);
        if let Some(bytes) = encoder.take() {
            grams.extend(&bytes)?;
        }
    }
    grams.extend(&encoder.finish(context()?[1]))?;
    Ok(EncodedLevel { codebooks, grams })
}

/// The 256 values that are kept of `n`, given by their bits.
fn codebook(
    limits: &Limits<'_>,
    memory: u64,
    n: u64,
    mut next: impl FnMut() -> Result<u32>,
) -> Result<Vec<f32>> {
    // Ascending as `f32::total_cmp` has it.
    const SIGN: u32 = 1 << 31;
    let mut sorter = Sorter::new(limits, Sizes::within(memory))?;
    for _ in 0..n {
        let bits = next()?;
        sorter.push((if bits & SIGN == 0 { bits | SIGN } else { !bits }).into(), 1)?;
    }
    let mut sorted = sorter.sorted(Stage::Writing)?;
    let (mut value, mut n_left) = (0.0, 0);
    means(n, || {
        if n_left == 0 {
            let Some((key, count)) = sorted.next()? else { return Ok(None) };
            let key = key as u32;
            value = f32::from_bits(if key & SIGN == 0 { !key } else { key & !SIGN });
            n_left = count;
        }
        n_left -= 1;
        Ok(Some(value))
    })
}

/// Writes the model into a temporary file.
pub(super) fn write(
    limits: &Limits<'_>,
    vocabulary: &Vocabulary,
    layout: &Layout,
    bits: u32,
    levels: Vec<EncodedLevel<'_>>,
) -> Result<Model> {
    let failed = |reason| limits.failed(reason);
    let file = limits.file()?;
    let mut writer = BufWriter::with_capacity(1 << 20, &file);
    let mut sum = BodyChecksum::default();
    writer.write_all(&[0; HEADER]).map_err(failed)?;
    let mut write = |bytes: &[u8]| {
        sum.update(bytes);
        writer.write_all(bytes).map_err(failed)
    };
    write(&encode_vocabulary(vocabulary, layout))?;
    levels.iter().try_for_each(|level| write(&level.codebooks))?;
    for mut level in levels {
        let mut grams = level.grams.read()?;
        loop {
            limits.check(Stage::Writing)?;
            let block = grams.next_block()?;
            if block.is_empty() {
                break;
            }
            write(block)?;
        }
    }
    let header = header(layout, bits, sum.finish());
    writer.rewind().and_then(|()| writer.write_all(&header)).map_err(failed)?;
    writer.flush().map_err(failed)?;
    drop(writer);
    Model::map(file, Path::new(""))
}
