//! What can go wrong between a file and its tagged sentences; every message starts with the place, and a way out is in
//! [`Error::hint`].

use std::io;
use std::path::{Path, PathBuf};

use crate::read::MAX_BOOK;

/// A book or a tagger that can't be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing is there.
    #[error("{}: no such file or folder", path.display())]
    Missing {
        /// What was asked for.
        path: PathBuf,
    },
    /// A folder where one book was asked for.
    #[error("{}: expected a book, found a folder", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// A file where a folder was asked for.
    #[error("{}: expected a folder, found a file", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// A folder without books.
    #[error("{}: no books: expected .txt or .epub files in it or below", path.display())]
    NoBooks {
        /// The folder.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("{}: cannot be read or written", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// More text than any book has, or an .epub file that unpacks to more.
    #[error("{}: expected a book of at most {} MiB, found more", path.display(), MAX_BOOK >> 20)]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// No text at all.
    #[error("{}: expected a book, found no text", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Not a text file.
    #[error("{}:{line}: expected text, found control character U+{:04X}", path.display(), u32::from(*character))]
    Binary {
        /// The file.
        path: PathBuf,
        /// The line of the character, from 1 on.
        line: usize,
        /// The first character that no text has.
        character: char,
    },
    /// An .epub file that breaks the rules of its format.
    #[error("{}: damaged .epub: {reason}", path.display())]
    DamagedEpub {
        /// The file.
        path: PathBuf,
        /// What the reader of the format says.
        reason: String,
    },
    /// A line of a tagged book is not `word TAB pos TAB ner`.
    #[error(
        "{path}:{line}: expected `word`, tab, part of speech, tab, entity class; found `{found}`",
        path = .path.display()
    )]
    TaggedLine {
        /// The file.
        path: PathBuf,
        /// Line number from 1.
        line: usize,
        /// The line.
        found: String,
    },
    /// A tag that Stanford's tools don't have.
    #[error("{path}:{line}: unknown {kind}: `{found}`", path = .path.display())]
    UnknownTag {
        /// The file.
        path: PathBuf,
        /// Line number from 1.
        line: usize,
        /// Which of the two columns.
        kind: &'static str,
        /// The tag.
        found: String,
    },
    /// A tagger's weights are unusable.
    #[error("{place}: {damage}", place = place(.path.as_deref()))]
    Weights {
        /// The file; none where the bytes came from memory.
        path: Option<PathBuf>,
        /// What is wrong with them.
        damage: String,
    },
}

impl Error {
    /// Why something can't be read.
    pub(crate) fn reading(path: &Path, source: io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            _ => Self::Io { path, source },
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Missing { path } => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = folder.map_or(".".into(), |folder| folder.display().to_string());
                format!("is the name spelled right? `ls {folder}` shows what is there")
            }
            Self::Folder { path } => {
                format!("name one of the books in it: `ls {}` shows them", path.display())
            }
            Self::NoFolder { .. } => "name the folder that the file is in".into(),
            Self::NoBooks { .. } => {
                "books are recognised by their endings: rename plain text to `.txt`".into()
            }
            Self::Io { .. } => return None,
            Self::TooLong { .. } => "cut a collection into one file a book".into(),
            Self::TaggedLine { .. } | Self::UnknownTag { .. } => {
                "`goldilocks tag BOOK` shows how a tagged book is written".into()
            }
            Self::Weights { .. } => "make the weights again with `goldilocks train-tagger`".into(),
            Self::Empty { .. } => {
                "was the download interrupted? fetch the book again, or leave it out with `build --skip-bad`".into()
            },
            Self::Binary { path, .. } => {
                let ending = path.extension().and_then(|ending| ending.to_str());
                match ending {
                    Some("txt") => {
                        "is this a text file under a wrong name? an .epub file must end in `.epub`"
                    }
                    _ => "only plain text and .epub files can be read: convert the book first",
                }
                .into()
            }
            Self::DamagedEpub { .. } => {
                "fetch the book again, use its plain text (.txt), or leave it out with `build --skip-bad`".into()
            }
        })
    }
}

fn place(path: Option<&Path>) -> String {
    path.map_or("weights".into(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(error: Error, expected: Expect) {
        expected.assert_eq(&format!("error: {error}\nhint: {}", error.hint().unwrap_or_default()));
    }

    #[test]
    fn messages_about_files_name_the_place_and_the_way_out() {
        let path = PathBuf::from("tales/bears.txt");
        check(
            Error::Missing { path: path.clone() },
            expect![[r#"
            error: tales/bears.txt: no such file or folder
            hint: is the name spelled right? `ls tales` shows what is there"#]],
        );
        check(
            Error::Missing { path: "bears.txt".into() },
            expect![[r#"
            error: bears.txt: no such file or folder
            hint: is the name spelled right? `ls .` shows what is there"#]],
        );
        check(
            Error::Folder { path: "tales".into() },
            expect![[r#"
                error: tales: expected a book, found a folder
                hint: name one of the books in it: `ls tales` shows them"#]],
        );
        check(
            Error::NoFolder { path: path.clone() },
            expect![[r#"
            error: tales/bears.txt: expected a folder, found a file
            hint: name the folder that the file is in"#]],
        );
        check(
            Error::NoBooks { path: "tales".into() },
            expect![[r#"
            error: tales: no books: expected .txt or .epub files in it or below
            hint: books are recognised by their endings: rename plain text to `.txt`"#]],
        );
        check(
            Error::Io { path, source: io::ErrorKind::PermissionDenied.into() },
            expect![[r#"
                error: tales/bears.txt: cannot be read or written
                hint: "#]],
        );
    }

    #[test]
    fn messages_about_books_name_the_place_and_the_way_out() {
        let path = PathBuf::from("tales/bears.txt");
        check(
            Error::Empty { path: path.clone() },
            expect![[r#"
                error: tales/bears.txt: expected a book, found no text
                hint: was the download interrupted? fetch the book again, or leave it out with `build --skip-bad`"#]],
        );
        check(
            Error::Binary { path: path.clone(), line: 3, character: '\0' },
            expect![[r#"
                error: tales/bears.txt:3: expected text, found control character U+0000
                hint: is this a text file under a wrong name? an .epub file must end in `.epub`"#]],
        );
        check(
            Error::Binary { path: "bears.mobi".into(), line: 1, character: '\u{1}' },
            expect![[r#"
                error: bears.mobi:1: expected text, found control character U+0001
                hint: only plain text and .epub files can be read: convert the book first"#]],
        );
        check(
            Error::DamagedEpub { path: "bears.epub".into(), reason: "no container".into() },
            expect![[r#"
                error: bears.epub: damaged .epub: no container
                hint: fetch the book again, use its plain text (.txt), or leave it out with `build --skip-bad`"#]],
        );
        check(
            Error::TooLong { path },
            expect![[r#"
                error: tales/bears.txt: expected a book of at most 256 MiB, found more
                hint: cut a collection into one file a book"#]],
        );
    }

    #[test]
    fn messages_about_taggers_name_the_place_and_the_way_out() {
        let path = PathBuf::from("tales/bears.txt");
        check(
            Error::TaggedLine { path: path.clone(), line: 2, found: "bear NN".into() },
            expect![[r#"
                error: tales/bears.txt:2: expected `word`, tab, part of speech, tab, entity class; found `bear NN`
                hint: `goldilocks tag BOOK` shows how a tagged book is written"#]],
        );
        check(
            Error::UnknownTag { path, line: 2, kind: "entity class", found: "THING".into() },
            expect![[r#"
                error: tales/bears.txt:2: unknown entity class: `THING`
                hint: `goldilocks tag BOOK` shows how a tagged book is written"#]],
        );
        check(
            Error::Weights { path: Some("bears.tagger".into()), damage: "it is torn".into() },
            expect![[r#"
                error: bears.tagger: it is torn
                hint: make the weights again with `goldilocks train-tagger`"#]],
        );
    }
}
