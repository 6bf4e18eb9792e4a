//! The values of one column of a row group → the bytes of its column chunk.
//!
//! The library encodes what it is given, value by value: every sentence of every context, twenty times over. Here
//! a text is spelt and compressed once a group, in the dictionary, and a context is a run of its numbers. Numbers
//! take whole bytes, so that the compression finds contexts that overlap.

use std::ops::Range;

use base::Vocabulary;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

/// The level of compression: each further one takes half as long again and saves little.
pub(super) const ZSTD_LEVEL: i32 = 3;
/// The most values of a page, unless a single row has more.
const PAGE_VALUES: usize = 1 << 20;

/// The values of one column, row after row.
#[derive(Default)]
pub(super) struct Chunk {
    texts: Texts,
    /// How much of a value is there: the greatest level says all of it.
    definitions: Vec<u32>,
    /// For lists: 0 begins a row, 1 continues it.
    repetitions: Vec<u32>,
    n_rows: usize,
}

enum Texts {
    /// Distinct texts, and for each value the number of its text.
    Dictionary { distinct: Vocabulary, numbers: Vec<u32> },
    /// All texts, each after its length.
    Plain { bytes: Vec<u8>, ends: Vec<usize> },
}

impl Default for Texts {
    fn default() -> Self {
        Self::Dictionary { distinct: Vocabulary::default(), numbers: Vec::new() }
    }
}

impl Chunk {
    /// For texts that hardly ever repeat.
    pub(super) fn plain() -> Self {
        let texts = Texts::Plain { bytes: Vec::new(), ends: Vec::new() };
        Self { texts, ..Self::default() }
    }

    /// The number of a text that a row is about to have.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        match &mut self.texts {
            Texts::Dictionary { distinct, .. } => distinct.intern(text).0,
            Texts::Plain { .. } => unreachable!("only texts of a dictionary have numbers"),
        }
    }

    /// Adds a row of a column without lists.
    pub(super) fn push(&mut self, text: Option<&str>) {
        self.n_rows += 1;
        self.definitions.push(u32::from(text.is_some()));
        let Some(text) = text else { return };
        match &mut self.texts {
            Texts::Dictionary { distinct, numbers } => numbers.push(distinct.intern(text).0),
            Texts::Plain { bytes, ends } => {
                push_plain(text, bytes);
                ends.push(bytes.len());
            }
        }
    }

    /// Adds a row of a column of lists: texts by their [`Self::number`].
    pub(super) fn push_list(&mut self, list: &[u32]) {
        let Texts::Dictionary { numbers, .. } = &mut self.texts else {
            unreachable!("lists have a dictionary")
        };
        self.n_rows += 1;
        numbers.extend_from_slice(list);
        // Dremel levels: 3 is a value, 1 a list without an element; repetition 0 begins a row.
        let levels = list.len().max(1);
        self.definitions
            .resize(self.definitions.len() + levels, if list.is_empty() { 1 } else { 3 });
        self.repetitions.push(0);
        self.repetitions.resize(self.definitions.len(), 1);
    }

    /// The column chunk, and what the footer says of it.
    pub(super) fn encode(
        &self,
        column: &ColumnDescPtr,
        compressor: &mut Compressor<'_>,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let mut sink = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut sink);
        let mut pages = Pages { writer: &mut writer, compressor, sizes: [0; 2], first_data: 0 };
        self.write_pages(column, &mut pages)?;
        let Pages { sizes: [packed, unpacked], first_data, .. } = pages;
        writer.close()?;
        let is_plain = matches!(self.texts, Texts::Plain { .. });
        let encodings = [Encoding::RLE, Encoding::PLAIN, Encoding::RLE_DICTIONARY];
        let mut metadata = ColumnChunkMetaData::builder(column.clone())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
            .set_encodings(encodings[..if is_plain { 2 } else { 3 }].to_vec())
            .set_num_values(self.definitions.len() as i64)
            .set_total_compressed_size(packed as i64)
            .set_total_uncompressed_size(unpacked as i64)
            .set_dictionary_page_offset((!is_plain).then_some(0))
            .set_data_page_offset(first_data as i64);
        if let Some(statistics) = self.statistics() {
            metadata = metadata.set_statistics(statistics);
        }
        let close = ColumnCloseResult {
            bytes_written: packed as u64,
            rows_written: self.n_rows as u64,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((sink.into_inner()?.into(), close))
    }

    fn write_pages(
        &self,
        column: &ColumnDescPtr,
        pages: &mut Pages<'_, '_, '_, '_>,
    ) -> Result<(), ParquetError> {
        if let Texts::Dictionary { distinct, .. } = &self.texts {
            let mut plain = Vec::new();
            distinct.iter().for_each(|text| push_plain(text, &mut plain));
            pages.write(&plain, |buf| Page::DictionaryPage {
                buf,
                num_values: distinct.len() as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            })?;
        }
        // The definition level of a value that is there.
        let present = u32::from(column.max_def_level().unsigned_abs());
        let (mut level, mut value) = (0, 0);
        while level < self.definitions.len() {
            let end = self.page_end(level);
            let definitions = &self.definitions[level..end];
            let n_values = definitions.iter().filter(|&&level| level == present).count();
            let mut page = Vec::new();
            if !self.repetitions.is_empty() {
                push_levels(&self.repetitions[level..end], 1, &mut page);
            }
            push_levels(definitions, u32::BITS - present.leading_zeros(), &mut page);
            let encoding = self.push_values(value..value + n_values, &mut page);
            pages.write(&page, |buf| Page::DataPage {
                buf,
                num_values: definitions.len() as u32,
                encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            })?;
            (level, value) = (end, value + n_values);
        }
        Ok(())
    }

    /// Where the page that starts at a level ends: between two rows.
    fn page_end(&self, start: usize) -> usize {
        let most = self.definitions.len().min(start + PAGE_VALUES);
        let begins_row = |level: &usize| self.repetitions.get(*level).is_none_or(|&r| r == 0);
        let before = (start + 1..=most).rev().find(begins_row);
        before.or_else(|| (most..).find(begins_row)).unwrap_or(most)
    }

    fn push_values(&self, range: Range<usize>, page: &mut Vec<u8>) -> Encoding {
        match &self.texts {
            Texts::Dictionary { distinct, numbers } => {
                let greatest = distinct.len().saturating_sub(1) as u32;
                let width = (u32::BITS - greatest.leading_zeros()).max(1).next_multiple_of(8);
                page.push(width as u8);
                push_runs(&numbers[range], width, page);
                Encoding::RLE_DICTIONARY
            }
            Texts::Plain { bytes, ends } => {
                let end = |n: usize| n.checked_sub(1).map_or(0, |last| ends[last]);
                page.extend_from_slice(&bytes[end(range.start)..end(range.end)]);
                Encoding::PLAIN
            }
        }
    }

    /// The least and the greatest text, where readers may skip groups by them.
    fn statistics(&self) -> Option<Statistics> {
        let Texts::Dictionary { distinct, .. } = &self.texts else { return None };
        if !self.repetitions.is_empty() {
            return None;
        }
        let nulls = self.definitions.iter().filter(|&&definition| definition == 0).count();
        let [least, greatest] =
            [distinct.iter().min(), distinct.iter().max()].map(|text| text.map(ByteArray::from));
        Some(Statistics::byte_array(least, greatest, None, Some(nulls as u64), false))
    }
}

/// Compresses pages and adds them up.
struct Pages<'a, 'w, 's, 'c> {
    writer: &'a mut SerializedPageWriter<'w, Vec<u8>>,
    compressor: &'s mut Compressor<'c>,
    /// Bytes of all pages with their headers, compressed and not.
    sizes: [usize; 2],
    /// Where the first page of data begins.
    first_data: u64,
}

impl Pages<'_, '_, '_, '_> {
    fn write(
        &mut self,
        plain: &[u8],
        page: impl FnOnce(Bytes) -> Page,
    ) -> Result<(), ParquetError> {
        let packed =
            self.compressor.compress(plain).map_err(|e| ParquetError::External(e.into()))?;
        let page = page(packed.into());
        let is_data = page.is_data_page();
        let written = self.writer.write_page(CompressedPage::new(page, plain.len()))?;
        // Only a dictionary comes before the data.
        if !is_data {
            self.first_data = written.bytes_written;
        }
        self.sizes[0] += written.compressed_size;
        self.sizes[1] += written.uncompressed_size;
        Ok(())
    }
}

fn push_plain(text: &str, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

/// Levels of a page: the number of their bytes, then their runs.
fn push_levels(levels: &[u32], width: u32, page: &mut Vec<u8>) {
    let start = page.len();
    page.extend_from_slice(&[0; 4]);
    push_runs(levels, width, page);
    let length = (page.len() - start - 4) as u32;
    page[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// Numbers below 2 to the power of `width`, in the encoding that the format calls RLE: one run of a single number, or
/// one of packed bits.
fn push_runs(numbers: &[u32], width: u32, page: &mut Vec<u8>) {
    let Some((first, others)) = numbers.split_first() else { return };
    if others.iter().all(|other| other == first) {
        push_varint((numbers.len() as u64) << 1, page);
        page.extend_from_slice(&first.to_le_bytes()[..width.div_ceil(8) as usize]);
        return;
    }
    let n_groups = numbers.len().div_ceil(8);
    push_varint((n_groups as u64) << 1 | 1, page);
    let (mut bits, mut n_bits) = (0_u64, 0);
    let padding = std::iter::repeat_n(0, n_groups * 8 - numbers.len());
    for number in numbers.iter().copied().chain(padding) {
        bits |= u64::from(number) << n_bits;
        n_bits += width;
        while n_bits >= 8 {
            page.push(bits as u8);
            bits >>= 8;
            n_bits -= 8;
        }
    }
}

fn push_varint(mut number: u64, page: &mut Vec<u8>) {
    while number >= 0x80 {
        page.push(number as u8 | 0x80);
        number >>= 7;
    }
    page.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_one_run_or_packed_from_the_lowest_bit() {
        let runs = |numbers: &[u32], width| {
            let mut page = Vec::new();
            push_runs(numbers, width, &mut page);
            page
        };
        assert!(runs(&[], 1).is_empty());
        assert_eq!(runs(&[3; 100], 2), [200, 1, 3]);
        assert_eq!(runs(&[7; 2], 16), [4, 7, 0]);
        // The format's own example: 0 to 7 in three bits each.
        assert_eq!(runs(&[0, 1, 2, 3, 4, 5, 6, 7], 3), [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        assert_eq!(runs(&[0, 1, 1], 1), [3, 0b110]);
        assert_eq!(runs(&[1, 258], 16)[..5], [3, 1, 0, 2, 1]);
    }

    #[test]
    fn a_page_ends_between_rows() {
        let mut chunk = Chunk::default();
        let number = chunk.number("a");
        for n in [PAGE_VALUES - 1, 1, 2, PAGE_VALUES + 5, 0] {
            chunk.push_list(&vec![number; n]);
        }
        let second = chunk.page_end(0);
        let third = chunk.page_end(second);
        let fourth = chunk.page_end(third);
        assert_eq!((second, third - second, fourth - third), (PAGE_VALUES, 2, PAGE_VALUES + 5));
        assert_eq!(chunk.page_end(fourth), chunk.definitions.len());
    }
}
