//! The figures of a set in shards, as map, shuffle and reduce: a part for each shard, a count for each bucket of hashes,
//! and one report. It holds a shard, or a bucket, at a time.
//!
//! ```text
//! shard ──part──▶ stats/00003.json: sums that are small, hashes of its words
//!                 stats/00003.bin: hashes of 8-grams and of questions, bucket by bucket
//!                    └──bucket──▶ stats/bucket-00007.json: pairs of books, repeated questions
//!                                     └──report──▶ SetStatistics
//! ```

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use questions::{
    CandidateFaults, DuplicateKind, Leaks, OpenOptions, PairCounts, PartialStatistics,
    RepeatCounts, Split, candidate_faults, count_repeats, count_shared, duplicates, ngrams_of_text,
    overlaps, question_hashes,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::shards::no_shard;
use super::{MergedSet, Plan, PlannedBook, Receipt, Shards, files};
use crate::books::Source;
use crate::progress::check_cancelled;
use crate::stats::LEAST_SHARE;
use crate::{Error, Event, Program, Reporter, Result, SetStatistics};

/// The folder of the parts in that of the set.
const FOLDER: &str = "stats";
/// The text of books whose hashes make a bucket: about 120 MB of them.
const BUCKET_BYTES: u64 = 24 << 20;
/// What is hashed: 8-grams of books, and questions in three ways.
const KINDS: usize = 1 + DuplicateKind::ALL.len();

/// The parts of the figures of a set that is planned, built and merged.
#[derive(Debug)]
pub struct SetParts {
    plan: Plan,
    shards: Shards,
    merged: MergedSet,
    program: String,
}

/// What a part or a bucket is made from: if that changes, it is made again.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct From {
    /// The SHA-256 of the shard, or of the merged set.
    sha256: String,
    program: String,
    buckets: usize,
}

/// `00003.json`.
#[derive(Serialize, Deserialize)]
struct Part {
    from: From,
    statistics: PartialStatistics,
    candidates: Vec<CandidateFaults>,
    /// How many distinct 8-grams each of its books has, in the order of the plan.
    ngrams: Vec<usize>,
}

/// `bucket-00007.json`.
#[derive(Serialize, Deserialize)]
struct Bucket {
    from: From,
    /// Two books, and how many 8-grams they share.
    pairs: Vec<(u32, u32, usize)>,
    repeats: Vec<(DuplicateKind, Option<Split>, Option<Split>, usize)>,
}

/// A hash, and the book or the split that it is of.
type Hashed = (u64, u32);

impl SetParts {
    /// The parts of a set.
    ///
    /// # Errors
    /// If the set is not planned, or not merged.
    pub fn open(folder: &Path, program: &Program) -> Result<Self> {
        let plan = Plan::open(folder)?;
        let not_merged = || Error::NotMerged { path: folder.to_owned() };
        let shards = Shards::find(folder)?.ok_or_else(not_merged)?;
        let merged = MergedSet::find(&plan).ok_or_else(not_merged)?;
        Ok(Self { plan, shards, merged, program: program.to_string() })
    }

    /// How many parts there are: one for each shard.
    pub fn n_parts(&self) -> usize {
        self.plan.shards().len()
    }

    /// How many buckets there are: it follows from the length of all books.
    pub fn n_buckets(&self) -> usize {
        let bytes: u64 = self.plan.all_books().iter().map(|book| book.bytes).sum();
        usize::try_from(bytes.div_ceil(BUCKET_BYTES)).unwrap_or(usize::MAX).max(1)
    }

    /// Makes the part of a shard, unless it is there; returns whether it was. Its books are read again: their running
    /// text is not in the shard.
    ///
    /// # Errors
    /// If the shard or one of its books can't be read, or a book has changed since the shard was built.
    pub fn part(&self, number: usize, reporter: &dyn Reporter) -> Result<bool> {
        let n = self.n_parts();
        let shard = self.plan.shards().get(number).ok_or_else(|| no_shard(number, n))?;
        let missing = || Error::NotMerged { path: self.plan.folder().to_owned() };
        let receipt = Receipt::find(&self.plan, shard)?.ok_or_else(missing)?;
        let from = self.from(receipt.sha256.clone());
        let path = self.part_path(number);
        if read::<Part>(&path).is_some_and(|part| part.from == from) {
            return Ok(true);
        }
        let books = self.plan.books(shard);
        let what = shard.file.clone();
        reporter.report(Event::Begin { stage: "count", what, steps: Some(books.len()) });
        let mut kinds: [Vec<Hashed>; KINDS] = Default::default();
        let (set, _) = self.shards.file(number)?.open(&OpenOptions::default())?;
        let mut statistics = PartialStatistics::of(&set);
        let candidates = candidate_faults(&set);
        for (kind, hashes) in kinds[1..].iter_mut().zip(question_hashes(&set)) {
            kind.extend(hashes.into_iter().map(|(hash, split)| (hash, number_of(split))));
        }
        drop(set);
        let options = self.plan.options();
        let mut ngrams = Vec::new();
        let first = self.plan.first_book(shard);
        for (index, book) in books.iter().enumerate() {
            check_cancelled(reporter)?;
            let words = self.words(book, &receipt)?;
            let lower =
                |word: String| if options.rules.lower_case { word.to_lowercase() } else { word };
            let words: Vec<String> = words.into_iter().map(lower).collect();
            statistics.add_words(words.iter().map(String::as_str));
            let of_book = ngrams_of_text(words.iter().map(String::as_str));
            ngrams.push(of_book.len());
            let number = u32::try_from(first + index).unwrap_or(u32::MAX);
            kinds[0].extend(of_book.into_iter().map(|hash| (hash, number)));
            reporter.report(Event::Step { n: 1, what: Some(book.name.clone()) });
        }
        let identity = self.identity(&receipt.sha256);
        self.write_hashes(&path.with_extension("bin"), &identity, kinds)?;
        write(&path, &Part { from, statistics, candidates, ngrams })?;
        reporter.report(Event::End);
        Ok(false)
    }

    /// Counts what the hashes of a bucket have in common, unless that is done; returns whether it was.
    ///
    /// # Errors
    /// If a part is missing or of another state of the set.
    pub fn bucket(&self, number: usize, reporter: &dyn Reporter) -> Result<bool> {
        check_cancelled(reporter)?;
        let n = self.n_buckets();
        if number >= n {
            let message = format!("expected 0 to {}, found {number}", n - 1);
            return Err(Error::InvalidOption { what: "bucket", message });
        }
        let path = self.bucket_path(number);
        let from = self.from(self.merged.sha256.clone());
        if read::<Bucket>(&path).is_some_and(|bucket| bucket.from == from) {
            return Ok(true);
        }
        let (mut pairs, mut repeats) = (PairCounts::new(), RepeatCounts::new());
        let receipts = self.plan.shards().iter().map(|shard| Receipt::read(&self.plan, shard));
        let receipts = receipts.collect::<Result<Vec<_>>>()?;
        for kind in 0..KINDS {
            let mut hashes = Vec::new();
            for (part, receipt) in receipts.iter().enumerate() {
                let path = self.part_path(part).with_extension("bin");
                let run = (number * KINDS + kind, n * KINDS);
                read_hashes(&path, &self.identity(&receipt.sha256), run, &mut hashes)?;
            }
            match kind.checked_sub(1).map(|same| DuplicateKind::ALL[same]) {
                None => count_shared(&mut hashes, &mut pairs),
                Some(same) => {
                    let split = |(hash, number)| (hash, split_of(number));
                    let mut hashes: Vec<_> = hashes.into_iter().map(split).collect();
                    count_repeats(same, &mut hashes, &mut repeats);
                }
            }
        }
        let pairs = pairs.into_iter().map(|((first, second), n)| (first, second, n)).collect();
        let repeats = repeats.into_iter().map(|((same, split, other), n)| (same, split, other, n));
        write(&path, &Bucket { from, pairs, repeats: repeats.collect() })?;
        Ok(false)
    }

    /// The figures of the whole set: those of one set in memory. What is missing is made first.
    ///
    /// # Errors
    /// Those of [`Self::part`] and [`Self::bucket`].
    pub fn report(&self, reporter: &dyn Reporter) -> Result<SetStatistics> {
        for number in 0..self.n_parts() {
            self.part(number, reporter)?;
        }
        let (mut pairs, mut repeats) = (PairCounts::new(), RepeatCounts::new());
        for number in 0..self.n_buckets() {
            self.bucket(number, reporter)?;
            let bucket: Bucket = must_read(&self.bucket_path(number))?;
            for (first, second, n) in bucket.pairs {
                *pairs.entry((first, second)).or_default() += n;
            }
            for (same, split, other, n) in bucket.repeats {
                *repeats.entry((same, split, other)).or_default() += n;
            }
        }
        let mut statistics = PartialStatistics::default();
        let mut candidates: BTreeMap<_, CandidateFaults> = BTreeMap::new();
        let mut ngrams = Vec::new();
        for number in 0..self.n_parts() {
            let part: Part = must_read(&self.part_path(number))?;
            statistics.merge(part.statistics);
            for faults in part.candidates {
                let of_group = candidates.entry((faults.split, faults.class));
                of_group.and_modify(|mine| mine.merge(&faults)).or_insert(faults);
            }
            ngrams.extend(part.ngrams);
        }
        let books = self.plan.all_books().iter().zip(ngrams);
        let books: Vec<_> =
            books.map(|(book, n)| (book.name.as_str(), Some(book.split), n)).collect();
        Ok(SetStatistics {
            statistics: statistics.statistics(),
            leaks: Leaks {
                overlaps: overlaps(&books, &pairs, LEAST_SHARE),
                duplicates: duplicates(&repeats),
                candidates: candidates.into_values().collect(),
            },
        })
    }

    /// The words of a book, as they were when its shard was built.
    fn words(&self, book: &PlannedBook, receipt: &Receipt) -> Result<Vec<String>> {
        let source = self.plan.source(book)?;
        let expected = receipt.books.iter().find(|built| built.name == book.name);
        let expected = expected.map_or("", |built| &built.sha256);
        let (words, found) = match &source {
            Source::Tagged(_) => {
                let (book, sha256) = source.book(true, corpus::Tagger::shipped())?;
                let words = book.sentences.into_iter().flatten().map(|word| word.text.to_string());
                (words.collect(), sha256)
            }
            _ => {
                let as_released = self.plan.options().as_released;
                let (text, sha256) = source.text(as_released)?;
                let sentences = match as_released {
                    true => corpus::tokenise(&text),
                    false => corpus::tokenise_paragraphs(&text),
                };
                (sentences.into_iter().flatten().collect(), sha256)
            }
        };
        match found == expected {
            true => Ok(words),
            false => Err(Error::OtherBook { path: source.path().to_owned() }),
        }
    }

    /// What begins the hashes of a shard: 64 digits.
    fn identity(&self, sha256: &str) -> String {
        base::hash::sha256(format!("{sha256} {} {}", self.program, self.n_buckets()).as_bytes())
    }

    fn from(&self, sha256: String) -> From {
        From { sha256, program: self.program.clone(), buckets: self.n_buckets() }
    }

    fn part_path(&self, number: usize) -> PathBuf {
        self.plan.folder().join(FOLDER).join(format!("{number:05}.json"))
    }

    fn bucket_path(&self, number: usize) -> PathBuf {
        self.plan.folder().join(FOLDER).join(format!("bucket-{number:05}.json"))
    }

    /// Writes hashes bucket by bucket, in each bucket kind by kind, after how many each of these has.
    fn write_hashes(&self, path: &Path, identity: &str, kinds: [Vec<Hashed>; KINDS]) -> Result<()> {
        let n_buckets = self.n_buckets();
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
}

/// Hashes of the runs of a file: those of a kind in a bucket.
fn read_hashes(
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

/// The bytes of a count or a hash.
const COUNT: usize = 8;
/// The bytes of a hash and of what it is of.
const WIDTH: usize = COUNT + 4;

/// Little-endian bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The split of a question as a number.
fn number_of(split: Option<Split>) -> u32 {
    split.map_or(Split::ALL.len() as u32, |split| split as u32)
}

fn split_of(number: u32) -> Option<Split> {
    Split::ALL.get(number as usize).copied()
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn must_read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = fs::read(path).map_err(Error::io(path))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let (path, message) = (path.to_owned(), error.to_string());
        Error::Corrupt { path, message }
    })
}

fn write(path: &Path, content: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(content).expect("numbers and texts have a form in JSON");
    files::write_text(path, &text)
}
