//! Two folders of tagged books → how far the questions built from the one agree with those from the other.
//!
//! ```text
//! compare_questions STANFORD OURS [KNOWN]
//! ```
//!
//! The folders hold files of lines `word TAB pos TAB entity` with an empty line after each sentence; books are
//! paired by their file names. A word is known if it occurs five times, lower-cased, in the `train__` files of
//! the folder KNOWN, which is the first folder unless given. For each class: the number of blanks
//! on both sides, precision and recall of the second's.
//!
//! The second text may have other tokens and sentence ends, and more text around: its words are aligned with
//! the first's, and blanks outside the first's queries (from its 21st sentence to its last) do not count.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use corpus::{Book, Entity, PartOfSpeech, Word};
use goldilocks_questions::{Blank, Builder, Rules, WordClass};
use rayon::prelude::*;

type Error = Box<dyn std::error::Error + Send + Sync>;

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own")]
fn main() -> Result<(), Error> {
    let folders: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let (first, second, known) = match folders.as_slice() {
        [first, second] => (first, second, first),
        [first, second, known] => (first, second, known),
        _ => return Err("usage: compare_questions STANFORD OURS [KNOWN]".into()),
    };
    let known = known_words(known)?;
    let is_known = |word: &str| known.contains(&word.to_lowercase());
    let builder = Builder::new(Rules::default(), 1, &is_known)?;

    let (first, second) = (files(first)?, files(second)?);
    let pairs: Vec<(&PathBuf, &PathBuf)> =
        first.iter().filter_map(|(name, path)| Some((path, second.get(name)?))).collect();
    let compare = |(a, b): &(&PathBuf, &PathBuf)| compare(&builder, a, b);
    let books: Vec<[[usize; 3]; 4]> = pairs.par_iter().map(compare).collect::<Result<_, _>>()?;

    println!("{} books", books.len());
    for class in WordClass::ALL {
        let sum =
            |field: usize| books.iter().map(|book| book[class as usize][field]).sum::<usize>();
        let (expected, found, right) = (sum(0), sum(1), sum(2));
        println!(
            "{:2}  {expected:7} {found:7}  precision {:.4}  recall {:.4}",
            class.code(),
            right as f64 / found as f64,
            right as f64 / expected as f64,
        );
    }
    Ok(())
}

/// For each class: blanks of the first file, of the second, of both.
fn compare(builder: &Builder<'_>, first: &Path, second: &Path) -> Result<[[usize; 3]; 4], Error> {
    let (first, second) = (read_tagged(first)?, read_tagged(second)?);
    let index_in_first = align(&tokens(&first), &tokens(&second));
    let (first_starts, second_starts) = (starts(&first), starts(&second));
    let begin = first_starts.get(Rules::default().context_sentences).copied().unwrap_or(usize::MAX);
    let within = |index: &Option<usize>| index.is_some_and(|index| index >= begin);
    let begin = index_in_first.iter().position(within).unwrap_or(0);
    let end = index_in_first.iter().rposition(within).unwrap_or(0);

    let mut counts = [[0; 3]; 4];
    let mut expected = HashSet::new();
    for Blank { sentence, position, class } in builder.blanks(&first) {
        counts[class as usize][0] += 1;
        expected.insert((first_starts[sentence] + position, class));
    }
    for Blank { sentence, position, class } in builder.blanks(&second) {
        let word = second_starts[sentence] + position;
        if (begin..=end).contains(&word) {
            counts[class as usize][1] += 1;
            let is_right =
                index_in_first[word].is_some_and(|word| expected.contains(&(word, class)));
            counts[class as usize][2] += usize::from(is_right);
        }
    }
    Ok(counts)
}

fn tokens(book: &Book) -> Vec<&str> {
    book.sentences.iter().flatten().map(|word| word.text.as_str()).collect()
}

/// The number of each sentence's first word in the running text.
fn starts(book: &Book) -> Vec<usize> {
    let mut next = 0;
    let start = |sentence: &Vec<Word>| {
        next += sentence.len();
        next - sentence.len()
    };
    book.sentences.iter().map(start).collect()
}

/// For each word of the second text, its index in the first: where the two differ, they are aligned again from the
/// nearest point on where the next few words are the same.
fn align(first: &[&str], second: &[&str]) -> Vec<Option<usize>> {
    const SAME_WORDS: usize = 6;
    const FARTHEST: usize = 5_000;
    let mut indices = vec![None; second.len()];
    let (mut a, mut b) = (0, 0);
    while a < first.len() && b < second.len() {
        if first[a] == second[b] {
            indices[b] = Some(a);
            (a, b) = (a + 1, b + 1);
            continue;
        }
        let meets = |&(skip_a, skip_b): &(usize, usize)| {
            let ahead = |text: &[&str], from: usize| text.get(from..from + SAME_WORDS).is_some();
            ahead(first, a + skip_a)
                && ahead(second, b + skip_b)
                && first[a + skip_a..][..SAME_WORDS] == second[b + skip_b..][..SAME_WORDS]
        };
        let skips = (1..FARTHEST).flat_map(|sum| (0..=sum).map(move |skip| (skip, sum - skip)));
        let Some((skip_a, skip_b)) = skips.into_iter().find(meets) else { break };
        (a, b) = (a + skip_a, b + skip_b);
    }
    indices
}

fn files(folder: &Path) -> Result<BTreeMap<String, PathBuf>, Error> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), entry.path());
    }
    Ok(files)
}

fn known_words(folder: &Path) -> Result<HashSet<String>, Error> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for (_, path) in files(folder)?.iter().filter(|(name, _)| name.starts_with("train__")) {
        for line in std::fs::read_to_string(path)?.lines() {
            let word = line.split('\t').next().unwrap_or_default();
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    Ok(counts.into_iter().filter(|&(_, n)| n >= 5).map(|(word, _)| word).collect())
}

fn read_tagged(path: &Path) -> Result<Book, Error> {
    let text = std::fs::read_to_string(path)?;
    let mut sentences = vec![Vec::new()];
    for (index, line) in text.lines().enumerate() {
        if line.is_empty() {
            sentences.push(Vec::new());
            continue;
        }
        let mut fields = line.split('\t');
        let (Some(text), Some(pos), Some(entity), None) = (
            fields.next(),
            fields.next().and_then(PartOfSpeech::from_name),
            fields.next().and_then(Entity::from_name),
            fields.next(),
        ) else {
            let at = format!("{}:{}", path.display(), index + 1);
            return Err(format!("{at}: expected `word TAB pos TAB entity`, found `{line}`").into());
        };
        let word = Word { text: text.to_owned(), pos, entity };
        sentences.last_mut().expect("a sentence is always open").push(word);
    }
    sentences.retain(|sentence| !sentence.is_empty());
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Book { name, sentences })
}
