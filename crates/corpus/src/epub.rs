//! An .epub file → plain text: the chapters in reading order, paragraphs and headings with empty lines between them.

use std::io::{self, Cursor, Read as _};
use std::path::Path;

use quick_xml::Reader;
use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::{BytesRef, Event};
use rbook::Epub;
use zip::ZipArchive;

use crate::{Error, read};

/// Elements whose text is not the book's.
const SKIPPED: [&str; 7] = ["head", "nav", "noscript", "script", "style", "svg", "template"];

/// Elements that stand within a line; every other one is a paragraph or holds some.
const INLINE: [&str; 37] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "img", "ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// The text of an .epub file that unpacks to no more than some bytes and has no more text than that.
pub(crate) fn text(bytes: Vec<u8>, path: &Path, limit: usize) -> Result<String, Error> {
    let damaged = |reason| Error::DamagedEpub { path: path.into(), reason };
    let too_long = || Error::TooLong { path: path.into() };
    if !unpacks_within(&bytes, limit).map_err(|error| damaged(innermost(&error)))? {
        return Err(too_long());
    }
    let book = Epub::options()
        .skip_toc(true)
        .skip_metadata(true)
        .read(Cursor::new(bytes))
        .map_err(|error| damaged(innermost(&error)))?;
    let mut paragraphs = Paragraphs::default();
    for (number, place) in (1..).zip(book.spine()) {
        let in_chapter = |reason| damaged(format!("chapter {number}: {reason}"));
        let Some(chapter) = place.manifest_entry() else {
            return Err(in_chapter(format!("no file is listed as `{}`", place.idref())));
        };
        // A cover may be a picture without a page around it.
        if chapter.media_type().starts_with("image/") {
            continue;
        }
        let xhtml = chapter.read_bytes().map_err(|error| in_chapter(innermost(&error)))?;
        read_chapter(&read::decode(&xhtml), &mut paragraphs)
            .map_err(|error| in_chapter(error.to_string()))?;
        paragraphs.end();
        // A small file grows when its book names the same chapter again and again.
        if paragraphs.text.len() > limit {
            return Err(too_long());
        }
    }
    Ok(paragraphs.text)
}

/// Whether all files of an archive together have no more bytes than that. The sizes that an archive states may be lies:
/// it is unpacked into nothing.
fn unpacks_within(archive: &[u8], limit: usize) -> io::Result<bool> {
    let mut archive = ZipArchive::new(Cursor::new(archive))?;
    let mut left = limit as u64 + 1;
    for index in 0..archive.len() {
        // A damaged file matters only if it is a chapter; then its reader says so.
        if let Ok(file) = archive.by_index(index) {
            let mut file = file.take(left);
            let _ = io::copy(&mut file, &mut io::sink());
            left = file.limit();
        }
    }
    Ok(left > 0)
}

/// The message of the error that caused all others: those around it are about archives and readers.
fn innermost(mut error: &dyn std::error::Error) -> String {
    while let Some(cause) = error.source() {
        error = cause;
    }
    error.to_string()
}

/// Takes the paragraphs out of a chapter's XHTML. Chapters that are HTML rather than XML are taken as they come: end
/// tags need no start, and `&` may stand alone.
fn read_chapter(xhtml: &str, paragraphs: &mut Paragraphs) -> Result<(), quick_xml::Error> {
    let mut reader = Reader::from_str(xhtml);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    // The skipped element that the reader stands in, and how many of its name are open.
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

/// What an entity or a character's number stands for; the reference itself if nobody knows.
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

/// The text so far, and the paragraph that is being read.
#[derive(Default)]
struct Paragraphs {
    text: String,
    paragraph: String,
}

impl Paragraphs {
    /// Adds text, each white space in it one space, none at the start of a line.
    fn add(&mut self, text: &str) {
        for c in text.chars() {
            if !c.is_ascii_whitespace() {
                self.paragraph.push(c);
            } else if !self.paragraph.is_empty() && !self.paragraph.ends_with([' ', '\n']) {
                self.paragraph.push(' ');
            }
        }
    }

    /// What the start or the end of an element does.
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
    use expect_test::expect;
    use proptest::prelude::*;
    use rbook::epub::EpubChapter;

    use super::*;

    fn chapter(xhtml: &str) -> Result<String, String> {
        let mut paragraphs = Paragraphs::default();
        read_chapter(xhtml, &mut paragraphs).map_err(|error| error.to_string())?;
        paragraphs.end();
        Ok(paragraphs.text)
    }

    fn book(chapters: impl IntoIterator<Item = EpubChapter>) -> Vec<u8> {
        let book = Epub::builder().identifier("urn:bears").title("The Bears").language("en");
        book.chapter(chapters.into_iter().collect::<Vec<_>>()).write().to_vec().unwrap()
    }

    fn read(bytes: Vec<u8>, limit: usize) -> Result<String, String> {
        text(bytes, Path::new("bears.epub"), limit).map_err(|error| error.to_string())
    }

    #[test]
    fn chapters_stand_in_reading_order() {
        let bytes = book([
            EpubChapter::new("II").href("z.xhtml").xhtml_body("<h2>I. Home</h2><p>One bear.</p>"),
            EpubChapter::new("I").href("a.xhtml").xhtml_body("<p>Two bears.</p>"),
        ]);
        assert_eq!(read(bytes, 1 << 20).unwrap(), "I. Home\n\nOne bear.\n\nTwo bears.\n");
    }

    #[test]
    fn a_chapter_may_be_written_in_windows_1252() {
        let chapter =
            EpubChapter::new("I").href("a.xhtml").xhtml(b"<p>\x93N\xe9e\x94</p>".to_vec());
        assert_eq!(read(book([chapter]), 1 << 20).unwrap(), "“Née”\n");
    }

    #[test]
    fn a_small_file_that_unpacks_to_a_large_one_is_refused() {
        let bear = format!("<p>{}</p>", "bear ".repeat(100_000));
        let bytes = book([EpubChapter::new("I").href("a.xhtml").xhtml_body(bear)]);
        assert!(bytes.len() < 20_000);
        assert!(read(bytes.clone(), 1 << 20).is_ok());
        expect!["bears.epub: expected a book of at most 256 MiB, found more"]
            .assert_eq(&read(bytes, 400_000).unwrap_err());
    }

    #[test]
    fn paragraphs_and_headings_are_told_apart() {
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
