//! Measures the tokeniser against tokenised books: how far tokens and sentence ends agree, as F1.
//!
//! ```console
//! $ cargo run --release -p goldilocks-corpus --example compare_tokens BOOKS TOKENISED valid test
//! ```
//!
//! BOOKS has raw books as `NAME.txt`; TOKENISED has `SPLIT__NAME.txt`, one sentence per line, tokens with spaces
//! between them. Only the named splits are compared, or all. Nothing is cut from the raw books.
//!
//! What our tokens have before the first and after the last token of the tokenised book does not count. The
//! two positions are found by the first and the last characters of the tokenised book, spaces left out, in
//! ours. What is between is aligned by Myers's diff over tokens, whose time is linear in the number of tokens
//! as long as few differ. A token agrees if the diff pairs it; a sentence end agrees if the token before it
//! is paired and ends a sentence in both.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program of its own")]

mod common;

use common::{Failure, for_each_book};
use similar::{Algorithm, DiffOp, capture_diff_slices};

fn main() -> Result<(), Failure> {
    println!("{:>8} {:>9} {:>8} {:>9}  book", "tokens", "F1", "ends", "F1");
    let mut total = Agreement::default();
    for_each_book("compare_tokens", |book| {
        let expected = book.tokenised.lines();
        let expected = Tokens::of(expected.map(|line| line.split(' ').map(str::to_owned)));
        let ours = Tokens::of(goldilocks_corpus::tokenise(&book.raw));
        let agreement = Agreement::of(&ours, &expected)
            .ok_or_else(|| format!("{}: its start or end is not in the book", book.name))?;
        agreement.print(&book.name);
        total = total.plus(&agreement);
        Ok(())
    })?;
    total.print("all");
    Ok(())
}

/// A book's tokens in one row.
struct Tokens {
    texts: Vec<String>,
    /// Returns whether each token is the last of its sentence.
    ends: Vec<bool>,
}

impl Tokens {
    fn of(sentences: impl IntoIterator<Item = impl IntoIterator<Item = String>>) -> Self {
        let mut tokens = Self { texts: Vec::new(), ends: Vec::new() };
        for sentence in sentences {
            tokens.texts.extend(sentence);
            tokens.ends.resize(tokens.texts.len(), false);
            if let Some(last) = tokens.ends.last_mut() {
                *last = true;
            }
        }
        tokens
    }

    /// The tokens of `self` from where `other` starts to where it ends.
    fn overlap(&self, other: &Self) -> Option<std::ops::Range<usize>> {
        const ENOUGH: usize = 120;
        let (ours, theirs) = (self.texts.concat(), other.texts.concat());
        let longest = theirs.floor_char_boundary(ENOUGH);
        let start = ours.find(&theirs[..longest])?;
        let last = &theirs[theirs.ceil_char_boundary(theirs.len().saturating_sub(ENOUGH))..];
        let end = ours.rfind(last)? + last.len();
        let mut place = 0;
        let places = self.texts.iter().map(|token| {
            place += token.len();
            place
        });
        let places: Vec<usize> = places.collect();
        let first = places.partition_point(|&place| place <= start);
        let last = places.partition_point(|&place| place < end);
        (first <= last).then_some(first..last + 1)
    }
}

/// How many tokens and sentence ends there are in ours and in the other, and how many agree.
#[derive(Default)]
struct Agreement {
    tokens: [usize; 3],
    ends: [usize; 3],
}

impl Agreement {
    fn of(ours: &Tokens, expected: &Tokens) -> Option<Self> {
        let overlap = ours.overlap(expected)?;
        let our_ends = &ours.ends[overlap.clone()];
        let texts = &ours.texts[overlap];
        let (mut tokens, mut ends) = (0, 0);
        for change in capture_diff_slices(Algorithm::Myers, texts, &expected.texts) {
            let DiffOp::Equal { old_index, new_index, len } = change else { continue };
            let pairs = our_ends[old_index..][..len].iter().zip(&expected.ends[new_index..][..len]);
            tokens += len;
            ends += pairs.filter(|(ours, theirs)| **ours && **theirs).count();
        }
        let count = |ends: &[bool]| ends.iter().filter(|end| **end).count();
        Some(Self {
            tokens: [texts.len(), expected.texts.len(), tokens],
            ends: [count(our_ends), count(&expected.ends), ends],
        })
    }

    fn plus(&self, other: &Self) -> Self {
        let sum = |a: [usize; 3], b: [usize; 3]| std::array::from_fn(|i| a[i] + b[i]);
        Self { tokens: sum(self.tokens, other.tokens), ends: sum(self.ends, other.ends) }
    }

    fn print(&self, name: &str) {
        let [tokens, ends] = [self.tokens, self.ends].map(f1);
        println!("{:>8} {tokens:>9.6} {:>8} {ends:>9.6}  {name}", self.tokens[1], self.ends[1]);
    }
}

/// The harmonic mean of precision and recall: 2 · both / (ours + theirs).
fn f1([ours, theirs, both]: [usize; 3]) -> f64 {
    2.0 * both as f64 / (ours + theirs) as f64
}
