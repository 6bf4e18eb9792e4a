//! The weights file: everything that a [`Tagger`] knows, in one compressed file.
//!
//! A header of 36 bytes (magic, format version, length of the unpacked body, the first 16 bytes of
//! the packed body's SHA-256), then the body, packed with zstd. Numbers are little-endian. In the
//! body, equal things are together (all low bytes of keys, then all second bytes, …), because
//! that packs best.

use std::{io::Write as _, path::Path};

use sha2::{Digest, Sha256};

use super::{
    Tagger,
    certain::CertainWords,
    lexicon::Lexicon,
    weights::{MAX_ENTRIES, TagWeight, Weights},
};
use crate::{Entity, Error, PartOfSpeech};
use base::Vocabulary;
use base::files;

const MAGIC: &[u8; 12] = b"goldi-tagger";
const VERSION: u32 = 1;
const HEADER: usize = 36;
/// Far more than any tagger needs: a wrong length cannot make the reader allocate more.
const MAX_BODY: usize = 64 << 20;
/// Zstandard's level for small files that are packed once.
const LEVEL: i32 = 19;

/// Why bytes are not a tagger; the caller adds the path.
type Reason = String;

impl Tagger {
    /// Unpacks a weights file.
    ///
    /// # Errors
    /// If the bytes are not a complete weights file of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        parse(bytes).map_err(|reason| Error::Weights { path: None, reason })
    }

    /// Reads a weights file.
    ///
    /// # Errors
    /// If it cannot be read, or is not a complete weights file of this version.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|source| Error::reading(path, source))?;
        parse(&bytes).map_err(|reason| Error::Weights { path: Some(path.to_owned()), reason })
    }

    /// Packs the tagger into the bytes of a weights file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        put_lexicon(&mut body, &self.lexicon);
        put_weights(&mut body, &self.pos);
        put_weights(&mut body, &self.entity);
        file_of(&body, LEVEL)
    }

    /// Writes a weights file; a file of that name is replaced once the new one is complete.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        files::write_file(path, failed, |file| file.write_all(&self.to_bytes()).map_err(failed))
    }
}

fn parse(bytes: &[u8]) -> Result<Tagger, Reason> {
    if bytes.len() < HEADER || &bytes[..12] != MAGIC {
        return Err("it is not a weights file of this program".into());
    }
    let mut header = Reader(&bytes[12..HEADER]);
    let version = header.u32()?;
    if version != VERSION {
        return Err(format!("expected format version {VERSION}, found {version}"));
    }
    let body_len = header.u32()? as usize;
    let packed = &bytes[HEADER..];
    if Sha256::digest(packed)[..16] != *header.0 {
        return Err("its checksum is wrong: the file is corrupt or cut off".into());
    }
    if body_len > MAX_BODY {
        return Err(format!("expected at most {MAX_BODY} bytes unpacked, found {body_len}"));
    }
    let body = zstd::bulk::decompress(packed, body_len).map_err(|error| error.to_string())?;
    let mut body = Reader(&body);
    let tagger = Tagger {
        lexicon: body.lexicon()?,
        pos: body.weights(PartOfSpeech::COUNT)?,
        entity: body.weights(Entity::COUNT)?,
    };
    if !body.0.is_empty() {
        return Err(format!("{} bytes are left over at its end", body.0.len()));
    }
    Ok(tagger)
}

fn put_lexicon(body: &mut Vec<u8>, lexicon: &Lexicon) {
    put_words(body, &lexicon.known);
    for classes in [&lexicon.fine, &lexicon.coarse] {
        body.extend(classes.iter().flat_map(|class| class.to_le_bytes()));
    }
    for certain in [&lexicon.pos, &lexicon.entity] {
        put_words(body, &certain.words);
        body.extend(&certain.tags);
    }
}

/// The length in bytes, then each word with a line end.
fn put_words(body: &mut Vec<u8>, words: &Vocabulary) {
    let lines: String = words.iter().flat_map(|word| [word, "\n"]).collect();
    body.extend((lines.len() as u32).to_le_bytes());
    body.extend(lines.as_bytes());
}

fn put_weights<const L: usize>(body: &mut Vec<u8>, weights: &Weights<L>) {
    body.extend((weights.keys.len() as u32).to_le_bytes());
    let before = std::iter::once(0).chain(weights.keys.iter().copied());
    let gaps: Vec<u32> =
        weights.keys.iter().zip(before).map(|(key, before)| key - before).collect();
    for byte in 0..4 {
        body.extend(gaps.iter().map(|gap| gap.to_le_bytes()[byte]));
    }
    body.extend(weights.starts.windows(2).map(|pair| (pair[1] - pair[0]) as u8));
    body.extend(weights.entries.iter().map(|entry| entry.tag));
    body.extend(weights.entries.iter().map(|entry| entry.weight as u8));
}

/// What is left of a body.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Reason> {
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .ok_or_else(|| format!("expected {length} more bytes, found {}", self.0.len()))?;
        self.0 = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, Reason> {
        let bytes = self.take(4)?.try_into().expect("four were taken");
        Ok(u32::from_le_bytes(bytes))
    }

    fn words(&mut self) -> Result<Vocabulary, Reason> {
        let length = self.u32()? as usize;
        let lines = std::str::from_utf8(self.take(length)?).map_err(|error| error.to_string())?;
        let mut words = Vocabulary::default();
        for (number, word) in lines.split_terminator('\n').enumerate() {
            if words.intern(word).index() != number {
                return Err(format!("the word `{word}` is listed twice"));
            }
        }
        Ok(words)
    }

    fn classes(&mut self, n_words: usize) -> Result<Vec<u16>, Reason> {
        let bytes = self.take(2 * n_words)?;
        Ok(bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect())
    }

    fn lexicon(&mut self) -> Result<Lexicon, Reason> {
        let known = self.words()?;
        let fine = self.classes(known.len())?;
        let coarse = self.classes(known.len())?;
        let pos = self.certain(PartOfSpeech::COUNT)?;
        let entity = self.certain(Entity::COUNT)?;
        Ok(Lexicon { known, fine, coarse, pos, entity })
    }

    fn certain(&mut self, n_tags: usize) -> Result<CertainWords, Reason> {
        let words = self.words()?;
        let tags = self.tags(words.len(), n_tags)?.to_vec();
        Ok(CertainWords { words, tags })
    }

    fn tags(&mut self, count: usize, n_tags: usize) -> Result<&'a [u8], Reason> {
        let tags = self.take(count)?;
        match tags.iter().find(|&&tag| usize::from(tag) >= n_tags) {
            Some(tag) => Err(format!("expected tags below {n_tags}, found {tag}")),
            None => Ok(tags),
        }
    }

    fn weights<const L: usize>(&mut self, n_tags: usize) -> Result<Weights<L>, Reason> {
        let n_keys = self.u32()? as usize;
        let [b0, b1, b2, b3] =
            [self.take(n_keys)?, self.take(n_keys)?, self.take(n_keys)?, self.take(n_keys)?];
        let mut keys = Vec::with_capacity(n_keys);
        let mut key = 0u32;
        for i in 0..n_keys {
            let gap = u32::from_le_bytes([b0[i], b1[i], b2[i], b3[i]]);
            key = key
                .checked_add(gap)
                .filter(|_| gap > 0 || i == 0)
                .ok_or("its keys are not in ascending order")?;
            keys.push(key);
        }
        let mut starts = vec![0];
        let mut n_entries = 0;
        for &count in self.take(n_keys)? {
            if usize::from(count) > n_tags {
                return Err(format!("expected at most {n_tags} tags for a feature, found {count}"));
            }
            n_entries += u32::from(count);
            starts.push(n_entries);
        }
        if n_entries as usize > MAX_ENTRIES {
            return Err(format!("expected at most {MAX_ENTRIES} weights, found {n_entries}"));
        }
        let tags = self.tags(n_entries as usize, n_tags)?;
        // A feature that named a tag many times could push its score over the edge.
        let is_ascending = |span: &[u32]| {
            tags[span[0] as usize..span[1] as usize].is_sorted_by(|tag, next| tag < next)
        };
        if !starts.windows(2).all(is_ascending) {
            return Err("the tags of a feature are not in ascending order".into());
        }
        let weights = self.take(n_entries as usize)?.iter().map(|&byte| byte as i8);
        let entries = tags.iter().zip(weights).map(|(&tag, weight)| TagWeight { tag, weight });
        Ok(Weights::new(keys, starts, entries.collect()))
    }
}

/// A file with that body, packed, and a header that fits it.
fn file_of(body: &[u8], level: i32) -> Vec<u8> {
    let packed = zstd::bulk::compress(body, level).expect("packing in memory can't fail");
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(&Sha256::digest(&packed)[..16]);
    bytes.extend(packed);
    bytes
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    fn small_tagger() -> Tagger {
        let words = |words: &[&str]| {
            let mut vocabulary = Vocabulary::default();
            for word in words {
                vocabulary.intern(word);
            }
            vocabulary
        };
        let certain = |tag| CertainWords { words: words(&["the"]), tags: vec![tag] };
        let entry = |tag, weight| TagWeight { tag, weight };
        Tagger {
            lexicon: Lexicon {
                known: words(&["the", "bär"]),
                fine: vec![3, 500],
                coarse: vec![0, 1],
                pos: certain(10),
                entity: certain(0),
            },
            pos: Weights::new(
                vec![5, 1 << 31],
                vec![0, 2, 3],
                vec![entry(0, 1), entry(44, -127), entry(7, 9)],
            ),
            entity: Weights::new(vec![0], vec![0, 1], vec![entry(12, 127)]),
        }
    }

    fn body(tagger: &Tagger) -> Vec<u8> {
        let bytes = tagger.to_bytes();
        zstd::bulk::decompress(&bytes[HEADER..], MAX_BODY).unwrap()
    }

    fn reason(bytes: &[u8]) -> String {
        Tagger::from_bytes(bytes).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn what_was_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.tagger");
        let tagger = small_tagger();
        tagger.write(&path).unwrap();
        let read = Tagger::read(&path).unwrap();
        assert_eq!(read.to_bytes(), tagger.to_bytes());
        assert_eq!(read.lexicon.classes("bär"), (502, 3));
        assert_eq!(read.lexicon.pos.get("the"), Some(10));
        let mut scores = [0; 48];
        read.pos.add(&[1 << 31, 5, 6], &mut scores);
        assert_eq!((scores[0], scores[7], scores[44]), (1, 9, -127));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn corruption_is_named() {
        let good = small_tagger().to_bytes();
        let mut version = good.clone();
        version[12] = 9;
        let mut flipped = good.clone();
        flipped[HEADER] ^= 1;
        let mut long = good.clone();
        long[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut left_over = body(&small_tagger());
        left_over.push(0);
        let short = &body(&small_tagger())[..20];
        let mut twice = small_tagger();
        twice.pos.entries[1].tag = 0;
        let messages = [
            reason(b"PK\x03\x04"),
            reason(&version),
            reason(&flipped),
            reason(&good[..good.len() - 1]),
            reason(&long),
            reason(&file_of(&left_over, 1)),
            reason(&file_of(short, 1)),
            reason(&twice.to_bytes()),
        ];
        expect![[r#"
            weights: it is not a weights file of this program
            weights: expected format version 1, found 9
            weights: its checksum is wrong: the file is corrupt or cut off
            weights: its checksum is wrong: the file is corrupt or cut off
            weights: expected at most 67108864 bytes unpacked, found 4294967295
            weights: 1 bytes are left over at its end
            weights: expected 4 more bytes, found 3
            weights: the tags of a feature are not in ascending order"#]]
        .assert_eq(&messages.join("\n"));
    }

    #[test]
    fn a_file_that_is_missing_is_named() {
        let error = Tagger::read(Path::new("no/such.tagger")).map(|_| ()).unwrap_err();
        expect!["no/such.tagger: no such file or folder"].assert_eq(&error.to_string());
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_tagger_or_an_error(bytes: Vec<u8>) {
            let _ = Tagger::from_bytes(&bytes);
            let _ = Tagger::from_bytes(&file_of(&bytes, 1));
        }

        /// The checksum is made to fit, so that the change reaches the reader of the body.
        #[test]
        fn a_changed_body_gives_a_tagger_that_tags_or_an_error(
            place: prop::sample::Index, byte: u8, cut: prop::sample::Index,
        ) {
            let mut body = body(&small_tagger());
            let place = place.index(body.len());
            body[place] = byte;
            for body in [&body[..], &body[..cut.index(body.len())]] {
                if let Ok(tagger) = Tagger::from_bytes(&file_of(body, 1)) {
                    tagger.tag(vec![vec!["the".into(), "Bär".into()]]);
                }
            }
        }
    }
}
