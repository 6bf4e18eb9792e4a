//! `words.txt`: the words of a model, one per line in the order of their numbers.
//!
//! A line break or backslash within a word is escaped.

use std::fs;
use std::path::Path;

use base::Vocabulary;
use sha2::{Digest, Sha256};

use crate::{Error, Result};

const FILE: &str = "words.txt";

/// Identifies a list: the first 16 hexadecimal digits of SHA-256 over the file.
pub(crate) fn hash(words: &Vocabulary) -> String {
    let digest = Sha256::digest(to_text(words));
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the file into the folder of a model.
pub(crate) fn write(folder: &Path, words: &Vocabulary) -> Result<()> {
    let path = folder.join(FILE);
    fs::write(&path, to_text(words)).map_err(|reason| Error::File { path, reason })
}

/// Reads the file; `follows` returns whether a word may come after the one before it.
pub(crate) fn read(
    folder: &Path,
    order: &'static str,
    follows: impl Fn(&str, &str) -> bool,
) -> Result<Vocabulary> {
    let path = folder.join(FILE);
    let text = fs::read_to_string(&path).map_err(|error| Error::unreadable(&path, error))?;
    let mut words = Vocabulary::default();
    let mut last: Option<String> = None;
    for (place, line) in text.split_terminator('\n').enumerate() {
        let word = unescaped(line)
            .filter(|word| words.get(word).is_none())
            .filter(|word| last.as_ref().is_none_or(|last| follows(last, word)));
        let word = word.ok_or_else(|| Error::Damaged {
            path: path.clone(),
            line: Some(place + 1),
            reason: format!("the words are not {order}"),
        })?;
        words.intern(&word);
        last = Some(word);
    }
    Ok(words)
}

fn to_text(words: &Vocabulary) -> String {
    let escaped = |word: &str| word.replace('\\', "\\\\").replace('\n', "\\n") + "\n";
    words.iter().map(escaped).collect()
}

fn unescaped(line: &str) -> Option<String> {
    let mut word = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        word.push(match character {
            '\\' => match characters.next()? {
                'n' => '\n',
                '\\' => '\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_read_as_they_were_written(list in prop::collection::vec(".{0,4}|\\\\|\n", 0..9)) {
            let folder = tempfile::tempdir().unwrap();
            let mut words = Vocabulary::default();
            list.iter().for_each(|word| _ = words.intern(word));
            write(folder.path(), &words).unwrap();
            let found = read(folder.path(), "distinct", |_, _| true).unwrap();
            prop_assert_eq!(hash(&found), hash(&words));
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), words.iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn damage_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        for (text, line) in [("fox\nhen\nfox\n", 3), ("fox\n\\q\n", 2), ("hen\nfox\n", 2)] {
            fs::write(folder.path().join(FILE), text).unwrap();
            let read = read(folder.path(), "in alphabetical order", |last, word| last < word);
            let error = read.err().unwrap().to_string();
            let expected =
                format!("words.txt:{line}: damaged model: the words are not in alphabetical order");
            assert!(error.ends_with(&expected), "{error}");
        }
    }
}
