//! HTML or XHTML → plain text: paragraphs and headings with empty lines between them.

use std::borrow::Cow;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};

/// Elements whose text is not the book's.
const SKIPPED: [&str; 7] = ["head", "nav", "noscript", "script", "style", "svg", "template"];

/// Elements within a line; every other one is a paragraph or contains some.
const INLINE: [&str; 37] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "img", "ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// The text of an HTML file, and its author if it names one.
pub(crate) fn text(html: &str) -> (String, Option<String>) {
    let mut paragraphs = Paragraphs::default();
    paragraphs.read(html);
    (paragraphs.text, author(html))
}

/// Returns whether a text is HTML, whatever its file is called: it begins like HTML, or is full of tags.
pub(crate) fn is_html(text: &str) -> bool {
    const FULL_IN: usize = 1000;
    const TAGS: [&str; 6] = ["<p>", "<p ", "</p>", "<br>", "<br ", "</div>"];
    let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\n']);
    let begins = |with: &str| start.get(..with.len()).is_some_and(|s| s.eq_ignore_ascii_case(with));
    // A cheap test first: nearly no book has a `<` in it.
    begins("<!doctype html")
        || begins("<html")
        || text.contains('<') && {
            let lower = text.to_ascii_lowercase();
            let n_tags: usize = TAGS.iter().map(|tag| lower.matches(tag).count()).sum();
            begins("<?xml") && lower.contains("<html") || n_tags * FULL_IN > text.len()
        }
}

/// The name in `<meta name="author" content="…">`, or in the same of Dublin Core.
fn author(html: &str) -> Option<String> {
    let names = ["author", "dc.creator", "dcterms.creator"];
    let is_author = |tag: &StartTag<()>| {
        let name = attribute(tag, "name").map(|name| name.to_lowercase());
        name.is_some_and(|name| names.contains(&name.as_str()))
    };
    let tags = tokens(html).filter_map(|token| match token {
        Token::StartTag(tag) if tag.name.as_slice() == b"meta" => Some(tag),
        _ => None,
    });
    tags.filter(is_author).find_map(|tag| attribute(&tag, "content").map(Cow::into_owned))
}

/// The tokens of HTML, or of XML that is like it.
pub(crate) fn tokens(html: &str) -> impl Iterator<Item = Token> {
    let mut emitter = DefaultEmitter::default();
    // In XHTML, `<script/>` has no end tag. Elsewhere, a script's `<` begins no tag.
    emitter.naively_switch_states(!html.trim_start().starts_with("<?xml"));
    Tokenizer::new_with_emitter(html, emitter).map(|Ok(token)| token)
}

/// An attribute of an element, by its lower-case name.
pub(crate) fn attribute<'a>(tag: &'a StartTag<()>, name: &str) -> Option<Cow<'a, str>> {
    tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value))
}

/// An element's lower-case name without the name space.
pub(crate) fn local_name(name: &[u8]) -> &str {
    let name = std::str::from_utf8(name).unwrap_or_default();
    name.rsplit(':').next().unwrap_or(name)
}

/// The text so far, and the current paragraph.
#[derive(Default)]
pub(crate) struct Paragraphs {
    /// Whole paragraphs, each with a line feed at its end and an empty line before the next.
    pub(crate) text: String,
    paragraph: String,
}

impl Paragraphs {
    /// Adds the paragraphs of a file or chapter. Any text has some reading: end tags need no start tag, and `&`
    /// need not begin an entity.
    pub(crate) fn read(&mut self, html: &str) {
        // The skipped element that the reader is in, and how many of its name are open.
        let mut skipped: Option<(String, usize)> = None;
        for token in tokens(html) {
            if let Some((name, depth)) = &mut skipped {
                match token {
                    Token::StartTag(tag) if local_name(&tag.name) == name && !tag.self_closing => {
                        *depth += 1;
                    }
                    Token::EndTag(tag) if local_name(&tag.name) == name => *depth -= 1,
                    _ => {}
                }
                skipped = skipped.filter(|(_, depth)| *depth > 0);
                continue;
            }
            match token {
                Token::StartTag(tag) => {
                    let name = local_name(&tag.name);
                    self.tag(name);
                    if !tag.self_closing && (SKIPPED.contains(&name) || is_page_number(&tag)) {
                        skipped = Some((name.to_owned(), 1));
                    }
                }
                Token::EndTag(tag) => self.tag(local_name(&tag.name)),
                Token::String(text) => self.add(&String::from_utf8_lossy(&text)),
                Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
            }
        }
        self.end();
    }

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
        if name == "br" {
            let length = self.paragraph.trim_end_matches(' ').len();
            self.paragraph.truncate(length);
            self.paragraph.push('\n');
        } else if !INLINE.contains(&name) {
            self.end();
        }
    }

    fn end(&mut self) {
        let paragraph = self.paragraph.trim();
        if !paragraph.is_empty() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            // Two line breaks in a row are the end of a paragraph.
            let mut lines = paragraph.lines().peekable();
            while let Some(line) = lines.next() {
                self.text.push_str(line.trim_end());
                self.text.push('\n');
                let was_blank = lines.next_if(|line| line.trim().is_empty()).is_some();
                while lines.next_if(|line| line.trim().is_empty()).is_some() {}
                if was_blank {
                    self.text.push('\n');
                }
            }
        }
        self.paragraph.clear();
    }
}

/// Returns whether an element holds the number of a printed page, as Project Gutenberg's files mark it.
fn is_page_number(tag: &StartTag<()>) -> bool {
    let is_number =
        |class: &str| ["pagenum", "pageno", "pgnum"].iter().any(|c| class.starts_with(c));
    attribute(tag, "class")
        .is_some_and(|class| class.to_lowercase().split_whitespace().any(is_number))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(html: &str) -> String {
        text(html).0
    }

    #[test]
    fn paragraphs_and_headings_are_separate() {
        let xhtml = "<html><body><h1>The <i>Three</i>\n Bears</h1><div><p>Once  upon\na time.</p>\
                     there were<p/>three<hr/><ul><li>a</li><li>b</li></ul></div></body></html>";
        let expected = "The Three Bears\n\nOnce upon a time.\n\nthere were\n\nthree\n\na\n\nb\n";
        assert_eq!(read(xhtml), expected);
        assert_eq!(read("<P>One<P>Two<BR>and\n<B>half</B>"), "One\n\nTwo\nand half\n");
    }

    #[test]
    fn a_line_break_breaks_a_line_and_two_a_paragraph() {
        assert_eq!(read("<p>One bowl, <br/> two<br> bowls</p>"), "One bowl,\ntwo\nbowls\n");
        assert_eq!(
            read("One bowl.<br> <br/><br>\nTwo<br>bowls.<br>"),
            "One bowl.\n\nTwo\nbowls.\n"
        );
    }

    #[test]
    fn entities_become_characters() {
        let xhtml = "<p>n&eacute;e &mdash; &#8220;so&#x201d; &amp; &nbsp;on &unknown; R & B</p>";
        assert_eq!(read(xhtml), "née — “so” & \u{a0}on &unknown; R & B\n");
    }

    #[test]
    fn what_is_not_text_is_left_out() {
        let xhtml = "<?xml version='1.0'?><!DOCTYPE html><html><head><title>No</title><style>p{}</style></head>\
                     <body><nav><ol><li>No</li></ol><nav>no</nav>no</nav><script>no()</script><script/>\
                     <!-- no --><p>Yes<span class='x pagenum'>[Pg 7]</span><img alt='no'/></p></body></html>";
        assert_eq!(read(xhtml), "Yes\n");
        let html = "<script>if (a<b) { x = '<p>no' }</script><STYLE>no</STYLE><p>Yes";
        assert_eq!(read(html), "Yes\n");
    }

    #[test]
    fn an_author_is_found_in_the_head() {
        let html = "<meta charset=utf-8><META NAME='Author' CONTENT='B. Bear &amp; Son'><p>So.";
        assert_eq!(text(html).1.as_deref(), Some("B. Bear & Son"));
        assert_eq!(text("<meta name='generator' content='Wolf'>").1, None);
    }

    #[test]
    fn html_is_known_by_its_beginning_or_its_tags() {
        for html in [
            "\u{feff}\n<!DOCTYPE HTML PUBLIC>",
            "<html lang='en'>",
            "<?xml version='1.0'?>\n<!-- x --><html>",
            "Bears<br>\n<br>They slept.",
        ] {
            assert!(is_html(html), "{html}");
        }
        let letters = "He wrote <p> on the wall, and a < b. ".to_owned() + &"bear ".repeat(400);
        for text in ["Once there were three bears.", "<Three bears>", "", letters.as_str()] {
            assert!(!is_html(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_markup_is_read(html in "(<p>|</p>|<br/>|<nav>|</nav>|<|>|&|amp;|#|-|!|a| |é|\n){0,30}") {
            let text = read(&html);
            prop_assert!(!text.contains("\n\n\n") && !text.starts_with('\n'), "{text:?}");
        }
    }
}
