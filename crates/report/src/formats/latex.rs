//! A [`Grid`] in LaTeX: a `booktabs` table; a cell is two columns, figure and detail, so that decimal
//! points are aligned; the best in bold.

use crate::tables::{Grid, GridRow};

/// A printed table as LaTeX.
pub fn write(grid: &Grid) -> String {
    let n = grid.head.len() - 1;
    let spanned = |texts: &[String]| {
        let cells =
            texts[1..].iter().map(|text| format!("\\multicolumn{{2}}{{l}}{{{}}}", escape(text)));
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
    let notes: Vec<String> = grid.all_notes().map(|note| escape(note)).collect();
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
        let detail = if detail.is_empty() { detail } else { format!("{{\\scriptsize {detail}}}") };
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
            '’' => escaped.push('\''),
            '§' => escaped.push_str("\\S{}"),
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
    fn a_table_in_latex_uses_booktabs_and_escapes_its_characters() {
        let set = fixture::set();
        let report = fixture::report(&set);
        let (_, grid) = grids_of(&report, &tables_of(&report).unwrap()).remove(0);
        expect![[r#"
            % Needs \usepackage{booktabs} and \usepackage{graphicx}.
            \begin{table}
              \centering
              \resizebox{\linewidth}{!}{%
              \begin{tabular}{lr@{~}lr@{~}lr@{~}lr@{~}l}
                \toprule
                Methods & \multicolumn{2}{l}{Named Entities} & \multicolumn{2}{l}{Common Nouns} & \multicolumn{2}{l}{Verbs} & \multicolumn{2}{l}{Prepositions} \\
                \midrule
                MemNNs (window mem.) [a] & .500 & {\scriptsize .095--.905} & .500 & {\scriptsize .095--.905} & .500 & {\scriptsize .095--.905} & \textbf{.500} & {\scriptsize .095--.905} \\
                \quad paper & .493 & {\scriptsize +.007} & .554 & {\scriptsize $-$.054} & .692 & {\scriptsize $-$.192} & .674 & {\scriptsize $-$.174} \\
                MemNNs (window mem.+self-sup.) & \textbf{1.000} & {\scriptsize .342--1.000} & \textbf{1.000} & {\scriptsize .342--1.000} & \textbf{1.000} & {\scriptsize .342--1.000} & \textbf{.500} & {\scriptsize .095--.905} \\
                \quad paper & .666 & {\scriptsize +.334} & .630 & {\scriptsize +.370} & .690 & {\scriptsize +.310} & .703 & {\scriptsize $-$.203} \\
                \midrule
                ours \& \textless{}more\textgreater{} & .000 & {\scriptsize .000--.658} & .000 & {\scriptsize .000--.658} & .000 & {\scriptsize .000--.658} & .000 & {\scriptsize .000--.658} \\
                \midrule
                questions & \multicolumn{2}{l}{n = 2} & \multicolumn{2}{l}{n = 2} & \multicolumn{2}{l}{n = 2} & \multicolumn{2}{l}{n = 2} \\
                \bottomrule
              \end{tabular}}
              \caption{\textbf{Appendix D: Effects of anonymising entities in CBT.} Questions: built again from the paper's books, not the released ones. Accuracy with its 95 \% interval; below it the paper's figure and ours minus the paper's, $\neq$ where the 95 \% interval of that difference does not contain 0. The best model of each column is marked. [a] Not by the paper's recipe: p 20. 4 of 4 figures by the paper's recipe do not differ significantly from the paper's; 0 are higher, 0 lower. 4 of 4 figures of marked rows do not differ significantly from the paper's; 0 are higher, 0 lower. Settings other than the defaults: memnn-window (dim=20). Seed 1, goldilocks 0.1.0, data 0123abcd, 2026-05-01.}
            \end{table}
        "#]].assert_eq(&write(&grid));
    }
}
