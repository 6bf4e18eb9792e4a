//! A text by its lines and paragraphs, with their offsets.

use std::ops::Range;

/// The lines of a text.
pub(crate) struct Lines<'a> {
    text: &'a str,
    /// Where each line starts, and the end of the text.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(index, _)| index + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        Self { text, starts }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bytes of some lines, their line ends included.
    pub(crate) fn bytes(&self, lines: Range<usize>) -> Range<usize> {
        self.starts[lines.start]..self.starts[lines.end]
    }

    /// A line with its line end.
    pub(crate) fn text(&self, line: usize) -> &'a str {
        &self.text[self.bytes(line..line + 1)]
    }

    pub(crate) fn is_blank(&self, line: usize) -> bool {
        self.text(line).trim().is_empty()
    }

    /// Returns whether a line has text and the one before it has none.
    pub(crate) fn starts_paragraph(&self, line: usize) -> bool {
        !self.is_blank(line) && (line == 0 || self.is_blank(line - 1))
    }

    /// The stretches of lines with text among some lines.
    pub(crate) fn paragraphs(&self, lines: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let mut next = lines.start;
        std::iter::from_fn(move || {
            let start = (next..lines.end).find(|&line| !self.is_blank(line))?;
            let end = (start..lines.end).find(|&line| self.is_blank(line)).unwrap_or(lines.end);
            next = end;
            Some(start..end)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_paragraphs_are_found() {
        let lines = Lines::of("a\nb\n\n \nc");
        assert_eq!(lines.len(), 5);
        assert_eq!(lines.paragraphs(0..5).collect::<Vec<_>>(), [0..2, 4..5]);
        assert_eq!(lines.bytes(0..2), 0..4);
        assert!(lines.starts_paragraph(4) && !lines.starts_paragraph(1));
        assert_eq!(Lines::of("").len(), 0);
        assert_eq!(Lines::of("a\n").len(), 1);
    }
}
