//! An .epub file → plain text: the chapters in reading order, paragraphs and headings with empty lines between them.

use std::error::Error;
use std::io::Cursor;

use quick_xml::Reader;
use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::{BytesRef, Event};
use rbook::Epub;

/// Elements whose text is not the book's.
const SKIPPED: [&str; 7] = ["head", "nav", "noscript", "script", "style", "svg", "template"];

/// Elements that stand within a line; every other one is a paragraph or holds some.
const INLINE: [&str; 37] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "img", "ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// The text of an .epub file, or what is wrong with it.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, String> {
    let book = Epub::options()
        .skip_toc(true)
        .skip_metadata(true)
        .read(Cursor::new(bytes))
        .map_err(|error| innermost(&error))?;
    let mut paragraphs = Paragraphs::default();
    for chapter in book.reader() {
        let chapter = chapter.map_err(|error| innermost(&error))?;
        read_chapter(chapter.content(), &mut paragraphs)
            .map_err(|error| format!("chapter {}: {error}", chapter.position() + 1))?;
        paragraphs.end();
    }
    Ok(paragraphs.text)
}

/// The message of the error that caused all others: those around it are about archives and readers.
fn innermost(mut error: &dyn Error) -> String {
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
    use proptest::prelude::*;
    use rbook::epub::EpubChapter;

    use super::*;

    fn chapter(xhtml: &str) -> Result<String, String> {
        let mut paragraphs = Paragraphs::default();
        read_chapter(xhtml, &mut paragraphs).map_err(|error| error.to_string())?;
        paragraphs.end();
        Ok(paragraphs.text)
    }

    #[test]
    fn chapters_stand_in_reading_order() {
        let bytes = Epub::builder()
            .identifier("urn:bears")
            .title("The Bears")
            .language("en")
            .chapter([
                EpubChapter::new("II")
                    .href("z.xhtml")
                    .xhtml_body("<h2>I. Home</h2><p>One bear.</p>"),
                EpubChapter::new("I").href("a.xhtml").xhtml_body("<p>Two bears.</p>"),
            ])
            .write()
            .to_vec()
            .unwrap();
        assert_eq!(text(bytes).unwrap(), "I. Home\n\nOne bear.\n\nTwo bears.\n");
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
