//! An .epub file → plain text: the chapters in reading order, paragraphs and headings with empty lines
//! between them.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::{Cursor, Read as _};
use std::path::Path;

use html5gum::{StartTag, Token};
use zip::ZipArchive;

use crate::markup::{Paragraphs, attribute, local_name, tokens};
use crate::{Error, encoding};

/// Where every .epub file names its package document.
const CONTAINER: &str = "META-INF/container.xml";

/// The text of an .epub file of which no more than `limit` bytes need to be unpacked, and its author if it names
/// one.
pub(crate) fn text(
    bytes: &[u8],
    path: &Path,
    limit: usize,
) -> Result<(String, Option<String>), Error> {
    chapters(bytes, limit).map_err(|error| match error {
        EpubError::TooLong => Error::TooLong { path: path.into() },
        EpubError::Corrupt(reason) => Error::CorruptEpub { path: path.into(), reason },
    })
}

/// Why a book cannot be read.
enum EpubError {
    TooLong,
    Corrupt(String),
}

impl EpubError {
    fn within(self, part: &str) -> Self {
        match self {
            Self::Corrupt(reason) => Self::Corrupt(format!("{part}: {reason}")),
            Self::TooLong => self,
        }
    }
}

fn chapters(bytes: &[u8], limit: usize) -> Result<(String, Option<String>), EpubError> {
    let zip = ZipArchive::new(Cursor::new(bytes));
    let zip = zip.map_err(|error| EpubError::Corrupt(error.to_string()))?;
    let mut archive = Archive { zip, left: limit };
    let package_path =
        package_path(&archive.read(CONTAINER)?).map_err(|error| error.within(CONTAINER))?;
    let Package { files, spine, author } = Package::read(&archive.read(&package_path)?);
    let mut paragraphs = Paragraphs::default();
    for (number, id) in (1..).zip(&spine) {
        let mut read_next = || {
            let Some((href, media_type)) = files.get(id) else {
                return Err(EpubError::Corrupt(format!("no file is listed as `{id}`")));
            };
            // A cover may be a picture without a page around it.
            if !media_type.starts_with("image/") {
                paragraphs.read(&archive.read(&resolve(&package_path, href))?);
            }
            Ok(())
        };
        read_next().map_err(|error| error.within(&format!("chapter {number}")))?;
    }
    Ok((paragraphs.text, author))
}

struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// How many more bytes may be unpacked, whatever sizes the archive states; a file counts each time that
    /// it is read.
    left: usize,
}

impl Archive<'_> {
    fn read(&mut self, name: &str) -> Result<String, EpubError> {
        let in_file = |reason: &dyn Display| EpubError::Corrupt(format!("{name}: {reason}"));
        let file = self.zip.by_name(name).map_err(|error| in_file(&error))?;
        let mut bytes = Vec::new();
        let read = file.take(self.left as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| in_file(&error))?;
        self.left = self.left.checked_sub(bytes.len()).ok_or(EpubError::TooLong)?;
        Ok(encoding::decode(&bytes).into_owned())
    }
}

/// The path of the package document, which the container names.
fn package_path(container: &str) -> Result<String, EpubError> {
    let is_root = |tag: &StartTag<()>| local_name(&tag.name) == "rootfile";
    let mut roots = tokens(container).filter_map(|token| match token {
        Token::StartTag(tag) if is_root(&tag) => attribute(&tag, "full-path").map(String::from),
        _ => None,
    });
    roots.next().ok_or_else(|| EpubError::Corrupt("no package document is named".to_owned()))
}

/// What the package document says: which files there are, in which order they are read, and who wrote them.
#[derive(Default)]
struct Package {
    /// Id → reference relative to the package document, and media type.
    files: HashMap<String, (String, String)>,
    spine: Vec<String>,
    author: Option<String>,
}

impl Package {
    fn read(xml: &str) -> Self {
        let mut package = Self::default();
        let mut is_creator = false;
        for token in tokens(xml) {
            match token {
                Token::StartTag(tag) => {
                    let [id, href, media_type, idref] = ["id", "href", "media-type", "idref"]
                        .map(|name| attribute(&tag, name).unwrap_or_default().into_owned());
                    match local_name(&tag.name) {
                        "item" => drop(package.files.insert(id, (href, media_type))),
                        "itemref" => package.spine.push(idref),
                        "creator" => is_creator = true,
                        _ => {}
                    }
                }
                Token::String(text) if is_creator && package.author.is_none() => {
                    package.author = Some(String::from_utf8_lossy(&text).trim().to_owned());
                }
                Token::EndTag(_) => is_creator = false,
                _ => {}
            }
        }
        package
    }
}

/// The path in the archive of a reference relative to a file.
fn resolve(file: &str, href: &str) -> String {
    let href = percent_decoded(href.split('#').next().unwrap_or_default());
    let folder = if href.starts_with('/') { "" } else { file.rsplit_once('/').map_or("", |f| f.0) };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(href.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// `%20` → a space, and so on; what is not such a code stays.
fn percent_decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(b'%'));
        bytes.extend(&part.as_bytes()[if code.is_some() { 2 } else { 0 }..]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use expect_test::expect;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    /// An .epub file whose package lists chapters as (file name, content).
    fn book(chapters: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let mut add = |name: &str, content: &[u8]| {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(content).unwrap();
        };
        add("mimetype", b"application/epub+zip");
        add(
            CONTAINER,
            b"<container><rootfiles><rootfile full-path='OEBPS/a%.opf'/></rootfiles></container>",
        );
        let tags = |tag: &dyn Fn(usize, &str) -> String| -> String {
            (0..).zip(chapters).map(|(number, chapter)| tag(number, chapter.0)).collect()
        };
        let items = tags(&|number, href| {
            format!("<item id='c{number}' href='{href}' media-type='application/xhtml+xml'/>")
        });
        let spine = tags(&|number, _| format!("<opf:itemref idref='c{number}'/>"));
        let package = format!(
            "<package><metadata><dc:title>Bears</dc:title><dc:creator id='a'>B. Bear</dc:creator></metadata>\
             <manifest>{items}<item id='cover' href='no.png' media-type='image/png'/>\
             </manifest><spine><itemref idref='cover'/>{spine}</spine></package>"
        );
        add("OEBPS/a%.opf", package.as_bytes());
        for (href, content) in chapters {
            add(&resolve("OEBPS/a%.opf", href), content);
        }
        zip.finish().unwrap().into_inner()
    }

    fn read(bytes: &[u8], limit: usize) -> Result<String, String> {
        let read = text(bytes, Path::new("bears.epub"), limit);
        read.map(|(text, _)| text).map_err(|error| error.to_string())
    }

    #[test]
    fn chapters_are_in_reading_order_wherever_their_files_are() {
        let bytes = book(&[
            ("z.xhtml", b"<h2>I. Home</h2><p>One bear.</p>"),
            ("../Text/a%20b.xhtml", b"<p>Two bears.</p>"),
        ]);
        assert_eq!(read(&bytes, 1 << 20).unwrap(), "I. Home\n\nOne bear.\n\nTwo bears.\n");
        let (_, author) = text(&bytes, Path::new("bears.epub"), 1 << 20).unwrap();
        assert_eq!(author.as_deref(), Some("B. Bear"));
        assert_eq!(resolve("OEBPS/a.opf", "../Text/a%20b.xhtml#i"), "Text/a b.xhtml");
        assert_eq!(resolve("a.opf", "./100%.xhtml"), "100%.xhtml");
    }

    #[test]
    fn a_chapter_may_be_written_in_windows_1252() {
        let bytes = book(&[("a.xhtml", b"<p>\x93N\xe9e\x94</p>")]);
        assert_eq!(read(&bytes, 1 << 20).unwrap(), "“Née”\n");
    }

    #[test]
    fn a_small_file_that_unpacks_to_a_large_one_is_refused() {
        let bear = format!("<p>{}</p>", "bear ".repeat(100_000));
        let bytes = book(&[("a.xhtml", bear.as_bytes())]);
        assert!(bytes.len() < 20_000);
        assert!(read(&bytes, 1 << 20).is_ok());
        expect!["bears.epub: expected a book of at most 256 MiB, found more"]
            .assert_eq(&read(&bytes, 400_000).unwrap_err());
    }

    #[test]
    fn what_is_missing_is_named() {
        let without = |name: &str| {
            let mut zip =
                ZipArchive::new(Cursor::new(book(&[("a.xhtml", b"<p>Bear</p>")]))).unwrap();
            let mut less = ZipWriter::new(Cursor::new(Vec::new()));
            for index in 0..zip.len() {
                let file = zip.by_index_raw(index).unwrap();
                if file.name().unwrap() != name {
                    less.raw_copy_file(file).unwrap();
                }
            }
            read(&less.finish().unwrap().into_inner(), 1 << 20).unwrap_err() + "\n"
        };
        let messages = [CONTAINER, "OEBPS/a%.opf", "OEBPS/a.xhtml"].map(without).concat();
        expect![[r#"
            bears.epub: corrupt .epub: META-INF/container.xml: specified file not found in archive
            bears.epub: corrupt .epub: OEBPS/a%.opf: specified file not found in archive
            bears.epub: corrupt .epub: chapter 2: OEBPS/a.xhtml: specified file not found in archive
        "#]]
        .assert_eq(&messages);
    }
}
