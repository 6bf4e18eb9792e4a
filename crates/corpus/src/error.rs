//! What can go wrong between a file and its tagged sentences. Every message starts with the path, and
//! [`Error::remedy`] says what can be done.
#![expect(missing_docs, reason = "the message of a variant says what its fields are")]

use std::io;
use std::path::{Path, PathBuf};

use base::Remedy;

use crate::read::MAX_BOOK;

/// A book or a tagger that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("{}: no such file or folder", path.display())]
    Missing { path: PathBuf },
    #[error("{}: expected a book, found a folder", path.display())]
    Folder { path: PathBuf },
    #[error("{}: expected a folder, found a file", path.display())]
    NotAFolder { path: PathBuf },
    #[error("{}: no books: expected .txt, .html or .epub files in it or below", path.display())]
    NoBooks { path: PathBuf },
    #[error("{}: cannot be read or written", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// More text than any book has, or an .epub file that unpacks to more.
    #[error("{}: expected a book of at most {} MiB, found more", path.display(), MAX_BOOK >> 20)]
    TooLong { path: PathBuf },
    #[error("{}: expected a book, found no text", path.display())]
    Empty { path: PathBuf },
    /// A file of another kind, known by its first bytes.
    #[error("{}: expected a book, found {found}", path.display())]
    OtherKind { path: PathBuf, found: &'static str },
    #[error("{}:{line}: expected text, found control character U+{:04X}", path.display(), u32::from(*character))]
    Binary { path: PathBuf, line: usize, character: char },
    /// The library was compiled without the feature `epub`.
    #[error("{}: .epub files are not supported: this program was built without the feature `epub`", path.display())]
    EpubUnsupported { path: PathBuf },
    #[error("{}: corrupt .epub: {reason}", path.display())]
    CorruptEpub { path: PathBuf, reason: String },
    /// A line of a tagged book is not `word TAB pos TAB ner`.
    #[error(
        "{path}:{line}: expected `word`, tab, part of speech, tab, entity class; found `{found}`",
        path = .path.display()
    )]
    TaggedLine { path: PathBuf, line: usize, found: String },
    /// A tag that Stanford's tools do not have; `kind` is the column.
    #[error("{path}:{line}: unknown {kind}: `{found}`", path = .path.display())]
    UnknownTag { path: PathBuf, line: usize, kind: &'static str, found: String },
    /// A tagger's weights are unusable; without a path if they came from memory.
    #[error("{}: {reason}", path_or_weights(path.as_deref()))]
    Weights { path: Option<PathBuf>, reason: String },
}

impl Error {
    /// Why something cannot be read.
    pub(crate) fn reading(path: &Path, source: io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            _ => Self::Io { path, source },
        }
    }

    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Missing { .. } => Remedy::advice("check the spelling of the path"),
            Self::Folder { .. } => Remedy::advice("name one of the books in it"),
            Self::NotAFolder { .. } => Remedy::advice("name the folder that the file is in"),
            Self::NoBooks { .. } => Remedy::advice(
                "books are recognised by their extensions: rename plain text to `.txt`",
            ),
            Self::Io { .. } => return None,
            Self::TooLong { .. } => Remedy::advice("cut a collection into one file per book"),
            Self::TaggedLine { .. } | Self::UnknownTag { .. } => Remedy::TagBooks,
            Self::Weights { .. } => Remedy::TrainTagger,
            Self::Empty { .. } => Remedy::ReplaceBook { plain_text: false },
            Self::CorruptEpub { .. } => Remedy::ReplaceBook { plain_text: true },
            Self::EpubUnsupported { .. } => Remedy::advice("use the book's plain text (.txt)"),
            Self::Binary { path, .. } if path.extension().is_some_and(|found| found == "txt") => {
                Remedy::advice(
                    "check that it is a text file; the name of an .epub file must end in `.epub`",
                )
            }
            Self::OtherKind { found: "a ZIP archive", .. } => {
                Remedy::advice("unpack it first; the name of an .epub file must end in `.epub`")
            }
            Self::Binary { .. } | Self::OtherKind { .. } => Remedy::advice(
                "plain text, HTML and .epub files can be read: convert the book to one of them",
            ),
        })
    }
}

fn path_or_weights(path: Option<&Path>) -> String {
    path.map_or("weights".into(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(error: Error, expected: Expect) {
        expected.assert_eq(&format!(
            "error: {error}\nhint: {}",
            error.remedy().map_or(String::new(), |remedy| remedy.to_string())
        ));
    }

    #[test]
    fn messages_about_files_name_the_path_and_a_remedy() {
        let path = PathBuf::from("tales/bears.txt");
        check(
            Error::Missing { path: path.clone() },
            expect![[r#"
                error: tales/bears.txt: no such file or folder
                hint: check the spelling of the path"#]],
        );
        check(
            Error::Missing { path: "bears.txt".into() },
            expect![[r#"
                error: bears.txt: no such file or folder
                hint: check the spelling of the path"#]],
        );
        check(
            Error::Folder { path: "tales".into() },
            expect![[r#"
                error: tales: expected a book, found a folder
                hint: name one of the books in it"#]],
        );
        check(
            Error::NotAFolder { path: path.clone() },
            expect![[r#"
            error: tales/bears.txt: expected a folder, found a file
            hint: name the folder that the file is in"#]],
        );
        check(
            Error::NoBooks { path: "tales".into() },
            expect![[r#"
                error: tales: no books: expected .txt, .html or .epub files in it or below
                hint: books are recognised by their extensions: rename plain text to `.txt`"#]],
        );
        check(
            Error::Io { path, source: io::ErrorKind::PermissionDenied.into() },
            expect![[r#"
                error: tales/bears.txt: cannot be read or written
                hint: "#]],
        );
    }

    #[test]
    fn messages_about_books_name_the_path_and_a_remedy() {
        let path = PathBuf::from("tales/bears.txt");
        check(
            Error::Empty { path: path.clone() },
            expect![[r#"
                error: tales/bears.txt: expected a book, found no text
                hint: fetch the book again, or leave it out"#]],
        );
        check(
            Error::Binary { path: path.clone(), line: 3, character: '\0' },
            expect![[r#"
                error: tales/bears.txt:3: expected text, found control character U+0000
                hint: check that it is a text file; the name of an .epub file must end in `.epub`"#]],
        );
        check(
            Error::Binary { path: "bears.mobi".into(), line: 1, character: '\u{1}' },
            expect![[r#"
                error: bears.mobi:1: expected text, found control character U+0001
                hint: plain text, HTML and .epub files can be read: convert the book to one of them"#]],
        );
        check(
            Error::OtherKind { path: "bears.txt".into(), found: "a PDF file" },
            expect![[r#"
                error: bears.txt: expected a book, found a PDF file
                hint: plain text, HTML and .epub files can be read: convert the book to one of them"#]],
        );
        check(
            Error::CorruptEpub { path: "bears.epub".into(), reason: "no container".into() },
            expect![[r#"
                error: bears.epub: corrupt .epub: no container
                hint: fetch the book again, use its plain text (.txt), or leave it out"#]],
        );
        check(
            Error::TooLong { path },
            expect![[r#"
                error: tales/bears.txt: expected a book of at most 256 MiB, found more
                hint: cut a collection into one file per book"#]],
        );
    }

    #[test]
    fn messages_about_taggers_name_the_path_and_a_remedy() {
        let path = PathBuf::from("tales/bears.txt");
        check(
            Error::TaggedLine { path: path.clone(), line: 2, found: "bear NN".into() },
            expect![[r#"
                error: tales/bears.txt:2: expected `word`, tab, part of speech, tab, entity class; found `bear NN`
                hint: tag books to get files of the right form"#]],
        );
        check(
            Error::UnknownTag { path, line: 2, kind: "entity class", found: "THING".into() },
            expect![[r#"
                error: tales/bears.txt:2: unknown entity class: `THING`
                hint: tag books to get files of the right form"#]],
        );
        check(
            Error::Weights { path: Some("bears.tagger".into()), reason: "it is torn".into() },
            expect![[r#"
                error: bears.tagger: it is torn
                hint: train the tagger again"#]],
        );
    }
}
