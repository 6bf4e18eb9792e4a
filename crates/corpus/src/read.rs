//! Files → text: the books of a folder, and a book's text in UTF-8 with `\n` at the end of lines.
//!
//! Plain text may be UTF-8 with or without a byte-order mark, UTF-16 with one, or Windows-1252 (which
//! includes Latin-1 except for control characters); what is not even nearly UTF-8 is taken for the last.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::Error;
#[cfg(feature = "epub")]
use crate::epub;

/// The longest book in bytes: far more than any has, and a limit for devices and for files that never stop
/// unpacking.
pub(crate) const MAX_BOOK: usize = 256 << 20;

/// Reads a book's text, from an .epub file if its extension says so (feature `epub`), else from plain text.
///
/// # Errors
/// If the file is missing, a folder, unreadable, empty, too long, not text, or a corrupt .epub.
pub fn read_text(path: &Path) -> Result<String, Error> {
    if path.is_dir() {
        return Err(Error::Folder { path: path.into() });
    }
    let read = |file: File| {
        let mut bytes = Vec::new();
        file.take(MAX_BOOK as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
    };
    let bytes = File::open(path).and_then(read).map_err(|source| Error::reading(path, source))?;
    text_of(bytes, path)
}

/// The text in the bytes of a book's file, whose kind follows from the extension of its path.
///
/// # Errors
/// If it is empty, too long, not text, or a corrupt .epub.
pub fn text_of(bytes: Vec<u8>, path: &Path) -> Result<String, Error> {
    if bytes.len() > MAX_BOOK {
        return Err(Error::TooLong { path: path.into() });
    }
    let text = if has_ending(path, "epub") {
        #[cfg(not(feature = "epub"))]
        return Err(Error::EpubUnsupported { path: path.into() });
        #[cfg(feature = "epub")]
        epub::text(&bytes, path, MAX_BOOK)?
    } else {
        plain_text(&bytes, path)?
    };
    if text.trim().is_empty() {
        return Err(Error::Empty { path: path.into() });
    }
    Ok(text)
}

/// The .txt and .epub files in a folder and below, in byte order of their paths; hidden ones are left out.
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
            } else if (has_ending(&path, "txt") || has_ending(&path, "epub")) && path.is_file() {
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

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn plain_text(bytes: &[u8], path: &Path) -> Result<String, Error> {
    let text = with_line_feeds(decode(bytes));
    match first_of_too_many_controls(&text) {
        None => Ok(text),
        Some((index, character)) => {
            let line = 1 + text[..index].matches('\n').count();
            Err(Error::Binary { path: path.into(), line, character })
        }
    }
}

/// Decodes bytes as text, without the byte-order mark.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let (encoding, mark) = Encoding::for_bom(bytes).unwrap_or((UTF_8, 0));
    let bytes = &bytes[mark..];
    match encoding.decode_without_bom_handling_and_without_replacement(bytes) {
        Some(text) => text,
        None if encoding != UTF_8 => encoding.decode_without_bom_handling(bytes).0,
        None if mark > 0 || is_nearly_utf_8(bytes) => {
            let pieces = bytes.utf8_chunks().flat_map(|piece| {
                [piece.valid().into(), WINDOWS_1252.decode_without_bom_handling(piece.invalid()).0]
            });
            pieces.collect::<String>().into()
        }
        None => WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}

/// Returns whether there are more multi-byte characters of UTF-8 than invalid bytes: a UTF-8 file with a few
/// wrong bytes must not lose all its quotation marks.
fn is_nearly_utf_8(bytes: &[u8]) -> bool {
    let (mut right, mut wrong) = (0, 0);
    for piece in bytes.utf8_chunks() {
        right += piece.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += piece.invalid().len();
    }
    right > wrong
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
        read_text(&path)
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
        assert!(matches!(text_of(vec![b'a'; MAX_BOOK + 1], path), Err(Error::TooLong { .. })));
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
        let mut note = |result: Result<String, Error>| {
            let error = result.unwrap_err();
            messages += &format!("{}\n", message(&error, folder));
        };
        note(read_text(&folder.join("missing.txt")));
        note(read_text(folder));
        for (name, bytes) in [
            ("empty.txt", &b""[..]),
            ("blank.txt", b"\xef\xbb\xbf \r\n\n"),
            ("picture.txt", b"\x89PNG\r\n\x1a\nIHDR\x00\x00"),
            ("noise.txt", b"so\nfar \x01\x02 so good"),
        ] {
            fs::write(folder.join(name), bytes).unwrap();
            note(read_text(&folder.join(name)));
        }
        expect![[r#"
            FOLDER/missing.txt: no such file or folder
            FOLDER: expected a book, found a folder
            FOLDER/empty.txt: expected a book, found no text
            FOLDER/blank.txt: expected a book, found no text
            FOLDER/picture.txt:3: expected text, found control character U+0000
            FOLDER/noise.txt:2: expected text, found control character U+0001
        "#]]
        .assert_eq(&messages);
    }

    #[cfg(feature = "epub")]
    #[test]
    fn what_is_not_an_epub_file_is_an_error() {
        for bytes in [&b"Once upon a time"[..], b"PK\x03\x04 and no more"] {
            let error = text_of(bytes.to_vec(), Path::new("cut.epub")).unwrap_err();
            expect!["cut.epub: corrupt .epub: invalid Zip archive: Could not find EOCD"]
                .assert_eq(&error.to_string());
        }
    }

    #[cfg(not(feature = "epub"))]
    #[test]
    fn without_support_for_epub_files_they_are_refused() {
        let error = text_of(b"PK".to_vec(), Path::new("cut.epub")).unwrap_err();
        expect!["cut.epub: .epub files are not supported: this program was built without the feature `epub`"]
            .assert_eq(&error.to_string());
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
        for name in ["b.txt", "a.EPUB", "Z.txt", "more/c.txt", ".hidden.txt", "notes.md"] {
            fs::write(folder.join(name), "x").unwrap();
        }
        let books = books_in(folder).unwrap();
        let names: Vec<_> = books.iter().map(|book| book.strip_prefix(folder).unwrap()).collect();
        assert_eq!(names, ["Z.txt", "a.EPUB", "b.txt", "more/c.txt"].map(Path::new));
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
        assert_eq!(read_text(&folder.join("link.txt")).unwrap(), "A bear.");
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
            FOLDER: no books: expected .txt or .epub files in it or below
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
            let _ = text_of(bytes, Path::new("any.epub"));
        }
    }
}
