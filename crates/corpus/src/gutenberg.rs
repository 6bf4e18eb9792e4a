//! A book's file → the tale alone: finds what Project Gutenberg and the printer put around it (§2).
//!
//! Every cut asks for more than a word: a wording that only Project Gutenberg uses, a bracket that opens with
//! a known word, or a heading with a list under it. What is in doubt stays. The released CBT text has all of
//! this in it, so that to build the same questions, one builds without cuts.

mod brackets;
mod contents;

use std::borrow::Cow;
use std::ops::Range;

use crate::lines::Lines;

/// The text without what Project Gutenberg put before and after the book, who made the file, notes of
/// transcribers, tables of contents, lists of illustrations and captions.
pub fn cut(text: &str) -> Cow<'_, str> {
    let pieces = find(text);
    if pieces.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut tale = String::with_capacity(text.len());
    let mut position = 0;
    for piece in pieces {
        tale.push_str(&text[position..piece.start]);
        position = piece.end;
    }
    tale.push_str(&text[position..]);
    Cow::Owned(tale)
}

/// The pieces of a text that are not the tale, in their order; none overlaps another.
fn find(text: &str) -> Vec<Range<usize>> {
    let lines = Lines::of(text);
    let mut pieces = Vec::new();
    let mut position = 0;
    for book in books(&lines) {
        pieces.push(lines.bytes(position..book.start));
        pieces.extend(credits(&lines, book.clone()).map(|piece| lines.bytes(piece)));
        pieces.extend(notes(&lines, book.clone()).map(|piece| lines.bytes(piece)));
        pieces
            .extend(contents::find(&lines, book.clone()).into_iter().map(|list| lines.bytes(list)));
        pieces.extend(brackets::find(text, lines.bytes(book.clone())));
        position = book.end;
    }
    pieces.push(lines.bytes(position..lines.len()));
    without_overlaps(pieces)
}

/// The pieces in order; one that starts in another is a part of it.
fn without_overlaps(mut pieces: Vec<Range<usize>>) -> Vec<Range<usize>> {
    pieces.retain(|piece| !piece.is_empty());
    pieces.sort_by_key(|piece| piece.start);
    let mut kept: Vec<Range<usize>> = Vec::new();
    for piece in pieces {
        match kept.last_mut() {
            Some(last) if piece.start < last.end => last.end = last.end.max(piece.end),
            _ => kept.push(piece),
        }
    }
    kept
}

/// The lines of a file's book, or of each book where several files were put into one.
fn books(lines: &Lines<'_>) -> Vec<Range<usize>> {
    let mut books = Vec::new();
    let mut next = Some(0);
    while let Some(position) = next {
        let start = header_end(lines, position);
        let end = licence_start(lines, start);
        books.push(start..end);
        next = (end..lines.len()).find(|&line| is_marker(lines.text(line), "START"));
    }
    books
}

/// The first line after Project Gutenberg's header: after `*** START OF THE PROJECT GUTENBERG EBOOK … ***`,
/// whose title may run over some lines, or after the small print of the oldest files; `position` itself if there
/// is none.
fn header_end(lines: &Lines<'_>, position: usize) -> usize {
    const LONGEST_TITLE: usize = 5;
    const LONGEST_HEADER: usize = 500;
    // What follows the end of a book is the header of another one.
    let end = (position..lines.len()).find(|&line| is_end(lines, line)).unwrap_or(lines.len());
    if let Some(start) = (position..end).find(|&line| is_marker(lines.text(line), "START")) {
        let mut title = start..end.min(start + LONGEST_TITLE);
        return title.find(|&line| lines.text(line).trim_end().ends_with("***")).unwrap_or(start)
            + 1;
    }
    // Some files have their small print at the end.
    let is_before_text = |line: &usize| (line + 1..lines.len()).any(|line| !lines.is_blank(line));
    (position..end.min(position + LONGEST_HEADER))
        .find(|&line| is_small_print(lines.text(line), "END"))
        .filter(is_before_text)
        .map_or(position, |line| line + 1)
}

/// The first line of Project Gutenberg's licence: the end of a book, or small print; the number of lines if
/// there is none.
fn licence_start(lines: &Lines<'_>, start: usize) -> usize {
    (start..lines.len())
        .find(|&line| is_end(lines, line) || is_small_print(lines.text(line), "START"))
        .unwrap_or(lines.len())
}

/// `*** END OF THE PROJECT GUTENBERG EBOOK`, or the line `End of Project Gutenberg's …` before it.
fn is_end(lines: &Lines<'_>, line: usize) -> bool {
    let text = lines.text(line);
    is_marker(text, "END") || lines.starts_paragraph(line) && is_closing_line(text)
}

/// `*** START OF THIS PROJECT GUTENBERG EBOOK …`, with any number of stars and `THE`, `THIS` or neither.
fn is_marker(line: &str, word: &str) -> bool {
    line.trim_start().starts_with("**") && {
        let letters = capitals(line);
        ["OFTHE", "OFTHIS", "OF"]
            .iter()
            .any(|of| letters.starts_with(&format!("{word}{of}PROJECTGUTENBERG")))
    }
}

/// `*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*`.
fn is_small_print(line: &str, word: &str) -> bool {
    line.trim_start().starts_with('*')
        && capitals(line).starts_with(&format!("{word}THESMALLPRINT"))
}

/// `End of Project Gutenberg's Tale, by Author`, `End of the Project Gutenberg EBook of Tale`.
fn is_closing_line(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("The ").unwrap_or(line);
    (line.starts_with("End of") || line.starts_with("END OF")) && {
        let letters = capitals(line);
        ["ENDOFTHEPROJECTGUTENBERG", "ENDOFTHISPROJECTGUTENBERG", "ENDOFPROJECTGUTENBERG"]
            .iter()
            .any(|wording| letters.starts_with(wording))
    }
}

/// The letters at the start of a line, as capitals: what is left of a marker when its stars and spaces go.
fn capitals(line: &str) -> String {
    const ENOUGH: usize = 40;
    let letters = line.chars().filter(char::is_ascii_alphabetic).take(ENOUGH);
    letters.map(|c| c.to_ascii_uppercase()).collect()
}

/// Paragraphs near the start that say who made the file.
fn credits<'a>(
    lines: &'a Lines<'_>,
    body: Range<usize>,
) -> impl Iterator<Item = Range<usize>> + 'a {
    const NEAR: usize = 60;
    const LONGEST: usize = 8;
    const WORDINGS: [&str; 7] = [
        "produced by ",
        "e-text prepared by ",
        "etext prepared by ",
        "this etext was prepared by ",
        "this etext was produced by ",
        "this ebook was produced by ",
        "transcribed from the ",
    ];
    let near = body.start..body.end.min(body.start + NEAR);
    lines.paragraphs(near).filter(|paragraph| {
        let first = lines.text(paragraph.start).trim().to_ascii_lowercase();
        paragraph.len() <= LONGEST
            && WORDINGS.iter().any(|wording| first.starts_with(wording))
            && is_signed(lines, paragraph.clone())
    })
}

/// Returns whether a paragraph names the makers of a file: it has an address or the project's name, or
/// nothing but names after `by`. A tale may start with `Produced by` too.
fn is_signed(lines: &Lines<'_>, mut paragraph: Range<usize>) -> bool {
    const NAMES: [&str; 8] =
        ["gutenberg", "proofread", "http", "www.", "pgdp", "@", "internet archive", "html version"];
    const BETWEEN_NAMES: [&str; 8] = ["by", "and", "the", "of", "for", "with", "from", "edition"];
    let is_named = |line: usize| {
        let line = lines.text(line).to_ascii_lowercase();
        NAMES.iter().any(|name| line.contains(name))
    };
    let is_name =
        |word: &str| word.starts_with(|c: char| !c.is_lowercase()) || BETWEEN_NAMES.contains(&word);
    let words = paragraph.clone().flat_map(|line| lines.text(line).split_whitespace());
    let after_by = words.skip_while(|word| *word != "by");
    paragraph.any(is_named) || after_by.into_iter().all(is_name)
}

/// Paragraphs that start with `Transcriber's Note`; if that is all, the paragraph after it as well; and boxes
/// drawn with `+---+` and `|` around such a paragraph.
fn notes<'a>(lines: &'a Lines<'_>, body: Range<usize>) -> impl Iterator<Item = Range<usize>> + 'a {
    let end = body.end;
    lines.paragraphs(body).filter_map(move |paragraph| {
        let is_boxed = |line: usize| lines.text(line).trim_start().starts_with(['|', '+']);
        let mut candidates = if paragraph.clone().all(is_boxed) {
            paragraph.clone()
        } else {
            paragraph.start..paragraph.start + 1
        };
        let first = candidates.find(|&line| is_note(lines.text(line)))?;
        let heading = lines.text(first).trim_matches(|c: char| !c.is_alphanumeric());
        let is_heading_alone = paragraph.len() == 1 && heading.split_whitespace().count() == 2;
        let next = lines.paragraphs(paragraph.end..end).next();
        match next {
            Some(next) if is_heading_alone => Some(paragraph.start..next.end),
            _ => Some(paragraph),
        }
    })
}

fn is_note(line: &str) -> bool {
    let line = line.trim_start_matches(['|', '+', '*', '_', '=', ' ']).to_ascii_lowercase();
    let line = line.replace('’', "'");
    ["transcriber's note", "transcribers' note", "transcribers note"]
        .iter()
        .any(|wording| line.starts_with(wording))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TALE: &str =
        "\nTHE THREE BEARS\n\nOnce there were three bears.\n\nThe end of the tale.\n\n";

    #[test]
    fn every_wording_of_header_and_licence_goes() {
        let headers = [
            "*** START OF THE PROJECT GUTENBERG EBOOK THE THREE BEARS ***\n",
            "***START OF THE PROJECT GUTENBERG EBOOK THE THREE BEARS***\n",
            "*** START OF THIS PROJECT GUTENBERG EBOOK THE THREE BEARS, WHO LIVED\nIN A WOOD ***\n",
            "**START OF PROJECT GUTENBERG ETEXT THE THREE BEARS\n",
            "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\nWhy is this here?\n\
             *END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n",
            "*END THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n",
        ];
        let licences = [
            "*** END OF THE PROJECT GUTENBERG EBOOK THE THREE BEARS ***\nLicence.\n",
            "***END OF THIS PROJECT GUTENBERG EBOOK THE THREE BEARS***\n",
            "End of Project Gutenberg's The Three Bears, by Nobody\n\n*** END OF THIS PROJECT\n",
            "End of the Project Gutenberg EBook of The Three Bears\n",
            "The End of Project Gutenberg Etext of The Three Bears\n",
            "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\n*END*THE SMALL PRINT!*END*\n",
        ];
        for header in headers {
            for licence in licences {
                let text = format!("The Project Gutenberg EBook\n\n{header}{TALE}{licence}");
                assert_eq!(cut(&text), TALE, "{header}{licence}");
            }
        }
        assert_eq!(cut(&format!("x\n{}{TALE}", headers[0])), TALE);
        assert_eq!(cut(&format!("{TALE}{}", licences[0])), TALE);
    }

    const CHAPTERS: &str = "CHAPTER I\n\nTHE WOOD\n\nOnce there were three bears.\n\n\
        CHAPTER II\n\nTHE BOWLS\n\n\"Contents of my bowl!\" said the bear.\n\nTHE END\n\n";

    /// A file's text without the empty lines that the cuts leave.
    fn paragraphs(text: &str) -> String {
        cut(text)
            .split("\n\n")
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .fold(String::new(), |text, part| text + part + "\n\n")
    }

    #[test]
    fn of_a_file_of_today_the_book_is_left() {
        let text = format!(
            "The Project Gutenberg eBook of The Three Bears\n\n\
             This ebook is for the use of anyone anywhere in the United States and\n\
             most other parts of the world at no cost.\n\n\
             Title: The Three Bears\n\nAuthor: B. Bear\n\n\
             Release date: May 1, 2020 [eBook #99999]\n\nLanguage: English\n\n\
             Credits: Produced by A. Wolf and the Online Distributed Proofreading Team at\n\
             \u{20}       https://www.pgdp.net\n\n\n\
             *** START OF THE PROJECT GUTENBERG EBOOK THE THREE BEARS ***\n\n\n\
             [Illustration: Cover]\n\n\nTHE THREE BEARS\n\n\n\n\
             CONTENTS\n\n\n  CHAPTER                        PAGE\n\n     I. THE WOOD                   1\n\n    II. THE BOWLS                 12\n\n\n\n\n\
             LIST OF ILLUSTRATIONS\n\n  Three bears                 _Frontispiece_\n\n  \"Who?\" said the bear            7\n\n\n\n\n\
             {CHAPTERS}\
             [Illustration: \"Who?\" said the bear]\n\n\n\n\
             Transcriber’s Note\n\nTwo bowls were made one.\n\n\n\
             *** END OF THE PROJECT GUTENBERG EBOOK THE THREE BEARS ***\n\n\
             Updated editions will replace the previous one.\n\n\
             START: FULL LICENSE\n\nTHE FULL PROJECT GUTENBERG LICENSE\n"
        );
        assert_eq!(paragraphs(&text), format!("THE THREE BEARS\n\n{CHAPTERS}"));
    }

    #[test]
    fn of_a_file_of_the_last_century_the_book_is_left() {
        let header = "The Project Gutenberg Etext of The Three Bears, by B. Bear\n\n\
             Please take a look at the important information in this header.\n\n\n\
             **Welcome To The World of Free Plain Vanilla Electronic Texts**\n\n\
             Title: The Three Bears\n\n";
        let small_print = "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\n\
             Why is this \"Small Print!\" statement here?\n\n\
             *END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\n\n";
        let book = format!(
            "This etext was prepared by A. Wolf, wolf@example.org,\nand read by C. Fox.\n\n\n\n\
             THE THREE BEARS\n\nCONTENTS\n\nI.  The Wood\nII.  The Bowls\n\n\n\n{CHAPTERS}"
        );
        let closing = "End of The Project Gutenberg Etext of The Three Bears, by B. Bear\n\n";
        let expected = format!("THE THREE BEARS\n\n{CHAPTERS}");
        assert_eq!(paragraphs(&format!("{header}{small_print}{book}{closing}")), expected);
        // Small print at the end, with a line of Project Gutenberg's after it.
        let chapters = CHAPTERS.repeat(40);
        let text = format!(
            "*** START OF THE PROJECT GUTENBERG EBOOK THE THREE BEARS ***\n\n{chapters}{closing}\
             {small_print}[Portions of this header are copyright.]\n"
        );
        assert_eq!(paragraphs(&text), chapters);
    }

    #[test]
    fn of_several_files_in_one_every_book_is_left() {
        let file = |book: &str| {
            format!(
                "The Project Gutenberg eBook\n\n*** START OF THE PROJECT GUTENBERG EBOOK ***\n\n{book}\
                 *** END OF THE PROJECT GUTENBERG EBOOK ***\n\nLicence.\n\n"
            )
        };
        let text = format!("{}{}", file(CHAPTERS), file("THE WOLF\n\n"));
        assert_eq!(paragraphs(&text), format!("{CHAPTERS}THE WOLF\n\n"));
    }

    #[test]
    fn a_tale_about_such_things_stays() {
        for text in [
            TALE,
            "We came to the\nend of the Project Gutenberg tale, said the bear.\n",
            "* * * * *\n\nSTART OF THE PROJECT, said the bear.\n",
            "Produced by magic, the porridge was warm for a hundred years.\n",
            "The transcriber's note lay on the table.\n",
            "\"It is [so] that bears {all of them} sleep,\" said she.\n",
        ] {
            assert_eq!(find(text), [], "{text}");
            assert!(matches!(cut(text), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn credits_go() {
        for credits in [
            "Produced by Old Bear and Young Bear\n",
            "Produced by the bears and the Online Distributed\nProofreading Team at www.example.org\n",
            "E-text prepared by B. Bear\n",
            "This etext was prepared by B. Bear <bear@example.org>\n",
            "Transcribed from the 1890 Wood and Sons edition by B. Bear, email bear@example.org\n",
        ] {
            assert_eq!(cut(&format!("{credits}{TALE}")), TALE, "{credits}");
        }
    }

    #[test]
    fn transcribers_notes_go() {
        for note in [
            "[Transcriber's Note: two bowls [sic] are\nmissing.]",
            "Transcriber's Note: two bowls are\nmissing.\n",
            "TRANSCRIBER’S NOTES\n\nTwo bowls are\nmissing.\n",
            "+--------+\n| Transcriber's Note: |\n| Two bowls.          |\n+--------+\n",
        ] {
            let text = format!("{TALE}{note}{TALE}");
            assert_eq!(cut(&text), format!("{TALE}{TALE}"), "{note}");
        }
    }

    #[test]
    fn a_caption_in_a_list_goes_with_it() {
        let text =
            "CONTENTS\n\nThe Bears\n\n[Illustration: The Bowl]\n\nThe Beds\n\n\n\nThe Bears\n";
        assert_eq!(find(text).len(), 1);
        assert_eq!(cut(text), "\n\n\nThe Bears\n");
    }

    proptest! {
        #[test]
        fn pieces_are_in_order(text in "(\\*\\*\\* (START|END) OF THE PROJECT GUTENBERG|CONTENTS|\\[Illustration|\\]|\\{|[.]jpg\\}|Produced by|Transcriber's Note|The Bear|é|I[.]|\n|\n\n| |[+|]){0,30}") {
            let mut position = 0;
            for piece in find(&text) {
                prop_assert!(position <= piece.start && piece.start < piece.end);
                position = piece.end;
            }
            prop_assert!(position <= text.len());
            prop_assert!(cut(&text).len() <= text.len());
        }
    }
}
