//! A [`Grid`] in LaTeX: a `booktabs` table; a cell is two columns, figure and detail, so that decimal
//! points stand under one another; the best in bold.

use crate::grid::{Grid, GridRow};

/// A printed table as LaTeX.
pub fn write(grid: &Grid) -> String {
    let n = grid.head.len() - 1;
    let spanned = |texts: &[String]| {
        let cells = texts[1..].iter().map(|text| format!("\\multicolumn{{2}}{{l}}{{{}}}", escape(text)));
        let row: Vec<String> = [escape(&texts[0])].into_iter().chain(cells).collect();
        format!("    {} \\\\", row.join(" & "))
    };
    let mut lines = vec![
        "% Needs \\usepackage{booktabs} and \\usepackage{graphicx}.".to_owned(),
        "\\begin{table}".to_owned(),
        "  \\centering".to_owned(),
        "  \\resizebox{\\linewidth}{!}{%".to_owned(),
        format!("  \\begin{{tabular}}{{l{}}}", "r@{~}l".repeat(n)),
        "    \\toprule".to_owned(),
        spanned(&grid.head),
        "    \\midrule".to_owned(),
    ];
    for row in &grid.rows {
        if row.starts_block {
            lines.push("    \\midrule".to_owned());
        }
        lines.extend((0..row.height()).map(|index| line(row, index)));
    }
    if !grid.foot.is_empty() {
        lines.extend(["    \\midrule".to_owned(), spanned(&grid.foot)]);
    }
    let notes: Vec<String> = grid.notes.iter().map(|note| escape(note)).collect();
    lines.extend([
        "    \\bottomrule".to_owned(),
        "  \\end{tabular}}".to_owned(),
        format!("  \\caption{{\\textbf{{{}.}} {}}}", escape(&grid.title), notes.join(" ")),
        "\\end{table}".to_owned(),
    ]);
    lines.join("\n") + "\n"
}

fn line(row: &GridRow, index: usize) -> String {
    let label = row.label_line(index);
    let indent = if label.starts_with(' ') { "\\quad " } else { "" };
    let cells = row.cells.iter().map(|cell| {
        let line = cell.line(index);
        let figure = escape(&line.figure);
        let figure =
            if cell.is_best && index == 0 { format!("\\textbf{{{figure}}}") } else { figure };
        let detail = escape(&line.detail);
        let detail =
            if detail.is_empty() { detail } else { format!("{{\\scriptsize {detail}}}") };
        format!("{figure} & {detail}").trim_end().to_owned()
    });
    let texts: Vec<String> =
        [format!("{indent}{}", escape(label.trim()))].into_iter().chain(cells).collect();
    format!("    {} \\\\", texts.join(" & "))
}

/// LaTeX's own characters, and those of ours that its default fonts lack.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', character]),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '–' => escaped.push_str("--"),
            '−' => escaped.push_str("$-$"),
            '±' => escaped.push_str("$\\pm$"),
            '≠' => escaped.push_str("$\\neq$"),
            '†' => escaped.push_str("\\dag{}"),
            '‡' => escaped.push_str("\\ddag{}"),
            '“' => escaped.push_str("``"),
            '”' => escaped.push_str("''"),
            '§' => escaped.push_str("\\S{}"),
            _ => escaped.push(character),
        }
    }
    escaped
}
