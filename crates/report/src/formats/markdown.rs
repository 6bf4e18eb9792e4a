//! A [`Grid`] in Markdown: one table, lines within a cell apart by `<br>`, the best in bold.

use crate::tables::{Grid, GridRow};

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
    lines.extend(grid.all_notes().flat_map(|note| [String::new(), escape(note)]));
    lines.join("\n") + "\n"
}

/// A picture above its table.
pub fn picture(grid: &Grid, file: &str) -> String {
    format!("![{}]({file})\n\n", escape(&grid.title))
}

fn row(row: &GridRow) -> String {
    let label: Vec<String> = row.label.iter().map(|line| escape(line.trim())).collect();
    let cells = row.cells.iter().map(|cell| {
        let line = |(index, line): (usize, &crate::tables::Line)| {
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::{fixture, grids_of, tables_of};

    #[test]
    fn a_table_in_markdown_has_one_line_a_row_and_escapes_its_marks() {
        let set = fixture::set();
        let report = fixture::report(&set);
        let (_, grid) = grids_of(&report, &tables_of(&report).unwrap()).remove(0);
        expect![[r#"
            **Appendix D: Effects of anonymising entities in CBT**

            | Methods | Named Entities | Common Nouns | Verbs | Prepositions |
            |:--|--:|--:|--:|--:|
            | MemNNs (window mem.) \[a\]<br>paper | .500 .095–.905<br>.493 +.007 | .500 .095–.905<br>.554 −.054 | .500 .095–.905<br>.692 −.192 | **.500** .095–.905<br>.674 −.174 |
            | MemNNs (window mem.+self-sup.)<br>paper | **1.000** .342–1.000<br>.666 +.334 | **1.000** .342–1.000<br>.630 +.370 | **1.000** .342–1.000<br>.690 +.310 | **.500** .095–.905<br>.703 −.203 |
            | ours &amp; &lt;more> | .000 .000–.658 | .000 .000–.658 | .000 .000–.658 | .000 .000–.658 |
            | questions | n = 2 | n = 2 | n = 2 | n = 2 |

            Questions: built again from the paper’s books, not the released ones.

            Accuracy with its 95 % interval; below it the paper’s figure and ours minus the paper’s, ≠ where the 95 % interval of that difference does not contain 0.

            The best model of each column is marked.

            \[a\] Not by the paper’s recipe: p 20.

            4 of 4 figures by the paper’s recipe do not differ significantly from the paper’s; 0 are higher, 0 lower. 4 of 4 figures of marked rows do not differ significantly from the paper’s; 0 are higher, 0 lower.

            Settings other than the defaults: memnn-window (dim=20).

            Seed 1, goldilocks 0.1.0, data 0123abcd, 2026-05-01.
        "#]].assert_eq(&write(&grid));
    }
}
