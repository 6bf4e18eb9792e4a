//! Tagged books as files: `word TAB pos TAB ner`, a blank line after each sentence.

use std::{fmt::Write as _, path::Path};

use crate::{Book, Entity, Error, PartOfSpeech, Word};

impl Book {
    /// Reads a tagged book; its name is the file's, without folder and ending.
    ///
    /// # Errors
    /// If the file cannot be read, or a line of it is not a word with its two tags.
    pub fn read_tagged(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::reading(path, source))?;
        Self::from_tagged(&text, path)
    }

    /// Reads the text of a tagged book's file.
    ///
    /// # Errors
    /// If a line is not a word with its two tags.
    pub fn from_tagged(text: &str, path: &Path) -> Result<Self, Error> {
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
    let (&[text, pos, entity], false) = (&fields[..], found.starts_with('\t')) else {
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

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Book, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tale.txt");
        std::fs::write(&path, text).unwrap();
        let shown = format!("{}/", folder.path().display());
        Book::read_tagged(&path).map_err(|error| error.to_string().replace(&shown, ""))
    }

    #[test]
    fn blank_lines_end_sentences_however_many_there_are() {
        let book = read("\n\nAda\tNNP\tPERSON\nran\tVBD\tO\n\n\n.\t.\tO").unwrap();
        assert_eq!(book.name, "tale");
        assert_eq!(book.to_tagged(), "Ada\tNNP\tPERSON\nran\tVBD\tO\n\n.\t.\tO\n\n");
        assert!(read("").unwrap().sentences.is_empty());
    }

    #[test]
    fn errors_name_file_and_line() {
        let errors =
            ["a\tDT\tO\nbear\tNN\n", "a\tDET\tO\n", "a\tDT\tTHING\n", "a\tDT\tO\tx", "\tDT\tO"];
        let errors = errors.map(|text| read(text).unwrap_err());
        expect![[r#"
            tale.txt:2: expected `word`, tab, part of speech, tab, entity class; found `bear	NN`
            tale.txt:1: unknown part of speech: `DET`
            tale.txt:1: unknown entity class: `THING`
            tale.txt:1: expected `word`, tab, part of speech, tab, entity class; found `a	DT	O	x`
            tale.txt:1: expected `word`, tab, part of speech, tab, entity class; found `	DT	O`"#]]
        .assert_eq(&errors.join("\n"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            sentences in prop::collection::vec(
                prop::collection::vec(("[^\\t\\r\\n]{1,5}", 0..PartOfSpeech::COUNT, 0..Entity::COUNT), 1..5),
                0..5,
            ),
        ) {
            let word = |(text, pos, entity)| Word {
                text,
                pos: PartOfSpeech::from_index(pos).unwrap(),
                entity: Entity::from_index(entity).unwrap(),
            };
            let sentences: Vec<Vec<Word>> =
                sentences.into_iter().map(|sentence| sentence.into_iter().map(word).collect()).collect();
            let book = Book { name: "tale".into(), sentences };
            prop_assert_eq!(read(&book.to_tagged()).unwrap(), book);
        }
    }
}
