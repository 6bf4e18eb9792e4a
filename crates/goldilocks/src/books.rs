//! Where books come from, and the way from a file to a tagged [`Book`] (§2).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use corpus::tales::{TALES, Tale};
use corpus::{Book, BookFile, Tagger, author_key};
use questions::{Builder, Counts, QuestionSet, Rules, Split};

use crate::Result;
use crate::sets::sha256_of_file;

/// A book to be read: a file, an embedded tale, or a text at hand.
#[derive(Clone)]
pub enum Source {
    /// A .txt, .html or .epub file.
    File(PathBuf),
    /// Such a file with a name of its own, because others are called the same.
    NamedFile {
        /// The path of the file.
        path: PathBuf,
        /// What the book is called.
        name: String,
    },
    /// A .txt file of words with their tags.
    Tagged(PathBuf),
    /// An embedded tale.
    Tale(&'static Tale),
    /// A text with its name.
    Text(TextBook),
}

/// A book whose text is at hand.
#[derive(Clone, Debug)]
pub struct TextBook {
    /// What it is called in splits and questions.
    pub name: String,
    /// What is read of it, as plain text.
    pub text: Arc<str>,
}

/// The tagged books at some paths, folders searched for .txt files.
pub fn tagged_sources(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let is_text = |path: &Path| path.extension().is_some_and(|ending| ending == "txt");
    let found = sources(paths)?.into_iter().filter_map(|source| match source {
        Source::File(path) | Source::NamedFile { path, .. }
            if is_text(&path) || paths.contains(&path) =>
        {
            Some(Source::Tagged(path))
        }
        _ => None,
    });
    Ok(found.collect())
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
    Ok(with_folders(sources))
}

/// Files of one name in several folders get the name of their folder before their own: `carroll__alice`.
fn with_folders(sources: Vec<Source>) -> Vec<Source> {
    let mut n_called: BTreeMap<String, usize> = BTreeMap::new();
    sources.iter().for_each(|source| *n_called.entry(source.name()).or_default() += 1);
    let with_folder = |source: Source| match source {
        Source::File(path) if n_called[&Source::File(path.clone()).name()] > 1 => {
            let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
            let folder = absolute.parent().and_then(Path::file_name).unwrap_or_default();
            let name =
                format!("{}__{}", folder.to_string_lossy(), Source::File(path.clone()).name());
            Source::NamedFile { path, name }
        }
        other => other,
    };
    sources.into_iter().map(with_folder).collect()
}

impl Source {
    /// The file's path or the tale's file name: for messages and splits.
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::NamedFile { path, .. } | Self::Tagged(path) => path,
            Self::Tale(tale) => Path::new(tale.name),
            Self::Text(book) => Path::new(&book.name),
        }
    }

    /// File name without folder and ending, of a tagged book also without its split; or the name of a text.
    pub fn name(&self) -> String {
        let name = self.path().file_stem().unwrap_or_default().to_string_lossy();
        match (self, split_and_title(&name)) {
            (Self::Text(book), _) => book.name.clone(),
            (Self::NamedFile { name, .. }, _) => name.clone(),
            (Self::Tagged(_), Some((_, title))) => title.to_owned(),
            _ => name.into_owned(),
        }
    }

    /// The split that the name of a tagged book gives: `SPLIT__BOOK.txt`.
    pub fn split(&self) -> Option<Split> {
        let name = self.path().file_stem()?.to_string_lossy();
        matches!(self, Self::Tagged(_)).then(|| split_and_title(&name))?.map(|(split, _)| split)
    }

    /// Who wrote it, in a spelling that all books of an author share, if its name or its text says so.
    pub fn author(&self) -> Result<Option<String>> {
        let author = match self {
            Self::File(path) | Self::NamedFile { path, .. } => BookFile::read(path)?.author,
            Self::Tagged(_) | Self::Tale(_) | Self::Text(_) => {
                corpus::author_of_name(Path::new(&format!("{}.txt", self.name())))
            }
        };
        Ok(author.map(|author| author_key(&author)))
    }

    /// The text, with the SHA-256 of the file's bytes for the manifest: all of it as in the released CBT, or without
    /// what is not the tale itself, which is Project Gutenberg's header and licence, contents and captions.
    pub fn text(&self, as_released: bool) -> Result<(String, String)> {
        let (text, sha256): (Cow<'static, str>, String) = match self {
            Self::File(path) | Self::NamedFile { path, .. } | Self::Tagged(path) => {
                (BookFile::read(path)?.text.into(), sha256_of_file(path)?)
            }
            Self::Tale(tale) => (tale.text.into(), base::hash::sha256(tale.text.as_bytes())),
            Self::Text(TextBook { text, .. }) => {
                (text.to_string().into(), base::hash::sha256(text.as_bytes()))
            }
        };
        let text =
            if as_released { text } else { corpus::gutenberg::cut(&text).into_owned().into() };
        Ok((text.into_owned(), sha256))
    }

    /// Reads the book, splits it into sentences, of which none runs over a heading unless the released ones did, and
    /// tags it. A tagged book is taken as it is.
    pub fn book(&self, as_released: bool, tagger: &Tagger) -> Result<(Book, String)> {
        if let Self::Tagged(path) = self {
            let book = Book { name: self.name(), ..Book::read_tagged(path)? };
            return Ok((book, sha256_of_file(path)?));
        }
        let (text, sha256) = self.text(as_released)?;
        let tokenise = if as_released { corpus::tokenise } else { corpus::tokenise_paragraphs };
        Ok((Book { name: self.name(), sentences: tagger.tag(tokenise(&text)) }, sha256))
    }
}

fn split_and_title(name: &str) -> Option<(Split, &str)> {
    let (split, title) = name.split_once("__")?;
    Some((Split::from_code(split)?, title))
}

/// All questions that the default rules make of a text, as the test split of a set of one book.
pub fn questions_from_text(name: &str, text: &str, seed: u64) -> Result<QuestionSet> {
    let tagger = Tagger::shipped();
    let known = |word: &str| tagger.knows(word);
    let builder = Builder::new(Rules::default(), seed, &known)?;
    let book =
        Book { name: name.to_owned(), sentences: tagger.tag(corpus::tokenise_paragraphs(text)) };
    let questions = builder.questions_of(Path::new(name), &book, Split::Test)?;
    Ok(builder.finish(vec![questions], Counts::All)?.set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tagged_book_is_read_as_it_is_and_its_name_has_its_split() {
        let folder = tempfile::tempdir().unwrap();
        let tagged = "Ann\tNNP\tPERSON\nran\tVBD\tO\n\n";
        for name in ["valid__A__hen.txt", "fox.txt", "notes.md"] {
            std::fs::write(folder.path().join(name), tagged).unwrap();
        }
        let sources = tagged_sources(&[folder.path().to_owned()]).unwrap();
        let named: Vec<_> = sources.iter().map(|s| (s.name(), s.split())).collect();
        assert_eq!(named, [("fox".to_owned(), None), ("A__hen".to_owned(), Some(Split::Valid))]);
        let (book, _) = sources[1].book(true, Tagger::shipped()).unwrap();
        assert_eq!((book.name.as_str(), book.to_tagged().as_str()), ("A__hen", tagged));
    }

    #[test]
    fn files_of_one_name_are_called_after_their_folders() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/alice.txt", "b/alice.html", "b/hen.txt"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "Alice ran.\n").unwrap();
        }
        let sources = sources(&[folder.path().to_owned()]).unwrap();
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        assert_eq!(names, ["a__alice", "b__alice", "hen"]);
        assert!(sources[0].text(false).unwrap().0.contains("Alice"));
    }

    #[test]
    fn the_author_is_in_the_name_of_a_file_or_in_its_header() {
        let folder = tempfile::tempdir().unwrap();
        let author = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            Source::File(path).author().unwrap()
        };
        let named = author("Lewis_Carroll___Alice.txt", "Alice ran.");
        assert_eq!(named.as_deref(), Some("carroll lewis"));
        assert_eq!(author("alice.txt", "Author: Lewis Carroll\n\nAlice ran."), named);
        assert_eq!(author("hen.txt", "A hen ran."), None);
        let tale = Source::Text(TextBook { name: "hen".to_owned(), text: "A hen ran.".into() });
        assert_eq!(tale.author().unwrap(), None);
    }

    #[test]
    fn the_hash_of_a_book_is_that_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bears.txt");
        // In Windows-1252: reading changes the bytes.
        std::fs::write(&path, b"Three bears \x96 a caf\xe9.\r\n").unwrap();
        let (text, sha256) = Source::File(path).text(false).unwrap();
        assert_eq!(text.trim(), "Three bears – a café.");
        // printf 'Three bears \x96 a caf\xe9.\r\n' | sha256sum
        assert_eq!(sha256, "5f4c0afd781d9e326ebbb1ee458a74951410b1cb0936f9330d903226e2eee485");
    }
}
