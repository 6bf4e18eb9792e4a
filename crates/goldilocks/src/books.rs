//! Where books come from, and the way from a file to a tagged [`Book`] (§2).

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use corpus::tales::{TALES, Tale};
use corpus::{Book, Tagger};
use questions::{Builder, Counts, QuestionSet, Rules, Split};

use crate::Result;
use crate::sets::sha256_of_file;

/// A book to be read: a file, or an embedded tale.
#[derive(Clone)]
pub enum Source {
    /// A .txt or .epub file.
    File(PathBuf),
    /// An embedded tale.
    Tale(&'static Tale),
}

/// The books at some paths, folders searched; the embedded tales where there is no path.
pub fn sources(paths: &[PathBuf]) -> Result<Vec<Source>> {
    if paths.is_empty() {
        return Ok(TALES.iter().map(Source::Tale).collect());
    }
    let mut sources = Vec::new();
    for path in paths {
        if path.is_dir() {
            sources.extend(corpus::books_in(path)?.into_iter().map(Source::File));
        } else {
            sources.push(Source::File(path.clone()));
        }
    }
    Ok(sources)
}

impl Source {
    /// The file's path or the tale's file name: for messages and splits.
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Tale(tale) => Path::new(tale.name),
        }
    }

    /// File name without folder and ending.
    pub fn name(&self) -> String {
        self.path().file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The text, with the SHA-256 of the file's bytes for the manifest. `cut` takes out what is not the tale itself:
    /// Project Gutenberg's header and licence, contents, captions.
    pub fn text(&self, cut: bool) -> Result<(String, String)> {
        let (text, sha256): (Cow<'static, str>, String) = match self {
            Self::File(path) => (corpus::read_text(path)?.into(), sha256_of_file(path)?),
            Self::Tale(tale) => (tale.text.into(), base::hash::sha256(tale.text.as_bytes())),
        };
        let text = if cut { corpus::gutenberg::cut(&text).into_owned() } else { text.into_owned() };
        Ok((text, sha256))
    }

    /// Reads, cuts, splits and tags the book.
    pub fn book(&self, cut: bool, tagger: &Tagger) -> Result<(Book, String)> {
        let (text, sha256) = self.text(cut)?;
        let sentences = tagger.tag(corpus::tokenise(&text));
        Ok((Book { name: self.name(), sentences }, sha256))
    }
}

/// All questions that the default rules make of a text, as the test split of a set of one book.
pub fn questions_from_text(name: &str, text: &str, seed: u64) -> Result<QuestionSet> {
    let tagger = Tagger::shipped();
    let known = |word: &str| tagger.knows(word);
    let builder = Builder::new(Rules::default(), seed, &known)?;
    let book = Book { name: name.to_owned(), sentences: tagger.tag(corpus::tokenise(text)) };
    let questions = builder.read(Path::new(name), &book, Split::Test)?;
    Ok(builder.finish(vec![questions], Counts::All)?.set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_book_is_that_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bears.txt");
        // In Windows-1252: reading changes the bytes.
        std::fs::write(&path, b"Three bears \x96 a caf\xe9.\r\n").unwrap();
        let (text, sha256) = Source::File(path).text(true).unwrap();
        assert_eq!(text.trim(), "Three bears – a café.");
        // printf 'Three bears \x96 a caf\xe9.\r\n' | sha256sum
        assert_eq!(sha256, "5f4c0afd781d9e326ebbb1ee458a74951410b1cb0936f9330d903226e2eee485");
    }
}
