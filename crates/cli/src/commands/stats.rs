//! `goldilocks stats`: Table 1 for any set, next to the paper's, and what leaks from split to split.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use goldilocks::questions::{
    CandidateFaults, DuplicateKind, Duplicates, Leaks, Overlap, Split, Statistics,
};
use goldilocks::report::paper::{TABLE_1, TABLE_1_VOCABULARY};
use goldilocks::scale::{self, SetParts};
use goldilocks::{LEAST_SHARE, SetStatistics, sets};

use super::{counted, shard_number, thousands};
use crate::args::SelectionArgs;
use crate::cli::program;
use crate::progress::Progress;
use crate::stdio;
use crate::terminal;

/// Pairs of books that the text lists; `--json` has all.
const MOST_PAIRS: usize = 20;

/// Options of `stats`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A question set: folder or file; `-` is standard input, in JSON lines
    #[arg(value_name = "SET")]
    set: PathBuf,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Count this shard alone of a planned set, for a later report; without a number, that of SLURM_ARRAY_TASK_ID
    #[arg(long, value_name = "N", conflicts_with_all = ["bucket", "verify", "json", "class", "splits"])]
    shard: Option<Option<usize>>,
    /// Once all shards are counted, compare text and questions in one bucket of hashes, for a later report
    #[arg(long, value_name = "N", conflicts_with_all = ["verify", "json", "class", "splits"])]
    bucket: Option<Option<usize>>,
    /// Sample one in N 8-grams to find the books of a planned set that may share text, then count exactly what they
    /// share: for terabytes
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true,
        conflicts_with_all = ["class", "splits"], value_parser = clap::value_parser!(u64).range(1..))]
    one_of: u64,
    /// With `--one-of`, once all buckets are compared: count exactly what the books of one shard share with later
    /// books, for a later report
    #[arg(long, value_name = "N", requires = "one_of", conflicts_with_all = ["json", "class", "splits"])]
    verify: Option<Option<usize>>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// Counts and checks the set.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let part = [("shard", options.shard), ("bucket", options.bucket), ("verify", options.verify)];
    if let Some((what, number)) = part.into_iter().find_map(|(what, n)| Some((what, n?))) {
        let parts = SetParts::open(&options.set, &program())?.sampled(options.one_of);
        return count_part(&parts, what, number, progress);
    }
    let (SetStatistics { statistics, leaks }, n_books) = options.count(progress)?;
    if options.json {
        let published = serde_json::json!({
            "splits": Split::ALL.map(|s| serde_json::json!({"split": s, "all": TABLE_1[s as usize]})),
            "vocabulary": TABLE_1_VOCABULARY,
        });
        let all = serde_json::json!({
            "set": options.set, "statistics": statistics, "published": published, "leaks": leaks,
        });
        return super::print(format_args!("{}\n", serde_json::to_string_pretty(&all)?));
    }
    super::print(format_args!(
        "{}\n{}{}",
        goldilocks::report::table_1(&statistics, terminal::width()),
        by_class(&statistics),
        leak_report(&leaks, n_books),
    ))
}

impl Options {
    /// The figures, and how many books have running text. A planned set is counted shard by shard; where splits or a
    /// class are selected, they are opened as one set.
    fn count(&self, progress: &Progress) -> Result<(SetStatistics, usize)> {
        let selection = self.selection.options();
        let is_whole = selection.splits.is_empty() && selection.class.is_none();
        // A sample is for planned sets; of others the error says that there is no plan.
        if is_whole && (self.one_of > 1 || self.set.join(scale::PLAN).is_file()) {
            let statistics =
                goldilocks::stats_of_shards(&self.set, self.one_of, &program(), progress)?;
            return Ok((statistics, scale::Plan::open(&self.set)?.all_books().len()));
        }
        let path = stdio::input(&self.set, "jsonl")?;
        let set = sets::open(&path, &selection, &selection.splits, progress)?;
        Ok((goldilocks::stats(&set, progress), set.books().len()))
    }
}

/// What one of many workers does for the report of a planned set.
fn count_part(
    parts: &SetParts,
    what: &'static str,
    number: Option<usize>,
    progress: &Progress,
) -> Result<()> {
    let number = shard_number(what, number)?;
    let (was_there, of) = match what {
        "shard" => (parts.part(number, progress)?, parts.n_parts()),
        "bucket" => (parts.bucket(number, progress)?, parts.n_buckets()),
        _ => (parts.verify(number, progress)?, parts.n_parts()),
    };
    if progress.is_quiet() {
        return Ok(());
    }
    let there = if was_there { ", there already" } else { "" };
    super::print(format_args!("{what} {number} of {of}{there}\n"))
}

/// What the release prints for each class.
fn by_class(statistics: &Statistics) -> String {
    if statistics.splits.iter().all(|split| split.classes.is_empty()) {
        return String::new();
    }
    let head = ["By class", "questions", "context", "query", "candidates"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for split in &statistics.splits {
        for (class, totals) in &split.classes {
            rows.push(vec![
                label(split.split, class.label()),
                thousands(totals.questions),
                format!("{:.1}", totals.context_words),
                format!("{:.1}", totals.query_words),
                thousands(totals.distinct_candidates),
            ]);
        }
    }
    let note = "context, query: words on average; candidates: how many different ones";
    format!("{}{}\n", terminal::columns(&rows), terminal::wrapped(note, terminal::width()))
}

/// A split and a class.
fn label(split: Option<Split>, class: &str) -> String {
    format!("{:6} {class}", split.map_or("?", Split::code))
}

fn leak_report(leaks: &Leaks, n_books: usize) -> String {
    let (mut text, width) = (String::new(), terminal::width());
    if n_books == 0 {
        text += "Shared text: not checked, since the running text of the books is not at hand\n";
    } else {
        let across = leaks.overlaps.iter().filter(|overlap| overlap.is_across_splits()).count();
        let found = format!(
            "{} of books share {:.0} % or more of their 8-grams, {across} across splits",
            counted(leaks.overlaps.len(), "pair"),
            100.0 * LEAST_SHARE,
        );
        text += &terminal::hanging("Shared text:", &found, 13, width);
        let mut pairs: Vec<&Overlap> = leaks.overlaps.iter().collect();
        pairs.sort_by_key(|overlap| !overlap.is_across_splits());
        for overlap in pairs.iter().take(MOST_PAIRS) {
            let split = |split: Option<Split>| split.map_or("?", Split::code);
            let [own, other] = [split(overlap.split), split(overlap.other_split)];
            let pair = format!("{own} {} in {other} {}", overlap.book, overlap.other);
            let share = format!("  {:4.0} %", 100.0 * overlap.share);
            text += &terminal::hanging(&share, &pair, 10, width);
        }
        if pairs.len() > MOST_PAIRS {
            let _ = writeln!(text, "  and {} more: --json lists all", pairs.len() - MOST_PAIRS);
        }
    }
    text.push('\n');
    text += &duplicate_report(&leaks.duplicates);
    text + "\n" + &candidate_report(&leaks.candidates)
}

/// What in the candidates gives answers away, or can't be told apart.
fn candidate_report(faults: &[CandidateFaults]) -> String {
    let share = |part: usize, whole: usize| match whole {
        0 => "–".to_owned(),
        whole => format!("{:.0} %", 100.0 * part as f64 / whole as f64),
    };
    let head = ["Candidates", "twins", "answer", "< 10", "capital", "answer"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut lengths = String::new();
    for faults in faults {
        let Some(class) = faults.class else {
            let split = faults.split.map_or("?", Split::code);
            let mean = faults.candidates as f64 / faults.questions as f64;
            let most = faults.most_candidates;
            let _ = writeln!(lengths, "Candidates, {split}: {mean:.1} on average, {most} at most");
            continue;
        };
        rows.push(vec![
            label(faults.split, class.label()),
            thousands(faults.case_twins),
            thousands(faults.answer_has_twin),
            thousands(faults.fewer_than_ten),
            share(faults.capitals, faults.candidates),
            share(faults.answer_capitals, faults.questions),
        ]);
    }
    if rows.len() == 1 {
        return lengths;
    }
    let note = "twins: questions with two candidates that differ in case alone; answer: where one of them is the answer; \
                < 10: questions with fewer candidates; capital: candidates that begin with a capital letter; answer: \
                answers that do";
    format!("{}{}{lengths}", terminal::columns(&rows), terminal::wrapped(note, terminal::width()))
}

fn duplicate_report(duplicates: &[Duplicates]) -> String {
    if duplicates.is_empty() {
        return "Duplicates: none\n".to_owned();
    }
    let mut text = String::new();
    for found in duplicates {
        let what = match found.same {
            DuplicateKind::Question => "context, query and candidates",
            DuplicateKind::Passage => "context and query",
            DuplicateKind::Query => "query and answer",
        };
        let [split, other] = [found.split, found.other].map(|split| split.map_or("?", Split::code));
        let of_whom =
            if split == other { "an earlier one".to_owned() } else { format!("one of {other}") };
        let questions = counted(found.questions, "question");
        let sentence = format!("{questions} of {split} with the {what} of {of_whom}");
        text += &terminal::hanging("Duplicates:", &sentence, 12, terminal::width());
    }
    text
}
