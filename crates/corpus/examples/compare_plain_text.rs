//! Measures the detokeniser against raw books: how many sentences, and windows of four sentences, come back letter
//! for letter.
//!
//! ```console
//! $ cargo run --release -p goldilocks-corpus --example compare_plain_text BOOKS TOKENISED valid test
//! ```
//!
//! BOOKS has raw books as `NAME.txt`; TOKENISED has `SPLIT__NAME.txt`, a sentence per line, tokens with spaces between
//! them. Only the named splits are compared, or all. White space counts as one space, `_` (italics) as nothing, and
//! typographic marks as plain ones, in both. «alone» is a sentence without the next one, «within» as part of its book.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program of its own")]

mod common;

use common::{Failure, for_each_book};
use goldilocks_corpus::detokenise::{PrintedToken, Style, join, passage, plain_text};

fn main() -> Result<(), Failure> {
    println!("{:>9} {:>8} {:>8} {:>8}  book", "sentences", "alone", "within", "windows");
    let mut total = [0; 5];
    for_each_book("compare_plain_text", |book| {
        let counts = compare(&folded(&book.raw), &book.tokenised);
        print(&counts, &book.name);
        total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        Ok(())
    })?;
    print(&total, "all");
    Ok(())
}

/// Sentences; those that are in the book when printed alone, and within their book; windows of four; those in the book.
fn compare(book: &str, sentences: &str) -> [usize; 5] {
    let is_title = |tokens: &Vec<&str>| tokens.first().is_none_or(|&first| first == "_BOOK_TITLE_");
    let sentences: Vec<Vec<&str>> =
        sentences.lines().map(|line| line.split_whitespace().collect()).collect();
    let sentences: Vec<Vec<&str>> = sentences.into_iter().filter(|s| !is_title(s)).collect();
    let is_in_book = |text: String| book.contains(&folded(&text));
    let alone = sentences.iter().filter(|sentence| is_in_book(plain_text(&[*sentence]))).count();
    let mut rest: &[PrintedToken<'_>] = &passage(&sentences, Style::Plain);
    let mut within = 0;
    for sentence in &sentences {
        let (printed, after) = rest.split_at(sentence.len());
        rest = after;
        within += usize::from(is_in_book(join(printed)));
    }
    let windows = sentences.windows(4).filter(|window| is_in_book(plain_text(window))).count();
    [sentences.len(), alone, within, sentences.len().saturating_sub(3), windows]
}

/// One space for white space, plain marks for typographic ones, no italics.
fn folded(text: &str) -> String {
    let text = text.replace('_', "").replace(['“', '”'], "\"").replace(['‘', '’'], "'");
    text.replace('—', "--").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn print([sentences, alone, within, n_windows, windows]: &[usize; 5], name: &str) {
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    let (alone, within) = (share(*alone, *sentences), share(*within, *sentences));
    println!(
        "{sentences:>9} {alone:>8.4} {within:>8.4} {:>8.4}  {name}",
        share(*windows, *n_windows)
    );
}
