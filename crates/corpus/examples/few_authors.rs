//! Tagged training books → the words that the tagger learnt from one or two authors alone.
//!
//! ```text
//! few_authors TAGGED > crates/corpus/weights/few-authors.txt
//! ```
//!
//! TAGGED holds files of lines `word TAB pos TAB entity`, named `train__AUTHOR___TITLE.txt`. A word is listed,
//! lower-cased, if it has a letter, occurs five times or more and is used by fewer than three authors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use goldilocks_corpus::Book;

type Error = Box<dyn std::error::Error>;

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own")]
fn main() -> Result<(), Error> {
    let folder = std::env::args().nth(1).map(PathBuf::from).ok_or("usage: few_authors TAGGED")?;
    let mut words: BTreeMap<String, (usize, BTreeSet<String>)> = BTreeMap::new();
    for file in std::fs::read_dir(folder)? {
        let book = Book::read_tagged(&file?.path())?;
        let Some(name) = book.name.strip_prefix("train__") else { continue };
        let author = name.split_once("___").map_or(name, |(author, _)| author);
        for word in book.sentences.iter().flatten() {
            let (count, authors) = words.entry(word.text.to_lowercase()).or_default();
            *count += 1;
            if !authors.contains(author) {
                authors.insert(author.to_owned());
            }
        }
    }
    for (word, (count, authors)) in words {
        if count >= 5 && authors.len() < 3 && word.chars().any(char::is_alphabetic) {
            println!("{word}");
        }
    }
    Ok(())
}
