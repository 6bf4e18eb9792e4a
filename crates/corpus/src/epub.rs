//! An .epub file → plain text: the chapters in reading order, paragraphs and headings with empty lines
//! between them.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::{Cursor, Read as _};
use std::path::Path;

use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;

use crate::{Error, read};

/// Where every .epub file names its package document.
const CONTAINER: &str = "META-INF/container.xml";

/// Elements whose text is not the book's.
const SKIPPED: [&str; 7] = ["head", "nav", "noscript", "script", "style", "svg", "template"];

/// Elements within a line; every other one is a paragraph or contains some.
const INLINE: [&str; 37] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "img", "ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// The text of an .epub file of which no more than `limit` bytes need to be unpacked.
pub(crate) fn text(bytes: &[u8], path: &Path, limit: usize) -> Result<String, Error> {
    chapters(bytes, limit).map_err(|failure| match failure {
        Failure::TooLong => Error::TooLong { path: path.into() },
        Failure::Corrupt(reason) => Error::CorruptEpub { path: path.into(), reason },
    })
}

/// Why a book cannot be read.
enum Failure {
    TooLong,
    Corrupt(String),
}

impl From<quick_xml::Error> for Failure {
    fn from(error: quick_xml::Error) -> Self {
        Self::Corrupt(error.to_string())
    }
}

impl Failure {
    fn within(self, place: &str) -> Self {
        match self {
            Self::Corrupt(reason) => Self::Corrupt(format!("{place}: {reason}")),
            Self::TooLong => self,
        }
    }
}

fn chapters(bytes: &[u8], limit: usize) -> Result<String, Failure> {
    let zip = ZipArchive::new(Cursor::new(bytes));
    let zip = zip.map_err(|error| Failure::Corrupt(error.to_string()))?;
    let mut archive = Archive { zip, left: limit };
    let package_path = package_path(&archive.read(CONTAINER)?).map_err(|f| f.within(CONTAINER))?;
    let package = Package::read(&archive.read(&package_path)?);
    let Package { files, spine } = package.map_err(|failure| failure.within(&package_path))?;
    let mut paragraphs = Paragraphs::default();
    for (number, id) in (1..).zip(&spine) {
        let mut read_next = || {
            let Some((href, media_type)) = files.get(id) else {
                return Err(Failure::Corrupt(format!("no file is listed as `{id}`")));
            };
            // A cover may be a picture without a page around it.
            if !media_type.starts_with("image/") {
                read_chapter(&archive.read(&resolve(&package_path, href))?, &mut paragraphs)?;
                paragraphs.end();
            }
            Ok(())
        };
        read_next().map_err(|failure| failure.within(&format!("chapter {number}")))?;
    }
    Ok(paragraphs.text)
}

struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// How many more bytes may be unpacked, whatever sizes the archive states; a file counts each time that
    /// it is read.
    left: usize,
}

impl Archive<'_> {
    fn read(&mut self, name: &str) -> Result<String, Failure> {
        let in_file = |reason: &dyn Display| Failure::Corrupt(format!("{name}: {reason}"));
        let file = self.zip.by_name(name).map_err(|error| in_file(&error))?;
        let mut bytes = Vec::new();
        let read = file.take(self.left as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| in_file(&error))?;
        self.left = self.left.checked_sub(bytes.len()).ok_or(Failure::TooLong)?;
        Ok(read::decode(&bytes).into_owned())
    }
}

/// The path of the package document, which the container names.
fn package_path(container: &str) -> Result<String, Failure> {
    let mut path = None;
    for_each_element(container, |element| {
        if path.is_none() && is(element.local_name().as_ref(), "rootfile") {
            path = attribute(element, "full-path")?;
        }
        Ok(())
    })?;
    path.ok_or_else(|| Failure::Corrupt("no package document is named".to_owned()))
}

/// What the package document says: which files there are, and in which order they are read.
#[derive(Default)]
struct Package {
    /// Id → reference relative to the package document, and media type.
    files: HashMap<String, (String, String)>,
    spine: Vec<String>,
}

impl Package {
    fn read(xml: &str) -> Result<Self, Failure> {
        let mut package = Self::default();
        for_each_element(xml, |element| {
            let name = element.local_name();
            if is(name.as_ref(), "item") {
                let [id, href, media_type] = ["id", "href", "media-type"]
                    .map(|name| attribute(element, name).map(Option::unwrap_or_default));
                package.files.insert(id?, (href?, media_type?));
            } else if is(name.as_ref(), "itemref") {
                package.spine.push(attribute(element, "idref")?.unwrap_or_default());
            }
            Ok(())
        })?;
        Ok(package)
    }
}

/// Calls `visit` for every start of an element.
fn for_each_element(
    xml: &str,
    mut visit: impl FnMut(&BytesStart<'_>) -> Result<(), quick_xml::Error>,
) -> Result<(), quick_xml::Error> {
    let mut reader = Reader::from_str(xml);
    loop {
        match reader.read_event()? {
            Event::Start(element) | Event::Empty(element) => visit(&element)?,
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, quick_xml::Error> {
    let Some(attribute) = element.try_get_attribute(name)? else { return Ok(None) };
    Ok(Some(attribute.normalized_value(XmlVersion::Implicit1_0)?.into_owned()))
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

/// Extracts the paragraphs of a chapter's XHTML. Chapters that are HTML rather than XML are accepted: end
/// tags need no start tag, and `&` need not begin an entity.
fn read_chapter(xhtml: &str, paragraphs: &mut Paragraphs) -> Result<(), quick_xml::Error> {
    let mut reader = Reader::from_str(xhtml);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    // The skipped element that the reader is in, and how many of its name are open.
    let mut skipped: Option<(&str, usize)> = None;
    loop {
        let event = reader.read_event()?;
        if let Some((name, depth)) = &mut skipped {
            match event {
                Event::Eof => return Ok(()),
                Event::Start(element) if is(element.local_name().as_ref(), name) => *depth += 1,
                Event::End(element) if is(element.local_name().as_ref(), name) => *depth -= 1,
                _ => {}
            }
            skipped = skipped.filter(|(_, depth)| *depth > 0);
            continue;
        }
        match event {
            Event::Start(element) => {
                let name = element.local_name();
                paragraphs.tag(name.as_ref());
                let found = SKIPPED.iter().find(|skipped| is(name.as_ref(), skipped));
                skipped = found.map(|name| (*name, 1));
            }
            Event::Empty(element) => paragraphs.tag(element.local_name().as_ref()),
            Event::End(element) => paragraphs.tag(element.local_name().as_ref()),
            Event::Text(text) => paragraphs.add(&text.html_content()),
            Event::CData(text) => paragraphs.add(&text.html_content()),
            Event::GeneralRef(reference) => paragraphs.add(&resolved(&reference)),
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

/// The characters of an entity or a numeric reference; the reference itself if it is unknown.
fn resolved(reference: &BytesRef<'_>) -> String {
    let name: &str = reference;
    match reference.resolve_char_ref() {
        Ok(Some(character)) => character.to_string(),
        _ => resolve_html5_entity(name).map_or_else(|| format!("&{name};"), str::to_owned),
    }
}

fn is(name: &str, other: &str) -> bool {
    name.eq_ignore_ascii_case(other)
}

/// The text so far, and the current paragraph.
#[derive(Default)]
struct Paragraphs {
    text: String,
    paragraph: String,
}

impl Paragraphs {
    /// Adds text with each run of white space as one space, none at the start of a line.
    fn add(&mut self, text: &str) {
        for c in text.chars() {
            if !c.is_ascii_whitespace() {
                self.paragraph.push(c);
            } else if !self.paragraph.is_empty() && !self.paragraph.ends_with([' ', '\n']) {
                self.paragraph.push(' ');
            }
        }
    }

    /// Handles the start or the end of an element.
    fn tag(&mut self, name: &str) {
        if is(name, "br") {
            let length = self.paragraph.trim_end().len();
            self.paragraph.truncate(length);
            self.paragraph.push('\n');
        } else if !INLINE.iter().any(|inline| is(name, inline)) {
            self.end();
        }
    }

    fn end(&mut self) {
        let paragraph = self.paragraph.trim();
        if !paragraph.is_empty() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(paragraph);
            self.text.push('\n');
        }
        self.paragraph.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use expect_test::expect;
    use proptest::prelude::*;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn chapter(xhtml: &str) -> Result<String, String> {
        let mut paragraphs = Paragraphs::default();
        read_chapter(xhtml, &mut paragraphs).map_err(|error| error.to_string())?;
        paragraphs.end();
        Ok(paragraphs.text)
    }

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
            "<package><manifest>{items}<item id='cover' href='no.png' media-type='image/png'/>\
             </manifest><spine><itemref idref='cover'/>{spine}</spine></package>"
        );
        add("OEBPS/a%.opf", package.as_bytes());
        for (href, content) in chapters {
            add(&resolve("OEBPS/a%.opf", href), content);
        }
        zip.finish().unwrap().into_inner()
    }

    fn read(bytes: &[u8], limit: usize) -> Result<String, String> {
        text(bytes, Path::new("bears.epub"), limit).map_err(|error| error.to_string())
    }

    #[test]
    fn chapters_are_in_reading_order_wherever_their_files_are() {
        let bytes = book(&[
            ("z.xhtml", b"<h2>I. Home</h2><p>One bear.</p>"),
            ("../Text/a%20b.xhtml", b"<p>Two bears.</p>"),
        ]);
        assert_eq!(read(&bytes, 1 << 20).unwrap(), "I. Home\n\nOne bear.\n\nTwo bears.\n");
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

    #[test]
    fn paragraphs_and_headings_are_separate() {
        let xhtml = "<html><body><h1>The <i>Three</i>\n Bears</h1><div><p>Once  upon\na time.</p>\
                     there were<p/>three<hr/><ul><li>a</li><li>b</li></ul></div></body></html>";
        let expected = "The Three Bears\n\nOnce upon a time.\n\nthere were\n\nthree\n\na\n\nb\n";
        assert_eq!(chapter(xhtml).unwrap(), expected);
    }

    #[test]
    fn a_line_break_breaks_a_line() {
        assert_eq!(
            chapter("<p>One bowl, <br/> two<br> bowls</p>").unwrap(),
            "One bowl,\ntwo\nbowls\n"
        );
    }

    #[test]
    fn entities_become_characters() {
        let xhtml = "<p>n&eacute;e &mdash; &#8220;so&#x201d; &amp; &nbsp;on &unknown; R & B</p>";
        assert_eq!(chapter(xhtml).unwrap(), "née — “so” & \u{a0}on &unknown; R & B\n");
    }

    #[test]
    fn what_is_not_text_is_left_out() {
        let xhtml = "<?xml version='1.0'?><!DOCTYPE html><html><head><title>No</title><style>p{}</style></head>\
                     <body><nav><ol><li>No</li></ol><nav>no</nav>no</nav><script>no()</script><script/>\
                     <!-- no --><p>Yes<img alt='no'/></p></body></html>";
        assert_eq!(chapter(xhtml).unwrap(), "Yes\n");
    }

    #[test]
    fn broken_markup_is_an_error() {
        assert!(chapter("<p>One bear <b").is_err());
    }

    proptest! {
        #[test]
        fn any_markup_is_read_or_refused(xhtml in "(<p>|</p>|<br/>|<nav>|</nav>|<|>|&|amp;|#|-|!|a| |é){0,30}") {
            if let Ok(text) = chapter(&xhtml) {
                prop_assert!(!text.contains("\n\n\n"));
            }
        }
    }
}
