//! Tables of contents and lists of illustrations: a heading near the start of a book and the entries under
//! it.
//!
//! An entry ends with a page, starts with a number, or has the capitals of a title. The list ends where the
//! first entry would come a second time, as the heading of its chapter; where three empty lines are; and
//! before the first line that could be running text.

use std::collections::HashSet;
use std::ops::Range;

use crate::lines::Lines;

const HEADINGS: [&str; 9] = [
    "contents",
    "table of contents",
    "the contents",
    "list of contents",
    "illustrations",
    "list of illustrations",
    "the illustrations",
    "list of plates",
    "list of stories",
];

/// The lines of all lists near the start of a book, headings included.
pub(super) fn find(lines: &Lines<'_>, body: Range<usize>) -> Vec<Range<usize>> {
    const NEAR: usize = 400;
    let near = body.end.min(body.start + NEAR.max(body.len() / 10));
    let mut lists = Vec::new();
    let mut position = body.start;
    while let Some(heading) = (position..near).find(|&line| is_heading(lines, line)) {
        let end = list_end(lines, heading + 1..body.end);
        position = heading + 1;
        if let Some(end) = end {
            lists.push(heading..end);
            position = end;
        }
    }
    lists
}

fn is_heading(lines: &Lines<'_>, line: usize) -> bool {
    let text = lines.text(line).trim_matches(|c: char| !c.is_alphabetic()).to_ascii_lowercase();
    lines.starts_paragraph(line) && HEADINGS.contains(&text.as_str())
}

/// The line after the last entry of a list, if there are two entries or more.
fn list_end(lines: &Lines<'_>, rest: Range<usize>) -> Option<usize> {
    const LONGEST_GAP: usize = 2;
    let mut entries = HashSet::new();
    let mut end = rest.start;
    for paragraph in lines.paragraphs(rest) {
        let first = title(lines.text(paragraph.start));
        let is_far = paragraph.start - end > LONGEST_GAP && !entries.is_empty();
        let is_chapter = entries.contains(&first) || is_heading(lines, paragraph.start);
        if is_far || is_chapter || !is_list(lines, &paragraph) {
            break;
        }
        end = paragraph.end;
        entries.extend(paragraph.map(|line| title(lines.text(line))));
    }
    (entries.len() > 1).then_some(end)
}

/// Returns whether a paragraph starts with an entry, or is one that runs over some lines and ends with its
/// page; and no line of it is as long as running text without being an entry.
fn is_list(lines: &Lines<'_>, paragraph: &Range<usize>) -> bool {
    const LONGEST_ENTRY: usize = 4;
    const SHORT: usize = 65;
    let is_wrapped_entry =
        || paragraph.len() <= LONGEST_ENTRY && ends_with_page(lines.text(paragraph.end - 1).trim());
    let is_short_or_entry = |line: usize| {
        let text = lines.text(line).trim_end();
        text.chars().count() <= SHORT || is_entry(text.trim_start())
    };
    is_wrapped_entry()
        || is_entry(lines.text(paragraph.start).trim()) && paragraph.clone().all(is_short_or_entry)
}

/// What an entry and the heading of its chapter have in common: the words without `Chapter`, its number and
/// the page, or the number if there is nothing else.
fn title(line: &str) -> String {
    let line = line.to_lowercase();
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<&str> = words.skip_while(|word| *word == "chapter").collect();
    let is_number = |word: &&str| is_page(word) || is_roman(&word.to_uppercase());
    words.pop_if(|word| is_page(word) && ends_with_page(line.trim()));
    match words.split_first() {
        Some((first, rest)) if is_number(first) && !rest.is_empty() => rest.join(" "),
        _ => words.join(" "),
    }
}

/// Returns whether a line could be an entry: not too long, and with a page, a number or capitals where a
/// title has them.
fn is_entry(line: &str) -> bool {
    const LONGEST: usize = 90;
    line.len() <= LONGEST && (ends_with_page(line) || starts_with_number(line) || is_title(line))
}

/// A page after some spaces or dots, or `Frontispiece`.
fn ends_with_page(line: &str) -> bool {
    let line = line.trim_end_matches(|c: char| !c.is_alphanumeric());
    let (before, last) = line.rsplit_once(['.', ' ', '\t', '_']).unwrap_or(("", line));
    let is_leader = before.ends_with([' ', '.', '\t']);
    last.eq_ignore_ascii_case("frontispiece") || is_leader && is_page(last)
}

/// `I.`, `12.`, `II` or `Chapter`.
fn starts_with_number(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let number = first.trim_end_matches(['.', ')', ':']);
    let is_marked = number.len() < first.len() || number.len() > 1;
    first.eq_ignore_ascii_case("chapter") || is_marked && (is_page(number) || is_roman(number))
}

/// Three of four words of four letters or more have a capital; or all of few words are shorter.
fn is_title(line: &str) -> bool {
    const FEW: usize = 6;
    let words = || line.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
    let long = words().filter(|word| word.chars().count() >= 4);
    let capitals =
        long.clone().filter(|word| word.starts_with(|c: char| !c.is_lowercase())).count();
    match long.count() {
        0 => line.starts_with(|c: char| !c.is_lowercase()) && words().count() <= FEW,
        long => 4 * capitals >= 3 * long,
    }
}

fn is_page(word: &str) -> bool {
    matches!(word.len(), 1..=4) && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_roman(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'I' | b'V' | b'X' | b'L' | b'C'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> String {
        let lines = Lines::of(text);
        let mut left = text.to_owned();
        for list in find(&lines, 0..lines.len()).into_iter().rev() {
            left.replace_range(lines.bytes(list), "");
        }
        left
    }

    #[test]
    fn a_list_ends_where_its_first_chapter_starts() {
        let list = "CONTENTS\n\nChapter I. The Wood\n\nChapter II. The Bowls\n";
        for chapter in ["Chapter I. The Wood", "CHAPTER I: THE WOOD.", "THE WOOD"] {
            let rest = format!("\n{chapter}\n\nThere was a wood.\n");
            assert_eq!(cut(&format!("THE BEARS\n\n{list}{rest}")), format!("THE BEARS\n\n{rest}"));
        }
    }

    #[test]
    fn a_list_ends_at_a_wide_gap_or_running_text() {
        let list = "Contents:\n  The Wood ..... 1\n  The Bowls and what was in them ... 12\n  The beds 30\n";
        for rest in
            ["\n\n\nTHE THREE BEARS\n", "There was once a wood, and in it three bears lived.\n"]
        {
            assert_eq!(cut(&format!("{list}\n{rest}")).trim_start(), rest.trim_start());
        }
    }

    #[test]
    fn a_list_of_illustrations_may_have_entries_of_several_lines() {
        let text = "LIST OF ILLUSTRATIONS\n\nThe great bear looked at the bowl for a long while, and then\n                    he wept  _Frontispiece_\n\n\"Who is it?\" said the\nbear   17\n\n\n\nI\n";
        assert_eq!(cut(text), "\n\n\nI\n");
    }

    #[test]
    fn running_text_about_contents_stays() {
        for text in [
            "Contents\n\nof the bowl were gone, and the little bear wept for them.\n\nHe was sad.\n",
            "The contents\n\nof the bowl were gone.\n",
            "CONTENTS\n\nThere was once a wood, and in it three bears lived in a house.\n\nOne day\n",
            "He looked at its\ncontents\nand wept.\n\nThe Bear\n\nThe Bowl\n",
        ] {
            assert_eq!(cut(text), text);
        }
    }
}
