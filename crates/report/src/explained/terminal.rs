//! An [`ExplainedQuestion`] for the terminal: the windows from the strongest on, then the candidates; 80 columns, no colour.

use questions::{BLANK_WORD, Span};

use super::{ExplainedQuestion, printed};
use crate::text::wrap;

const WIDTH: usize = 80;
/// How many windows are listed.
const SHOWN: usize = 12;
/// What a bar is at its longest.
const BAR: f64 = 8.0;
/// Where the text of a window begins, with scores.
const INDENT: usize = 32;
const LABEL: usize = 10;
/// Stands for a space that lines are not broken at; no word has it.
const SPACE: char = '\u{e000}';

pub fn write(explained: &ExplainedQuestion) -> String {
    let mut lines = wrap(&explained.heading(), WIDTH);
    lines.push(String::new());
    let gap = format!("[{}]", SPACE.to_string().repeat(5));
    let or_gap = |word: &String| if word == BLANK_WORD { gap.clone() } else { word.clone() };
    let query: Vec<String> = explained.query.iter().map(or_gap).collect();
    lines.extend(labelled("Query", &query.join(" ")));
    if let Some(window) =
        explained.explanation.query.clone().filter(|w| *w != (0..explained.query.len()))
    {
        lines.extend(labelled("Window", &query[window].join(" ")));
    }
    lines.push(String::new());
    let windows = explained.by_strength();
    if windows.iter().any(|(_, window)| window.score.is_some()) {
        lines.push("  attention        score  sentence".to_owned());
    }
    lines.extend(
        windows.iter().take(SHOWN).map(|&(strength, window)| line(explained, strength, window)),
    );
    if windows.len() > SHOWN {
        lines.push(format!("  … and {} weaker ones", windows.len() - SHOWN));
    }
    if windows.is_empty() {
        lines.push("  This model looks at nothing in particular.".to_owned());
    }
    if windows.iter().any(|(_, window)| window.is_supporting) {
        lines.push("  * the supporting memory".to_owned());
    }
    lines.push(String::new());
    let candidates: Vec<String> = explained
        .ranked()
        .into_iter()
        .map(|(place, score)| format!("{}{SPACE}{score}", explained.candidates[place]))
        .collect();
    lines.extend(labelled("Answer", &candidates.join(&format!("{SPACE}{SPACE} "))));
    lines.extend(labelled("", &explained.verdict()));
    lines.iter().map(|line| format!("{}\n", line.replace(SPACE, " ").trim_end())).collect()
}

/// Text after a label, wrapped under its own beginning.
fn labelled(label: &str, text: &str) -> Vec<String> {
    let lines = wrap(text, WIDTH - LABEL).into_iter().enumerate();
    lines
        .map(|(place, line)| format!("{:LABEL$}{line}", if place == 0 { label } else { "" }))
        .collect()
}

fn line(explained: &ExplainedQuestion, strength: f64, window: &Span) -> String {
    let mark = if window.is_supporting { '*' } else { ' ' };
    let bar = "█".repeat((strength * BAR).round() as usize);
    let sentence = 1 + explained.sentence_of(window.mention.unwrap_or(window.words.start));
    let score =
        window.score.map_or(String::new(), |score| format!("{:>6} ", printed(score.into())));
    let start =
        format!("{mark} {:>6} {bar:8} {score}{sentence:>4}  ", printed(window.weight.into()));
    format!("{start}{}", around_mention(explained, window, WIDTH - INDENT))
}

/// As many words of a window around its mention as there is room for, `…` where the text continues.
fn around_mention(explained: &ExplainedQuestion, window: &Span, room: usize) -> String {
    let words = explained.words();
    let shown = |place: usize| match window.mention {
        Some(mention) if mention == place => format!("▸{}◂", words[place]),
        _ => words[place].to_owned(),
    };
    let centre = window.mention.unwrap_or(window.words.start);
    let mut text = shown(centre);
    let (mut start, mut end) = (centre, centre + 1);
    // Two ellipses with their spaces.
    let fits = |text: &str, word: &str| text.chars().count() + 1 + word.chars().count() + 4 <= room;
    loop {
        let before =
            (start > window.words.start).then(|| shown(start - 1)).filter(|w| fits(&text, w));
        if let Some(word) = &before {
            text = format!("{word} {text}");
            start -= 1;
        }
        let after = (end < window.words.end).then(|| shown(end)).filter(|w| fits(&text, w));
        if let Some(word) = &after {
            text = format!("{text} {word}");
            end += 1;
        }
        if before.is_none() && after.is_none() {
            break;
        }
    }
    let ellipsis = |goes_on: bool| if goes_on { "…" } else { "" };
    let text = format!("{} {text} {}", ellipsis(start > 0), ellipsis(end < words.len()));
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::explained::tests::explained;

    #[test]
    fn the_terminal_shows_windows_candidates_and_the_verdict() {
        expect![[r#"
            Question 0123456789abcdef, Named Entities, valid, The Two Hens

            Query     So [     ] woke at last .
            Window    So [     ] woke at

              attention        score  sentence
            *    .50 ████████   2.31    1  … , and ▸Otto◂ slept . …
                 .25 ████       1.61    1  ▸Anna◂ fed the …
                 .20 ███        1.39    2  … up , ▸Otto◂ ! …
              * the supporting memory

            Answer    Otto .70   Anna .25   hen .05
                      wrong: the answer is Anna
        "#]]
        .assert_eq(&explained().text());
    }

    #[test]
    fn eighty_columns_are_enough_for_long_windows_and_many_of_them() {
        let mut explained = explained();
        explained.explanation.spans[0].words = 0..16;
        explained.explanation.spans = vec![explained.explanation.spans; 6].concat();
        explained.candidates[0] = "Wolfeschlegelsteinhausenbergerdorff".to_owned();
        explained.query = vec!["hen".to_owned(); 60];
        explained.explanation.query = None;
        let text = explained.text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("… and 6 weaker ones"), "{text}");
    }
}
