//! `goldilocks stats`: Table 1 for any set, next to the paper's, and what leaks from split to split.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use goldilocks::questions::{DuplicateKind, Duplicates, Leaks, Overlap, Split, Statistics};
use goldilocks::report::paper::{TABLE_1, TABLE_1_VOCABULARY};
use goldilocks::{LEAST_SHARE, SetStatistics, sets};

use super::{counted, thousands};
use crate::args::SelectionArgs;
use crate::progress::Progress;
use crate::stdio;

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
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// Counts and checks the set.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let selection = options.selection.options();
    let set =
        sets::open(&stdio::input(&options.set, "jsonl")?, &selection, &selection.splits, progress)?;
    let SetStatistics { statistics, leaks } = goldilocks::stats(&set, progress);
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
        goldilocks::report::table_1(&statistics),
        by_class(&statistics),
        leak_report(&leaks, set.books().len()),
    ))
}

/// What the release prints for each class.
fn by_class(statistics: &Statistics) -> String {
    if statistics.splits.iter().all(|split| split.classes.is_empty()) {
        return String::new();
    }
    let mut text = format!(
        "{:23}{:>12}{:>16}{:>14}{:>13}\n",
        "", "questions", "context words", "query words", "candidates"
    );
    for split in &statistics.splits {
        for (class, totals) in &split.classes {
            let label = format!("{:6} {}", split.split.map_or("?", Split::code), class.label());
            let _ = writeln!(
                text,
                "{label:23}{:>12}{:>16.1}{:>14.1}{:>13}",
                thousands(totals.questions),
                totals.context_words,
                totals.query_words,
                thousands(totals.distinct_candidates),
            );
        }
    }
    text + "\n"
}

fn leak_report(leaks: &Leaks, n_books: usize) -> String {
    let mut text = String::new();
    if n_books == 0 {
        text += "Shared text: not checked, since the running text of the books is not at hand\n";
    } else {
        let across = leaks.overlaps.iter().filter(|overlap| overlap.is_across_splits()).count();
        let _ = writeln!(
            text,
            "Shared text: {} of books share {:.0} % or more of their 8-grams, {across} across splits",
            counted(leaks.overlaps.len(), "pair"),
            100.0 * LEAST_SHARE,
        );
        let mut pairs: Vec<&Overlap> = leaks.overlaps.iter().collect();
        pairs.sort_by_key(|overlap| !overlap.is_across_splits());
        for overlap in pairs.iter().take(MOST_PAIRS) {
            let split = |split: Option<Split>| split.map_or("?", Split::code);
            let _ = writeln!(
                text,
                "  {:4.0} %  {} {} in {} {}",
                100.0 * overlap.share,
                split(overlap.split),
                overlap.book,
                split(overlap.other_split),
                overlap.other,
            );
        }
        if pairs.len() > MOST_PAIRS {
            let _ = writeln!(text, "  and {} more: --json lists all", pairs.len() - MOST_PAIRS);
        }
    }
    text.push('\n');
    text += &duplicate_report(&leaks.duplicates);
    for faults in &leaks.candidates {
        let split = faults.split.map_or("?", Split::code);
        let Some(class) = faults.class.map(|class| class.code()) else {
            let mean = faults.candidates as f64 / faults.questions as f64;
            let _ = writeln!(
                text,
                "Candidates, {split}: {mean:.1} on average, {} at most",
                faults.most_candidates
            );
            continue;
        };
        let _ = writeln!(
            text,
            "Candidates, {split} {class}: {} with twins that differ in case only ({} of them the answer's), {} with fewer than ten",
            thousands(faults.case_twins),
            thousands(faults.answer_has_twin),
            thousands(faults.fewer_than_ten),
        );
    }
    text
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
        let split = |split: Option<Split>| split.map_or("?", Split::code);
        let questions = counted(found.questions, "question");
        let _ = match found.split == found.other {
            true => writeln!(
                text,
                "Duplicates: {questions} of {} with the {what} of an earlier one",
                split(found.split)
            ),
            false => writeln!(
                text,
                "Duplicates: {questions} of {} with the {what} of one of {}",
                split(found.split),
                split(found.other)
            ),
        };
    }
    text
}
