//! An [`ExplainedQuestion`] for a terminal of a width: the strongest windows, then the candidates; no colour.

use corpus::detokenise::{PrintedToken, spaced};
use questions::{BLANK_WORD, Span};

use super::ExplainedQuestion;
use crate::formats::wrap;
use crate::number::weight;

/// How many windows are listed.
const SHOWN: usize = 12;
/// What a bar is at its longest.
const BAR: f64 = 8.0;
/// Where the text of a window begins, with scores.
const INDENT: usize = 32;
const LABEL: usize = 10;
/// Stands for a space that lines are not broken at; no word has it.
const SPACE: char = '\u{e000}';

pub fn write(explained: &ExplainedQuestion, width: usize) -> String {
    let labelled = |label: &str, text: &str| labelled(label, text, width);
    // The id is there for other commands.
    let mut lines = wrap(&format!("{} ({})", explained.heading(), explained.id), width);
    lines.push(String::new());
    lines.extend(explained.model.iter().flat_map(|model| labelled("Model", model)));
    let query: Vec<&str> = explained.query.iter().map(String::as_str).collect();
    lines.extend(labelled("Query", &with_gap(&query)));
    if let Some(window) =
        explained.explanation.query.clone().filter(|w| *w != (0..explained.query.len()))
    {
        lines.extend(labelled("Window", &with_gap(&query[window])));
    }
    lines.push(String::new());
    let windows = explained.by_strength();
    if windows.iter().any(|(_, window)| window.score.is_some()) {
        lines.push("  attention        score  sentence".to_owned());
    }
    lines.extend(
        windows
            .iter()
            .take(SHOWN)
            .map(|&(strength, window)| line(explained, strength, window, width)),
    );
    match windows.len().saturating_sub(SHOWN) {
        0 => {}
        1 => lines.push("  … and a weaker one".to_owned()),
        more => lines.push(format!("  … and {more} weaker ones")),
    }
    if windows.is_empty() {
        lines.push("  This model does not say which part of the text it used.".to_owned());
    }
    if windows.iter().any(|(_, window)| window.is_supporting) {
        lines.push("  * the supporting memory".to_owned());
    }
    lines.push(String::new());
    let candidates: Vec<String> = explained
        .ranked()
        .into_iter()
        .map(|(index, score)| format!("{}{SPACE}{score}", explained.candidates[index]))
        .collect();
    lines.extend(labelled("Scores", &candidates.join(&format!("{SPACE}{SPACE} "))));
    lines.extend(labelled("Answer", &explained.verdict()));
    lines.iter().map(|line| format!("{}\n", line.replace(SPACE, " ").trim_end())).collect()
}

/// Tokens as a book prints them, with a visible gap.
fn with_gap(tokens: &[&str]) -> String {
    let gap = format!("[{}]", SPACE.to_string().repeat(5));
    let text = |PrintedToken { has_space, text }: PrintedToken<'_>| {
        let text = if text == BLANK_WORD { gap.as_str() } else { text };
        [if has_space { " " } else { "" }, text].concat()
    };
    spaced(tokens).into_iter().map(text).collect()
}

/// Text after a label, wrapped under its own beginning.
fn labelled(label: &str, text: &str, width: usize) -> Vec<String> {
    let lines = wrap(text, width - LABEL).into_iter().enumerate();
    lines
        .map(|(place, line)| format!("{:LABEL$}{line}", if place == 0 { label } else { "" }))
        .collect()
}

fn line(explained: &ExplainedQuestion, strength: f64, window: &Span, width: usize) -> String {
    let mark = if window.is_supporting { '*' } else { ' ' };
    let bar = "█".repeat((strength * BAR).round() as usize);
    let sentence = 1 + explained.sentence_of(window.mention.unwrap_or(window.words.start));
    let score = window.score.map_or(String::new(), |score| format!("{:>6} ", weight(score.into())));
    let start =
        format!("{mark} {:>6} {bar:8} {score}{sentence:>4}  ", weight(window.weight.into()));
    format!("{start}{}", around_mention(explained, window, width - INDENT))
}

/// As many words of a window around its mention as there is room for, `…` where the text continues.
fn around_mention(explained: &ExplainedQuestion, window: &Span, room: usize) -> String {
    let words = explained.words();
    let middle = window.mention.unwrap_or(window.words.start);
    let text = |start: usize, end: usize| -> String {
        let printed = |(index, PrintedToken { has_space, text }): (usize, PrintedToken<'_>)| {
            let [open, close] =
                if window.mention == Some(start + index) { ["▸", "◂"] } else { [""; 2] };
            [if has_space { " " } else { "" }, open, text, close].concat()
        };
        spaced(&words[start..end]).into_iter().enumerate().map(printed).collect()
    };
    let (mut start, mut end) = (middle, middle + 1);
    // Two ellipses with their spaces.
    let fits = |start: usize, end: usize| text(start, end).chars().count() + 4 <= room;
    loop {
        let before = start > window.words.start && fits(start - 1, end);
        start -= usize::from(before);
        let after = end < window.words.end && fits(start, end + 1);
        end += usize::from(after);
        if !before && !after {
            break;
        }
    }
    let ellipsis = |goes_on: bool| if goes_on { "…" } else { "" };
    let [before, after] = [start > 0, end < words.len()].map(ellipsis);
    format!("{before} {} {after}", text(start, end)).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::explained::tests::explained;

    #[test]
    fn the_terminal_shows_windows_candidates_and_the_verdict() {
        expect![[r#"
            Named Entities · valid · The Two Hens (0123456789abcdef)

            Model     memnn-window-selfsup
            Query     So [     ] woke at last.
            Window    So [     ] woke at

              attention        score  sentence
            *    .50 ████████   2.31    1  … , and ▸Otto◂ slept. …
                 .25 ████       1.61    1  ▸Anna◂ fed the …
                 .20 ███        1.39    2  … up, ▸Otto◂! …
              * the supporting memory

            Scores    Otto .70   Anna .25   hen .05
            Answer    Otto: wrong, the answer is Anna
        "#]]
        .assert_eq(&explained().text(80));
    }

    #[test]
    fn eighty_columns_are_enough_for_long_windows_and_many_of_them() {
        let mut explained = explained();
        explained.explanation.spans[0].words = 0..16;
        explained.explanation.spans = vec![explained.explanation.spans; 6].concat();
        explained.candidates[0] = "Wolfeschlegelsteinhausenbergerdorff".to_owned();
        explained.query = vec!["hen".to_owned(); 60];
        explained.explanation.query = None;
        let text = explained.text(80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("… and 6 weaker ones"), "{text}");
        explained.explanation.spans.truncate(13);
        assert!(explained.text(80).contains("… and a weaker one\n"), "{}", explained.text(80));
    }
}
