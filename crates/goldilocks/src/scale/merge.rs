//! Shards that are all built → one set: checked, thinned out, identical questions numbered, counted.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use questions::{Counts, Split, WordClass, parquet};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::receipt::{FOLDER, build_missing};
use super::thin::thin;
use super::{Plan, Receipt, Shard, ShardBook, files};
use crate::progress::{check_cancelled, during};
use crate::{Error, Program, Reporter, Result};

/// Written last: the set is whole.
pub const MERGED: &str = "merged.toml";
/// The file that lists the books, one per line.
const BOOKS: &str = "books.jsonl";
/// How many ids are held in memory at a time: 256 MB, and once more while they are joined.
const IDS_AT_ONCE: usize = 1 << 25;

/// A set in shards that is whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MergedSet {
    /// The plan, see [`Plan::hash`].
    pub plan: String,
    /// The program that merged it.
    pub version: String,
    /// How many shards there are.
    pub shards: usize,
    /// The number of books in all shards.
    pub books: usize,
    /// The number of questions in all shards.
    pub questions: usize,
    /// How many of them are the second, third, … identical one of their split.
    pub twins: usize,
    /// How many bytes the shards have.
    pub bytes: u64,
    /// Questions by split and class.
    pub counts: [[usize; WordClass::ALL.len()]; Split::ALL.len()],
    /// SHA-256 over the lines of `sha256sum` for the shards in their order.
    pub sha256: String,
}

impl MergedSet {
    /// What a plan was merged to; none if it is not merged, or a shard was built anew since.
    pub fn find(plan: &Plan) -> Option<Self> {
        let text = std::fs::read_to_string(plan.folder().join(MERGED)).ok()?;
        toml::from_str(&text).ok().filter(|merged: &Self| merged.plan == plan.hash())
    }
}

/// A line of `books.jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    split: Split,
    shard: usize,
    #[serde(flatten)]
    book: &'a ShardBook,
}

/// Completes a set: checks every shard, drops the questions that the plan has no room for, numbers identical ones, writes the table of books and, last,
/// [`MERGED`]. To merge again does no harm.
///
/// # Errors
/// [`Error::ShardsMissing`] unless all shards are built.
pub fn merge(plan: &Plan, program: &Program, reporter: &dyn Reporter) -> Result<MergedSet> {
    let receipts = during(reporter, "check", plan.folder().display().to_string(), || check(plan))?;
    let mut receipts = receipts?;
    for folder in [questions::shards::FOLDER, FOLDER] {
        files::remove_partial(&plan.folder().join(folder))?;
    }
    if plan.counts() != Counts::All {
        thin(plan, &mut receipts, reporter)?;
    }
    let mut twins = 0;
    for split in Split::ALL {
        check_cancelled(reporter)?;
        let number = || number_twins(plan, split, &mut receipts);
        twins += during(reporter, "number", split.code(), number)?;
    }
    let path = plan.folder().join(BOOKS);
    files::write(&path, |out| {
        for (shard, receipt) in plan.shards().iter().zip(&receipts) {
            for book in &receipt.books {
                let line = Line { split: shard.split, shard: shard.number, book };
                serde_json::to_writer(&mut *out, &line)
                    .map_err(std::io::Error::from)
                    .and_then(|()| out.write_all(b"\n"))
                    .map_err(Error::io(&path))?;
            }
        }
        Ok(())
    })?;
    let mut counts = [[0; WordClass::ALL.len()]; Split::ALL.len()];
    let mut sums = String::new();
    for (shard, receipt) in plan.shards().iter().zip(&receipts) {
        let kept = receipt.kept.unwrap_or_else(|| receipt.found());
        let of_split = &mut counts[shard.split as usize];
        of_split.iter_mut().zip(kept).for_each(|(sum, n)| *sum += n);
        sums += &format!("{}  {}\n", receipt.sha256, receipt.file);
    }
    let merged = MergedSet {
        plan: plan.hash().to_owned(),
        version: program.to_string(),
        shards: receipts.len(),
        books: receipts.iter().map(|receipt| receipt.books.len()).sum(),
        questions: receipts.iter().map(|receipt| receipt.rows).sum(),
        twins,
        bytes: receipts.iter().map(|receipt| receipt.bytes).sum(),
        counts,
        sha256: base::hash::sha256(sums.as_bytes()),
    };
    let text = toml::to_string(&merged).expect("every field has a form in TOML");
    files::write_text(&plan.folder().join(MERGED), &text)?;
    Ok(merged)
}

/// The receipts of all shards.
fn check(plan: &Plan) -> Result<Result<Vec<Receipt>>> {
    let found = plan.shards().par_iter().map(|shard| Receipt::find(plan, shard));
    let found: Vec<Result<_>> = found.collect();
    let found: Vec<Option<Receipt>> = found.into_iter().collect::<Result<_>>()?;
    let is_missing =
        |(number, receipt): (usize, &Option<Receipt>)| receipt.is_none().then_some(number);
    let missing: Vec<usize> = found.iter().enumerate().filter_map(is_missing).collect();
    Ok(match missing.is_empty() {
        true => Ok(found.into_iter().flatten().collect()),
        false => Err(Error::ShardsMissing {
            path: plan.folder().to_owned(),
            missing,
            of: plan.shards().len(),
            remedy: build_missing(plan.folder()),
        }),
    })
}

/// Gives identical questions of a split their numbers; returns how many are not the first of their kind.
fn number_twins(plan: &Plan, split: Split, receipts: &mut [Receipt]) -> Result<usize> {
    let of_split: Vec<&Shard> = plan.shards().iter().filter(|shard| shard.split == split).collect();
    let rows: usize = of_split.iter().map(|shard| receipts[shard.number].rows).sum();
    let repeated = repeated(plan, &of_split, rows)?;
    if repeated.is_empty() {
        return Ok(0);
    }
    // Those of each shard, by their hashes and then by their numbers, all in the order of the set.
    let in_shard = |shard: &&Shard| {
        let mut hashes = Vec::new();
        let is_one = |hash: &u64| repeated.contains(hash);
        let visit = |id: &str| hashes.extend(hash(plain(id)).filter(is_one));
        parquet::read_ids(&plan.folder().join(&shard.file), visit)?;
        Ok(hashes)
    };
    let found: Vec<Result<Vec<u64>>> = of_split.par_iter().map(in_shard).collect();
    let mut times: HashMap<u64, u32> = HashMap::new();
    let mut work = Vec::new();
    for (shard, hashes) in of_split.into_iter().zip(found) {
        let number = |hash| {
            let n = times.entry(hash).or_default();
            *n += 1;
            *n
        };
        let numbers: Vec<u32> = hashes?.into_iter().map(number).collect();
        if !numbers.is_empty() {
            work.push((shard, numbers));
        }
    }
    let twins = work.iter().flat_map(|(_, numbers)| numbers).filter(|&&n| n > 1).count();
    let write = |(shard, numbers): &(&Shard, Vec<u32>)| {
        let written = with_numbers(plan, shard, &receipts[shard.number], &repeated, numbers)?;
        Ok((shard.number, written))
    };
    let written: Vec<Result<_>> = work.par_iter().map(write).collect();
    for result in written {
        if let (number, Some(receipt)) = result? {
            receipts[number] = receipt;
        }
    }
    Ok(twins)
}

/// Writes a shard with the numbers of its repeated questions, and its receipt, unless it has these numbers.
fn with_numbers(
    plan: &Plan,
    shard: &Shard,
    receipt: &Receipt,
    repeated: &HashSet<u64>,
    numbers: &[u32],
) -> Result<Option<Receipt>> {
    let path = plan.folder().join(&shard.file);
    let (mut ids, mut is_changed) = (Vec::new(), false);
    let mut numbers = numbers.iter();
    parquet::read_ids(&path, |found| {
        let plain = plain(found);
        let is_repeated = hash(plain).is_some_and(|hash| repeated.contains(&hash));
        let number = if is_repeated { numbers.next() } else { None };
        let id = match number {
            Some(n) if *n > 1 => format!("{plain}#{n}"),
            _ => plain.to_owned(),
        };
        is_changed |= id != found;
        ids.push(id);
    })?;
    if !is_changed {
        return Ok(None);
    }
    let write = |out: &mut (dyn Write + Send)| Ok(parquet::with_ids(&path, &ids, &mut &mut *out)?);
    let (sha256, bytes) = files::write(&path, write)?;
    let receipt = Receipt { sha256, bytes, ..receipt.clone() };
    receipt.write(plan, shard)?;
    Ok(Some(receipt))
}

/// The hashes that more than one question of some shards has.
fn repeated(plan: &Plan, shards: &[&Shard], rows: usize) -> Result<HashSet<u64>> {
    let passes = rows.div_ceil(IDS_AT_ONCE).max(1) as u64;
    let mut repeated = HashSet::new();
    for pass in 0..passes {
        let of_shard = |shard: &&Shard| {
            let mut hashes = Vec::new();
            parquet::read_ids(&plan.folder().join(&shard.file), |id| {
                hashes.extend(hash(plain(id)).filter(|hash| hash % passes == pass));
            })?;
            Ok(hashes)
        };
        let hashes: Vec<Result<Vec<u64>>> = shards.par_iter().map(of_shard).collect();
        let mut hashes = hashes.into_iter().collect::<Result<Vec<_>>>()?.concat();
        hashes.par_sort_unstable();
        let twice = hashes.windows(2).filter(|pair| pair[0] == pair[1]);
        repeated.extend(twice.map(|pair| pair[0]));
    }
    Ok(repeated)
}

/// An id without the number of a twin.
fn plain(id: &str) -> &str {
    id.split('#').next().unwrap_or(id)
}

fn hash(plain: &str) -> Option<u64> {
    u64::from_str_radix(plain, 16).ok()
}
