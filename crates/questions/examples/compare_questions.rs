//! Two folders of tagged books → how far the questions built from the one agree with those from the other.
//!
//! ```text
//! compare_questions STANFORD OURS [KNOWN]
//! ```
//!
//! The folders hold files of lines `word TAB pos TAB entity` with an empty line after each sentence; books are
//! paired by their file names, and the sentences of a pair must be the same. A word is known if it stands five
//! times, lower-cased, in the `train__` files of the folder KNOWN, which is the first folder unless given.
//! For each class: the number of question instances on both sides, precision and recall of the second's.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use corpus::{Book, Entity, PartOfSpeech, Word};
use questions::{Builder, Instance, Rules, WordClass};
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own")]
fn main() -> Result<(), Failure> {
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

/// For each class: instances of the first file, of the second, of both.
fn compare(builder: &Builder<'_>, first: &Path, second: &Path) -> Result<[[usize; 3]; 4], Failure> {
    let (first_book, second_book) = (read_tagged(first)?, read_tagged(second)?);
    let texts = |book: &Book| -> Vec<Vec<String>> {
        let sentences = book.sentences.iter();
        sentences.map(|words| words.iter().map(|word| word.text.clone()).collect()).collect()
    };
    if texts(&first_book) != texts(&second_book) {
        return Err(
            format!("{}: not the sentences of {}", second.display(), first.display()).into()
        );
    }
    let expected: HashSet<Instance> = builder.instances(&first_book).into_iter().collect();
    let found: HashSet<Instance> = builder.instances(&second_book).into_iter().collect();
    Ok(WordClass::ALL.map(|class| {
        let of_class = |instance: &&Instance| instance.class == class;
        [
            expected.iter().filter(of_class).count(),
            found.iter().filter(of_class).count(),
            expected.intersection(&found).filter(of_class).count(),
        ]
    }))
}

fn files(folder: &Path) -> Result<BTreeMap<String, PathBuf>, Failure> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), entry.path());
    }
    Ok(files)
}

fn known_words(folder: &Path) -> Result<HashSet<String>, Failure> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for (_, path) in files(folder)?.iter().filter(|(name, _)| name.starts_with("train__")) {
        for line in std::fs::read_to_string(path)?.lines() {
            let word = line.split('\t').next().unwrap_or_default();
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    Ok(counts.into_iter().filter(|&(_, n)| n >= 5).map(|(word, _)| word).collect())
}

fn read_tagged(path: &Path) -> Result<Book, Failure> {
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
            let place = format!("{}:{}", path.display(), index + 1);
            return Err(
                format!("{place}: expected `word TAB pos TAB entity`, found `{line}`").into()
            );
        };
        let word = Word { text: text.to_owned(), pos, entity };
        sentences.last_mut().expect("a sentence is always open").push(word);
    }
    sentences.retain(|sentence| !sentence.is_empty());
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Book { name, sentences })
}
