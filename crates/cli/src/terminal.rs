//! How wide the terminal is, and text that fits it.

use std::num::NonZeroUsize;

/// Where there is no terminal: output that is read later, in a file or a pipe.
const DEFAULT: usize = 100;
/// The narrowest that anything is laid out for.
const LEAST: usize = 40;

/// How many columns there are: `COLUMNS` if it is set, else those of the terminal, else 100.
pub fn width() -> usize {
    #[expect(clippy::disallowed_methods, reason = "the shell exports the width of the terminal")]
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let found = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0);
    let width = set.map(NonZeroUsize::get).or_else(|| found().map(usize::from));
    width.unwrap_or(DEFAULT).max(LEAST)
}

/// Lines of `first` and of a text wrapped to its right: every line but the first is indented.
pub fn hanging(first: &str, text: &str, indent: usize, width: usize) -> String {
    let mut lines: Vec<String> = vec![format!("{first:indent$}")];
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one line at least");
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(" ".repeat(indent) + word);
        } else {
            line.push_str(if is_empty { "" } else { " " });
            line.push_str(word);
        }
        is_empty = false;
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A text wrapped between words.
pub fn wrapped(text: &str, width: usize) -> String {
    hanging("", text, 0, width)
}

/// Rows as columns two spaces apart, each as wide as it needs: the first flush left, the others flush right.
pub fn columns(rows: &[Vec<String>]) -> String {
    let characters = |text: &String| text.chars().count();
    let n = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(characters).max();
    let widths: Vec<usize> = (0..n).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (text, &width))| {
            if column == 0 { format!("{text:width$}") } else { format!("  {text:>width$}") }
        });
        format!("{}\n", cells.collect::<String>().trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["", "soup", "n"]), row(["bear", "1", "12"])];
        assert_eq!(columns(&rows), "      soup   n\nbear     1  12\n");
    }

    #[test]
    fn a_text_is_wrapped_between_words_to_the_right_of_its_heading() {
        let text = hanging("bear", "soup and porridge for three", 6, 20);
        assert_eq!(text, "bear  soup and\n      porridge for\n      three\n");
        assert_eq!(
            hanging("bear", "a-word-that-is-too-long", 6, 12),
            "bear  a-word-that-is-too-long\n"
        );
    }
}
