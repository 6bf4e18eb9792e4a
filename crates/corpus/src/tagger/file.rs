//! The weights file: everything that a [`Tagger`] knows, in one compressed file.
//!
//! A header of 36 bytes (magic, format version, length of the unpacked body, the first 16 bytes of
//! the packed body's SHA-256), then the body, packed with zstd. Numbers are little-endian. In the
//! body, equal things stand together (all low bytes of keys, then all second bytes, …), because
//! that packs best.

use std::{io::Write as _, path::Path};

use sha2::{Digest, Sha256};

use super::{
    Tagger,
    certain::Certain,
    lexicon::Lexicon,
    weights::{Entry, MAX_ENTRIES, Weights},
};
use crate::{Entity, Error, PartOfSpeech, Vocabulary};

const MAGIC: &[u8; 12] = b"goldi-tagger";
const VERSION: u32 = 1;
const HEADER: usize = 36;
/// Far more than any tagger needs: a damaged length can't make the reader ask for more.
const MAX_BODY: usize = 64 << 20;
/// Zstandard's level for small files that are packed once.
const LEVEL: i32 = 19;

/// Why bytes are no tagger; the path is added by who read them.
type Damage = String;

impl Tagger {
    /// Unpacks a weights file.
    ///
    /// # Errors
    /// If the bytes are not a whole, undamaged weights file of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        parse(bytes).map_err(|damage| Error::Weights { path: None, damage })
    }

    /// Reads a weights file.
    ///
    /// # Errors
    /// If it can't be read, or is not a whole, undamaged weights file of this version.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes =
            std::fs::read(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        parse(&bytes).map_err(|damage| Error::Weights { path: Some(path.to_owned()), damage })
    }

    /// Packs the tagger into the bytes of a weights file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        put_lexicon(&mut body, &self.lexicon);
        put_weights(&mut body, &self.pos);
        put_weights(&mut body, &self.entity);
        let packed = zstd::bulk::compress(&body, LEVEL).expect("packing in memory can't fail");
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((body.len() as u32).to_le_bytes());
        bytes.extend(&Sha256::digest(&packed)[..16]);
        bytes.extend(packed);
        bytes
    }

    /// Writes a weights file; a file of that name is replaced once the new one is complete.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
            file.write_all(&self.to_bytes())?;
            file.persist(path)?;
            Ok(())
        };
        write().map_err(|source| Error::Io { path: path.to_owned(), source })
    }
}

fn parse(bytes: &[u8]) -> Result<Tagger, Damage> {
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
        return Err("its checksum is wrong: the file is damaged or cut off".into());
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
    let gaps: Vec<u32> = weights.keys.iter().zip(before).map(|(key, before)| key - before).collect();
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
    fn take(&mut self, length: usize) -> Result<&'a [u8], Damage> {
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .ok_or_else(|| format!("expected {length} more bytes, found {}", self.0.len()))?;
        self.0 = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, Damage> {
        let bytes = self.take(4)?.try_into().expect("four were taken");
        Ok(u32::from_le_bytes(bytes))
    }

    fn words(&mut self) -> Result<Vocabulary, Damage> {
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

    fn classes(&mut self, n_words: usize) -> Result<Vec<u16>, Damage> {
        let bytes = self.take(2 * n_words)?;
        Ok(bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect())
    }

    fn lexicon(&mut self) -> Result<Lexicon, Damage> {
        let known = self.words()?;
        let fine = self.classes(known.len())?;
        let coarse = self.classes(known.len())?;
        let pos = self.certain(PartOfSpeech::COUNT)?;
        let entity = self.certain(Entity::COUNT)?;
        Ok(Lexicon { known, fine, coarse, pos, entity })
    }

    fn certain(&mut self, n_tags: usize) -> Result<Certain, Damage> {
        let words = self.words()?;
        let tags = self.tags(words.len(), n_tags)?.to_vec();
        Ok(Certain { words, tags })
    }

    fn tags(&mut self, count: usize, n_tags: usize) -> Result<&'a [u8], Damage> {
        let tags = self.take(count)?;
        match tags.iter().find(|&&tag| usize::from(tag) >= n_tags) {
            Some(tag) => Err(format!("expected tags below {n_tags}, found {tag}")),
            None => Ok(tags),
        }
    }

    fn weights<const L: usize>(&mut self, n_tags: usize) -> Result<Weights<L>, Damage> {
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
        let weights = self.take(n_entries as usize)?.iter().map(|&byte| byte as i8);
        let entries = tags.iter().zip(weights).map(|(&tag, weight)| Entry { tag, weight });
        Ok(Weights::new(keys, starts, entries.collect()))
    }
}
