//! Pairs of books that may share text, by a sample of their 8-grams → how many 8-grams they do share. The books are read
//! again, so these counts are exact.

use std::path::PathBuf;

use questions::{PairCounts, n_shared, ngrams_of_text};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Receipt;
use super::parts::{From, SetParts, must_read, read, write};
use super::shards::no_shard;
use crate::progress::check_cancelled;
use crate::stats::LEAST_SHARE;
use crate::{Event, Reporter, Result};

/// A pair is counted if, by the sample, it shares this part of what the report lists. One in 16 8-grams of a book of
/// 60,000 words that shares 1 % of its text shows half of that, but for one such book in some four thousand.
const LEAST_SAMPLED: f64 = 0.5;

/// `candidates.json`.
#[derive(Serialize, Deserialize)]
struct Candidates {
    from: From,
    pairs: Vec<(u32, u32)>,
}

/// `pairs-00003.json`.
#[derive(Serialize, Deserialize)]
struct Counted {
    from: From,
    /// Two books, of which the first is in the shard, and how many 8-grams they share.
    pairs: Vec<(u32, u32, usize)>,
}

impl SetParts {
    /// Counts what the candidates share whose first book is in a shard, unless that is done; returns whether it was.
    ///
    /// # Errors
    /// If a part or a bucket is missing, or a book has changed since its shard was built.
    pub fn verify(&self, number: usize, reporter: &dyn Reporter) -> Result<bool> {
        let n = self.n_parts();
        let shard = self.plan.shards().get(number).ok_or_else(|| no_shard(number, n))?;
        let from = self.from(self.merged.sha256.clone());
        let path = self.pairs_path(number);
        if read::<Counted>(&path).is_some_and(|counted| counted.from == from) {
            return Ok(true);
        }
        let first = self.plan.first_book(shard);
        let books = first..first + self.plan.books(shard).len();
        let mut candidates = self.candidates()?;
        candidates.retain(|&(book, _)| books.contains(&(book as usize)));
        let groups: Vec<_> = candidates.chunk_by(|a, b| a.0 == b.0).collect();
        let what = shard.file.clone();
        reporter.report(Event::Begin { stage: "verify", what, steps: Some(groups.len()) });
        let count = |group: &&[(u32, u32)]| -> Result<Vec<_>> {
            let ngrams = self.ngrams(group[0].0)?;
            let mut pairs = Vec::new();
            for &(book, other) in *group {
                check_cancelled(reporter)?;
                pairs.push((book, other, n_shared(&ngrams, &self.ngrams(other)?)));
            }
            reporter.report(Event::Step { n: 1, what: None });
            Ok(pairs)
        };
        let pairs: Vec<Result<Vec<_>>> = groups.par_iter().map(count).collect();
        let pairs = pairs.into_iter().collect::<Result<Vec<_>>>()?.concat();
        reporter.report(Event::End);
        write(&path, &Counted { from, pairs })?;
        Ok(false)
    }

    /// What [`Self::verify`] counted for all shards.
    pub(super) fn verified(&self) -> Result<PairCounts> {
        let mut pairs = PairCounts::new();
        for number in 0..self.n_parts() {
            let counted: Counted = must_read(&self.pairs_path(number))?;
            pairs.extend(counted.pairs.into_iter().map(|(book, other, n)| ((book, other), n)));
        }
        Ok(pairs)
    }

    /// The pairs that share enough by the sample, in order. Whoever needs them first writes them down.
    fn candidates(&self) -> Result<Vec<(u32, u32)>> {
        let path = self.stats_path("candidates.json");
        let from = self.from(self.merged.sha256.clone());
        if let Some(found) = read::<Candidates>(&path).filter(|found| found.from == from) {
            return Ok(found.pairs);
        }
        let (pairs, _) = self.buckets()?;
        let mut ngrams = Vec::new();
        for number in 0..self.n_parts() {
            ngrams.extend(self.read_part(number)?.ngrams);
        }
        let is_enough = |&((book, other), shared): &((u32, u32), usize)| {
            let fewer = ngrams[book as usize].min(ngrams[other as usize]);
            shared as f64 * self.one_of as f64 >= LEAST_SAMPLED * LEAST_SHARE * fewer as f64
        };
        let pairs = pairs.into_iter().filter(is_enough).map(|(pair, _)| pair).collect();
        let candidates = Candidates { from, pairs };
        write(&path, &candidates)?;
        Ok(candidates.pairs)
    }

    /// The distinct 8-grams of a book by its place among all.
    fn ngrams(&self, book: u32) -> Result<Vec<u64>> {
        let book = &self.plan.all_books()[book as usize];
        let receipt = Receipt::read(&self.plan, &self.plan.shards()[book.shard])?;
        Ok(ngrams_of_text(self.words(book, &receipt)?.iter().map(String::as_str)))
    }

    fn pairs_path(&self, number: usize) -> PathBuf {
        self.stats_path(&format!("pairs-{number:05}.json"))
    }
}
