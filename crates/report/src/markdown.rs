//! A [`Grid`] in Markdown: one table, lines within a cell apart by `<br>`, the best in bold.

use crate::grid::{Grid, GridRow};

/// A printed table as Markdown.
pub fn write(grid: &Grid) -> String {
    let head: Vec<String> = grid.head.iter().map(|text| escape(text)).collect();
    let mut alignments = vec![":--"];
    alignments.resize(head.len(), "--:");
    let mut lines = vec![
        format!("**{}**", escape(&grid.title)),
        String::new(),
        format!("| {} |", head.join(" | ")),
        format!("|{}|", alignments.join("|")),
    ];
    lines.extend(grid.rows.iter().map(row));
    if !grid.foot.is_empty() {
        let foot: Vec<String> = grid.foot.iter().map(|text| escape(text)).collect();
        lines.push(format!("| {} |", foot.join(" | ")));
    }
    lines.extend(grid.notes.iter().flat_map(|note| [String::new(), escape(note)]));
    lines.join("\n") + "\n"
}

fn row(row: &GridRow) -> String {
    let label: Vec<String> = row.label.iter().map(|line| escape(line.trim())).collect();
    let cells = row.cells.iter().map(|cell| {
        let line = |(index, line): (usize, &crate::grid::Line)| {
            let is_best = cell.is_best && index == 0;
            let figure = escape(&line.figure);
            let figure = if is_best { format!("**{figure}**") } else { figure };
            format!("{figure} {}", escape(&line.detail)).trim_end().to_owned()
        };
        cell.lines.iter().enumerate().map(line).collect::<Vec<_>>().join("<br>")
    });
    let texts: Vec<String> = [label.join("<br>")].into_iter().chain(cells).collect();
    format!("| {} |", texts.join(" | "))
}

/// Markdown reads these as marks; HTML reads `<` and `&`.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' => escaped.extend(['\\', character]),
            // A line break would end the table.
            '\n' | '\r' => escaped.push(' '),
            _ => escaped.push(character),
        }
    }
    escaped
}
