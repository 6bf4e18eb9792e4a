//! Encoding: [`Table`] → the bytes of the model file, whose layout is in `file.rs`.

use base::Vocabulary;
use rayon::prelude::*;

use crate::file::{EMPTY, HEADER, Layout, LevelLayout, body_checksum, first_slot, header};
use crate::packed::Writer;
use crate::quantise::{self, codebook, nearest};
use crate::slots::{Placement, Spread};
use crate::table::{Level, Table};
use crate::{Error, Result};

/// The bytes of the model file.
///
/// # Errors
/// [`Error::TooManyGrams`], if there are more of a length than numbers of slots.
pub(crate) fn encode(table: &Table, quantise: bool) -> Result<Vec<u8>> {
    let bits = if quantise { quantise::BITS } else { 32 };
    let Table { vocabulary, levels } = table;
    let placed = place(levels);
    let longer: Vec<(usize, u32)> =
        placed[1..].iter().map(|grams| (grams.order.len(), grams.reach)).collect();
    let layout = Layout::new(vocabulary.len(), vocabulary.n_bytes(), &longer, bits)
        .ok_or_else(|| too_many(levels))?;
    let levels: Vec<(Vec<u8>, Vec<u8>)> = layout
        .levels
        .par_iter()
        .zip(levels)
        .zip(placed)
        .map(|((layout, level), placed)| encode_level(layout, level, &placed))
        .collect();

    let mut bytes = Vec::with_capacity(layout.n_bytes);
    bytes.resize(HEADER, 0);
    bytes.extend(encode_vocabulary(vocabulary, &layout));
    levels.iter().for_each(|(codebooks, _)| bytes.extend(codebooks));
    // Each is freed once it is copied: together they are as large as the file.
    levels.into_iter().for_each(|(_, grams)| bytes.extend(grams));
    let sum = body_checksum(&bytes[HEADER..]);
    bytes[..HEADER].copy_from_slice(&header(&layout, bits, sum));
    Ok(bytes)
}

/// The length with the most n-grams.
fn too_many(levels: &[Level]) -> Error {
    let length = (1..).zip(levels).max_by_key(|(_, level)| level.log_probs.len());
    Error::TooManyGrams { length: length.map_or(1, |(length, _)| length) }
}

/// The section of the words.
pub(crate) fn encode_vocabulary(vocabulary: &Vocabulary, layout: &Layout) -> Vec<u8> {
    let slots = hash_table(vocabulary, layout.n_slots);
    let mut end = 0;
    let ends = vocabulary.iter().map(|word| {
        end += word.len() as u32;
        end
    });
    let mut bytes: Vec<u8> = slots.into_iter().chain(ends).flat_map(u32::to_le_bytes).collect();
    vocabulary.iter().for_each(|word| bytes.extend(word.as_bytes()));
    bytes
}

/// The codebooks of a level, if it is quantised, and its n-grams.
fn encode_level(layout: &LevelLayout, level: &Level, placed: &Placed) -> (Vec<u8>, Vec<u8>) {
    let book = |values: &[f32]| if layout.is_quantised() { codebook(values) } else { vec![] };
    let books = [book(&level.log_probs), book(&level.backoffs)];
    let mut encoder = LevelEncoder::new(layout, books);
    for &(key, gram) in &placed.order {
        let gram = gram as usize;
        let backoff = level.backoffs.get(gram).copied().unwrap_or_default();
        encoder.push(placed.slots[gram], key, level.log_probs[gram], backoff);
    }
    (encoder.codebooks(), encoder.finish())
}

/// The n-grams of a level as they are placed in its table.
struct Placed {
    /// The key and the index of each, in the order of the table.
    order: Vec<(u64, u32)>,
    /// The slot of each.
    slots: Vec<u32>,
    reach: u32,
}

/// Places the n-grams of all levels.
fn place(levels: &[Level]) -> Vec<Placed> {
    let n_words = levels[0].words.len();
    let words = 0..n_words as u32;
    let order = words.clone().map(|word| (word.into(), word)).collect();
    let mut placed = vec![Placed { order, slots: words.collect(), reach: 0 }];
    let mut n_contexts = n_words;
    for (above, level) in levels.iter().zip(&levels[1..]) {
        let spread = Spread::new(n_words, n_contexts, level.words.len());
        let contexts = &placed[placed.len() - 1].slots;
        let children = above.children.windows(2).zip(contexts);
        let grams = children.flat_map(|(children, &context)| {
            (children[0]..children[1]).map(move |gram| (context, gram))
        });
        let key =
            |(context, gram): (u32, u32)| (spread.key(context, level.words[gram as usize]), gram);
        let mut order: Vec<(u64, u32)> = grams.map(key).collect();
        order.par_sort_unstable();
        let mut placement = Placement::new(spread);
        let mut slots = vec![0; order.len()];
        order.iter().for_each(|&(key, gram)| slots[gram as usize] = placement.slot(key) as u32);
        n_contexts = spread.n_slots(placement.reach);
        placed.push(Placed { order, slots, reach: placement.reach });
    }
    placed
}

/// Packs the n-grams of a level in the order of its table.
pub(crate) struct LevelEncoder<'a> {
    layout: &'a LevelLayout,
    /// The values that are kept of probabilities and of backoffs; empty if the level is not quantised.
    books: [Vec<f32>; 2],
    writer: Writer,
    /// The next slot.
    next: usize,
}

impl<'a> LevelEncoder<'a> {
    pub fn new(layout: &'a LevelLayout, books: [Vec<f32>; 2]) -> Self {
        Self { layout, books, writer: Writer::default(), next: 0 }
    }

    /// The bytes of the codebooks.
    pub fn codebooks(&self) -> Vec<u8> {
        let n_books = 1 + usize::from(self.layout.backoff > 0);
        self.books[..n_books].iter().flatten().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// Appends an n-gram in its slot; the backoff of the longest is left out.
    pub fn push(&mut self, slot: u32, key: u64, log_prob: f32, backoff: f32) {
        self.leave_empty(slot as usize);
        let Self { layout, books, .. } = self;
        let code = |books: &[f32], value: f32| {
            if layout.is_quantised() { nearest(books, value) as u32 } else { value.to_bits() }
        };
        let log_prob = code(&books[0], log_prob);
        let backoff = if layout.backoff == 0 { 0 } else { code(&books[1], backoff) };
        self.slot(key, log_prob, backoff);
    }

    fn slot(&mut self, key: u64, log_prob: u32, backoff: u32) {
        let Self { layout, writer, .. } = self;
        writer.push_low(key, layout.key);
        writer.push(log_prob, layout.log_prob);
        writer.push(backoff, layout.backoff);
        self.next += 1;
    }

    /// Leaves the slots before this one empty.
    fn leave_empty(&mut self, slot: usize) {
        while self.next < slot {
            self.slot(self.layout.spread.first_key(self.next + 1) as u64, 0, 0);
        }
    }

    /// The bytes that are complete, once there are many.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        (self.writer.len() >= 1 << 16).then(|| self.writer.take())
    }

    /// The rest.
    pub fn finish(mut self) -> Vec<u8> {
        self.leave_empty(self.layout.n_slots);
        self.writer.finish()
    }
}

fn hash_table(words: &Vocabulary, n_slots: usize) -> Vec<u32> {
    let mut slots = vec![EMPTY; n_slots];
    for (number, word) in (0..).zip(words.iter()) {
        let mut slot = first_slot(word, n_slots);
        while slots[slot] != EMPTY {
            slot = (slot + 1) % n_slots;
        }
        slots[slot] = number;
    }
    slots
}
