//! The figures of a set in shards, as map, shuffle and reduce: a part for each shard, a count for each bucket of hashes,
//! and one report. It holds a shard, or a bucket, at a time.
//!
//! ```text
//! shard ──part──▶ stats/00003.json: sums that are small, hashes of its words
//!                 stats/00003.bin: hashes of 8-grams and of questions, bucket by bucket
//!                    └──bucket──▶ stats/bucket-00007.json: pairs of books, repeated questions
//!                                     └──report──▶ SetStatistics
//! ```
//!
//! Of terabytes, a part has one in so many of the 8-grams, and what pairs share is counted before the report
//! ([`SetParts::verify`]).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use questions::{
    CandidateFaults, DuplicateKind, Leaks, OpenOptions, PairCounts, PartialStatistics,
    RepeatCounts, Split, candidate_faults, count_repeats, count_shared, duplicates, ngrams_of_text,
    overlaps, question_hashes,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::hashes::{self, Hashed, KINDS};
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

/// The parts of the figures of a set that is planned, built and merged.
#[derive(Debug)]
pub struct SetParts {
    pub(super) plan: Plan,
    shards: Shards,
    pub(super) merged: MergedSet,
    program: String,
    pub(super) one_of: u64,
}

/// What a part or a bucket is made from: if that changes, it is made again.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct From {
    /// The SHA-256 of the shard, or of the merged set.
    sha256: String,
    program: String,
    buckets: usize,
    one_of: u64,
}

/// `00003.json`.
#[derive(Serialize, Deserialize)]
pub(super) struct Part {
    from: From,
    statistics: PartialStatistics,
    candidates: Vec<CandidateFaults>,
    /// How many distinct 8-grams each of its books has, in the order of the plan.
    pub(super) ngrams: Vec<usize>,
}

/// `bucket-00007.json`.
#[derive(Serialize, Deserialize)]
struct Bucket {
    from: From,
    /// Two books, and how many of the hashed 8-grams they share.
    pairs: Vec<(u32, u32, usize)>,
    repeats: Vec<(DuplicateKind, Option<Split>, Option<Split>, usize)>,
}

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
        Ok(Self { plan, shards, merged, program: program.to_string(), one_of: 1 })
    }

    /// The parts of a set whose books are compared by one in so many of their 8-grams. Pairs that may share enough text
    /// are then counted exactly; questions are compared by all hashes.
    pub fn sampled(self, one_of: u64) -> Self {
        Self { one_of: one_of.max(1), ..self }
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
            let sample = of_book.into_iter().filter(|hash| hash.is_multiple_of(self.one_of));
            kinds[0].extend(sample.map(|hash| (hash, number)));
            reporter.report(Event::Step { n: 1, what: Some(book.name.clone()) });
        }
        let identity = self.identity(&receipt.sha256);
        hashes::write(&path.with_extension("bin"), &identity, self.n_buckets(), kinds)?;
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
                hashes::read(&path, &self.identity(&receipt.sha256), run, &mut hashes)?;
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
    /// Those of [`Self::part`], [`Self::bucket`] and [`Self::verify`].
    pub fn report(&self, reporter: &dyn Reporter) -> Result<SetStatistics> {
        for number in 0..self.n_parts() {
            self.part(number, reporter)?;
        }
        for number in 0..self.n_buckets() {
            self.bucket(number, reporter)?;
        }
        let (mut pairs, repeats) = self.buckets()?;
        if self.one_of > 1 {
            for number in 0..self.n_parts() {
                self.verify(number, reporter)?;
            }
            pairs = self.verified()?;
        }
        let mut statistics = PartialStatistics::default();
        let mut candidates: BTreeMap<_, CandidateFaults> = BTreeMap::new();
        let mut ngrams = Vec::new();
        for number in 0..self.n_parts() {
            let part = self.read_part(number)?;
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

    /// What all buckets found.
    pub(super) fn buckets(&self) -> Result<(PairCounts, RepeatCounts)> {
        let (mut pairs, mut repeats) = (PairCounts::new(), RepeatCounts::new());
        for number in 0..self.n_buckets() {
            let path = self.bucket_path(number);
            let bucket: Bucket = must_read(&path)?;
            if bucket.from != self.from(self.merged.sha256.clone()) {
                let message = "it is of another state of the set".to_owned();
                return Err(Error::Corrupt { path, message });
            }
            for (first, second, n) in bucket.pairs {
                *pairs.entry((first, second)).or_default() += n;
            }
            for (same, split, other, n) in bucket.repeats {
                *repeats.entry((same, split, other)).or_default() += n;
            }
        }
        Ok((pairs, repeats))
    }

    pub(super) fn read_part(&self, number: usize) -> Result<Part> {
        must_read(&self.part_path(number))
    }

    /// The words of a book, as they were when its shard was built.
    pub(super) fn words(&self, book: &PlannedBook, receipt: &Receipt) -> Result<Vec<String>> {
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
        let identity = format!("{sha256} {} {} {}", self.program, self.n_buckets(), self.one_of);
        base::hash::sha256(identity.as_bytes())
    }

    pub(super) fn from(&self, sha256: String) -> From {
        let (program, one_of) = (self.program.clone(), self.one_of);
        From { sha256, program, buckets: self.n_buckets(), one_of }
    }

    fn part_path(&self, number: usize) -> PathBuf {
        self.stats_path(&format!("{number:05}.json"))
    }

    fn bucket_path(&self, number: usize) -> PathBuf {
        self.stats_path(&format!("bucket-{number:05}.json"))
    }

    pub(super) fn stats_path(&self, name: &str) -> PathBuf {
        self.plan.folder().join(FOLDER).join(name)
    }
}

/// The split of a question as a number.
fn number_of(split: Option<Split>) -> u32 {
    split.map_or(Split::ALL.len() as u32, |split| split as u32)
}

fn split_of(number: u32) -> Option<Split> {
    Split::ALL.get(number as usize).copied()
}

pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

pub(super) fn must_read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = fs::read(path).map_err(Error::io(path))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let (path, message) = (path.to_owned(), error.to_string());
        Error::Corrupt { path, message }
    })
}

pub(super) fn write(path: &Path, content: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(content).expect("numbers and texts have a form in JSON");
    files::write_text(path, &text)
}
