//! [`KnownBooks`]: which books a model has learnt from, in 64 bytes each; and which books of a set are among them.
//!
//! Of each book the smallest hashes of its sequences of eight words are kept (Broder 1997). A text that holds the whole
//! book has all of them, one that holds a quarter of it about a quarter, and any other text none but by chance.

use std::ops::Range;

use crate::sentences::union;
use crate::{QuestionSet, Split};

/// The length of the word sequences.
const NGRAM: usize = 8;
/// How many hashes of a book are kept.
const KEPT: usize = 16;
/// A book is in a text that has this many of its hashes. Of 100,000 words that are not in it, that many are equal by
/// chance in one case of 10¹⁵.
const LEAST: usize = 4;

/// The smallest hashes of a book, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookSketch([u32; KEPT]);

impl BookSketch {
    /// The sketch of a book, by its words; none for a text of a few words.
    pub fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let words: Vec<u64> = words.into_iter().filter_map(word_hash).collect();
        let mut hashes: Vec<u64> = ngram_hashes(&words).map(u64::from).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let kept: &[u64; KEPT] = hashes.first_chunk()?;
        Some(Self(kept.map(|hash| hash as u32)))
    }

    /// Its bytes in a file that [`KnownBooks::from_bytes`] reads.
    pub fn to_bytes(self) -> impl Iterator<Item = u8> {
        self.0.into_iter().flat_map(u32::to_le_bytes)
    }
}

/// The sketches of many books.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownBooks {
    /// Hashes with the number of the book that has them in the lower half, in order.
    hashes: Vec<u64>,
}

impl KnownBooks {
    /// Reads sketches that follow each other; none if the last one is cut.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || !numbers.len().is_multiple_of(KEPT) {
            return None;
        }
        let number = |(place, &bytes): (usize, &[u8; 4])| {
            pair(u32::from_le_bytes(bytes), (place / KEPT) as u32)
        };
        let mut hashes: Vec<u64> = numbers.iter().enumerate().map(number).collect();
        hashes.sort_unstable();
        Some(Self { hashes })
    }

    /// The names of those books that questions of some splits are about (of all, if none is named) in which a known
    /// book is; questions that name no book are about one without a name. Where the set does not have the text of a
    /// book, the contexts of its questions stand for it.
    pub fn among<'s>(&self, set: &'s QuestionSet, splits: &[Split]) -> Vec<Option<&'s str>> {
        // Those that name no book come last.
        let mut texts: Vec<Vec<Range<usize>>> = vec![Vec::new(); set.books().len() + 1];
        for index in 0..set.len() {
            if splits.is_empty() || set.split(index).is_some_and(|split| splits.contains(&split)) {
                texts[set.book(index).unwrap_or(set.books().len())].push(set.context(index));
            }
        }
        let word_hashes: Vec<Option<u64>> = set.vocabulary().iter().map(word_hash).collect();
        let is_known = |(book, contexts): &(usize, Vec<Range<usize>>)| {
            let text = set.books().get(*book).map(|book| book.sentences.clone());
            let ranges = match text.filter(|text| !text.is_empty()) {
                Some(text) => vec![text],
                None => union(contexts),
            };
            let words = ranges.into_iter().flatten().flat_map(|sentence| set.sentence(sentence));
            let words: Vec<u64> = words.filter_map(|word| word_hashes[word.index()]).collect();
            self.are_in(&words)
        };
        let asked = texts.into_iter().enumerate().filter(|(_, contexts)| !contexts.is_empty());
        let known = asked.filter(is_known);
        known.map(|(book, _)| set.books().get(book).map(|book| book.name.as_str())).collect()
    }

    /// Whether one of the books, or a good part of it, is in a text.
    fn are_in(&self, words: &[u64]) -> bool {
        let greatest = self.hashes.last().map_or(0, |pair| pair >> 32);
        let mut found: Vec<u64> = Vec::new();
        for hash in ngram_hashes(words).filter(|&hash| u64::from(hash) <= greatest) {
            let from = self.hashes.partition_point(|&known| known < pair(hash, 0));
            let same =
                self.hashes[from..].iter().take_while(|&&known| known >> 32 == u64::from(hash));
            // By book now.
            found.extend(same.map(|known| known.rotate_left(32)));
        }
        found.sort_unstable();
        found.dedup();
        found.chunk_by(|a, b| a >> 32 == b >> 32).any(|of_book| of_book.len() >= LEAST)
    }
}

/// Two numbers as one, in the order of the first.
fn pair(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// The hash of a word in lower case; none for punctuation, in which editions differ. These hashes are kept in files, so
/// they are the same on every machine and in every version: FNV-1a.
fn word_hash(word: &str) -> Option<u64> {
    if !word.chars().any(char::is_alphanumeric) {
        return None;
    }
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    Some(word.to_lowercase().bytes().fold(0xcbf2_9ce4_8422_2325, add))
}

/// The hashes of the word sequences, in their order: the upper half of 64 bits, each word mixed in by SplitMix64.
fn ngram_hashes(words: &[u64]) -> impl Iterator<Item = u32> {
    let mix = |hash: u64, word: &u64| {
        let mut hash = (hash ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ (hash >> 31)
    };
    words.windows(NGRAM).map(move |ngram| (ngram.iter().fold(0, mix) >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{push_book, push_question};
    use crate::{BLANK, NewQuestion, WordClass};

    /// A book of made-up words, one sentence a line.
    fn book(name: &str, n_sentences: usize) -> String {
        let sentence = |n: usize| format!("{name} saw {name}{n} , and {n} others ran away .\n");
        (0..n_sentences).map(sentence).collect::<String>().trim_end().to_owned()
    }

    fn sketch(text: &str) -> BookSketch {
        BookSketch::of(text.split([' ', '\n'])).unwrap()
    }

    #[test]
    fn a_book_is_known_by_a_part_of_it_and_no_other_book_is() {
        let [hen, fox, cat] = ["hen", "fox", "cat"].map(|name| book(name, 200));
        let bytes: Vec<u8> = [&hen, &fox].iter().flat_map(|text| sketch(text).to_bytes()).collect();
        assert_eq!(bytes.len(), 2 * 64);
        let known = KnownBooks::from_bytes(&bytes).unwrap();
        let mut set = QuestionSet::default();
        // An edition with other capitals and quotation marks, with another book behind it.
        let edition = format!("{}\n{cat}", hen.replace("saw", "Saw ''"));
        push_book(&mut set, "hen and cat", Split::Test, &edition);
        push_book(&mut set, "cat", Split::Test, &cat);
        let half_a_fox: Vec<&str> = fox.lines().take(100).collect();
        push_book(&mut set, "half a fox", Split::Valid, &half_a_fox.join("\n"));
        push_book(&mut set, "nobody asks about it", Split::Valid, &hen);
        for book in 0..3 {
            push_question(&mut set, book, WordClass::Verb, "they XXXXX | ran saw");
        }
        assert_eq!(known.among(&set, &[]), [Some("hen and cat"), Some("half a fox")]);
        assert_eq!(known.among(&set, &[Split::Test]), [Some("hen and cat")]);
        assert_eq!(KnownBooks::default().among(&set, &[]), []);
    }

    #[test]
    fn contexts_stand_for_the_text_of_a_book_that_is_not_there() {
        let hen = book("hen", 200);
        let known = KnownBooks::from_bytes(&sketch(&hen).to_bytes().collect::<Vec<u8>>()).unwrap();
        let mut set = QuestionSet::default();
        let whole = push_book(&mut set, "hen", Split::Test, &hen);
        let sentences = set.books()[whole].sentences.clone();
        let [ran, saw] = ["ran", "saw"].map(|word| set.intern(word));
        let (query, candidates) = (&[BLANK, ran][..], &[ran, saw][..]);
        // Contexts overlap, and no question names its book.
        for start in sentences.clone().step_by(5) {
            let context = start..sentences.end.min(start + 20);
            let (answer, class, split, book) = (None, None, None, None);
            set.push(NewQuestion { context, query, candidates, answer, class, split, book })
                .unwrap();
        }
        assert_eq!(known.among(&set, &[]), [None]);
        assert_eq!(known.among(&set, &[Split::Test]), []);
    }

    #[test]
    fn hashes_are_those_of_every_version() {
        assert_eq!(word_hash("Hen"), word_hash("hen"));
        assert_eq!((word_hash("hen"), word_hash("''")), (Some(0x334a_2e19_2fe3_85c8), None));
        let words: Vec<u64> = (1..=9).collect();
        assert_eq!(ngram_hashes(&words).collect::<Vec<_>>(), [0xddc9_11fa, 0x95cb_f24a]);
    }

    #[test]
    fn few_words_have_no_sketch_and_a_file_that_is_cut_is_refused() {
        assert_eq!(BookSketch::of("one two three four five six seven eight".split(' ')), None);
        let bytes: Vec<u8> = sketch(&book("hen", 20)).to_bytes().collect();
        assert!(KnownBooks::from_bytes(&bytes[..60]).is_none());
        assert!(KnownBooks::from_bytes(&bytes[..63]).is_none());
        assert_eq!(KnownBooks::from_bytes(&[]), Some(KnownBooks::default()));
    }
}
