//! Levels in the order of the trie → in the order of their tables → the model file.

use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use base::Vocabulary;

use super::permutation::Permutation;
use super::sorter::{Sizes, Sorter};
use super::spill::{Limits, Sequence, Stage};
use super::text::Keys;
use crate::encode::{LevelEncoder, encode_vocabulary};
use crate::file::{BodyChecksum, HEADER, Layout, LevelLayout, header};
use crate::model::Model;
use crate::quantise::means;
use crate::slots::{Placement, Spread};
use crate::{Error, Result};

/// The n-grams of one length, in the order of the trie.
pub(super) struct TrieLevel<'a> {
    /// The words of each, the last one lowest.
    pub words: Sequence<'a, u128>,
    /// The bits of log p of each.
    pub log_probs: Sequence<'a, u32>,
}

/// Of each n-gram in the order of the trie, the bits of its backoff and its first child; at the end, how many children
/// there are.
pub(super) type Contexts<'a> = Sequence<'a, [u32; 2]>;

/// The scrambled key of each n-gram, in ascending order, and the bits of log p and of the backoff.
type Grams<'a> = Sequence<'a, [u64; 2]>;

/// The bytes of a level in the model file.
struct EncodedLevel<'a> {
    codebooks: Vec<u8>,
    grams: Sequence<'a, u8>,
}

/// Makes the tables of the levels, from the shortest n-grams on.
pub(super) struct Tables<'a> {
    limits: &'a Limits<'a>,
    memory: u64,
    vocabulary: Vocabulary,
    /// The bits of a word where n-grams are in the order of the trie.
    word: u32,
    /// The bits of a value.
    bits: u32,
    /// The number of n-grams of each length from 2, and the reach of their tables as far as it is known.
    longer: Vec<(usize, u32)>,
    /// The level above, and the slot of each of its n-grams.
    above: Option<(Contexts<'a>, Sequence<'a, u32>)>,
    encoded: Vec<EncodedLevel<'a>>,
}

impl<'a> Tables<'a> {
    pub fn new(
        limits: &'a Limits<'a>,
        memory: u64,
        vocabulary: Vocabulary,
        bits: u32,
        n_longer: impl Iterator<Item = u32>,
    ) -> Self {
        let longer = n_longer.map(|n| (n as usize, 0)).collect();
        let word = Keys::bits(&vocabulary);
        Self { limits, memory, vocabulary, word, bits, longer, above: None, encoded: vec![] }
    }

    fn layout(&self) -> Result<Layout> {
        let (n_words, n_bytes) = (self.vocabulary.len(), self.vocabulary.n_bytes());
        let too_many = || Error::TooManyGrams { length: self.longer.len() + 1 };
        Layout::new(n_words, n_bytes, &self.longer, self.bits).ok_or_else(too_many)
    }

    /// Appends the next level; the longest n-grams have no `contexts`.
    pub fn add(&mut self, level: TrieLevel<'a>, mut contexts: Option<Contexts<'a>>) -> Result<()> {
        let length = self.encoded.len() + 1;
        let (mut grams, slots) = match self.above.take() {
            None => self.words(level, contexts.as_mut())?,
            Some(above) => {
                let spread = self.layout()?.levels[length - 1].spread;
                let (grams, slots, reach) = self.place(spread, level, contexts.as_mut(), above)?;
                self.longer[length - 2].1 = reach;
                (grams, slots)
            }
        };
        let layout = self.layout()?;
        self.encoded.push(self.encode(&layout.levels[length - 1], &mut grams)?);
        self.above = contexts.map(|contexts| (contexts, slots));
        Ok(())
    }

    /// 1-grams are in the order of their words.
    fn words(
        &self,
        mut level: TrieLevel<'_>,
        contexts: Option<&mut Contexts<'_>>,
    ) -> Result<(Grams<'a>, Sequence<'a, u32>)> {
        let mut contexts = contexts.map(Sequence::read).transpose()?;
        let mut log_probs = level.log_probs.read()?;
        let (mut grams, mut slots) = (Sequence::new(self.limits)?, Sequence::new(self.limits)?);
        for word in 0..self.vocabulary.len() as u32 {
            let backoff =
                contexts.as_mut().map_or(Ok([0; 2]), |contexts| contexts.expect_next())?[0];
            let values = u64::from(log_probs.expect_next()?) << 32 | u64::from(backoff);
            grams.push([word.into(), values])?;
            slots.push(word)?;
        }
        Ok((grams, slots))
    }

    /// Brings n-grams into the order of their table. Also returns the slot of each, in the order of the trie, and how
    /// far one is from its home at most.
    fn place(
        &self,
        spread: Spread,
        mut level: TrieLevel<'_>,
        backoffs: Option<&mut Contexts<'_>>,
        (mut contexts, mut slots): (Contexts<'_>, Sequence<'_, u32>),
    ) -> Result<(Grams<'a>, Sequence<'a, u32>, u32)> {
        let stage = Stage::Estimating { length: self.encoded.len() + 1 };
        let mut sorter = Sorter::new(self.limits, Sizes::within(self.memory / 2))?;
        let mut backoffs = backoffs.map(Sequence::read).transpose()?;
        let (mut words, mut log_probs) = (level.words.read()?, level.log_probs.read()?);
        let (mut contexts, mut slots) = (contexts.read()?, slots.read()?);
        let [_, mut first] = contexts.expect_next()?;
        while let Some(context) = slots.next()? {
            let [_, end] = contexts.expect_next()?;
            for gram in first..end {
                let word = (words.expect_next()? & ((1 << self.word) - 1)) as u32;
                let backoff =
                    backoffs.as_mut().map_or(Ok([0; 2]), |backoffs| backoffs.expect_next())?[0];
                let values = u64::from(log_probs.expect_next()?) << 32 | u64::from(backoff);
                let key = u128::from(spread.key(context, word)) << 32 | u128::from(gram);
                sorter.push(key, values)?;
            }
            first = end;
        }
        let mut sorted = sorter.sorted(stage)?;
        let mut placement = Placement::new(spread);
        let mut by_trie = Permutation::new(self.limits, first as usize, self.memory / 4)?;
        let (mut grams, mut slots) = (Sequence::new(self.limits)?, Sequence::new(self.limits)?);
        while let Some((key, values)) = sorted.next()? {
            let (key, gram) = ((key >> 32) as u64, key as u32);
            by_trie.push([u64::from(gram) << 32 | placement.slot(key) as u64])?;
            grams.push([key, values])?;
        }
        let mut by_trie = by_trie.ordered(stage);
        while let Some([slot]) = by_trie.next()? {
            slots.push(slot as u32)?;
        }
        Ok((grams, slots, placement.reach))
    }

    fn encode(&self, layout: &LevelLayout, grams: &mut Grams<'_>) -> Result<EncodedLevel<'a>> {
        let mut books = [vec![], vec![]];
        if layout.is_quantised() {
            let n_books = 1 + usize::from(layout.backoff > 0);
            for (book, shift) in books.iter_mut().zip([32, 0]).take(n_books) {
                let n = grams.len();
                let mut grams = grams.read()?;
                let next = || Ok((grams.expect_next()?[1] >> shift) as u32);
                *book = codebook(self.limits, self.memory / 2, n, next)?;
            }
        }
        let mut encoder = LevelEncoder::new(layout, books);
        let codebooks = encoder.codebooks();
        let mut encoded = Sequence::new(self.limits)?;
        let mut placement = Placement::new(layout.spread);
        let mut grams = grams.read()?;
        while let Some([key, values]) = grams.next()? {
            let slot = if layout.key == 0 { key as usize } else { placement.slot(key) };
            let [log_prob, backoff] = [32, 0].map(|shift| f32::from_bits((values >> shift) as u32));
            encoder.push(slot as u32, key, log_prob, backoff);
            if let Some(bytes) = encoder.take() {
                encoded.extend(&bytes)?;
            }
        }
        encoded.extend(&encoder.finish())?;
        Ok(EncodedLevel { codebooks, grams: encoded })
    }

    /// Writes the model into a temporary file.
    pub fn write(self) -> Result<Model> {
        let limits = self.limits;
        let layout = self.layout()?;
        let failed = |reason| limits.failed(reason);
        let file = limits.file()?;
        let mut writer = BufWriter::with_capacity(1 << 20, &file);
        let mut sum = BodyChecksum::default();
        writer.write_all(&[0; HEADER]).map_err(failed)?;
        let mut write = |bytes: &[u8]| {
            sum.update(bytes);
            writer.write_all(bytes).map_err(failed)
        };
        write(&encode_vocabulary(&self.vocabulary, &layout))?;
        self.encoded.iter().try_for_each(|level| write(&level.codebooks))?;
        for mut level in self.encoded {
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
        let header = header(&layout, self.bits, sum.finish());
        writer.rewind().and_then(|()| writer.write_all(&header)).map_err(failed)?;
        writer.flush().map_err(failed)?;
        drop(writer);
        Model::map(file, Path::new(""))
    }
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
