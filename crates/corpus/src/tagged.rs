//! Tagged books as files: `word TAB pos TAB ner`, a blank line after each sentence.

use std::{fmt::Write as _, path::Path};

use crate::{Book, Entity, Error, PartOfSpeech, Word};

impl Book {
    /// Reads a tagged book; its name is the file's, without folder and ending.
    ///
    /// # Errors
    /// If the file can't be read, or a line of it is not a word with its two tags.
    pub fn read_tagged(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::Io { path: path.to_owned(), source })?;
        let mut sentences = vec![Vec::new()];
        for (line, found) in (1..).zip(text.lines()) {
            if !found.is_empty() {
                let word = parse_line(found, path, line)?;
                sentences.last_mut().expect("it begins with one").push(word);
            } else if sentences.last().is_some_and(|sentence| !sentence.is_empty()) {
                sentences.push(Vec::new());
            }
        }
        sentences.pop_if(|sentence| sentence.is_empty());
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, sentences })
    }

    /// The book in the form that [`Book::read_tagged`] reads.
    pub fn to_tagged(&self) -> String {
        let mut text = String::new();
        for sentence in &self.sentences {
            for Word { text: word, pos, entity } in sentence {
                writeln!(text, "{word}\t{}\t{}", pos.name(), entity.name())
                    .expect("a string takes any text");
            }
            text.push('\n');
        }
        text
    }
}

fn parse_line(found: &str, path: &Path, line: usize) -> Result<Word, Error> {
    let fields: Vec<&str> = found.split('\t').collect();
    let [text, pos, entity] = fields[..] else {
        return Err(Error::TaggedLine { path: path.to_owned(), line, found: found.to_owned() });
    };
    let unknown = |kind, tag: &str| Error::UnknownTag {
        path: path.to_owned(),
        line,
        kind,
        found: tag.to_owned(),
    };
    Ok(Word {
        text: text.to_owned(),
        pos: PartOfSpeech::from_name(pos).ok_or_else(|| unknown("part of speech", pos))?,
        entity: Entity::from_name(entity).ok_or_else(|| unknown("entity class", entity))?,
    })
}
