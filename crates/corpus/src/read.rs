//! Files → text: the books of a folder, and a book's text in UTF-8 with `\n` at the end of lines.
//!
//! Books are plain text, HTML or .epub files. Plain text that is HTML inside is read as such; other kinds of files
//! are refused by name.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

#[cfg(feature = "epub")]
use crate::epub;
use crate::{Error, author, encoding, markup};

/// The longest book in bytes: far more than any has, and a limit for devices and for files that never stop
/// unpacking.
pub(crate) const MAX_BOOK: usize = 256 << 20;

/// The extensions of books' files.
const EXTENSIONS: [&str; 5] = ["txt", "epub", "html", "htm", "xhtml"];

/// What a book's file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookFile {
    /// The text, lines ending in `\n`, paragraphs separated by empty lines.
    pub text: String,
    /// The author, from the name of the file (`AUTHOR___TITLE.txt`), the data of an .epub or HTML file, or the
    /// header of Project Gutenberg.
    pub author: Option<String>,
}

impl BookFile {
    /// Reads a book: an .epub file (feature `epub`) or HTML if its extension says so, else plain text.
    ///
    /// # Errors
    /// If the file is missing, a folder, unreadable, empty, too long, not text, or a corrupt .epub.
    pub fn read(path: &Path) -> Result<Self, Error> {
        if path.is_dir() {
            return Err(Error::Folder { path: path.into() });
        }
        let read = |file: File| {
            let mut bytes = Vec::new();
            file.take(MAX_BOOK as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
        };
        let bytes =
            File::open(path).and_then(read).map_err(|source| Error::reading(path, source))?;
        Self::from_bytes(&bytes, path)
    }

    /// Reads the bytes of a book's file, whose kind follows from the extension of its path.
    ///
    /// # Errors
    /// If it is empty, too long, not text, or a corrupt .epub.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        if bytes.len() > MAX_BOOK {
            return Err(Error::TooLong { path: path.into() });
        }
        let (text, author) = if has_extension(path, &["epub"]) {
            #[cfg(not(feature = "epub"))]
            return Err(Error::EpubUnsupported { path: path.into() });
            #[cfg(feature = "epub")]
            epub::text(bytes, path, MAX_BOOK)?
        } else {
            let text = plain_text(bytes, path)?;
            let is_named_so = has_extension(path, &["html", "htm", "xhtml"]);
            if markup::is_html(&text) || is_named_so && text.contains("</") {
                markup::text(&text)
            } else {
                (text, None)
            }
        };
        if text.trim().is_empty() {
            return Err(Error::Empty { path: path.into() });
        }
        let author = author::of_name(path).or(author).or_else(|| author::of_header(&text));
        Ok(Self { text, author })
    }
}

/// The books in a folder and below, in byte order of their paths; hidden ones are left out.
///
/// # Errors
/// If the folder is missing, unreadable, a file, or has no books.
pub fn books_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    if folder.is_file() {
        return Err(Error::NotAFolder { path: folder.into() });
    }
    let mut books = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|source| Error::reading(&folder, source))? {
            let entry = entry.map_err(|source| Error::reading(&folder, source))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(|source| Error::reading(&path, source))?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            // A link to a folder is not followed: it could lead back up.
            if kind.is_dir() {
                folders.push(path);
            } else if has_extension(&path, &EXTENSIONS) && path.is_file() {
                books.push(path);
            }
        }
    }
    if books.is_empty() {
        return Err(Error::NoBooks { path: folder.into() });
    }
    books.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
    Ok(books)
}

/// The name of a book's file without the extension, if it has one that books have; other dots belong to the name.
pub fn without_extension(name: &str) -> &str {
    let stem = name.rsplit_once('.').filter(|(_, extension)| {
        EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension))
    });
    stem.map_or(name, |(stem, _)| stem)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let found = path.extension();
    found.is_some_and(|found| extensions.iter().any(|known| found.eq_ignore_ascii_case(known)))
}

fn plain_text(bytes: &[u8], path: &Path) -> Result<String, Error> {
    if let Some(found) = other_kind(bytes) {
        return Err(Error::OtherKind { path: path.into(), found });
    }
    let text = with_line_feeds(encoding::decode(bytes));
    match first_of_too_many_controls(&text) {
        None => Ok(text),
        Some((index, character)) => {
            let line = 1 + text[..index].matches('\n').count();
            Err(Error::Binary { path: path.into(), line, character })
        }
    }
}

/// The kind of a file that is known by its first bytes and holds no plain text.
fn other_kind(bytes: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 5] = [
        (b"%PDF-", "a PDF file"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"{\\rtf", "an RTF document"),
        (b"\xd0\xcf\x11\xe0", "a Word document"),
        (b"\x1f\x8b", "a gzip archive"),
    ];
    let is_kindle = bytes.get(60..68).is_some_and(|bytes| bytes == b"BOOKMOBI");
    let kind = KINDS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| *kind);
    kind.or(is_kindle.then_some("a Kindle book"))
}

/// `\r\n` and lone `\r` become `\n`.
fn with_line_feeds(text: Cow<'_, str>) -> String {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text.into_owned()
    }
}

/// The first control character that does not belong in plain text, if one of them is NUL or there are many:
/// old files have a stray one here and there, and DOS's end-of-file mark.
fn first_of_too_many_controls(text: &str) -> Option<(usize, char)> {
    const MANY_IN: usize = 200;
    let is_odd = |&(_, c): &(usize, char)| c < ' ' && !matches!(c, '\t' | '\n' | '\x0c' | '\x1a');
    let mut odd = text.char_indices().filter(is_odd);
    let first = odd.next()?;
    let count = 1 + odd.count();
    (text.contains('\0') || count * MANY_IN > text.len()).then_some(first)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Result<String, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tale.txt");
        fs::write(&path, bytes).unwrap();
        BookFile::read(&path).map(|book| book.text)
    }

    /// An error's message without the folder, which differs from run to run.
    fn message(error: &Error, folder: &Path) -> String {
        error.to_string().replace(&folder.display().to_string(), "FOLDER")
    }

    #[test]
    fn every_encoding_gives_the_same_text() {
        let text = "“Né,” said the bear — twice…\nSo.";
        let utf_16: Vec<u8> = "\u{feff}“Né,” said the bear — twice…\r\nSo."
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let utf_16_be: Vec<u8> = "\u{feff}“Né,” said the bear — twice…\rSo."
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect();
        assert_eq!(read(text.as_bytes()).unwrap(), text);
        assert_eq!(read(format!("\u{feff}{text}").as_bytes()).unwrap(), text);
        assert_eq!(read(&utf_16).unwrap(), text);
        assert_eq!(read(&utf_16_be).unwrap(), text);
        assert_eq!(read(b"\x93N\xe9,\x94 said the bear \x97 twice\x85\r\nSo.").unwrap(), text);
    }

    #[test]
    fn a_wrong_byte_does_not_spoil_the_rest_of_a_text() {
        assert_eq!(read(b"\xe2\x80\x9cN\xe9,\xe2\x80\x9d said").unwrap(), "“Né,” said");
        assert_eq!(read(b"\xef\xbb\xbfN\xe9 said").unwrap(), "Né said");
        // A capital before a dash in Windows-1252 happens to be a character of UTF-8.
        assert_eq!(read(b"\x93CAF\xc9\x97\x94").unwrap(), "“CAFÉ—”");
        // An odd byte at the end of UTF-16.
        assert_eq!(read(b"\xff\xfeN\0o\0!").unwrap(), "No\u{fffd}");
    }

    #[test]
    fn a_book_has_an_end() {
        let path = Path::new("long.txt");
        assert!(matches!(
            BookFile::from_bytes(&vec![b'a'; MAX_BOOK + 1], path),
            Err(Error::TooLong { .. })
        ));
    }

    #[test]
    fn lines_end_in_line_feeds() {
        assert_eq!(read(b"a\r\nb\rc\n\r\nd").unwrap(), "a\nb\nc\n\nd");
    }

    #[test]
    fn what_is_not_a_book_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut messages = String::new();
        let mut note = |result: Result<BookFile, Error>| {
            let error = result.unwrap_err();
            messages += &format!("{}\n", message(&error, folder));
        };
        note(BookFile::read(&folder.join("missing.txt")));
        note(BookFile::read(folder));
        for (name, bytes) in [
            ("empty.txt", &b""[..]),
            ("blank.txt", b"\xef\xbb\xbf \r\n\n"),
            ("picture.txt", b"\x89PNG\r\n\x1a\nIHDR\x00\x00"),
            ("noise.txt", b"so\nfar \x01\x02 so good"),
            ("paper.txt", b"%PDF-1.4\n1 0 obj"),
            ("bears.txt", b"PK\x03\x04\x14\0"),
            ("letter.txt", b"{\\rtf1 Once}"),
            ("kindle.txt", b"123456789 123456789 123456789 123456789 123456789 123456789 BOOKMOBI"),
            ("pictures.html", b"<html><body><img src='bear.png'></body></html>"),
        ] {
            fs::write(folder.join(name), bytes).unwrap();
            note(BookFile::read(&folder.join(name)));
        }
        expect![[r#"
            FOLDER/missing.txt: no such file or folder
            FOLDER: expected a book, found a folder
            FOLDER/empty.txt: expected a book, found no text
            FOLDER/blank.txt: expected a book, found no text
            FOLDER/picture.txt:3: expected text, found control character U+0000
            FOLDER/noise.txt:2: expected text, found control character U+0001
            FOLDER/paper.txt: expected a book, found a PDF file
            FOLDER/bears.txt: expected a book, found a ZIP archive
            FOLDER/letter.txt: expected a book, found an RTF document
            FOLDER/kindle.txt: expected a book, found a Kindle book
            FOLDER/pictures.html: expected a book, found no text
        "#]]
        .assert_eq(&messages);
    }

    #[cfg(feature = "epub")]
    #[test]
    fn what_is_not_an_epub_file_is_an_error() {
        for bytes in [&b"Once upon a time"[..], b"PK\x03\x04 and no more"] {
            let error = BookFile::from_bytes(bytes, Path::new("cut.epub")).unwrap_err();
            expect!["cut.epub: corrupt .epub: invalid Zip archive: Could not find EOCD"]
                .assert_eq(&error.to_string());
        }
    }

    #[cfg(not(feature = "epub"))]
    #[test]
    fn without_support_for_epub_files_they_are_refused() {
        let error = BookFile::from_bytes(b"PK", Path::new("cut.epub")).unwrap_err();
        expect!["cut.epub: .epub files are not supported: this program was built without the feature `epub`"]
            .assert_eq(&error.to_string());
    }

    #[test]
    fn html_is_read_whatever_it_is_called() {
        let html = b"<html><head><meta name=author content='B. Bear'></head><body><h1>Bears</h1>\r\n<p>One.<p>Two.</html>";
        let author = Some("B. Bear".to_owned());
        let expected = BookFile { text: "Bears\n\nOne.\n\nTwo.\n".to_owned(), author };
        for name in ["bears.html", "bears.HTM", "bears.xhtml", "bears.txt", "bears"] {
            assert_eq!(BookFile::from_bytes(html, Path::new(name)).unwrap(), expected, "{name}");
        }
        let plain = BookFile::from_bytes(b"One\nbear & two < three", Path::new("a.html")).unwrap();
        assert_eq!(plain.text, "One\nbear & two < three");
    }

    #[test]
    fn the_name_of_a_file_names_the_author_before_its_header_does() {
        let text = b"Title: Bears\n\nAuthor: A. Wolf\n\n*** START OF THE PROJECT GUTENBERG EBOOK BEARS ***\n\nOnce.";
        let author = |name| BookFile::from_bytes(text, Path::new(name)).unwrap().author.unwrap();
        assert_eq!(author("books/B._Bear___Bears.txt"), "B. Bear");
        assert_eq!(author("bears.txt"), "A. Wolf");
    }

    #[test]
    fn a_name_loses_only_the_extension_of_a_book() {
        let names = ["Mr._Hen", "Mr._Hen.txt", "Mr._Hen.HTML", "hen.epub.htm"];
        assert_eq!(names.map(without_extension), ["Mr._Hen", "Mr._Hen", "Mr._Hen", "hen.epub"]);
    }

    #[test]
    fn a_stray_control_character_is_no_reason_to_refuse_a_book() {
        let text = format!("{}\u{1}{}\u{1a}", "bear ".repeat(50), "bowl ".repeat(50));
        assert_eq!(read(text.as_bytes()).unwrap(), text);
    }

    #[test]
    fn books_are_in_byte_order_of_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::create_dir(folder.join("more")).unwrap();
        for name in ["b.htm", "a.EPUB", "Z.txt", "more/c.HTML", ".hidden.txt", "notes.md"] {
            fs::write(folder.join(name), "x").unwrap();
        }
        let books = books_in(folder).unwrap();
        let names: Vec<_> = books.iter().map(|book| book.strip_prefix(folder).unwrap()).collect();
        assert_eq!(names, ["Z.txt", "a.EPUB", "b.htm", "more/c.HTML"].map(Path::new));
    }

    #[cfg(unix)]
    #[test]
    fn loops_of_links_and_names_that_are_not_text_do_no_harm() {
        use std::ffi::OsStr;
        use std::os::unix::{ffi::OsStrExt as _, fs::symlink};

        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        symlink(folder, folder.join("loop.txt")).unwrap();
        symlink(folder.join("nowhere"), folder.join("broken.txt")).unwrap();
        let odd = folder.join(OsStr::from_bytes(b"b\xe9ar.txt"));
        fs::write(&odd, "A bear.").unwrap();
        symlink(&odd, folder.join("link.txt")).unwrap();
        assert_eq!(books_in(folder).unwrap(), [odd, folder.join("link.txt")]);
        assert_eq!(BookFile::read(&folder.join("link.txt")).unwrap().text, "A bear.");
    }

    #[test]
    fn a_folder_without_books_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join("notes.md"), "x").unwrap();
        let errors = [
            books_in(folder).unwrap_err(),
            books_in(&folder.join("missing")).unwrap_err(),
            books_in(&folder.join("notes.md")).unwrap_err(),
        ];
        let messages = errors.map(|error| message(&error, folder)).join("\n");
        expect![[r#"
            FOLDER: no books: expected .txt, .html or .epub files in it or below
            FOLDER/missing: no such file or folder
            FOLDER/notes.md: expected a folder, found a file"#]]
        .assert_eq(&messages);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(text) = plain_text(&bytes, Path::new("any.txt")) {
                prop_assert!(!text.contains('\r'));
            }
            // Whatever the answer, it must not panic.
            for name in ["any.epub", "any.html"] {
                let _ = BookFile::from_bytes(&bytes, Path::new(name));
            }
        }
    }
}
